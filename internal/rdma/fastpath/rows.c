// SPDX-License-Identifier: BSD-3-Clause
// Strided and vector transfers: chains of work requests, one doorbell and one completion for each,
// where the cost model says that messages to the target's data server would not take less time.
#include "questions.h"

#include "../../wait/wait.h"

enum { FLUSHED = 5 };      // IBV_WC_WR_FLUSH_ERR
enum { MOST_CHAINS = 32 }; // of one call, during which Go's threads wait for the queues

// How rows are transferred. Short rows that are put travel in their work requests, from any memory;
// others from and to registered memory, or, if they are one chain, by a slot's buffer.
struct row_way {
	const struct rdma_fast_range *to; // of the first row
	struct rdma_fast_local *from; // NULL: inline
	int op, request;
	int chain; // work requests of a chain, at most
	bool buffered; // from is the buffers
	bool copied;   // the local side is free as soon as all has been posted
	bool own_request;  // the request is a new one
	bool refused; // the device has refused a chain
};

enum { MANY_ROWS = 64, FAR_APART = 1024 };

// Whether there are so many rows, so far apart, that costs->apart applies to them, and is learnt.
static bool far_apart(const struct fast_rows *r)
{
	uint64_t local = r->local_hi - r->local_lo, remote = r->remote_hi - r->remote_lo;
	return r->pieces >= MANY_ROWS &&
	       (local > remote ? local : remote) / (uint64_t)r->pieces >= FAR_APART;
}

double rdma_fast_learn_apart(double apart, double usual, double took)
{
	double times = usual > 0 ? took / usual : 1;
	times = times < 1 ? 1 : times > RDMA_FAST_MOST_APART ? RDMA_FAST_MOST_APART : times;
	apart = apart < 1 ? 1 : apart;
	return apart + (times - apart) / 4;
}

double rdma_fast_forget_apart(double apart) { return apart - (apart - 1) / 32; }

static double model_time(const struct rdma_fast_line *l, int64_t requests, int64_t bytes)
{
	return l->start + l->each * (double)requests + l->byte * (double)bytes;
}

// Whether requests of the device take less time than messages. c is NULL if that does not matter.
static bool device_pays(struct rdma_fast_costs *c, const struct fast_rows *r, uint64_t bytes,
	struct fast_server *s)
{
	if (!c)
		return true;
	if (!c->known)
		return false;
	double device = model_time(&c->device, r->pieces, (int64_t)bytes);
	double by_message = model_time(&c->messages, 1, (int64_t)bytes);
	double target_side = model_time(&c->target_side, r->pieces, (int64_t)bytes);
	double other = by_message < target_side ? by_message : target_side;
	bool apart = c->apart > 1 && far_apart(r);
	if (apart)
		device *= c->apart;
	if (device <= other || !fast_asks(s, (uint64_t)device, (uint64_t)other, (uint64_t)c->wake))
		return true;
	if (apart) {
		c->apart = rdma_fast_forget_apart(c->apart);
		fast_heard(s); // Go, whose model has no such factor, sends a message, too
	}
	return false;
}

// Whether all segments are in memory that C reaches. It is called before anything is posted.
static bool knows_all_segments(const struct rdma_fast_range *to, const struct fast_rows *r)
{
	int rank = to->rank;
	for (int64_t i = 0; i < r->pieces; i++) {
		uintptr_t at = r->remote_list[i];
		if (!rdma_fast_range_covers(to, at, (uint64_t)r->longest))
			to = rdma_fast_find_range(rank, at, (uint64_t)r->longest);
		if (!to)
			return false;
	}
	return true;
}

// Whether rows can go by a slot's buffer. The list of a nonblocking get must not be used after the
// call returns.
static bool fits_buffer(const struct row_way *w, const struct fast_transfer *t,
	const struct fast_rows *r)
{
	return t->bytes <= rdma_fast.buffer_bytes && r->pieces <= w->chain &&
	       (w->op == VB_WR_WRITE || !r->local_list || t->blocking) &&
	       !rdma_fast_in_arena(r->local_lo);
}

// Whether C reaches the memory of both sides, and how.
static bool reaches_both_sides(struct row_way *w, const struct fast_transfer *t,
	const struct fast_rows *r)
{
	if (r->longest > rdma_fast.piece ||
	    !(r->remote_list ? knows_all_segments(w->to, r)
	                     : rdma_fast_in_allocation(w->to, r->remote_lo, r->remote_hi)))
		return false;
	if (w->op == VB_WR_WRITE && r->longest <= rdma_fast.longest_inline)
		return true;
	w->from = rdma_fast_find_local(r->local_lo, r->local_hi - r->local_lo);
	w->buffered = !w->from && fits_buffer(w, t, r);
	if (w->buffered)
		w->from = &rdma_fast.buffers;
	return w->from != NULL;
}

