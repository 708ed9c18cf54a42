// SPDX-License-Identifier: BSD-3-Clause
// The C half: acquiring the queues, contiguous transfers, and waits of bounded length. A flag on
// either side, set before the other's is read, keeps C and Go apart (Dekker's algorithm). Nothing
// here allocates, logs or reports errors. Long because the compiler inlines what a transfer calls.
#include "questions.h"

#include <errno.h>

#include "../../kernel/kernel.h"
#include "../../wait/wait.h"

struct rdma_fast rdma_fast;

enum { ALL = -1 };  // the rank of the run of all stores
enum { LOOKS = 8 }; // polls before a yield
static struct wait_policy policy = {.own_yield = WAIT_MOST_OWN_YIELD};

/* the queues ---------------------------------------------------------------------------------- */

static bool anything_in_flight(void)
{
	unsigned n = (unsigned)__builtin_popcountll(rdma_fast.free_slots);
	return n < rdma_fast.depth;
}

void rdma_fast_release_queues(void)
{
	const struct qp_network *net = rdma_fast.network;
	if (net->left)
		net->left(rdma_fast.queue, anything_in_flight());
	atomic_store(&rdma_fast.held_by_c, 0);
}

bool rdma_fast_acquire_queues(void)
{
	if (!atomic_load_explicit(&rdma_fast.open, memory_order_acquire) ||
		atomic_exchange(&rdma_fast.held_by_c, 1) != 0)
		return false;
	if (atomic_load(&rdma_fast.users_in_go) == 0 && atomic_load(&rdma_fast.open) &&
	    atomic_load(&rdma_fast.go_must_poll) == 0)
		return true;
	atomic_store(&rdma_fast.held_by_c, 0);
	return false;
}

void rdma_fast_stash_completion(const struct vb_wc *done)
{
	uint32_t n = atomic_load(&rdma_fast.stash_count);
	if (n == RDMA_FAST_STASH) // does not happen: go_must_poll is set before
		return;
	rdma_fast.stash[n] = *done;
	atomic_store(&rdma_fast.stash_count, n + 1);
	if (done->status != 0 || n + 1 + RDMA_FAST_BURST > RDMA_FAST_STASH)
		atomic_store(&rdma_fast.go_must_poll, 1);
}

static bool is_from_c(const struct vb_wc *done) { return done->wr_id >> 62 == 1; }

// Polls for completions, or waits a little for them, and handles them. Returns how many there were;
// -1 if Go has to poll before C goes on. The caller holds the queues.
static int take_completions(bool waits)
{
	struct vb_wc done[RDMA_FAST_BURST];
	// The stash may have no room for more.
	if (atomic_load_explicit(&rdma_fast.go_must_poll, memory_order_relaxed))
		return -1;
	bool once = !waits || rdma_fast.channel;
	const struct qp_network *net = rdma_fast.network;
	void *queue = rdma_fast.queue, *channel = rdma_fast.channel;
	int n = net->look(queue, RDMA_FAST_BURST, done, once ? 1 : LOOKS, once ? 0 : 1);
	if (n == 0 && waits && channel)
		n = net->sleep(queue, channel, RDMA_FAST_BURST, done, WAIT_SHARED_CORE);
	for (int i = 0; i < n; i++) {
		if (done[i].status == 0 && is_from_c(&done[i]))
			rdma_fast_complete_work(done[i].wr_id, false);
		else if (done[i].status != 0 || !rdma_fast_handle_answer(&done[i]))
			rdma_fast_stash_completion(&done[i]);
	}
	return atomic_load_explicit(&rdma_fast.go_must_poll, memory_order_relaxed) ? -1 : n;
}

bool rdma_fast_progress_until(bool (*met)(int32_t), int32_t what)
{
	struct wait w;
	for (bool begun = false; !met(what);) {
		int some = take_completions(true); // polls, and yields once
		if (some < 0)
			return met(what);
		if (some > 0)
			continue;
		if (begun)
			wait_yielded(&policy, &w, wait_clock());
		else
			wait_begin(&w, WAIT_FARAWAY, wait_clock());
		begun = true;
		if (wait_next(&policy, &w) == WAIT_SLEEP) // left to Go
			return false;
	}
	return true;
}

static bool has_slots(int32_t n) { return __builtin_popcountll(rdma_fast.free_slots) >= n; }

bool rdma_fast_await_slots(int32_t n) { return rdma_fast_progress_until(has_slots, n); }

static bool has_buffer(int32_t unused)
{
	(void)unused;
	return (rdma_fast.free_slots & (((uint64_t)1 << rdma_fast.buffer_count) - 1)) != 0;
}

bool rdma_fast_await_buffer(void) { return rdma_fast_progress_until(has_buffer, 0); }

