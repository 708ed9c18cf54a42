/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * caf.h: what the files of libcaf_armci share: images, teams, tokens, and what each file does for the others. The library is a
 * client of armci.h, armcix.h, message.h and gpc.h alone. An image is numbered from 1 in its team, a rank from 0 in the job; every
 * image is one rank of ARMCI's world. Functions named _gfortran_caf_* are called by compiled programs, in the thread that executes
 * the statement.
 */
#ifndef CAF_H_
#define CAF_H_

#include <armci.h>
#include <armcix.h>

#include "abi.h"

#define CAF_API __attribute__((visibility("default")))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- Images (images.c) ---------------------------------------------------------------------------------------- */

enum caf_state { CAF_RUNNING = 0 }; /* else CAF_STOPPED_IMAGE or CAF_FAILED_IMAGE */

/* Memory of each image that all others reach; zero at first. */
struct caf_control {
	int ended;               /* images that have stopped or failed, own excluded */
	int reserved;
	armcix_event_t sync[];   /* by rank: raised by that image's SYNC IMAGES */
	/* behind sync[]: int state[], by rank, written by the image itself when it stops or fails */
};

extern struct caf {
	int me, n;                     /* own rank, images of the job */
	volatile bool on;              /* between caf_start and the end */
	struct caf_team *initial, *current, *teams;
	struct caf_control **control;  /* by rank */
	volatile int *ended;           /* of own control: 0 as long as all images run */
} caf;

/* Starts ARMCI and makes the initial team, the first time; static coarrays are registered before main. */
void caf_start(void);

/* Whether the program comes from gfortran 16 or newer, as far as its file or its calls tell (generation.c). */
bool caf_gfortran_16(void);

/* State of an image, by rank: CAF_RUNNING, CAF_STOPPED_IMAGE or CAF_FAILED_IMAGE. */
int caf_state(int rank);

/* ---- Teams (team.c) -------------------------------------------------------------------------------------------- */

struct caf_team {
	struct caf_team *next;   /* of caf.teams: all that the image has formed and that live */
	struct caf_team *parent; /* null: the initial team */
	int number;              /* of FORM TEAM; -1: the initial team */
	int n, me;               /* images; own index from 0 */
	int *rank;               /* by index */
	ARMCI_Group group;       /* group rank = index */
	struct caf_token *allocated; /* while it was the current team; freed by END TEAM */
	struct caf_calls *calls; /* of calls.c */
};

/* Rank of an image of the current team; -1: there is no such image. */
static inline int caf_rank(int image)
{
	const struct caf_team *t = caf.current;
	return likely((unsigned)(image - 1) < (unsigned)t->n) ? t->rank[image - 1] : -1;
}

/* The team that a compiled program means: its handle, the address of its handle, or null, 0, -1: the current one. */
struct caf_team *caf_team_of(const void *handle);
/* The team of an access with TEAM= (address of the handle) or TEAM_NUMBER=, of which at most one is not null. Null: no such team. */
struct caf_team *caf_access_team(void *const *team, const int *number);

/* ---- Collective calls (calls.c) -------------------------------------------------------------------------------- */

/* Every collective ARMCI call over a team is announced, so that an image that ends can take part in those that others are in. */
enum caf_call { CAF_CALL_BARRIER, CAF_CALL_BCAST, CAF_CALL_GOP };

/* Begins a collective call of the team: kind, root index, element type of message.h and operator, bytes or elements. Returns 0, or
 * CAF_STOPPED_IMAGE or CAF_FAILED_IMAGE if images of the team have ended before the call (stopped wins). Then the caller may make
 * the call over caf_members() only. All members of caf_members() get the same result. */
int caf_begin(struct caf_team *t, enum caf_call call, int root, int type, int n);

/* The members that take part in the call just begun: the team itself, or without those that have ended. */
struct caf_members {
	int n;
	int *rank;
	ARMCI_Group group;
};
const struct caf_members *caf_members(struct caf_team *t);

/* Fences and synchronizes the images of the team that have not ended. Returns a stat. */
int caf_barrier(struct caf_team *t);

/* ---- Errors (error.c) ------------------------------------------------------------------------------------------ */

/* Reports through stat and errmsg, if stat is there; else prints "libcaf_armci: image N: ..." and stops the job with status
 * `code`. Null errmsg or length 0: no message. */
