/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * caf.h: what the files of libcaf_armci share: images, teams, tokens, and what each file does for
 * the others. The library is a client of armci.h, armcix.h, message.h and gpc.h alone. An image is
 * numbered from 1 in its team, a rank from 0 in the job; every image is one rank of ARMCI's world.
 * Functions named _gfortran_caf_* are called by compiled programs, in the thread that executes the
 * statement.
 */
#ifndef CAF_H_
#define CAF_H_

#include <armci.h>
#include <armcix.h>
#include <stdatomic.h>

#include "abi.h"

#define CAF_API __attribute__((visibility("default")))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- Images (images.c) ----------------------------------------------------------------------- */

enum caf_state { CAF_RUNNING = 0 }; /* else CAF_STOPPED_IMAGE or CAF_FAILED_IMAGE */

/* Memory of each image that all others reach; zero at first. */
struct caf_control {
	_Atomic int ended;       /* images that have stopped or failed, own excluded */
	/* an ended image takes part in one call at a time: rank + 1 of the image that decides in
	 * which, or 0 */
	int guest;
	armcix_event_t sync[];   /* by rank: raised by that image's SYNC IMAGES */
	/* behind sync[]: struct caf_end by rank, then by rank the record of the sync[] that this
	 * image raises there */
};

/* Written by an image that stops or fails, in one piece, before it raises sync[] once more. */
struct caf_end {
	_Atomic int state; /* CAF_RUNNING, CAF_STOPPED_IMAGE or CAF_FAILED_IMAGE */
	unsigned synced;   /* how often its SYNC IMAGES have raised sync[] */
} __attribute__((aligned(8)));
static inline struct caf_end *caf_ends(struct caf_control *c, int images)
{
	return (struct caf_end *)(void *)(c->sync + images);
}
static inline armcix_event_t *caf_records(struct caf_control *c, int images)
{
	return (armcix_event_t *)(void *)(caf_ends(c, images) + images);
}

extern struct caf {
	int me, n;                     /* own rank, images of the job */
	_Atomic bool on;               /* between caf_start and the end */
	struct caf_team *initial, *current, *teams;
	struct caf_control **control;  /* by rank */
	/* by rank: it is on this node, where its memory can be loaded and stored */
	bool *near;
	struct caf_range **shared;     /* by rank: see caf_is_shared */
	const _Atomic int *ended;      /* of own control: see caf_ended */
	/* ALLOCATE with STAT= has found a failed image: see _gfortran_caf_register */
	bool told;
} caf;

/* Number of other images that have stopped or failed. Their states need caf_state, which
 * acquires. */
static inline int caf_ended(void)
{
	return atomic_load_explicit(caf.ended, memory_order_relaxed);
}

/* Count of an event of this image. The stores before the posts that it counts are visible. */
static inline unsigned caf_event_count(const armcix_event_t *event)
{
	return atomic_load_explicit((const _Atomic unsigned *)&event->count, memory_order_acquire);
}

/* Starts ARMCI and makes the initial team, the first time; static coarrays are registered before
 * main. */
void caf_start(void);

/* State of an image, by rank: CAF_RUNNING, CAF_STOPPED_IMAGE or CAF_FAILED_IMAGE. */
int caf_state(int rank);

/* The image stops or fails: tells all others, and takes part in the collective calls that they are
 * in. Then it may only finalize. */
void caf_end_image(int state);

/* By rank: how often the image has raised that one's sync[]. */
unsigned *caf_synced(void);
bool caf_images_start(void);
void caf_random_start(void);

/* Whether the program comes from gfortran 16 or newer, as far as its file or its calls tell
 * (generation.c). */
bool caf_gfortran_16(void);
void caf_seen_gfortran_16(void); /* a call has shown it */

/* ---- Teams (team.c) -------------------------------------------------------------------------- */

