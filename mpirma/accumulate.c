// SPDX-License-Identifier: BSD-3-Clause
// MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op, MPI_Compare_and_swap and the forms with
// requests. All of them change memory under the accumulate locks of the target's node, so that they
// are atomic with respect to each other whatever the operator and the way, and take effect in the
// order of the calls. The origin's buffer may be used again when they return; what they fetch from
// another node is there after the next synchronisation, or when the request has been waited for.
#include "window.h"

#include "_cgo_export.h"

// A longer update could fail after a part of it was done.
enum { MOST_BY_KERNEL = 4096 };

// What an accumulate has beyond a transfer.
struct extra {
	handle op;
	bool fetches;
	void *result;
	count_t result_count;
	handle result_type;
	void *request;
};

// number: what to wait for, if there is a request; 0: nothing.
static int by_go(struct rma_access *a, const struct rma_args *g, const struct extra *x, int op,
	const struct rma_type *result, int32_t *number)
{
	struct rma_call c = {.kind = RMA_UPDATE,
		.proc = a->t->world,
		.op = op,
		.element = a->there->element,
		.trusted = a->trusted,
		.fetches = x->fetches,
		.explicit_wait = x->request != NULL,
		.local = {(uintptr_t)g->origin, a->origin_count, a->origin},
		.remote = {a->addr, a->there_count, a->there},
		.result = {(uintptr_t)x->result, x->result_count, result}};
	int failed = rma_go_error(a->w, g->function, mpirmago_call(&c), c.text);
	rma_note(a->w, g->target);
	*number = c.number;
	return failed;
}

// Checks that operator, types and sizes go together.
static int check(struct rma_access *a, const struct rma_args *g, const struct extra *x, int op,
	const struct rma_type *result)
{
	struct rma_win *w = a->w;
	int64_t there = a->there->size * a->there_count;
	if (op < 0 || (op == K_U_NOOP && !x->fetches))
		return rma_error(w, g->function, abi.err_op, "op: not a predefined operator of %s",
			g->function);
	if (a->there->element < 0)
		return rma_error(w, g->function, abi.err_type,
			"target_datatype: not of one predefined type");
	if (!k_update_valid(op, a->there->element))
		return rma_error(w, g->function, abi.err_op,
			"op: not defined for the type of target_datatype");
	if (op != K_U_NOOP && a->origin->element != a->there->element)
		return rma_error(w, g->function, abi.err_type,
			"origin_datatype: of another predefined type than target_datatype");
	if (op != K_U_NOOP && a->origin->size * a->origin_count != there)
		return rma_error(w, g->function, abi.err_type,
			"origin_count: %ld bytes, where the target has %ld",
			(long)(a->origin->size * a->origin_count), (long)there);
	if (x->fetches && (!result || result->element != a->there->element))
		return rma_error(w, g->function, abi.err_type,
			"result_datatype: of another predefined type than target_datatype");
	if (x->fetches && result->size * x->result_count != there)
		return rma_error(w, g->function, abi.err_type,
			"result_count: %ld bytes, where the target has %ld",
			(long)(result->size * x->result_count), (long)there);
	return RMA_OK;
}

// Consecutive elements in private memory of another process. Where it fails Go says why.
static bool by_kernel(struct rma_access *a, const void *origin, void *result, int op)
{
	struct shm_update u = {a->t->local, false, &job.stripes, op, a->there->element};
	struct k_segment run = {a->addr, a->there_count * a->there->bytes};
	return a->t->by_kernel && run.bytes <= MOST_BY_KERNEL &&
		shm_foreign_update(&u, &run, 1, origin, result) == 0;
}

static int accumulate(struct rma_access *a, const struct rma_args *g, const struct extra *x,
	int32_t *number)
{
	int op = rma_op(x->op);
	const struct rma_type *result = x->fetches ? rma_type(x->result_type) : NULL;
	int failed = check(a, g, x, op, result);
	if (unlikely(failed))
		return failed;
	bool dense = a->there->dense && (op == K_U_NOOP || a->origin->dense) &&
		(!x->fetches || result->dense);
	if (!a->direct && dense && by_kernel(a, g->origin, x->result, op))
		return RMA_OK;
	if (!a->direct || !dense)
		return by_go(a, g, x, op, result, number);
	size_t n = (size_t)(a->there_count * a->there->bytes) / (size_t)a->there->element_bytes;
	k_update(&job.stripes, op, a->there->element, (void *)a->addr, g->origin, x->result, n);
	return RMA_OK;
}

static int start(struct rma_args *g, struct rma_win *w, const struct extra *x)
{
	struct rma_access a;
	int32_t number = 0;
	if (x->op == abi.op_no_op) { // the origin's arguments mean nothing
		g->origin_type = g->there_type;
		g->origin_count = g->there_count;
	}
	int failed = rma_reach(&a, w, g);
	if (!failed && x->fetches && x->result_count < 0)
		failed = rma_error(w, g->function, abi.err_count, "result_count: %ld is negative",
			(long)x->result_count);
	if (!failed && !a.nothing)
		failed = accumulate(&a, g, x, &number);
	return failed || !x->request ? failed : rma_request(w, g->function, number, x->request);
}

#define ARGS(name) \
	(&(struct rma_args){"MPI_" name, origin, origin_count, rma_handle(origin_type), target, \
		disp, target_count, rma_handle(target_type)})