void caf_error(int code, int *stat, char *errmsg, size_t length, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* caf_error for a stat of caf_begin; 0 sets stat to 0. `what` is the statement. */
void caf_report(int code, int *stat, char *errmsg, size_t length, const char *what);
void caf_fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static inline void caf_success(int *stat)
{
	if (stat)
		*stat = 0;
}

/* ---- Stopping (stop.c) ----------------------------------------------------------------------------------------- */

/* Error termination of all images with the exit status. */
void caf_abort(int status) __attribute__((noreturn));
/* Writes out what the units of the Fortran library hold. */
void caf_flush(void);

/* ---- Coarrays (token.c, heap.c) -------------------------------------------------------------------------------- */

/* What the compiler's caf_token_t points to. */
struct caf_token {
	char **at;             /* by rank of the job: start of its memory; null: a component, which only its image knows */
	char *own;             /* own memory; null: not allocated */
	size_t bytes;          /* of own memory */
	size_t elem;           /* of an element; a scalar has as many as `bytes` */
	int type;              /* enum caf_type, of a coarray */
	struct caf_desc *desc; /* the image's descriptor, or null */
	struct caf_team *team; /* in which it was allocated; null: a component */
	struct caf_token *next, **link; /* of team->allocated */
	enum caf_register kind;
	bool live, owns;
	struct caf_locks *locks; /* of lock.c */
};

/* Address of byte `offset` of the coarray on a rank. */
static inline char *caf_at(const struct caf_token *t, int rank, size_t offset) { return t->at[rank] + offset; }

/* The token, or null if it is none, whatever it points to. */
struct caf_token *caf_live_token(void *token);

/* Memory of components that other images reach; the image allocates and frees alone. Null: no memory. Zeroed. */
void *caf_heap_alloc(size_t bytes);
void caf_heap_free(void *p);

/* Locks of a token: `count` on each image of the team. Collective over the team's members. False: no memory. */
bool caf_locks_create(struct caf_token *t, size_t count);
void caf_locks_destroy(struct caf_token *t);
void caf_locks_abandon(void); /* the image ends: unlocks what it holds, marked as left by a failed image if it fails */

/* ---- Sections (section.c) -------------------------------------------------------------------------------------- */

/* The elements of one side of a transfer: levels of equal distance, from the innermost outwards. */
struct caf_section {
	char *base;                      /* first element in array element order */
	size_t elem;                     /* bytes of an element */
	int rank;                        /* dimensions of more than one element come first; all are kept */
	ptrdiff_t count[CAF_MAX_RANK];   /* elements */
	ptrdiff_t stride[CAF_MAX_RANK];  /* bytes, may be negative or 0 */
	size_t n;                        /* elements in all */
};

/* Moves sections between own memory and a rank's, each as one ARMCI operation where the shape allows: equal element size and
 * equal n. Done: gets when they return, puts locally. Returns 0 or an ARMCI code. */
int caf_put_section(int rank, const struct caf_section *to, const struct caf_section *from);
int caf_get_section(int rank, const struct caf_section *from, const struct caf_section *to);

/* Copies own memory, elements of equal size, in array element order; the sections must not overlap. */
void caf_copy_section(const struct caf_section *to, const struct caf_section *from);

/* The elements that a descriptor describes. */
void caf_section_of(struct caf_section *s, const struct caf_desc *d);

/* ---- Accesses of gfortran 15 and later (remote.c) -------------------------------------------------------------- */

/* Collective, of caf_start: what accesses to other images need. */
void caf_remote_start(void);

/* ---- Conversion (convert.c) ------------------------------------------------------------------------------------ */

/* Type, kind and element size of one side. kind: bytes of a number (of a part, if complex), of a character. */
struct caf_format {
	int type, kind;
	size_t elem;
};
/* Whether elements can be assigned bytewise. */
bool caf_same_format(const struct caf_format *to, const struct caf_format *from);
/* Assigns n elements of packed arrays (stride in bytes; a scalar has from_stride 0). False: there is no such assignment. */
bool caf_convert(void *to, const struct caf_format *tf, const void *from, const struct caf_format *ff, ptrdiff_t from_stride, size_t n);

#endif
