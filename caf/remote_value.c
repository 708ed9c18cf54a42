/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One access to another image as gfortran 15 and later compiles it (see remote.h). On a node the
 * program's function runs right here, on the memory of the other image, which is mapped at the same
 * address; allocatable components are in such memory too. What only a pointer component reaches
 * need not be: ARMCI_CAF_ACCESSORS=target lets accesses to derived types run at the image accessed,
 * as on other nodes.
 */
#include <gpc.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"

/* By rank: whether accesses to any type, or to derived types, run here. */
enum { PLAIN_HERE = 1, DERIVED_HERE = 2 };
static unsigned char *reach;
int caf_remote_handler;

/* Collective: all images call it when they start. */
void caf_remote_start(void)
{
	const char *setting = getenv("ARMCI_CAF_ACCESSORS");
	bool target = setting && strcmp(setting, "target") == 0;
	if (setting && !target && strcmp(setting, "caller") != 0 && caf.me == 0)
		caf_fatal("ARMCI_CAF_ACCESSORS is caller or target, not \"%s\"", setting);
	reach = calloc((size_t)caf.n, 1);
	if (!reach)
		caf_fatal("no memory");
	for (int i = 0; i < caf.n; i++)
		if (ARMCI_Same_node(i))
			reach[i] = i == caf.me || !target ? PLAIN_HERE | DERIVED_HERE : PLAIN_HERE;
	caf_remote_handler = ARMCI_Gpc_register(caf_serve);
	if (!caf_remote_handler)
		caf_fatal("no room for the handler of accesses to other nodes");
}

bool caf_runs_here(const struct caf_access *a)
{
	bool derived = a->token->type == CAF_DERIVED || a->token->type == CAF_CLASS;
	return reach[a->rank] & (derived ? DERIVED_HERE : PLAIN_HERE);
}

/* Bytes of a scalar. */
static size_t scalar_bytes(size_t size, const size_t *length)
{
	return length ? size * *length : size;
}

/* Calls the getter here. A buffer is the address of a pointer, or a descriptor. */
static int32_t get_here(const struct caf_access *a, void *buffer, size_t *length)
{
	struct caf_passed p;
	int32_t fresh = 0;
	const size_t *object = a->object_length;
	a->accessor->run.get(a->add, &a->caller, buffer, &fresh, caf_pass(&p, &a->view), a->token,
		0, length ? length : (size_t *)object, object ? object : length);
	return fresh;
}

static int get_scalar_here(const struct caf_access *a, size_t size, void **to, size_t *length)
{
	size_t room = scalar_bytes(size, length);
	void *p = *to;
	int32_t fresh = get_here(a, &p, length);
	size_t bytes = scalar_bytes(size, length);
	if (p == *to || !bytes)
		return 0;
	if (!p)
		return CAF_ACCESS_ERROR;
	if (*to && bytes <= room)
		memcpy(*to, p, bytes);
	else
		*to = p; /* where it is, until the image changes it */
	if (fresh && *to != p)
		free(p);
	return 0;
}

/* The array that a getter has made, where the program has memory for one of the same size, or takes
 * any. */
static int take_array(struct caf_desc *to, const struct caf_desc *from, bool any)
{
	struct caf_desc shape;
	if (to->base && !any) {
		if (caf_packed_shape(&shape, to) != caf_packed_shape(&shape, from))
			return CAF_ACCESS_ERROR;
		caf_unpack(to, from->base);
		free(from->base);
		return 0;
	}
	if (to->base != from->base)
		free(to->base);
	memcpy(to, from,
		offsetof(struct caf_desc, dim) + (size_t)to->dtype.rank * sizeof to->dim[0]);
	return 0;
}

static int get_array_here(const struct caf_access *a, struct caf_desc *to, size_t *length)
{
	struct caf_desc d;
	caf_from_one(&d, to);
	get_here(a, &d, length);
	if (d.base != to->base) /* the getter has allocated it */
		memcpy(to, &d, caf_desc_bytes(to));
	return 0;
}

static int get_scalar_there(const struct caf_access *a, size_t size, void **to, size_t *length)
{
	size_t bytes = scalar_bytes(size, length);
	struct caf_found f = {.room = *to,
		.room_bytes = *to ? bytes : 0,
		.length = length ? *length : 0};
	int code = caf_call_get(a, &f, size, false);
	if (code)
		return code;
	*to = f.data;
	if (length)
		*length = f.length;
	return 0;
}