struct caf_team {
	struct caf_team *next;   /* of caf.teams: all that the image has formed and that live */
	struct caf_team *parent; /* null: the initial team */
	int number;              /* of FORM TEAM; -1: the initial team */
	int n, me;               /* images; own index from 0 */
	int *rank;               /* by index */
	ARMCI_Group group;       /* group rank = index */
	/* by next: teams of the same FORM TEAM that the image is no member of; number, n and rank
	 * only */
	struct caf_team *siblings;
	struct caf_token *allocated; /* while it was the current team; freed by END TEAM */
	struct caf_calls *calls; /* of calls.c */
	int formed;              /* FORM TEAM statements in this team so far */
	int statement;           /* of the parent's: which has formed this one */
	void *variable;          /* of the program, in which that has put it */
};

/* Rank of an image of the current team; -1: there is no such image. */
static inline int caf_rank(int image)
{
	const struct caf_team *t = caf.current;
	return likely((unsigned)(image - 1) < (unsigned)t->n) ? t->rank[image - 1] : -1;
}

/* The team that a compiled program means: its handle, the address of its handle, or null or a small
 * number: the current one. Null: something else. */
struct caf_team *caf_team_of(const void *handle);
/* whether the caller of a function that names a team is gfortran 16 or newer */
bool caf_new_style(const void *team);
/* whether it is a team that the image has formed, or the initial one */
bool caf_team_lives(const void *team);
/* The team of an access with TEAM= (address of the handle) or TEAM_NUMBER=, of which at most one is
 * not null. Null: no such team. */
struct caf_team *caf_access_team(void *const *team, const int *number);

/* ---- Collective calls (calls.c) -------------------------------------------------------------- */

/*
 * An image that stops or fails stays alive, but others may wait for it in a collective call. So
 * every collective ARMCI call over a team is announced, or made where all members are known to be
 * inside the same statement: behind caf_gate or caf_barrier. An image that ends takes part in the
 * announced calls that others were in before they could know, with worthless data.
 */
enum caf_call { CAF_CALL_BARRIER, CAF_CALL_BCAST, CAF_CALL_GOP };
enum { CAF_CALL_BYTES = 256 << 10 }; /* most bytes of an announced CAF_CALL_BCAST or CAF_CALL_GOP */

/* Begins a collective call of the team: kind, root index, element type of message.h, bytes (BCAST)
 * or elements (GOP). Returns 0: make the call over the team. Else, if images of the team have ended
 * before it, CAF_STOPPED_IMAGE or CAF_FAILED_IMAGE (stopped wins): make no call; only a barrier is
 * made for CAF_FAILED_IMAGE, over caf_members. All images that begin it get the same. */
int caf_begin(struct caf_team *t, enum caf_call call, int root, int type, int n);
/* Ends it. Returns 0, or the stat if an image took part that had ended before it. After a barrier
 * all get the same, and caf_members are those that have not. */
int caf_finish(struct caf_team *t);

/* The members that take part in the call begun last. */
struct caf_members {
	int n;
	int *rank;
	ARMCI_Group group;
};
const struct caf_members *caf_members(struct caf_team *t);

/* The calls themselves, over a group: those of the world have shorter ways. root: rank of the job.
 * At most an int of bytes. */
void caf_call_barrier(ARMCI_Group group);
void caf_call_bcast(void *data, int bytes, int root, ARMCI_Group group);
void caf_call_gop(void *data, int n, const char *op, int type, ARMCI_Group group);

/* Synchronizes the images of the team that have not ended: all that return the same stat, 0 or
 * CAF_FAILED_IMAGE, are in the same statement and can call collectively over caf_members until they
 * leave it. CAF_STOPPED_IMAGE: not synchronized. */
int caf_gate(struct caf_team *t);
int caf_barrier(struct caf_team *t); /* behind a fence of the image's stores */

bool caf_calls_create(struct caf_team *t); /* collective over the team: what announcing needs */
void caf_calls_free(struct caf_team *t);   /* collective over the team */
/* the image has ended: takes part in calls that others are in */
void caf_calls_attend(void);

/* ---- Errors (error.c) ------------------------------------------------------------------------ */