// Chooses how rows are transferred. False: C cannot do that, or Go's way takes less time.
static bool choose_way(struct row_way *w, const struct fast_transfer *t, const struct fast_rows *r,
	int op, struct rdma_fast_costs *c)
{
	*w = (struct row_way){.op = op, .request = RDMA_FAST_NO_REQUEST,
		.chain = (int)rdma_fast.depth / 2,
		.to = rdma_fast_find_range(t->rank, r->remote_lo, 1)};
	if (!w->to || !device_pays(c, r, t->bytes, w->to->server) || !reaches_both_sides(w, t, r))
		return false;
	w->copied = !w->from || (w->buffered && op == VB_WR_WRITE);
	if (w->copied && r->pieces <= w->chain) // complete locally once its one chain is posted
		return true;
	int32_t joined = t->blocking ? 0 : t->request;
	w->own_request = joined != FAST_IMPLICIT && !rdma_fast_request_is_open(joined);
	w->request = rdma_fast_open_request(joined);
	return w->request != RDMA_FAST_NO_REQUEST;
}

// Makes the next slot's buffer the local side, with the data of a put copied into it.
static void use_slot_buffer(const struct row_way *w, struct fast_rows *r)
{
	int slot = rdma_fast_next_buffer_slot();
	uintptr_t at = rdma_fast_slot_buffer((unsigned)slot);
	int64_t bytes = r->local.left;
	if (w->op == VB_WR_WRITE)
		k_cursor_pack(&r->local, r->local_list, (void *)at, bytes);
	else
		rdma_fast.scatters[slot] =
			(struct rdma_fast_scatter){.to = r->local, .list = r->local_list};
	r->local = (struct k_cursor){.addr = at, .left = bytes, .row = bytes, .levels = 1,
		.count = {1}};
	r->local_list = NULL;
}

// A chain that is being made: runs, the ranges that they are in, and their work requests.
struct row_chain {
	struct k_run run[RDMA_FAST_CHAIN];
	const struct rdma_fast_range *to[RDMA_FAST_CHAIN];
	struct vb_request request[RDMA_FAST_CHAIN];
	struct vb_sge data[RDMA_FAST_CHAIN];
	int runs, requests;
};

// Lists the next runs, none longer than a work request. False: one is in memory that C does not
// reach. The cursors have passed it, so Go has to make the whole transfer.
static bool list_runs(struct row_chain *c, const struct row_way *w, struct fast_rows *rows,
	int most)
{
	struct k_side local = {&rows->local, rows->local_list};
	struct k_side remote = {&rows->remote, rows->remote_list};
	int64_t longest = w->from ? rdma_fast.piece : rdma_fast.longest_inline;
	const struct rdma_fast_range *to = w->to;
	for (c->runs = 0; c->runs < most && rows->local.left > 0; c->runs++) {
		struct k_run *r = &c->run[c->runs];
		k_cursor_runs(local, remote, r, 0, 1, longest);
		if (!rdma_fast_range_covers(to, r->remote, (uint64_t)r->bytes))
			to = rdma_fast_find_range(w->to->rank, r->remote, (uint64_t)r->bytes);
		if (!to || to->pair != w->to->pair)
			return false;
		c->to[c->runs] = to;
	}
	return true;
}

// Makes work requests of runs: one for each, or for several that are contiguous at the target.
static void make_requests(struct row_chain *c, const struct row_way *w)
{
	const struct k_run *run = c->run;
	struct vb_request *r = c->request;
	uint64_t end = 0, bytes = 0, most = w->from ? rdma_fast.piece : rdma_fast.longest_inline;
	int n = 0;
	for (int i = 0; i < c->runs; i++) {
		uint64_t length = (uint64_t)run[i].bytes;
		c->data[i] = (struct vb_sge){.addr = run[i].local, .length = (uint32_t)length,
			.lkey = w->from ? w->from->lkey : 0};
		if (n > 0 && run[i].remote == end && c->to[i] == c->to[i - 1] &&
		    r[n - 1].sges < rdma_fast.width && bytes + length <= most) {
			r[n - 1].sges++;
			bytes += length;
		} else {
			r[n++] = (struct vb_request){.remote = run[i].remote - c->to[i]->base,
				.rkey = c->to[i]->rkey, .sges = 1, .op = (uint8_t)w->op,
				.flags = w->from ? 0 : VB_INLINE};
			bytes = length;
		}
		end = run[i].remote + length;
	}
	c->requests = n;
}

