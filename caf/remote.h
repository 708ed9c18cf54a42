/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.h: accesses to other images as gfortran 15 and later compiles them: the program holds a
 * function for every such expression, which reads or writes the coarray of the image that is
 * accessed. It runs in the caller's process if the image is on the same node, else in the process
 * of that image. What the files about it share.
 */
#ifndef CAF_REMOTE_H_
#define CAF_REMOTE_H_

#include "caf.h"

/* ---- What the compiler generates ----------------------------------------------------------------
 * `add` are the variables of the caller that the function needs, `image` the caller's. `object` is
 * the memory of the coarray, its descriptor if it has one (or the address of a pointer to its
 * memory, see caf_view). Lengths are those of character data.
 *
 * A getter of a scalar sets *buffer to the address of the value. For an array buffer is a
 * descriptor. The getter fills its memory; if there is none it allocates that by malloc and sets
 * the bounds. *fresh: the buffer is memory that it has allocated. */
typedef void (*caf_getter)(void *add, const int *image, void **buffer, int32_t *fresh, void *object,
	const void *token, size_t offset, size_t *buffer_length, const size_t *object_length);
/* The value is the address of a scalar or a descriptor. */
typedef void (*caf_receiver)(void *add, const int *image, void *object, const void *value,
	const void *token, size_t offset, const size_t *object_length, const size_t *value_length);
typedef void (*caf_presence)(void *add, const int *image, int32_t *present, void *object,
	const void *token, size_t offset);

struct caf_accessor {
	int hash;
	union {
		void (*any)(void);
		caf_getter get;
		caf_receiver receive;
		caf_presence present;
	} run;
};

/* By the index that the program was told, or by hash. Null: there is none. (accessor.c) */
const struct caf_accessor *caf_accessor_at(int index);
const struct caf_accessor *caf_accessor_of(int hash);

/* ---- One access ------------------------------------------------------------------------------ */

/* The form in which a function takes the coarray. A presence function of gfortran 16 takes a
 * pointer to a pointer to a scalar. */
enum caf_form { CAF_MEMORY, CAF_DESCRIPTOR, CAF_POINTER };

/* The coarray on the image accessed. */
struct caf_view {
	enum caf_form form;
	char *base;                  /* an address of that image */
	size_t bytes;                /* from base on; of CAF_POINTER */
	const struct caf_desc *desc; /* of CAF_DESCRIPTOR: all but its base */
};

/* Room for what is passed as `object`. */
struct caf_passed {
	struct caf_desc desc;
	void *copy; /* of CAF_POINTER: free it */
};
void *caf_pass(struct caf_passed *p, const struct caf_view *v);

struct caf_access {
	const struct caf_token *token;
	const struct caf_accessor *accessor;
	struct caf_view view;
	int rank, caller;        /* rank accessed; image that accesses */
	void *add;
	size_t add_bytes;
	const size_t *object_length, *value_length; /* null: not character data */
};

/* ---- Shapes (remote_shape.c) ----------------------------------------------------------------- */

/* Bytes of a descriptor. */
static inline size_t caf_desc_bytes(const struct caf_desc *d)
{
	return offsetof(struct caf_desc, dim) + (size_t)d->dtype.rank * sizeof d->dim[0];
}
/* The same array with lower bounds 1, as getters expect of a buffer whatever its bounds are. */
void caf_from_one(struct caf_desc *to, const struct caf_desc *from);
/* The descriptor of a copy without gaps and with lower bounds 1, but for its base. Returns its
 * bytes. */
size_t caf_packed_shape(struct caf_desc *to, const struct caf_desc *from);
bool caf_has_gaps(const struct caf_desc *d);
/* Copies the elements of d to packed memory, or back. */
void caf_pack(void *to, const struct caf_desc *d);
void caf_unpack(const struct caf_desc *d, void *from);
/* Copies at most n bytes, as far as there is memory. Returns how many. */
size_t caf_copy_readable(void *to, const void *from, size_t n);

