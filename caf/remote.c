/* SPDX-License-Identifier: BSD-3-Clause */
/* Gets, puts and inquiries at other images as gfortran 15 and later compiles them: what the program
 * calls. See remote.h. */
#include <stdlib.h>

#include "remote.h"

static void no_team(int *stat, const char *what, const int *number)
{
	if (number)
		caf_error(CAF_ACCESS_ERROR, stat, NULL, 0, "%s: there is no team %d", what,
			*number);
	else
		caf_error(CAF_ACCESS_ERROR, stat, NULL, 0, "%s: TEAM= is not a team", what);
}

/* The image, the coarray on it and the accessor. False: reported that they are not there. */
static bool aim(struct caf_access *a, struct caf_token *t, const struct caf_desc *desc, int image,
	int accessor, int *stat, void *const *team, const int *number, const char *what)
{
	const struct caf_team *in = unlikely(team || number) ? caf_access_team(team, number) :
							       caf.current;
	if (unlikely(!in)) {
		no_team(stat, what, number);
		return false;
	}
	a->accessor = caf_accessor_at(accessor);
	a->token = t;
	a->rank = likely((unsigned)(image - 1) < (unsigned)in->n) ? in->rank[image - 1] : -1;
	a->caller = caf.current->me + 1;
	if (unlikely(!a->accessor))
		caf_error(CAF_ACCESS_ERROR, stat, NULL, 0,
			"%s: the program has not registered the function for it (index %d)", what,
			accessor);
	else if (unlikely(!t || !t->at))
		caf_error(CAF_ACCESS_ERROR, stat, NULL, 0,
			"%s: the variable is not an allocated coarray", what);
	else if (unlikely(a->rank < 0))
		caf_error(CAF_ACCESS_ERROR, stat, NULL, 0,
			"%s: there is no image %d: the team has %d", what, image, in->n);
	else if (unlikely(caf_ended() && a->rank != caf.me &&
			 caf_state(a->rank) == CAF_FAILED_IMAGE))
		caf_error(CAF_FAILED_IMAGE, stat, NULL, 0, "%s: image %d has failed", what, image);
	else if (unlikely(!t->at[a->rank]))
		caf_error(CAF_ACCESS_ERROR, stat, NULL, 0,
			"%s: image %d has no part of the coarray", what, image);
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
		caf_error(code, stat, NULL, 0, "%s: no memory for the value at rank %d or here",
			what, a->rank);
	else
		caf_error(code, stat, NULL, 0,
			"%s: rank %d could not answer: what is accessed is not allocated, or has "
			"another shape",
			what, a->rank);
}

CAF_API void _gfortran_caf_get_from_remote(struct caf_token *token,
	const struct caf_desc *opt_src_desc, const size_t *opt_src_charlen, int image,
	size_t dst_size, void **dst_data, size_t *opt_dst_charlen, struct caf_desc *opt_dst_desc,
	bool may_realloc_dst, int accessor, void *add_data, size_t add_data_size, int *stat,
	void *const *team, const int *team_number)
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
	if (opt_dst_desc) {
		code = caf_get_array(&a, opt_dst_desc, opt_dst_charlen, may_realloc_dst);
		*dst_data = opt_dst_desc->base;
	} else {
		code = caf_get_scalar(&a, dst_size, dst_data, opt_dst_charlen);
	}
	if (unlikely(code))
		report(code, &a, stat, what);
	else
		caf_success(stat);
}

CAF_API void _gfortran_caf_send_to_remote(struct caf_token *token, struct caf_desc *opt_dst_desc,
	const size_t *opt_dst_charlen, int image, size_t src_size, const void *src_data,
	const size_t *opt_src_charlen, const struct caf_desc *opt_src_desc, int accessor,
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
	int code = caf_put_value(&a, opt_src_desc, src_data, src_size);
	if (unlikely(code))
		report(code, &a, stat, what);
	else
		caf_success(stat);
}

/* gfortran 16 asks so for coarrays of the image itself, too, whether or not they are allocated.
 * There is no descriptor: the coarray's own has the bounds, which are the same on all images. */
CAF_API int32_t _gfortran_caf_is_present_on_remote(struct caf_token *token, int image, int accessor,
	void *add_data, size_t add_data_size)
{
	static const char what[] = "ALLOCATED or ASSOCIATED of a coindexed object";
	struct caf_access a;
	int32_t present = 0;
	if (!caf_live_token(token))
		return 0;
	if (!aim(&a, token, token->desc, image, accessor, NULL, NULL, NULL, what))
		return 0;
	a.add = add_data;
	a.add_bytes = add_data_size;
	a.object_length = a.value_length = NULL;
	if (a.view.form == CAF_MEMORY && token->bytes <= token->elem && caf_gfortran_16())
		a.view.form = CAF_POINTER;
	if (caf_runs_here(&a)) {
		struct caf_passed p;
		a.accessor->run.present(add_data, &a.caller, &present, caf_pass(&p, &a.view), token,
			0);
		free(p.copy);
		return present;
	}
	report(caf_call_present(&a, &present), &a, NULL, what);
	return present;
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
	*o = (struct options){.dst_stat = o->dst_stat,
		.src_stat = src_stat,
		.dst_team = team,
		.dst_number = number};
}

CAF_API void _gfortran_caf_transfer_between_remotes(struct caf_token *dst_token,
	struct caf_desc *opt_dst_desc, size_t *opt_dst_charlen, int dst_image, int dst_accessor,
	void *dst_add_data, size_t dst_add_data_size, struct caf_token *src_token,
	const struct caf_desc *opt_src_desc, const size_t *opt_src_charlen, int src_image,
	int src_accessor, void *src_add_data, size_t src_add_data_size, size_t src_size,
	bool scalar_transfer, int *dst_stat, int *src_stat, void *const *dst_team,
	const int *dst_team_number, void *const *src_team, const int *src_team_number)
{
	static const char what[] = "assignment between coindexed objects";
	struct options o = {dst_stat, src_stat, dst_team, src_team, dst_team_number,
		src_team_number};
	struct caf_access from, to;
	sort_options(&o);
	if (!aim(&from, src_token, opt_src_desc, src_image, src_accessor, o.src_stat, o.src_team,
		    o.src_number, what) ||
		!aim(&to, dst_token, opt_dst_desc, dst_image, dst_accessor, o.dst_stat, o.dst_team,
			o.dst_number, what))
		return;
	from.add = src_add_data;
	from.add_bytes = src_add_data_size;
	from.object_length = opt_src_charlen;
	from.value_length = NULL;
	to.add = dst_add_data;
	to.add_bytes = dst_add_data_size;
	to.object_length = opt_dst_charlen;
	to.value_length = NULL;
	int code = scalar_transfer ? caf_transfer_scalar(&from, &to, src_size) :
				     caf_transfer_array(&from, &to);
	report(code, &to, o.dst_stat, what);
	if (!code)
		caf_success(o.src_stat);
}