/* Stats of this library, where the standard leaves them to it; docs/coarrays.md says the same. */
enum {
	CAF_DUPLICATE_IMAGE = 3, /* SYNC IMAGES names it twice */
	CAF_NO_IMAGE,
	CAF_NO_TEAM,
	CAF_NO_MEMORY,
	CAF_WRONG,               /* arguments that the statement cannot have */
	CAF_ACCESS_ERROR,        /* a get or put that cannot be made */
	CAF_NO_ELEMENT           /* there is no such lock, event or atomic variable */
};

/* Reports through stat and errmsg, if stat is there; else prints "libcaf_armci: image N: ..." and
 * stops the job with status
 * 1. Null errmsg or length 0: no message. */
void caf_error(int code, int *stat, char *errmsg, size_t length, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* caf_error for a stat of caf_begin; 0 sets stat to 0. `what` is the statement. */
void caf_report(int code, int *stat, char *errmsg, size_t length, const char *what);
bool caf_is_address(const void *p);    /* whether p can be one: of ERRMSG=, see error.c */
char *caf_sync_message(char *errmsg); /* address of the ERRMSG= of a SYNC statement */
void caf_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void caf_fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static inline void caf_success(int *stat)
{
	if (stat)
		*stat = 0;
}

/* ---- Stopping (stop.c) ----------------------------------------------------------------------- */

/* Error termination of all images with the exit status. */
void caf_abort(int status) __attribute__((noreturn));
/* Writes out what the units of the Fortran library hold. */
void caf_flush(void);

/* ---- Coarrays (token.c, heap.c) -------------------------------------------------------------- */

/* What the compiler's caf_token_t points to. */
struct caf_token {
	/* by rank of the job: start of its memory; null: a component, which only its image knows */
	char **at;
	char *own;             /* own memory; null: not allocated */
	size_t bytes;          /* of own memory */
	size_t elem;           /* of an element; a scalar has as many as `bytes` */
	int type;              /* enum caf_type, of a coarray */
	struct caf_desc *desc; /* the image's descriptor, or null */
	struct caf_team *team; /* in which it was allocated; null: a component */
	int images;            /* that allocated it, all of the team that had not ended */
	struct caf_token *next, **link; /* of team->allocated */
	struct caf_token **where;       /* the program's variable, of a coarray */
	enum caf_register kind;
	bool live, owns;
	struct caf_locks *locks; /* of lock.c */
};

/* Address of byte `offset` of the coarray on a rank. */
static inline char *caf_at(const struct caf_token *t, int rank, size_t offset)
{
	return t->at[rank] + offset;
}

/* Frees what was allocated in the team and has not been freed; all images of the team call it. */
void caf_free_allocated(struct caf_team *t);

/* The token, or null if it is none, whatever it points to. */
struct caf_token *caf_live_token(void *token);

/* Memory of components that other images reach; the image allocates and frees alone. Null: no
 * memory. Zeroed. */
void *caf_heap_alloc(size_t bytes);
void caf_heap_free(void *p);

/* Locks of a token: `count` on each image of the team. The image alone prepares; creating them is
 * collective over the team's members. False: no memory. */
bool caf_locks_prepare(struct caf_token *t);
bool caf_locks_create(struct caf_token *t, size_t count);
void caf_locks_destroy(struct caf_token *t);
/* The image ends, as all images see by their `ended` and its state, CAF_STOPPED_IMAGE or
 * CAF_FAILED_IMAGE: unlocks what it holds, marked as left by a failed image if it fails. */
void caf_locks_abandon(int state);

/* ---- Sections (section.c) -------------------------------------------------------------------- */

/* The elements of one side of a transfer: levels of equal distance, from the innermost outwards. */
struct caf_section {
	char *base;                      /* first element in array element order */
	size_t elem;                     /* bytes of an element */
	/* dimensions of more than one element come first; all are kept */
	int rank;
	ptrdiff_t count[CAF_MAX_RANK];   /* elements */
	ptrdiff_t stride[CAF_MAX_RANK];  /* bytes, may be negative or 0 */
	size_t n;                        /* elements in all */
};

/* The elements that a descriptor describes. */
void caf_section_of(struct caf_section *s, const struct caf_desc *d);
/* n elements one behind the other. */
struct caf_section caf_packed(void *base, size_t elem, size_t n);
/* The shape of `like`, packed. */
struct caf_section caf_packed_like(void *base, const struct caf_section *like);
/* The shape of `like`, every element being the one at base. */
struct caf_section caf_repeated(void *base, const struct caf_section *like);
bool caf_contiguous(const struct caf_section *s);

/* Moves sections between own memory and a rank's, each as one ARMCI operation where the shape
 * allows: equal element size and equal n; own strides may be 0 in a put. Done: gets when they
 * return, puts locally. Returns a code of enum caf_moved. */
int caf_put_section(int rank, const struct caf_section *to, const struct caf_section *from);
int caf_get_section(int rank, const struct caf_section *from, const struct caf_section *to);

/* Copies own memory, elements of equal size, in array element order; the sections must not overlap.
 * False: no memory. (copy.c) */
bool caf_copy_section(const struct caf_section *to, const struct caf_section *from);

/* Two sections as one loop nest: levels from the innermost outwards, as few as the shapes allow.
 * (levels.c) */
struct caf_levels {
	char *to, *from; /* first element */
	size_t elem;
	int n;
	ptrdiff_t count[2 * CAF_MAX_RANK], to_stride[2 * CAF_MAX_RANK],
		from_stride[2 * CAF_MAX_RANK];
};
/* False: the shapes have no common loop nest. */
bool caf_levels_of(struct caf_levels *v, const struct caf_section *to,
	const struct caf_section *from);

/* Memory for a while: small amounts are on the stack. */
struct caf_buffer {
	char *p;
	_Alignas(16) char small[1024];
};
static inline bool caf_buffer_get(struct caf_buffer *b, size_t bytes)
{
	b->p = bytes <= sizeof b->small ? b->small : malloc(bytes);
	return b->p != NULL;
}
static inline void caf_buffer_free(struct caf_buffer *b)
{
	if (b->p != b->small)
		free(b->p);
}

/* ---- Sides of a transfer, conversion, reallocation by assignment ----------------------------- */

#include "side.h"

/* ---- Accesses of gfortran 15 and later (remote.c) -------------------------------------------- */

/* Collective, of caf_start: what accesses to other images need. */
void caf_remote_start(void);

/* ---- Memory that only its image reaches (private.c, private_serve.c) ------------------------- */

/*
 * A pointer component may point to any memory of its image. What ARMCI does not reach is read and
 * written by a procedure call at the image. ARMCI's memory of a node is one range of addresses, in
 * which no image of the node has anything else: so all between two addresses of it is of that kind.
 * What is known of it only grows.
 */
struct caf_range {
	_Atomic uintptr_t lo, hi;
};
/* Whether the address of a rank is known to be ARMCI's memory; if not, it may be so all the
 * same. */
static inline bool caf_is_shared(int rank, const void *p)
{
	const struct caf_range *s = caf.shared[rank];
	uintptr_t lo = atomic_load_explicit(&s->lo, memory_order_relaxed);
	uintptr_t hi = atomic_load_explicit(&s->hi, memory_order_relaxed);
	return likely((uintptr_t)p - lo < hi - lo);
}
/* Memory of a rank that is ARMCI's. */
void caf_shared_add(int rank, const void *p, size_t bytes);
void caf_shared_start(void); /* of caf_start */

/* Moves a section, or n runs of equal length, between packed memory and a rank's. CAF_MOVE_SHARED:
 * nothing is moved, since it is ARMCI's memory, which is known now; FAIL8: there is no such
 * memory. */
int caf_private_section(int rank, bool put, const struct caf_section *there, char *packed);
int caf_private_list(int rank, bool put, void *const *at, size_t n, size_t run, char *packed);

#endif
