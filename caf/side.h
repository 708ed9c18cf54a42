/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * side.h, part of caf.h: what a statement names on each side of a transfer, how elements are
 * converted on the way, and how an assignment reallocates. It knows nothing of the way that bytes
 * take between images.
 */
#ifndef CAF_SIDE_H_
#define CAF_SIDE_H_

/* ---- Conversion (convert.c) ------------------------------------------------------------------ */

/* Type, kind and element size of one side. kind: bytes of a number (of a part, if complex), of a
 * character. */
struct caf_format {
	int type, kind;
	size_t elem;
};
/* Whether elements can be assigned bytewise. */
bool caf_same_format(const struct caf_format *to, const struct caf_format *from);
/* Assigns n elements to a packed array (from_stride in bytes; a scalar has 0). False: there is no
 * such assignment. */
bool caf_convert(void *to, const struct caf_format *tf, const void *from,
	const struct caf_format *ff, ptrdiff_t from_stride, size_t n);
/* The same for numbers and logicals (numbers.c), parts of complex numbers being numbers: kinds and
 * strides in bytes. */
bool caf_convert_numbers(char *to, int to_type, int to_kind, ptrdiff_t to_stride, const char *from,
	int from_type, int from_kind, ptrdiff_t from_stride, size_t n);

/* ---- Sides of a transfer (vector.c, move.c, reference.c) ------------------------------------- */

/* What a statement names of an image's memory: a section, some of whose dimensions may have vector
 * subscripts. */
struct caf_side {
	struct caf_section s;       /* stride of a dimension with a vector subscript: not used */
	struct caf_format f;
	/* of such a dimension: distance in bytes by index, from malloc; else null */
	ptrdiff_t *at[CAF_MAX_RANK];
	bool vector;                /* there are such dimensions */
	/* vector subscripts were given, perhaps all in arithmetic progression */
	bool subscripts;
};
/* Adds an outer dimension with the vector's subscripts, of which `lower` is at the base; `stride`
 * in bytes. */
int caf_side_add_vector(struct caf_side *s, const void *vector, size_t n, int kind, ptrdiff_t lower,
	ptrdiff_t stride);
void caf_side_add(struct caf_side *s, ptrdiff_t count, ptrdiff_t stride);
/* The side that a descriptor and, where there are vector subscripts, an array of `vector`
 * describe. */
int caf_side_of(struct caf_side *s, char *base, const struct caf_desc *d,
	const struct caf_vector *vector, int kind);
void caf_side_free(struct caf_side *s);

/* Moves a side with vector subscripts from or to packed memory. */
int caf_put_vector(int rank, const struct caf_side *to, char *packed);
int caf_get_vector(int rank, const struct caf_side *from, char *packed);

/* How an access ended: 0, a code of ARMCI, or one of these. */
enum caf_moved {
	CAF_MOVED = 0,
	CAF_MOVE_MEMORY = 1, /* no memory for a temporary */
	CAF_MOVE_CONVERSION, /* no such assignment */
	CAF_MOVE_SHAPE,      /* numbers of elements differ */
	CAF_MOVE_VECTOR,     /* a vector subscript that the compiler has passed wrongly */
	CAF_MOVE_PATH,       /* a path that cannot be followed */
	CAF_MOVE_ABSENT,     /* a component that is not allocated */
	CAF_MOVE_REMOTE,     /* a component of another image would have to be reallocated */
	CAF_MOVE_IMAGE,      /* no such image */
	CAF_MOVE_FAILED,     /* a failed image */
	CAF_MOVE_TOKEN,      /* not an allocated coarray */
	CAF_MOVE_SHARED      /* memory that ARMCI reaches: see caf_private_section */
};
/* Assigns with conversion and broadcast of one element; `overlap`: own memory, which may be the
 * same on both sides. */
int caf_get_side(int rank, const struct caf_side *from, const struct caf_section *to,
	const struct caf_format *tf, bool overlap);
int caf_put_side(int rank, const struct caf_side *to, const struct caf_section *from,
	const struct caf_format *ff, bool overlap);
/* The rank of an image of the current team that can be accessed; or a code. */
int caf_access_rank(const struct caf_token *t, int image, int *rank);
/* Assigns own memory to own memory: sections of equal n that do not overlap. */
int caf_assign(const struct caf_section *to, const struct caf_format *tf,
	const struct caf_section *from, const struct caf_format *ff);
/* Reports an access that did not succeed. `what`: "get" or "put". */
void caf_move_error(int code, int *stat, const char *what, int image);

/* Where a path leads. */
struct caf_path {
	struct caf_side side;
	/* of the last allocatable or pointer component: address of its descriptor or pointer, or
	 * null */
	char *holder;
	char *token;        /* and of its token */
	bool array, whole; /* it is an array; it is meant as a whole, with nothing behind it */
	bool deferred;     /* it is a string of deferred length */
	struct caf_desc d; /* its descriptor, if it is an array */
};
/* Follows a path in a rank's memory; the format's type and kind are the caller's. CAF_MOVE_ABSENT:
 * the last component reached, of which path->whole tells whether it is the one meant, has no
 * memory. Freed by caf_side_free(&path->side), whatever the code. */
int caf_path_follow(struct caf_path *path, struct caf_token *t, int rank,
	const struct caf_ref *refs, int type, int kind);

/* ---- Reallocation by assignment (reshape.c, token.c) ----------------------------------------- */

/* Gives an own allocatable array the shape of a section. */
int caf_fit(struct caf_desc *d, const struct caf_section *like);
/* The same for the component at the end of a path in own memory. */
int caf_fit_component(const struct caf_path *path, const struct caf_section *like, size_t elem);

/* The token of the component whose descriptor that is; or null. */
struct caf_token *caf_component_of(const struct caf_desc *d);
/* A token for a component that has none yet; null: no memory. */
struct caf_token *caf_component_token(struct caf_desc *d);
/* The component's memory from now on, of caf_heap_alloc. */
void caf_component_replace(struct caf_token *t, void *memory, size_t bytes);

#endif
