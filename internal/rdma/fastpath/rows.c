// SPDX-License-Identifier: BSD-3-Clause
// Strided and vector transfers: chains of work requests, one doorbell and one completion for each,
// where the cost model says that messages to the target's data server would not take less time.
#include "fastpath.h"

// Puts whose rows are short travel in their work requests, from any memory; all others from and to
// registered memory.
struct way {
	const struct rdma_fast_range *to;
	struct rdma_fast_local *from; // NULL: inline
	int op, request;
	int chain; // the longest
	bool own;  // the request is a new one
};

static double time_of(const struct rdma_fast_line *l, int64_t requests, int64_t bytes)
{
	return l->start + l->each * (double)requests + l->byte * (double)bytes;
}

static bool pays(const struct rdma_fast_costs *c, const struct fast_rows *r, uint64_t bytes)
{
	if (!c->known)
		return false;
	double t = time_of(&c->device, r->pieces, (int64_t)bytes);
	return t <= time_of(&c->messages, 1, (int64_t)bytes) &&
	       t <= time_of(&c->target_side, r->pieces, (int64_t)bytes);
}

// False: C cannot make the transfer.
static bool choose(struct way *w, const struct fast_transfer *t, const struct fast_rows *r, int op)
{
	bool is_inline = op == VB_WR_WRITE && r->longest <= rdma_fast.longest_inline;
	*w = (struct way){.op = op, .request = RDMA_FAST_NO_REQUEST,
		.to = rdma_fast_range_of(t->rank, r->remote_lo, r->remote_hi - r->remote_lo),
		.from = is_inline ? NULL
		                  : rdma_fast_local_of(r->local_lo, r->local_hi - r->local_lo)};
	if (!w->to || (!is_inline && !w->from) || r->longest > rdma_fast.piece)
		return false;
	w->chain = (int)rdma_fast.depth / 2;
	// Locally complete when it has been posted, which takes one chain.
	if (is_inline && r->pieces <= w->chain)
		return true;
	int32_t joined = t->blocking ? 0 : t->request;
	w->own = joined != FAST_IMPLICIT && !rdma_fast_is_open(joined);
	w->request = rdma_fast_request(joined);
	return w->request != RDMA_FAST_NO_REQUEST;
}

// Makes work requests of runs: one for each, or for several that are contiguous at the target.
// Returns how many.
static int describe(const struct way *w, const struct k_run *run, int runs, struct vb_request *r,
	struct vb_sge *data)
{
	uint64_t end = 0, bytes = 0, most = w->from ? rdma_fast.piece : rdma_fast.longest_inline;
	int n = 0;
	for (int i = 0; i < runs; i++) {
		uint64_t length = (uint64_t)run[i].bytes;
		data[i] = (struct vb_sge){.addr = run[i].local, .length = (uint32_t)length,
			.lkey = w->from ? w->from->lkey : 0};
		if (n > 0 && run[i].remote == end && r[n - 1].sges < rdma_fast.width &&
		    bytes + length <= most) {
			r[n - 1].sges++;
			bytes += length;
		} else {
			r[n++] = (struct vb_request){.remote = run[i].remote, .rkey = w->to->rkey,
				.sges = 1, .op = (uint8_t)w->op, .flags = w->from ? 0 : VB_INLINE};
			bytes = length;
		}
		end = run[i].remote + length;
	}
	return n;
}

// Posts a chain. False: the device has refused it.
static bool post_chain(const struct way *w, struct vb_request *r, int n, struct vb_sge *data)
{
	uint64_t slots = rdma_fast_slots((unsigned)n);
	int last = __builtin_ctzll(slots), posted;
	r[n - 1].id = rdma_fast_begin(last, w->to, w->from, w->request, w->op == VB_WR_WRITE);
	r[n - 1].flags |= VB_SIGNALED;
	rdma_fast.slots[last].chain = slots;
	if (vb_post(w->to->pair, r, n, data, &posted) == 0)
		return true;
	if (posted == 0) // else the slots are free when the queue pair is gone
		rdma_fast_end(r[n - 1].id, false);
	return false;
}

// Posts what there is room for. Returns how many chains; fewer than it takes if that takes long, or
// the device has refused one.
static int post_chains(const struct way *w, struct fast_rows *rows)
{
	struct k_side local = {&rows->local, rows->local_list};
	struct k_side remote = {&rows->remote, rows->remote_list};
	struct k_run run[RDMA_FAST_CHAIN];
	struct vb_request r[RDMA_FAST_CHAIN];
	struct vb_sge data[RDMA_FAST_CHAIN];
	int64_t most = w->from ? rdma_fast.piece : rdma_fast.longest_inline;
	int posted = 0;
	for (; rows->local.left > 0; posted++) {
		int runs = 0, room = rows->pieces < w->chain ? (int)rows->pieces : w->chain;
		if (!rdma_fast_await_slots(room))
			break;
		// None becomes longer than a request.
		for (; runs < room && rows->local.left > 0; runs++)
			k_cursor_runs(local, remote, &run[runs], 0, 1, most);
		if (!post_chain(w, r, describe(w, run, runs, r, data), data)) {
			if (posted > 0)
				rdma_fast_note_failure(w->request, w->to->rank);
			break;
		}
	}
	return posted;
}

static enum fast_result post_rows(struct way *w, struct fast_transfer *t, struct fast_rows *r)
{
	if (w->request != RDMA_FAST_NO_REQUEST)
		rdma_fast_hold(w->request);
	bool some = post_chains(w, r) > 0, copied = !w->from && r->local.left == 0;
	if (w->own && (copied || !some)) // no caller will wait for it
		rdma_fast_abandon(w->request);
	if (w->request != RDMA_FAST_NO_REQUEST)
		rdma_fast_let_go(w->request);
	if (!some)
		return FAST_DECLINED;
	if (w->op == VB_WR_WRITE || w->request == RDMA_FAST_IMPLICIT_PLACE)
		rdma_fast_count_store(t);
	return rdma_fast_finish(t, copied ? RDMA_FAST_NO_REQUEST : w->request);
}

static enum fast_result move_rows(struct fast_transfer *t, struct fast_rows *r, int op)
{
	struct way w;
	if (!pays(op == VB_WR_WRITE ? &rdma_fast.put_costs : &rdma_fast.get_costs, r, t->bytes) ||
	    !rdma_fast_enter())
		return FAST_DECLINED;
	enum fast_result result = choose(&w, t, r, op) ? post_rows(&w, t, r) : FAST_DECLINED;
	rdma_fast_leave();
	return result;
}

enum fast_result rdma_fast_put_rows(struct fast_transfer *t, struct fast_rows *r)
{
	return move_rows(t, r, VB_WR_WRITE);
}

enum fast_result rdma_fast_get_rows(struct fast_transfer *t, struct fast_rows *r)
{
	return move_rows(t, r, VB_WR_READ);
}