/* ---- Here or there (remote_value.c) ---------------------------------------------------------- */

/* Whether the function runs in this process. */
bool caf_runs_here(const struct caf_access *a);

/* All return 0 or a stat. `size` is of a scalar, or of a character of it. */
/* *to is memory for the value, or null; it may be changed to where the value is. */
int caf_get_scalar(const struct caf_access *a, size_t size, void **to, size_t *length);
/* `any`: the array may take any size. */
int caf_get_array(const struct caf_access *a, struct caf_desc *to, size_t *length, bool any);
/* The value is an array or a scalar. */
int caf_put_value(const struct caf_access *a, const struct caf_desc *desc, const void *scalar,
	size_t size);
/* The compiler's size of a scalar is not that of the value: it may be more, or less but not less
 * than an element's. */
int caf_transfer_scalar(struct caf_access *from, struct caf_access *to, size_t size);
int caf_transfer_array(struct caf_access *from, struct caf_access *to);

/* ---- In the process of the other image (remote_call.c, remote_serve.c) ----------------------- */

extern int caf_remote_handler;

/* What a getter has found. */
struct caf_found {
	void *room;        /* in: memory for it, or null */
	size_t room_bytes;
	void *data;        /* out: room, or from malloc */
	size_t bytes;
	size_t length;     /* in, out: of character data */
	struct caf_desc shape; /* in, out: of an array; out: without gaps, no base */
};

/* All return 0 or a stat. A scalar has `bytes`; 0: an array. Sizes that are only an upper bound are
 * `loose`. */
int caf_call_get(const struct caf_access *a, struct caf_found *f, size_t bytes, bool loose);
int caf_call_put(const struct caf_access *a, const struct caf_desc *desc, const void *scalar,
	size_t bytes);
int caf_call_present(const struct caf_access *a, int32_t *present);

/* A call at another image. Its header, followed by its data: descriptor of the object, `add`,
 * descriptor of the value, value, each of these at a multiple of 16 bytes. */
enum caf_call_kind {
	CAF_AT_GET,
	CAF_AT_PUT,
	CAF_AT_PRESENT,
	CAF_AT_STAGE,
	CAF_AT_PIECE,
	CAF_AT_FETCH,
	CAF_AT_READ,
	CAF_AT_WRITE
};
struct caf_question {
	int kind, hash, caller, form;
	char *base;
	size_t view_bytes;
	size_t desc, add, shape, value; /* bytes of the parts of the data */
	size_t bytes;                   /* of the scalar that is wanted; of memory to stage */
	size_t object_length, value_length;
	bool object_character, value_character, array, loose;
	/* memory of the image called, for what does not fit into one call */
	char *staged;
	size_t offset;                  /* in it */
};
struct caf_answer {
	int code;
	int32_t present;
	size_t bytes, length;
	char *staged; /* null: the data came with the answer */
	struct caf_desc shape;
};
static inline size_t caf_part(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

/*
 * Calls of private.c, which read and write memory of the image called: kinds CAF_AT_READ and
 * CAF_AT_WRITE. The data are a struct caf_runs (`shape` bytes), or addresses of runs (`add` bytes;
 * each run has view_bytes), then what is written (`bytes`, as many as are read). Without bytes the
 * call only asks. The answer's code is one of enum caf_moved or FAIL8; with CAF_MOVE_SHARED,
 * `staged` and `bytes` are memory of ARMCI that has the first address.
 */
struct caf_runs {
	char *base;
	size_t run; /* bytes */
	int rank;   /* dimensions, from the innermost outwards */
	ptrdiff_t count[CAF_MAX_RANK], stride[CAF_MAX_RANK];
};
void caf_serve_private(const struct caf_question *q, const char *data, struct caf_answer *r,
	char *rdata, int rdlen, int *rdsize);

/* The handler of all these calls. */
int caf_serve(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr, int rhlen,
	int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype);

#endif
