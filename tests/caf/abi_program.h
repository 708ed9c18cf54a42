/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program as gfortran 15 and later compiles it, for abi_accessor.c: its coarrays, and accessors
 * such as the compiler generates, written by hand.
 */
#ifndef CAF_ABI_PROGRAM_H_
#define CAF_ABI_PROGRAM_H_

#include "abi_calls.h"

static int next, last;

static void sync(void) { _gfortran_caf_sync_all(NULL, NULL, 0); }

/* ---- The program's coarrays: integer a(n)[*], allocatable; type(node) b(3)[*], static; character
 * c*8[*] ----- */

enum { N = 1200000 };
struct node {
	int k, pad;
	struct {
		void *base;
		size_t offset;
		struct caf_dtype dtype;
		ptrdiff_t span;
		struct caf_dim dim[1];
		void *token;
	} v;	/* integer, allocatable :: v(:) */
	int *p; /* integer, pointer :: p, to memory that only its image has */
};
static void *a_token, *b_token, *c_token;
static struct caf_desc a;
static struct node *b;
static char *c;
static const size_t eight = 8;

static void describe(struct caf_desc *d, int type, size_t elem, int n)
{
	memset(d, 0, sizeof *d);
	d->dtype.elem_len = elem;
	d->dtype.rank = 1;
	d->dtype.type = (signed char)type;
	d->span = (ptrdiff_t)elem;
	d->dim[0] = (struct caf_dim){1, 1, n};
	d->offset = (size_t)-1;
}

static void coarrays(void)
{
	struct caf_desc d;
	describe(&a, CAF_INTEGER, sizeof(int), N);
	_gfortran_caf_register(N * sizeof(int), CAF_COARRAY_ALLOC, &a_token, &a, NULL, NULL, 0);
	describe(&d, CAF_DERIVED, sizeof(struct node), 0);
	d.dtype.rank = 0;
	_gfortran_caf_register(3 * sizeof(struct node), CAF_COARRAY_STATIC, &b_token, &d, NULL,
		NULL, 0);
	b = d.base;
	describe(&d, CAF_CHARACTER, 8, 0);
	d.dtype.rank = 0;
	_gfortran_caf_register(8, CAF_COARRAY_STATIC, &c_token, &d, NULL, NULL, 0);
	c = d.base;
	for (int i = 0; i < N; i++) ((int *)a.base)[i] = 1000 * me + i + 1;
	memset(b, 0, 3 * sizeof *b);
	b[1].k = me;
	b[1].p = malloc(sizeof(int));
	*b[1].p = 7 * me;
	b[1].v.dtype.elem_len = sizeof(int);
	b[1].v.dtype.rank = 1;
	_gfortran_caf_register(4 * sizeof(int), CAF_ALLOCATE_ONLY, &b[1].v.token,
		(struct caf_desc *)(void *)&b[1].v, NULL, NULL, 0);
	b[1].v.dim[0] = (struct caf_dim){1, 1, 4};
	for (int i = 0; i < 4; i++) ((int *)b[1].v.base)[i] = 10 * me + i;
	memcpy(c, "image   ", 8);
	c[6] = (char)('0' + me);
	sync();
}

/* ---- Accessors ------------------------------------------------------------------------------- */

struct subscripts {
	int n, i[3];
};

/* a(i), with i among the caller's variables */
static void get_element(const struct subscripts *add, const int *image, void **to, int32_t *fresh,
	const struct caf_desc *x, void *token, size_t offset)
{
	(void)image, (void)token, (void)offset;
	*to = (int *)x->base + (add->i[0] - 1);
	*fresh = 0;
}

/* The caller's image, in memory that the accessor allocates. */
static void get_caller(void *add, const int *image, void **to, int32_t *fresh)
{
	(void)add;
	*to = malloc(sizeof(int));
	memcpy(*to, image, sizeof(int));
	*fresh = 1;
}

static int *fit(struct caf_desc *to, int n)
{
	if (!to->base || to->dim[0].upper - to->dim[0].lower + 1 != n) {
		describe(to, CAF_INTEGER, sizeof(int), 0);
		to->base = malloc((size_t)n * sizeof(int)); /* what was there is not from malloc */
		to->dim[0].upper = n;
	}
	return (int *)to->base + 1 + (ptrdiff_t)to->offset; /* the element of subscript 1 */
}