// Posts a chain. False: the device has refused it.
static bool post_chain(struct row_chain *c, const struct row_way *w, uint32_t bytes)
{
	uint64_t slots = rdma_fast_take_slots((unsigned)c->requests, w->buffered);
	int slot = __builtin_ctzll(slots), posted;
	struct vb_request *last = &c->request[c->requests - 1];
	last->id = rdma_fast_start_work(slot, w->to, w->from, w->request, w->op == VB_WR_WRITE);
	last->flags |= VB_SIGNALED;
	rdma_fast.slots[slot].chain = slots;
	if (rdma_fast.network->post(w->to->pair, c->request, c->requests, c->data, &posted) == 0) {
		if (w->buffered && w->op == VB_WR_READ) {
			rdma_fast.slots[slot].copy_to = 0;
			rdma_fast.slots[slot].copy_bytes = bytes;
		}
		return true;
	}
	if (posted == 0)
		rdma_fast_complete_work(last->id, false);
	else // Go ends the connection, and then the slots are free
		rdma_fast_stash_completion(&(struct vb_wc){.status = FLUSHED,
			.qp_num = rdma_fast.network->number(w->to->pair)});
	return false;
}

// Posts chains, and waits for room for each. Returns how many; fewer than needed if there are more
// than MOST_CHAINS, if that takes long, if the device has refused one, or if the rest is Go's.
static int post_chains(struct row_way *w, struct fast_rows *rows)
{
	struct row_chain c;
	int64_t bytes = rows->local.left;
	int posted = 0, room = rows->pieces < w->chain ? (int)rows->pieces : w->chain;
	for (; posted < MOST_CHAINS && rows->local.left > 0; posted++) {
		if (!rdma_fast_await_slots(room) || (w->buffered && !rdma_fast_await_buffer()))
			break;
		if (w->buffered)
			use_slot_buffer(w, rows);
		rows->is_gos = !list_runs(&c, w, rows, room);
		if (rows->is_gos)
			break;
		make_requests(&c, w);
		if (!post_chain(&c, w, (uint32_t)bytes)) {
			w->refused = true;
			if (posted > 0)
				rdma_fast_note_failure(w->request, w->to->rank);
			break;
		}
	}
	return posted;
}

// Posts rows as chosen, and learns costs->apart from the time that took.
static enum fast_result post_rows(struct row_way *w, struct fast_transfer *t, struct fast_rows *r,
	struct rdma_fast_costs *c)
{
	if (w->request != RDMA_FAST_NO_REQUEST)
		rdma_fast_hold_request(w->request);
	uint64_t begin = c && c->known && far_apart(r) ? wait_clock() : 0;
	bool some = post_chains(w, r) > 0;
	if (begin && some && r->local.left == 0)
		c->apart = rdma_fast_learn_apart(c->apart,
			model_time(&c->device, r->pieces, (int64_t)t->bytes),
			(double)(wait_clock() - begin));
	bool copied = w->copied && !w->refused && (r->local.left == 0 || r->is_gos);
	if (w->own_request && (copied || !some)) // no caller will wait for it
		rdma_fast_abandon_request(w->request);
	if (w->request != RDMA_FAST_NO_REQUEST)
		rdma_fast_release_request(w->request);
	if (!some)
		return FAST_DECLINED;
	if (t->at && (w->op == VB_WR_WRITE || w->request == RDMA_FAST_IMPLICIT_PLACE))
		rdma_fast_count_store(t);
	return rdma_fast_finish_transfer(t, copied ? RDMA_FAST_NO_REQUEST : w->request);
}

// Makes a transfer of rows. c: the costs by which it is chosen; NULL: by requests of the device in
// any case.
static enum fast_result move_rows(struct fast_transfer *t, struct fast_rows *r, int op,
	struct rdma_fast_costs *c)
{
	struct row_way w;
	if (!rdma_fast.network->chains || !rdma_fast_acquire_queues())
		return FAST_DECLINED;
	enum fast_result result = FAST_DECLINED;
	if (rdma_fast_await_stores(t->rank) && choose_way(&w, t, r, op, c))
		result = post_rows(&w, t, r, c);
	rdma_fast_release_queues();
	return result;
}

enum fast_result rdma_fast_put_rows(struct fast_transfer *t, struct fast_rows *r)
{
	return move_rows(t, r, VB_WR_WRITE, &rdma_fast.put_costs);
}

enum fast_result rdma_fast_get_rows(struct fast_transfer *t, struct fast_rows *r)
{
	return move_rows(t, r, VB_WR_READ, &rdma_fast.get_costs);
}

static bool await_effect(void)
{
	if (!rdma_fast_acquire_queues())
		return false;
	bool all = rdma_fast_await_all();
	rdma_fast_release_queues();
	return all;
}

uint64_t rdma_fast_time_rows(struct fast_transfer *t, struct fast_rows *r, bool get)
{
	uint64_t begin = wait_clock();
	enum fast_result result = move_rows(t, r, get ? VB_WR_READ : VB_WR_WRITE, NULL);
	if (result == FAST_OPEN && rdma_fast_acquire_queues()) { // no caller will wait for it
		if (rdma_fast_request_is_open(t->request))
			rdma_fast_abandon_request((int)((uint32_t)t->request % RDMA_FAST_DEPTH));
		rdma_fast_release_queues();
	}
	bool whole = result == FAST_DONE && r->local.left == 0 && (get || await_effect());
	return whole ? wait_clock() - begin : 0;
}