// Whether all stores have taken effect, and gets without a handle are complete.
static bool all_drained(int32_t unused)
{
	(void)unused;
	return atomic_load_explicit(&rdma_fast.stores_in_flight, memory_order_relaxed) == 0 &&
	       !rdma_fast_request_is_open(FAST_IMPLICIT);
}

bool rdma_fast_await_all(void) { return rdma_fast_progress_until(all_drained, 0); }

// Whether C reaches n bytes of remote memory. It acquires the queues; false if it cannot.
static bool reaches_remote(int rank, uintptr_t remote, uint64_t n)
{
	if (!rdma_fast_acquire_queues())
		return false;
	bool known = rdma_fast_find_range(rank, remote, n) != NULL;
	rdma_fast_release_queues();
	return known;
}

/* counting stores ----------------------------------------------------------------------------- */

// Counts a store in a run. If Go has counted one since the last, a new run begins.
static void count_in_run(struct rdma_fast_run *run, int rank, struct traffic *at)
{
	uint32_t was = atomic_fetch_add(&at->posted, 1);
	if (run->rank != rank || run->hi != was)
		*run = (struct rdma_fast_run){.rank = rank, .lo = was};
	run->hi = was + 1;
}

void rdma_fast_count_store(const struct fast_transfer *t)
{
	count_in_run(rdma_fast_stores_at(t->rank), t->rank, t->at);
	count_in_run(&rdma_fast.runs_of_all, ALL, t->all);
}

// Whether all stores up to `posted` that no fence has covered are in the run, so posted by C.
static bool run_covers(const struct rdma_fast_run *run, int rank, const struct traffic *at,
	uint32_t posted)
{
	uint32_t fenced = atomic_load(&at->fenced);
	return posted == fenced ||
		(run->rank == rank && run->hi == posted && (int32_t)(fenced - run->lo) >= 0);
}

// Whether a store that C posts next takes effect after all stores at the rank that no fence has
// covered. No get without a handle may be in flight: what a notified rank stores next must not
// overtake its data.
static bool all_stores_at_in_c(const struct fast_transfer *t)
{
	uint32_t posted = atomic_load(&t->at->posted);
	return run_covers(rdma_fast_stores_at(t->rank), t->rank, t->at, posted) &&
	       atomic_load_explicit(&rdma_fast.implicit_gets, memory_order_relaxed) == 0;
}

// Completes all stores of a run, and raises `fenced` to them. False: Go has to fence.
static bool fence_run(const struct rdma_fast_run *run, int rank, struct traffic *at)
{
	if (!rdma_fast_acquire_queues())
		return false;
	uint32_t posted = atomic_load(&at->posted), fenced = atomic_load(&at->fenced);
	// The second check is for a store that failed meanwhile.
	bool covered = run_covers(run, rank, at, posted) && rdma_fast_await_all() &&
	               run_covers(run, rank, at, posted);
	rdma_fast_release_queues();
	while (covered && (int32_t)(posted - fenced) > 0 &&
	       !atomic_compare_exchange_weak(&at->fenced, &fenced, posted))
		continue;
	return covered;
}

static bool fence(int rank, struct traffic *at)
{
	return fence_run(rdma_fast_stores_at(rank), rank, at);
}

static bool fence_all(struct traffic *all) { return fence_run(&rdma_fast.runs_of_all, ALL, all); }

/* transfers ----------------------------------------------------------------------------------- */

// How a contiguous transfer is posted: by pieces, or, where there are none, through a buffer.
struct transfer_plan {
	int request, pieces;
	struct rdma_fast_piece piece[RDMA_FAST_PIECES];
	const struct rdma_fast_range *to; // if it goes through a buffer
};

// The work request that is posted while completions are taken; of the thread that holds the queues.
static struct post_attempt {
	void *pair;
	const struct vb_request *request;
	struct vb_sge *data;
	int code;
} attempt;

// Posts the attempt's work request. False: it has to be tried again, since the network has no room
// for it yet, or completes stores first.
static bool try_post(int32_t unused)
{
	(void)unused;
	int posted;
	struct post_attempt *a = &attempt;
	a->code = rdma_fast.network->post(a->pair, a->request, 1, a->data, &posted);
	return a->code != -EAGAIN;
}

bool rdma_fast_post_work(const struct rdma_fast_piece *p, int slot, int request, int op, int flags,
	struct vb_sge data, uintptr_t remote)
{
	struct vb_request r = {.remote = remote - p->to->base, .rkey = p->to->rkey, .sges = 1,
		.op = (uint8_t)op, .flags = (uint8_t)(VB_SIGNALED | flags),
		.id = rdma_fast_start_work(slot, p->to, p->from, request, op == VB_WR_WRITE)};
	attempt = (struct post_attempt){p->to->pair, &r, &data, 0};
	if (rdma_fast_progress_until(try_post, 0) && attempt.code == 0)
		return true;
	rdma_fast_complete_work(r.id, false);
	return false;
}