/* a(vector), or all of a without one */
static void get_vector(struct subscripts *add, const int *image, struct caf_desc *to,
	int32_t *fresh, const struct caf_desc *x)
{
	void *before = to->base;
	int n = add ? add->n : (int)(x->dim[0].upper - x->dim[0].lower + 1), *at = fit(to, n);
	(void)image;
	for (int i = 0; i < n; i++) at[i] = ((const int *)x->base)[add ? add->i[i] - 1 : i];
	if (add)
		add->n = -1; /* the caller does not see it on another node */
	*fresh = to->base != before;
}

/* b(2)%v */
static void get_component(void *add, const int *image, struct caf_desc *to, int32_t *fresh,
	const struct node *x)
{
	void *before = to->base;
	(void)add, (void)image;
	if (!x[1].v.base)
		return;
	memcpy(fit(to, 4), x[1].v.base, 4 * sizeof(int));
	*fresh = to->base != before;
}

static void get_text(void *add, const int *image, void **to, int32_t *fresh, char *x, void *token,
	size_t offset, size_t *length, const size_t *x_length)
{
	(void)add, (void)image, (void)token, (void)offset;
	*length = *x_length;
	*to = x;
	*fresh = 0;
}

static void get_node(void *add, const int *image, void **to, int32_t *fresh, struct node *x)
{
	(void)add, (void)image;
	*to = &x[1];
	*fresh = 0;
}

/* b(2)%p */
static void get_pointed(void *add, const int *image, void **to, int32_t *fresh,
	const struct node *x)
{
	(void)add, (void)image;
	*to = x[1].p;
	*fresh = 0;
}

static void put_element(const struct subscripts *add, const int *image, struct caf_desc *x,
	const int *value)
{
	(void)image;
	((int *)x->base)[add->i[0] - 1] = *value;
}

/* a(first:) = value */
static void put_section(const struct subscripts *add, const int *image, struct caf_desc *x,
	const struct caf_desc *value)
{
	int *to = (int *)x->base + (add ? add->i[0] - 1 : 0);
	(void)image;
	for (ptrdiff_t i = value->dim[0].lower; i <= value->dim[0].upper; i++)
		*to++ = ((const int *)
				 value->base)[(ptrdiff_t)value->offset + i * value->dim[0].stride];
}

static void put_text(void *add, const int *image, char *x, const char *value, void *token,
	size_t offset, const size_t *x_length, const size_t *length)
{
	(void)add, (void)image, (void)token, (void)offset;
	size_t n = *length < *x_length ? *length : *x_length;
	memmove(x, value, n);
	memset(x + n, ' ', *x_length - n);
}

static void put_node(void *add, const int *image, struct node *x, const struct node *value)
{
	(void)add, (void)image;
	x[2].k = value->k;
}

static void has_component(const struct subscripts *add, const int *image, int32_t *present,
	const struct node *x)
{
	(void)image;
	*present = x[add->i[0] - 1].v.base != NULL;
}

static void has_descriptor(void *add, const int *image, int32_t *present, const struct caf_desc *x)
{
	(void)add, (void)image;
	*present = x->dim[0].upper == N && ((const int *)x->base)[0] != 0;
}

enum {
	ELEMENT,
	CALLER,
	VECTOR,
	COMPONENT,
	TEXT,
	NODE,
	POINTED,
	PUT_ELEMENT,
	PUT_SECTION,
	PUT_TEXT,
	PUT_NODE,
	HAS_COMPONENT,
	HAS_DESCRIPTOR,
	ALL
};
static int at[ALL];

static void accessors(void)
{
	void (*f[ALL])(void) = {(void (*)(void))get_element, (void (*)(void))get_caller,
		(void (*)(void))get_vector, (void (*)(void))get_component, (void (*)(void))get_text,
		(void (*)(void))get_node, (void (*)(void))get_pointed, (void (*)(void))put_element,
		(void (*)(void))put_section, (void (*)(void))put_text, (void (*)(void))put_node,
		(void (*)(void))has_component, (void (*)(void))has_descriptor};
	for (int i = 0; i < 200; i++) {
		/* more than the first table holds, in no order, in two parts */
		_gfortran_caf_register_accessor(i * 7919 % 200 + 1000000, f[0]);
		if (i < ALL)
			_gfortran_caf_register_accessor(-7 * i + 100 * (i % 3), f[i]);
		if (i == 100)
			_gfortran_caf_register_accessors_finish();
	}
	_gfortran_caf_register_accessors_finish();
	for (int i = 0; i < ALL; i++) {
		at[i] = _gfortran_caf_get_remote_function_index(-7 * i + 100 * (i % 3));
		check(at[i] >= 0, "index of an accessor");
	}
	check(_gfortran_caf_get_remote_function_index(5) == -1, "index of no accessor");
}

#endif
