/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h: reductions: operators over packed elements (operator.c, call.c), and the tree that
 * applies them (reduce.c). */
#ifndef CAF_REDUCE_H_
#define CAF_REDUCE_H_

#include "caf.h"

enum caf_operator { CAF_SUM, CAF_MIN, CAF_MAX };

/* How elements are combined: into[i] = f(into[i], from[i]). */
struct caf_combine {
	void (*f)(const struct caf_combine *c, char *into, const char *from, size_t n);
	/* instead, for real(10): see extended.c */
	void (*extended)(const struct caf_combine *c, char *into, const char *from, size_t n);
	size_t elem;
	/* of call.c: the program's function, and what its result and arguments are */
	void (*function)(void);
	int type;
	size_t length;
	int flags;
};

/* The operator for a type: number of bytes of an element (of a whole string, whose characters have
 * `character` bytes). Null f: there is none. */
struct caf_combine caf_operator_for(enum caf_operator op, int type, size_t bytes, size_t character);

/* flags of co_reduce, as gfortran passes them. */
enum { CAF_BY_REFERENCE = 1, CAF_HIDDEN_LENGTH = 2, CAF_BY_VALUE = 4, CAF_BY_DESCRIPTOR = 8 };
/* The same for a function of the program. */
struct caf_combine caf_function_for(void (*function)(void), int flags, int type, size_t bytes,
	size_t length);

/* Whether elements of 16 bytes, or their parts, are of kind 10, as the program's function or the
 * images' values tell; behind caf_gate. */
bool caf_extended(struct caf_team *t, const struct caf_combine *c, const char *data, size_t bytes);

/* Reduces packed elements to the member `root`, or to all if it is negative; behind caf_gate. */
void caf_reduce_tree(struct caf_team *t, int root, char *data, size_t n,
	const struct caf_combine *c);

#endif
