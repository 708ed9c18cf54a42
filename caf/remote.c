/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gets, puts and inquiries at other images as gfortran 15 and later compiles them (see remote.h). On a node the program's function
 * runs right here, on the memory of the other image, which is mapped at the same address; components are in such memory too. What
 * only a pointer component reaches need not be: LIBCAF_ARMCI_ACCESSORS=target lets accesses to derived types run at the image
 * accessed, as on other nodes.
 */
#include <gpc.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"

/* By rank: whether accesses to any type, or to derived types, run here. */
enum { PLAIN_HERE = 1, DERIVED_HERE = 2 };
static unsigned char *reach;
int caf_remote_handler; /* of remote_call.c */

/* Collective: all images call it when they start. */
void caf_remote_start(void)
{
	const char *setting = getenv("LIBCAF_ARMCI_ACCESSORS");
	bool target = setting && strcmp(setting, "target") == 0;
	if (setting && !target && strcmp(setting, "caller") != 0 && caf.me == 0)
		caf_fatal("LIBCAF_ARMCI_ACCESSORS is caller or target, not \"%s\"", setting);
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

static bool runs_here(const struct caf_access *a)
{
	bool derived = a->token->type == CAF_DERIVED || a->token->type == CAF_CLASS;
	return reach[a->rank] & (derived ? DERIVED_HERE : PLAIN_HERE);
}

static void no_team(int *stat, const char *what, const int *number)
{
	if (number)
		caf_error(CAF_NO_ACCESS, stat, NULL, 0, "%s: there is no team %d", what, *number);
	else
		caf_error(CAF_NO_ACCESS, stat, NULL, 0, "%s: TEAM= is not a team", what);
}

/* The image, the coarray on it and the accessor. False: reported that they are not there. */
static bool aim(struct caf_access *a, struct caf_token *t, const struct caf_desc *desc, int image, int accessor, int *stat,
	void *const *team, const int *number, const char *what)
{
	const struct caf_team *in = unlikely(team || number) ? caf_access_team(team, number) : caf.current;
	if (unlikely(!in)) {
		no_team(stat, what, number);
		return false;
	}
	a->accessor = caf_accessor_at(accessor);
	a->token = t;
	a->rank = likely((unsigned)(image - 1) < (unsigned)in->n) ? in->rank[image - 1] : -1;
	a->caller = caf.current->me + 1;
	if (unlikely(!a->accessor))
		caf_error(CAF_NO_ACCESS, stat, NULL, 0, "%s: the program has not registered the function for it (index %d)", what, accessor);
	else if (unlikely(!t || !t->at))
		caf_error(CAF_NO_ACCESS, stat, NULL, 0, "%s: the variable is not an allocated coarray", what);
	else if (unlikely(a->rank < 0))
		caf_error(CAF_NO_ACCESS, stat, NULL, 0, "%s: there is no image %d: the team has %d", what, image, in->n);
	else if (unlikely(*caf.ended && a->rank != caf.me && caf_state(a->rank) == CAF_FAILED_IMAGE))
		caf_error(CAF_FAILED_IMAGE, stat, NULL, 0, "%s: image %d has failed", what, image);
	else if (unlikely(!t->at[a->rank]))
		caf_error(CAF_NO_ACCESS, stat, NULL, 0, "%s: image %d has no part of the coarray", what, image);
	else {
		a->view.form = desc ? CAF_DESCRIPTOR : CAF_MEMORY;
		a->view.desc = desc;
		a->view.bytes = t->bytes;
		/* A dummy argument's descriptor may begin inside the coarray. */
		size_t skip = desc && t->own ? (size_t)((char *)desc->base - t->own) : 0;
		a->view.base = caf_at(t, a->rank, skip < t->bytes ? skip : 0);
		return true;
	}
	return false;
}

static void report(int code, const struct caf_access *a, int *stat, const char *what)
{
	if (!code)
		caf_success(stat);
	else if (code == CAF_FAILED_IMAGE)
		caf_error(code, stat, NULL, 0, "%s: the image (rank %d) has failed", what, a->rank);
	else if (code == CAF_ALLOCATION)
		caf_error(code, stat, NULL, 0, "%s: no memory for the value at rank %d or here", what, a->rank);
	else
		caf_error(code, stat, NULL, 0, "%s: rank %d could not answer: what is accessed is not allocated, or has another shape", what,
			a->rank);
}

/* Bytes of a scalar. */
static size_t scalar_bytes(size_t size, const size_t *length) { return length ? size * *length : size; }

/* Calls the getter here. A buffer is the address of a pointer, or a descriptor. */
static int32_t get_here(const struct caf_access *a, void *buffer, size_t *length)
{
	struct caf_passed p;
	int32_t fresh = 0;
	const size_t *object = a->object_length;
	a->accessor->run.get(a->add, &a->caller, buffer, &fresh, caf_pass(&p, &a->view), a->token, 0, length ? length : (size_t *)object,
		object ? object : length);
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
		return CAF_NO_ACCESS;
	if (*to && bytes <= room)
		memcpy(*to, p, bytes);
	else
		*to = p; /* where it is, until the image changes it */
	if (fresh && *to != p)
		free(p);
	return 0;
}

/* The array that a getter has made, where the program has memory for one of the same size, or takes any. */
static int take_array(struct caf_desc *to, const struct caf_desc *from, bool any)
{
	struct caf_desc shape;
	if (to->base && !any) {
		if (caf_packed(&shape, to) != caf_packed(&shape, from))
			return CAF_NO_ACCESS;
		caf_unpack(to, from->base);
		free(from->base);
		return 0;
	}
	if (to->base != from->base)
		free(to->base);
	memcpy(to, from, offsetof(struct caf_desc, dim) + (size_t)to->dtype.rank * sizeof to->dim[0]);
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
	struct caf_found f = {.room = *to, .room_bytes = *to ? bytes : 0, .length = length ? *length : 0};
	int code = caf_call_get(a, &f, size, false);
	if (code)
		return code;
	*to = f.data;
	if (length)
		*length = f.length;
	return 0;
}

static int get_array_there(const struct caf_access *a, struct caf_desc *to, size_t *length, bool any)
{
	struct caf_found f = {.length = length ? *length : 0};
	size_t bytes = caf_packed(&f.shape, to);
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
			return CAF_NO_ACCESS;
		memcpy(to, &f.shape, caf_desc_bytes(to));
		to->base = f.data;
		return 0;
	}
	f.shape.base = f.data;
	return take_array(to, &f.shape, any);
}