// A put that carries its data in the work request. after: only if it is ordered after all stores.
static enum fast_result put_inline(const struct fast_transfer *t, bool after)
{
	unsigned char data[FAST_BYTES];
	// Here, so that a crash report names the call with a bad address.
	k_copy(data, t->local, t->bytes);
	if (!rdma_fast_acquire_queues())
		return FAST_DECLINED;
	struct vb_sge place = {.addr = (uintptr_t)data, .length = (uint32_t)t->bytes};
	struct rdma_fast_piece p = {.to = rdma_fast_find_range(t->rank, t->remote, t->bytes)};
	bool ok = p.to && rdma_fast_await_stores(t->rank) && (!after || all_stores_at_in_c(t)) &&
	          rdma_fast_progress_until(has_slots, 1) &&
	          rdma_fast_post_work(&p, rdma_fast_take_slot(false), RDMA_FAST_NO_REQUEST,
			  VB_WR_WRITE, VB_INLINE, place, t->remote);
	if (ok)
		rdma_fast_count_store(t);
	rdma_fast_release_queues();
	return ok ? FAST_DONE : FAST_DECLINED;
}

// A transfer from or to memory that is not registered, by a slot's buffer.
static bool transfer_by_buffer(const struct fast_transfer *t, const struct transfer_plan *p,
	int op)
{
	int slot = rdma_fast_take_slot(true);
	struct vb_sge data = {.addr = rdma_fast_slot_buffer((unsigned)slot),
		.length = (uint32_t)t->bytes, .lkey = rdma_fast.buffers.lkey};
	if (op == VB_WR_WRITE)
		k_copy((void *)data.addr, t->local, t->bytes);
	struct rdma_fast_piece all = {.to = p->to};
	if (!rdma_fast_post_work(&all, slot, p->request, op, 0, data, t->remote))
		return false;
	if (op == VB_WR_READ) {
		rdma_fast.slots[slot].copy_to = (uintptr_t)t->local;
		rdma_fast.slots[slot].copy_bytes = (uint32_t)t->bytes;
	}
	return true;
}

// A transfer from or to registered memory, by one work request for each piece. True if some were
// posted: if a later one was refused, the request has failed.
static bool transfer_in_place(const struct fast_transfer *t, const struct transfer_plan *p,
	int op)
{
	uint64_t at = 0;
	int i = 0;
	rdma_fast_hold_request(p->request); // a part may be complete while the next is posted
	for (; i < p->pieces; at += p->piece[i++].bytes) {
		const struct rdma_fast_piece *part = &p->piece[i];
		struct vb_sge data = {.addr = (uintptr_t)t->local + at, .length = part->bytes,
			.lkey = part->from->lkey};
		if (!rdma_fast_post_work(part, rdma_fast_take_slot(false), p->request, op, 0, data,
			    t->remote + at)) {
			if (i > 0)
				rdma_fast_note_failure(p->request, part->to->rank);
			break;
		}
	}
	rdma_fast_release_request(p->request);
	return i > 0;
}

// Plans a transfer, and waits for the slots that it needs. False: C cannot make it.
static bool plan_transfer(struct transfer_plan *p, const struct fast_transfer *t, int op)
{
	// For a short transfer a copy takes less time than the system call that watched memory
	// takes.
	bool is_short = t->bytes <= rdma_fast.buffer_bytes;
	// The local side of a put of up to FAST_BYTES is the caller's again at once
	// (transport/fast.h). Where nothing is registered, a copy also saves a wait.
	bool copied = op == VB_WR_WRITE && (t->bytes <= FAST_BYTES ||
		(is_short && t->blocking && rdma_fast.everywhere.bytes > 0));
	bool arena = rdma_fast_in_arena((uintptr_t)t->local);
	p->to = rdma_fast_find_range(t->rank, t->remote, t->bytes);
	p->pieces = copied ? 0 : rdma_fast_divide_transfer(t, !is_short, p->piece);
	bool by_buffer = p->to && (copied || (is_short && !arena)); // Go registers arenas
	if (p->pieces > 1 && !rdma_fast.network->chains) // the network may refuse some of them
		return false;
	if (!(p->pieces ? rdma_fast_progress_until(has_slots, p->pieces)
	                : by_buffer && rdma_fast_await_buffer()))
		return false;
	p->request = RDMA_FAST_NO_REQUEST;
	if (op == VB_WR_WRITE && !p->pieces) // locally complete as soon as it has been posted
		return true;
	p->request = rdma_fast_open_request(t->blocking ? 0 : t->request);
	return p->request != RDMA_FAST_NO_REQUEST;
}