static int get_array_there(const struct caf_access *a, struct caf_desc *to, size_t *length,
	bool any)
{
	struct caf_found f = {.length = length ? *length : 0};
	size_t bytes = caf_packed_shape(&f.shape, to);
	f.shape.base = to->base;
	bool in_place = to->base && !caf_has_gaps(to);
	if (in_place) {
		f.room = to->base;
		f.room_bytes = bytes;
	}
	int code = caf_call_get(a, &f, 0, false);
	if (code)
		return code;
	if (length)
		*length = f.length;
	if (in_place && f.data == to->base && f.bytes == bytes)
		return 0;
	if (f.data == to->base) { /* fewer elements */
		if (!any)
			return CAF_ACCESS_ERROR;
		memcpy(to, &f.shape, caf_desc_bytes(to));
		to->base = f.data;
		return 0;
	}
	f.shape.base = f.data;
	return take_array(to, &f.shape, any);
}

int caf_get_scalar(const struct caf_access *a, size_t size, void **to, size_t *length)
{
	return likely(caf_runs_here(a)) ? get_scalar_here(a, size, to, length) :
					  get_scalar_there(a, size, to, length);
}

int caf_get_array(const struct caf_access *a, struct caf_desc *to, size_t *length, bool any)
{
	return likely(caf_runs_here(a)) ? get_array_here(a, to, length) :
					  get_array_there(a, to, length, any);
}

static void put_here(const struct caf_access *a, const void *value)
{
	struct caf_passed p;
	const size_t *object = a->object_length, *length = a->value_length;
	a->accessor->run.receive(a->add, &a->caller, caf_pass(&p, &a->view), value, a->token, 0,
		object ? object : length, length ? length : object);
}

/* On the image itself the value may be part of what is assigned to. */
static int put_copy_here(const struct caf_access *a, const struct caf_desc *value)
{
	struct caf_desc copy;
	size_t bytes = caf_packed_shape(&copy, value);
	char small[1024];
	copy.base = bytes <= sizeof small ? small : malloc(bytes);
	if (!copy.base)
		return CAF_ALLOCATION;
	caf_pack(copy.base, value);
	put_here(a, &copy);
	if (copy.base != small)
		free(copy.base);
	return 0;
}

int caf_put_value(const struct caf_access *a, const struct caf_desc *desc, const void *scalar,
	size_t size)
{
	if (unlikely(!caf_runs_here(a)))
		return caf_call_put(a, desc, scalar,
			desc ? 0 : scalar_bytes(size, a->value_length));
	if (desc && a->rank == caf.me)
		return put_copy_here(a, desc);
	put_here(a, desc ? (const void *)desc : scalar);
	return 0;
}

/* The sizes that the compiler passes are not those of the value, which may be less, but more only
 * by the size of an element. */
int caf_transfer_scalar(struct caf_access *from, struct caf_access *to, size_t size)
{
	size_t length = from->object_length ? *from->object_length : 0;
	size_t *has_length = from->object_length ? &length : NULL;
	struct caf_found f = {.length = length};
	int32_t fresh = 0;
	if (!has_length && size < from->token->elem)
		size = from->token->elem;
	if (caf_runs_here(from)) {
		fresh = get_here(from, &f.data, has_length);
	} else {
		from->value_length = has_length;
		int code = caf_call_get(from, &f, size, true);
		if (code)
			return code;
		fresh = 1;
		length = f.length;
	}
	if (!f.data)
		return CAF_ACCESS_ERROR;
	to->value_length = has_length;
	int code = caf_put_value(to, NULL, f.data, size);
	if (fresh)
		free(f.data);
	return code;
}

int caf_transfer_array(struct caf_access *from, struct caf_access *to)
{
	size_t length = from->object_length ? *from->object_length : 0;
	size_t *has_length = from->object_length ? &length : NULL;
	struct caf_found f = {.length = length};
	int32_t fresh = 1;
	if (caf_runs_here(from)) {
		fresh = get_here(from, &f.shape, has_length);
	} else {
		from->value_length = has_length;
		int code = caf_call_get(from, &f, 0, false);
		if (code)
			return code;
		f.shape.base = f.data;
		length = f.length;
	}
	if (!f.shape.base)
		return CAF_ACCESS_ERROR;
	to->value_length = has_length;
	int code = caf_put_value(to, &f.shape, NULL, 0);
	if (fresh)
		free(f.shape.base);
	return code;
}
