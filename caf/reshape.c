/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives own allocatable objects the shape of what is assigned to them, as Fortran demands:
 * components of coarrays get memory that other images reach, other arrays get memory of the C
 * library, which the compiler's code frees.
 */
#include <string.h>

#include "caf.h"

static bool has_shape(const struct caf_desc *d, const struct caf_section *like)
{
	if (!d->base || d->dtype.rank != like->rank)
		return false;
	for (int i = 0; i < like->rank; i++) {
		ptrdiff_t count = d->dim[i].upper - d->dim[i].lower + 1;
		if ((count > 0 ? count : 0) != like->count[i])
			return false;
	}
	return true;
}

static void set_bounds(struct caf_desc *d, const struct caf_section *like)
{
	ptrdiff_t stride = 1;
	size_t offset = 0;
	for (int i = 0; i < like->rank; i++) {
		d->dim[i] = (struct caf_dim){.stride = stride, .lower = 1, .upper = like->count[i]};
		offset -= (size_t)stride;
		stride *= like->count[i];
	}
	d->offset = offset;
	d->span = (ptrdiff_t)d->dtype.elem_len;
}

int caf_fit(struct caf_desc *d, const struct caf_section *like)
{
	if (has_shape(d, like))
		return 0;
	if (d->dtype.rank != like->rank)
		return CAF_MOVE_SHAPE;
	if (!d->dtype.elem_len)
		d->dtype.elem_len = like->elem;
	size_t bytes = like->n * d->dtype.elem_len;
	struct caf_token *component = caf_component_of(d);
	void *p = component ? caf_heap_alloc(bytes ? bytes : 1) : malloc(bytes ? bytes : 1);
	if (!p)
		return CAF_MOVE_MEMORY;
	if (component) {
		caf_component_replace(component, p, bytes);
	} else {
		free(d->base);
	}
	d->base = p;
	set_bounds(d, like);
	return 0;
}

/* The component at the end of a path in the own memory. */
int caf_fit_component(const struct caf_path *path, const struct caf_section *like, size_t elem)
{
	struct caf_token **slot = (struct caf_token **)(void *)path->token,
			 *t = caf_live_token(*slot);
	struct caf_desc *d = (struct caf_desc *)(void *)path->holder;
	if (path->array && has_shape(d, like))
		return 0;
	if (path->array && d->dtype.rank != like->rank)
		return CAF_MOVE_SHAPE;
	size_t bytes = like->n * elem;
	void *p = caf_heap_alloc(bytes ? bytes : 1);
	if (!p)
		return CAF_MOVE_MEMORY;
	if (!t && !(t = caf_component_token(path->array ? d : NULL))) {
		caf_heap_free(p);
		return CAF_MOVE_MEMORY;
	}
	*slot = t;
	caf_component_replace(t, p, bytes);
	*(void **)(void *)path->holder = p;
	if (path->array)
		set_bounds(d, like);
	return 0;
}