// Posts a transfer as planned. False: the network has refused all of it.
static bool post_planned(const struct transfer_plan *p, const struct fast_transfer *t, int op)
{
	return p->pieces ? transfer_in_place(t, p, op) : transfer_by_buffer(t, p, op);
}

bool rdma_fast_await_request(int32_t number)
{
	return rdma_fast_progress_until(rdma_fast_request_is_over, number);
}

enum fast_result rdma_fast_finish_transfer(struct fast_transfer *t, int request)
{
	t->request = request == RDMA_FAST_NO_REQUEST ? 0 :
		atomic_load_explicit(&rdma_fast.requests[request].number, memory_order_relaxed);
	if (t->request == 0)
		return FAST_DONE;
	bool over = t->blocking && rdma_fast_progress_until(rdma_fast_request_is_over, t->request);
	return over && !rdma_fast_request_is_open(t->request) ? FAST_DONE : FAST_OPEN;
}

// Makes a contiguous transfer that does not travel in its work request. after: only if it is
// ordered after all stores at the rank.
static enum fast_result move_contiguous(struct fast_transfer *t, int op, bool after)
{
	if (!rdma_fast_acquire_queues())
		return FAST_DECLINED;
	struct transfer_plan p;
	enum fast_result r = FAST_DECLINED;
	if (rdma_fast_await_stores(t->rank) && (!after || all_stores_at_in_c(t)) &&
	    plan_transfer(&p, t, op) && post_planned(&p, t, op)) {
		if (op == VB_WR_WRITE || p.request == RDMA_FAST_IMPLICIT_PLACE)
			rdma_fast_count_store(t);
		r = rdma_fast_finish_transfer(t, p.request);
	}
	rdma_fast_release_queues();
	return r;
}

// Whether another thread might see a part of the transfer, which must look atomic.
static bool is_word(const struct fast_transfer *t)
{
	return t->bytes < atomic_load_explicit(&rdma_fast.shortest, memory_order_relaxed);
}

// Puts. after: only if the put is ordered after all stores at the rank.
static enum fast_result put_ordered(bool after, struct fast_transfer *t)
{
	if (is_word(t))
		return FAST_DECLINED;
	uint64_t most = atomic_load_explicit(&rdma_fast.longest_inline, memory_order_relaxed);
	return t->bytes <= most ? put_inline(t, after) : move_contiguous(t, VB_WR_WRITE, after);
}

static enum fast_result put(struct fast_transfer *t) { return put_ordered(false, t); }
static enum fast_result put_after(struct fast_transfer *t) { return put_ordered(true, t); }
static enum fast_result get(struct fast_transfer *t)
{
	return is_word(t) ? FAST_DECLINED : move_contiguous(t, VB_WR_READ, false);
}

/* requests ------------------------------------------------------------------------------------ */

// Waits a little for a request. FAST_OPEN: it takes long, or has failed; Go waits for it.
static enum fast_result wait_request(int32_t request)
{
	if (!rdma_fast_request_is_open(request))
		return FAST_DONE;
	if (!rdma_fast_acquire_queues())
		return FAST_OPEN;
	rdma_fast_progress_until(rdma_fast_request_is_over, request);
	rdma_fast_release_queues();
	return rdma_fast_request_is_open(request) ? FAST_OPEN : FAST_DONE;
}

// Polls once for a request. FAST_DECLINED: Go has to test it.
static enum fast_result test_request(int32_t request)
{
	if (!rdma_fast_request_is_open(request))
		return FAST_DONE;
	if (!rdma_fast_acquire_queues())
		return FAST_DECLINED;
	int some = take_completions(false);
	rdma_fast_release_queues();
	if (!rdma_fast_request_is_open(request))
		return FAST_DONE;
	return some < 0 || rdma_fast_request_is_over(request) ? FAST_DECLINED : FAST_OPEN;
}

void rdma_fast_publish(bool open)
{
	static struct fast_path path = {.put = put, .put_after = put_after, .get = get,
		.put_rows = rdma_fast_put_rows, .get_rows = rdma_fast_get_rows,
		.reaches = reaches_remote, .is_open = rdma_fast_request_is_open,
		.wait = wait_request, .test = test_request, .fence = fence,
		.fence_all = fence_all};
	bool asks = rdma_fast.receive != NULL;
	path.change = asks ? rdma_fast_change : NULL;
	path.accumulate = asks ? rdma_fast_accumulate : NULL;
	path.send = asks ? rdma_fast_send : NULL;
	atomic_store(&fast_path, open ? &path : NULL);
}