CAF_API void _gfortran_caf_get_from_remote(struct caf_token *token, const struct caf_desc *opt_src_desc, const size_t *opt_src_charlen,
	int image, size_t dst_size, void **dst_data, size_t *opt_dst_charlen, struct caf_desc *opt_dst_desc, bool may_realloc_dst,
	int accessor, void *add_data, size_t add_data_size, int *stat, void *const *team, const int *team_number)
{
	static const char what[] = "reference to a coindexed object";
	struct caf_access a;
	int code;
	if (unlikely(!aim(&a, token, opt_src_desc, image, accessor, stat, team, team_number, what)))
		return;
	a.add = add_data;
	a.add_bytes = add_data_size;
	a.object_length = opt_src_charlen;
	a.value_length = opt_dst_charlen;
	bool here = likely(runs_here(&a));
	if (opt_dst_desc) {
		code = here ? get_array_here(&a, opt_dst_desc, opt_dst_charlen)
			: get_array_there(&a, opt_dst_desc, opt_dst_charlen, may_realloc_dst);
		*dst_data = opt_dst_desc->base;
	} else {
		code = here ? get_scalar_here(&a, dst_size, dst_data, opt_dst_charlen)
			: get_scalar_there(&a, dst_size, dst_data, opt_dst_charlen);
	}
	if (unlikely(code))
		report(code, &a, stat, what);
	else
		caf_success(stat);
}

static void put_here(const struct caf_access *a, const void *value)
{
	struct caf_passed p;
	const size_t *object = a->object_length, *length = a->value_length;
	a->accessor->run.receive(a->add, &a->caller, caf_pass(&p, &a->view), value, a->token, 0, object ? object : length,
		length ? length : object);
}