#define ORIGIN(count) const void *origin, count origin_count, handle origin_type
#define TARGET(count) int target, aint disp, count target_count, handle target_type
#define FETCH(count)  void *result, count result_count, handle result_type

#define ACCUMULATE(name, count) \
	PUBLIC int PMPI_##name(ORIGIN(count), TARGET(count), handle op, handle win) \
	{ \
		struct rma_win *w = rma_find(rma_handle(win)); \
		return w ? start(ARGS(#name), w, &(struct extra){.op = rma_handle(op)}) : \
			   real.name(origin, origin_count, origin_type, target, disp, \
				   target_count, target_type, op, win); \
	} \
	RMA_ALIAS(name)

#define RACCUMULATE(name, count) \
	PUBLIC int PMPI_##name(ORIGIN(count), TARGET(count), handle op, handle win, void *request) \
	{ \
		struct rma_win *w = rma_find(rma_handle(win)); \
		return w ? start(ARGS(#name), w, \
				   &(struct extra){.op = rma_handle(op), .request = request}) : \
			   real.name(origin, origin_count, origin_type, target, disp, \
				   target_count, target_type, op, win, request); \
	} \
	RMA_ALIAS(name)

#define GET_ACCUMULATE(name, count) \
	PUBLIC int PMPI_##name(ORIGIN(count), FETCH(count), TARGET(count), handle op, handle win) \
	{ \
		struct rma_win *w = rma_find(rma_handle(win)); \
		return w ? start(ARGS(#name), w, \
				   &(struct extra){.op = rma_handle(op), \
					   .fetches = true, \
					   .result = result, \
					   .result_count = result_count, \
					   .result_type = rma_handle(result_type)}) : \
			   real.name(origin, origin_count, origin_type, result, result_count, \
				   result_type, target, disp, target_count, target_type, op, win); \
	} \
	RMA_ALIAS(name)

#define RGET_ACCUMULATE(name, count) \
	PUBLIC int PMPI_##name(ORIGIN(count), FETCH(count), TARGET(count), handle op, handle win, \
		void *request) \
	{ \
		struct rma_win *w = rma_find(rma_handle(win)); \
		return w ? start(ARGS(#name), w, \
				   &(struct extra){.op = rma_handle(op), \
					   .fetches = true, \
					   .result = result, \
					   .result_count = result_count, \
					   .result_type = rma_handle(result_type), \
					   .request = request}) : \
			   real.name(origin, origin_count, origin_type, result, result_count, \
				   result_type, target, disp, target_count, target_type, op, win, \
				   request); \
	} \
	RMA_ALIAS(name)

ACCUMULATE(Accumulate, int)
ACCUMULATE(Accumulate_c, count_t)
RACCUMULATE(Raccumulate, int)
RACCUMULATE(Raccumulate_c, count_t)
GET_ACCUMULATE(Get_accumulate, int)
GET_ACCUMULATE(Get_accumulate_c, count_t)
RGET_ACCUMULATE(Rget_accumulate, int)
RGET_ACCUMULATE(Rget_accumulate_c, count_t)

PUBLIC int PMPI_Fetch_and_op(const void *origin, void *result, handle type, int target, aint disp,
	handle op, handle win)
{
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Fetch_and_op(origin, result, type, target, disp, op, win);
	handle t = rma_handle(type);
	return start(&(struct rma_args){"MPI_Fetch_and_op", origin, 1, t, target, disp, 1, t}, w,
		&(struct extra){.op = rma_handle(op),
			.fetches = true,
			.result = result,
			.result_count = 1,
			.result_type = t});
}
RMA_ALIAS(Fetch_and_op)

static int compare_and_swap(struct rma_access *a, const struct rma_args *g, const void *compare,
	void *result)
{
	int element = a->there->element;
	// integers, logicals, bytes
	bool whole = element >= 0 && (element == K_BYTES || k_update_valid(K_U_LAND, element));
	if (!whole || !a->there->dense || a->there->size != a->there->element_bytes)
		return rma_error(a->w, g->function, abi.err_type,
			"datatype: not a predefined integer, logical or byte type");
	if (a->direct) {
		k_compare_swap(&job.stripes, (size_t)a->there->size, (void *)a->addr, compare,
			g->origin, result);
		return RMA_OK;
	}
	struct rma_call c = {.kind = RMA_CAS,
		.proc = a->t->world,
		.trusted = a->trusted,
		.element = element,
		.local = {(uintptr_t)g->origin, 1, a->origin},
		.remote = {a->addr, 1, a->there},
		.result = {(uintptr_t)result, 1, a->there},
		.compare = compare};
	return rma_go_error(a->w, g->function, mpirmago_call(&c), c.text);
}

PUBLIC int PMPI_Compare_and_swap(const void *origin, const void *compare, void *result, handle type,
	int target, aint disp, handle win)
{
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Compare_and_swap(origin, compare, result, type, target, disp, win);
	handle t = rma_handle(type);
	struct rma_args g = {"MPI_Compare_and_swap", origin, 1, t, target, disp, 1, t};
	struct rma_access a;
	int failed = rma_reach(&a, w, &g);
	return failed || a.nothing ? failed : compare_and_swap(&a, &g, compare, result);
}
RMA_ALIAS(Compare_and_swap)
