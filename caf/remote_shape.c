/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays and memory as accesses to other images pass them (see remote.h): packed copies of arrays,
 * and the coarray itself. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "remote.h"

static size_t element(const struct caf_desc *d)
{
	return d->dtype.elem_len ? d->dtype.elem_len : (size_t)d->span;
}

void caf_from_one(struct caf_desc *to, const struct caf_desc *from)
{
	memcpy(to, from, caf_desc_bytes(from));
	to->offset = 0;
	for (int i = 0; i < from->dtype.rank; i++) {
		to->dim[i].lower = 1;
		to->dim[i].upper = from->dim[i].upper - from->dim[i].lower + 1;
		to->offset -= (size_t)from->dim[i].stride;
	}
}

size_t caf_packed_shape(struct caf_desc *to, const struct caf_desc *from)
{
	ptrdiff_t stride = 1;
	caf_from_one(to, from);
	to->base = NULL;
	to->offset = 0;
	to->span = (ptrdiff_t)element(from);
	for (int i = 0; i < from->dtype.rank; i++) {
		to->dim[i].stride = stride;
		to->offset -= (size_t)stride;
		stride *= to->dim[i].upper > 0 ? to->dim[i].upper : 0;
	}
	return (size_t)stride * element(from);
}

bool caf_has_gaps(const struct caf_desc *d)
{
	ptrdiff_t stride = 1;
	if (d->span && d->span != (ptrdiff_t)element(d))
		return true;
	for (int i = 0; i < d->dtype.rank; i++) {
		ptrdiff_t count = d->dim[i].upper - d->dim[i].lower + 1;
		if (count != 1 && d->dim[i].stride != stride)
			return true;
		stride *= count > 0 ? count : 0;
	}
	return false;
}

/* The sections of an array and of a packed copy of it. */
static size_t both(struct caf_section *array, struct caf_section *packed, const struct caf_desc *d,
	void *memory)
{
	struct caf_desc shape;
	size_t bytes = caf_packed_shape(&shape, d);
	shape.base = memory;
	shape.dtype.elem_len = element(d);
	caf_section_of(array, d);
	array->elem = element(d);
	caf_section_of(packed, &shape);
	return bytes;
}

void caf_pack(void *to, const struct caf_desc *d)
{
	struct caf_section array, packed;
	size_t bytes = both(&array, &packed, d, to);
	if (!bytes)
		return;
	if (caf_has_gaps(d))
		caf_copy_section(&packed, &array);
	else
		memcpy(to, d->base, bytes);
}

void caf_unpack(const struct caf_desc *d, void *from)
{
	struct caf_section array, packed;
	size_t bytes = both(&array, &packed, d, from);
	if (!bytes)
		return;
	if (caf_has_gaps(d))
		caf_copy_section(&array, &packed);
	else
		memcpy(d->base, from, bytes);
}

/* The kernel stops where no memory is mapped. One piece per page, since it copies pieces as a
 * whole. */
size_t caf_copy_readable(void *to, const void *from, size_t n)
{
	enum { PIECES = 64 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), done = page - (uintptr_t)from % page;
	if (done >= n) {
		memcpy(to, from, n);
		return n;
	}
	memcpy(to, from, done);
	while (done < n) {
		struct iovec piece[PIECES], local = {(char *)to + done, 0};
		int k = 0;
		for (; k < PIECES && done + local.iov_len < n; k++) {
			size_t at = done + local.iov_len, left = n - at;
			piece[k] = (struct iovec){(char *)(uintptr_t)from + at,
				left < page ? left : page};
			local.iov_len += piece[k].iov_len;
		}
		ssize_t got = process_vm_readv(getpid(), &local, 1, piece, (unsigned long)k, 0);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/*
 * Of a scalar, one cannot tell apart what presence functions of gfortran 16 take: a pointer to a
 * pointer to it, or, if it is an array of one element, a pointer to its memory. So they get a copy
 * of it in which a pointer to it takes the place of the first word.
 */
static void *pass_pointer(struct caf_passed *p, const struct caf_view *v)
{
	p->copy = malloc(v->bytes + sizeof(char *));
	if (!p->copy)
		caf_fatal("no memory for a copy of a coarray of %zu bytes", v->bytes);
	memcpy(p->copy, v->base, v->bytes);
	memcpy(p->copy, &v->base, sizeof v->base);
	return p->copy;
}

void *caf_pass(struct caf_passed *p, const struct caf_view *v)
{
	p->copy = NULL;
	if (v->form == CAF_POINTER)
		return pass_pointer(p, v);
	if (v->form == CAF_MEMORY)
		return v->base;
	memcpy(&p->desc, v->desc, caf_desc_bytes(v->desc));
	p->desc.base = v->base;
	return &p->desc;
}