/* On the image itself the value may be part of what is assigned to. */
static int put_copy_here(const struct caf_access *a, const struct caf_desc *value)
{
	struct caf_desc copy;
	size_t bytes = caf_packed(&copy, value);
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

static int put(const struct caf_access *a, const struct caf_desc *desc, const void *scalar, size_t size)
{
	if (unlikely(!runs_here(a)))
		return caf_call_put(a, desc, scalar, desc ? 0 : scalar_bytes(size, a->value_length));
	if (desc && a->rank == caf.me)
		return put_copy_here(a, desc);
	put_here(a, desc ? (const void *)desc : scalar);
	return 0;
}

CAF_API void _gfortran_caf_send_to_remote(struct caf_token *token, struct caf_desc *opt_dst_desc, const size_t *opt_dst_charlen, int image,
	size_t src_size, const void *src_data, const size_t *opt_src_charlen, const struct caf_desc *opt_src_desc, int accessor,
	void *add_data, size_t add_data_size, int *stat, void *const *team, const int *team_number)
{
	static const char what[] = "assignment to a coindexed object";
	struct caf_access a;
	if (unlikely(!aim(&a, token, opt_dst_desc, image, accessor, stat, team, team_number, what)))
		return;
	a.add = add_data;
	a.add_bytes = add_data_size;
	a.object_length = opt_dst_charlen;
	a.value_length = opt_src_charlen;
	int code = put(&a, opt_src_desc, src_data, src_size);
	if (unlikely(code))
		report(code, &a, stat, what);
	else
		caf_success(stat);
}

/* There is no descriptor: the coarray's own has the bounds, which are the same on all images. */
CAF_API int32_t _gfortran_caf_is_present_on_remote(struct caf_token *token, int image, int accessor, void *add_data, size_t add_data_size)
{
	static const char what[] = "ALLOCATED or ASSOCIATED of a coindexed object";
	struct caf_access a;
	int32_t present = 0;
	if (!aim(&a, token, token ? token->desc : NULL, image, accessor, NULL, NULL, NULL, what))
		return 0;
	a.add = add_data;
	a.add_bytes = add_data_size;
	a.object_length = a.value_length = NULL;
	if (a.view.form == CAF_MEMORY && token->bytes <= token->elem && caf_gfortran_16())
		a.view.form = CAF_POINTER;
	if (runs_here(&a)) {
		struct caf_passed p;
		a.accessor->run.present(add_data, &a.caller, &present, caf_pass(&p, &a.view), token, 0);
		free(p.copy);
		return present;
	}
	report(caf_call_present(&a, &present), &a, NULL, what);
	return present;
}

/* ---- From one image to another ----------------------------------------------------------------------------------- */

/* The sizes that the compiler passes are not those of the value, which may be less, but more only by the size of an element. */
static int transfer_scalar(struct caf_access *from, struct caf_access *to, size_t size)
{
	size_t length = from->object_length ? *from->object_length : 0;
	size_t *has_length = from->object_length ? &length : NULL;
	struct caf_found f = {.length = length};
	int32_t fresh = 0;
	if (!has_length && size < from->token->elem)
		size = from->token->elem;
	if (runs_here(from)) {
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
		return CAF_NO_ACCESS;
	to->value_length = has_length;
	int code = put(to, NULL, f.data, size);
	if (fresh)
		free(f.data);
	return code;
}

static int transfer_array(struct caf_access *from, struct caf_access *to)
{
	size_t length = from->object_length ? *from->object_length : 0;
	size_t *has_length = from->object_length ? &length : NULL;
	struct caf_found f = {.length = length};
	int32_t fresh = 1;
	if (runs_here(from)) {
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
		return CAF_NO_ACCESS;
	to->value_length = has_length;
	int code = put(to, &f.shape, NULL, 0);
	if (fresh)
		free(f.shape.base);
	return code;
}

/* Optional arguments of a transfer. */
struct options {
	int *dst_stat, *src_stat;
	void *const *dst_team, *const *src_team;
	const int *dst_number, *src_number;
};

/* gfortran 15 passes four of them in another order, and none of the source's team. */
static void sort_options(struct options *o)
{
	if (caf_gfortran_16())
		return;
	void *const *team = (void *const *)(void *)o->src_stat;
	const int *number = (const int *)(const void *)o->dst_team;
	int *src_stat = (int *)(uintptr_t)o->dst_number;
	*o = (struct options){.dst_stat = o->dst_stat, .src_stat = src_stat, .dst_team = team, .dst_number = number};
}

CAF_API void _gfortran_caf_transfer_between_remotes(struct caf_token *dst_token, struct caf_desc *opt_dst_desc, size_t *opt_dst_charlen,
	int dst_image, int dst_accessor, void *dst_add_data, size_t dst_add_data_size, struct caf_token *src_token,
	const struct caf_desc *opt_src_desc, const size_t *opt_src_charlen, int src_image, int src_accessor, void *src_add_data,
	size_t src_add_data_size, size_t src_size, bool scalar_transfer, int *dst_stat, int *src_stat, void *const *dst_team,
	const int *dst_team_number, void *const *src_team, const int *src_team_number)
{
	static const char what[] = "assignment between coindexed objects";
	struct options o = {dst_stat, src_stat, dst_team, src_team, dst_team_number, src_team_number};
	struct caf_access from, to;
	sort_options(&o);
	if (!aim(&from, src_token, opt_src_desc, src_image, src_accessor, o.src_stat, o.src_team, o.src_number, what) ||
		!aim(&to, dst_token, opt_dst_desc, dst_image, dst_accessor, o.dst_stat, o.dst_team, o.dst_number, what))
		return;
	from.add = src_add_data;
	from.add_bytes = src_add_data_size;
	from.object_length = opt_src_charlen;
	from.value_length = NULL;
	to.add = dst_add_data;
	to.add_bytes = dst_add_data_size;
	to.object_length = opt_dst_charlen;
	to.value_length = NULL;
	int code = scalar_transfer ? transfer_scalar(&from, &to, src_size) : transfer_array(&from, &to);
	report(code, &to, o.dst_stat, what);
	if (!code)
		caf_success(o.src_stat);
}
