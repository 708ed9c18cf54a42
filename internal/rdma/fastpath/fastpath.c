// SPDX-License-Identifier: BSD-3-Clause
// The C half: who may use the queues, requests of one piece, and waits of bounded length. A flag on either side, set
// before the other's is read, keeps C and Go apart (Dekker's algorithm). Nothing here allocates, logs or reports errors.
#include "fastpath.h"

#include "../../kernel/kernel.h"
#include "../../wait/wait.h"

struct rdma_fast rdma_fast;

enum { ALL = -1 }; // the rank of the run of all stores
enum { LOOKS = 8 }; // polls before a yield
static struct wait_policy policy = {.own_yield = WAIT_MOST_OWN_YIELD};

static void leave(void) { atomic_store(&rdma_fast.held, 0); }

// Takes the queues, if neither another thread nor Go uses them.
static bool enter(void)
{
	if (!atomic_load_explicit(&rdma_fast.open, memory_order_acquire) || atomic_exchange(&rdma_fast.held, 1) != 0)
		return false;
	if (atomic_load(&rdma_fast.busy) == 0 && atomic_load(&rdma_fast.open) && atomic_load(&rdma_fast.get) == RDMA_FAST_IDLE &&
	    atomic_load(&rdma_fast.look) == 0)
		return true;
	leave();
	return false;
}

static struct rdma_fast_run *run_of(int rank) { return &rdma_fast.runs[(unsigned)rank % RDMA_FAST_RANGES]; }

static struct rdma_fast_range *range_of(int rank, uintptr_t remote, uint64_t n)
{
	struct rdma_fast_range *to = rdma_fast_place(rank, remote);
	for (unsigned way = 0; way < RDMA_FAST_WAYS; way++, to++) {
		uintptr_t at = remote - to->lo;
		if (to->rank == rank && at < to->bytes && n <= to->bytes - at)
			return to;
	}
	return NULL;
}

// Puts a completion aside for Go, which finds it when it next polls; false if Go has to look at once.
static bool set_aside(const struct vb_wc *done)
{
	uint32_t n = atomic_load(&rdma_fast.stashed);
	rdma_fast.stash[n] = *done;
	atomic_store(&rdma_fast.stashed, n + 1);
	bool look = done->status != 0 || n + 1 == RDMA_FAST_STASH;
	atomic_store(&rdma_fast.look, look);
	return !look;
}

// Waits a little for a completion, and takes it: 1 if there was one, 0 if not, -1 if Go has to look.
static int take(void)
{
	struct vb_wc done;
	int rang, n = rdma_fast.channel ? vb_poll(rdma_fast.queue, 1, &done) : vb_look(rdma_fast.queue, 1, &done, LOOKS, 1);
	if (n == 0 && rdma_fast.channel)
		n = vb_sleep(rdma_fast.queue, rdma_fast.channel, 1, &done, -1, WAIT_SHARED_CORE, &rang);
	if (n <= 0)
		return n;
	if (done.status != 0 || (done.wr_id != RDMA_FAST_PUT && done.wr_id != RDMA_FAST_GET))
		return set_aside(&done) ? 1 : -1;
	if (done.wr_id == RDMA_FAST_PUT)
		atomic_fetch_sub(&rdma_fast.pending, 1);
	else
		atomic_store(&rdma_fast.get, RDMA_FAST_HERE);
	return 1;
}

static bool got(void) { return atomic_load_explicit(&rdma_fast.get, memory_order_relaxed) == RDMA_FAST_HERE; }
static bool room(void) { return atomic_load_explicit(&rdma_fast.pending, memory_order_relaxed) < RDMA_FAST_DEPTH; }
static bool all_done(void) { return atomic_load_explicit(&rdma_fast.pending, memory_order_relaxed) == 0; }

// Takes completions until done; false if it takes long, or Go has to look.
static bool until(bool (*done)(void))
{
	struct wait w;
	for (bool begun = false; !done();) {
		int some = take(); // looks, and a yield
		if (some < 0)
			return false;
		if (some > 0)
			continue;
		if (begun)
			wait_yielded(&policy, &w, wait_clock());
		else
			wait_begin(&w, WAIT_FARAWAY, wait_clock());
		begun = true;
		if (wait_next(&policy, &w) == WAIT_SLEEP) // Go sleeps
			return false;
	}
	return true;
}

static bool post(const struct rdma_fast_range *to, uint64_t id, int op, uintptr_t local, uint32_t lkey, uintptr_t remote, uint64_t n)
{
	struct vb_request r = {.id = id, .remote = remote, .rkey = to->rkey, .sges = 1, .op = (uint8_t)op,
		.flags = op == VB_WR_WRITE ? VB_SIGNALED | VB_INLINE : VB_SIGNALED};
	struct vb_sge data = {.addr = local, .length = (uint32_t)n, .lkey = lkey};
	int posted;
	return vb_post(to->pair, &r, 1, &data, &posted) == 0;
}

// Adds a store to a run. If Go has counted one meanwhile, another run begins.
static void extend(struct rdma_fast_run *run, int rank, struct traffic *at)
{
	uint32_t was = atomic_fetch_add(&at->posted, 1);
	if (run->rank != rank || run->hi != was)
		*run = (struct rdma_fast_run){.rank = rank, .lo = was};
	run->hi = was + 1;
}

// Whether all stores up to `posted` that no fence has covered were posted here. The caller has the queues.
static bool own(const struct rdma_fast_run *run, int rank, const struct traffic *at, uint32_t posted)
{
	uint32_t fenced = atomic_load(&at->fenced);
	return posted == fenced || (run->rank == rank && run->hi == posted && (int32_t)(fenced - run->lo) >= 0);
}

static enum fast_result put_if(bool after, int rank, const void *local, uintptr_t remote, uint64_t n, struct traffic *at,
	struct traffic *all)
{
	unsigned char data[FAST_BYTES];
	if (n > FAST_BYTES)
		return FAST_DECLINED;
	k_copy(data, local, n); // here, so that a crash report names who has a bad address
	if (!enter())
		return FAST_DECLINED;
	struct rdma_fast_range *to = range_of(rank, remote, n);
	bool ok = to && n <= rdma_fast.longest && (!after || own(run_of(rank), rank, at, atomic_load(&at->posted))) && until(room);
	if (ok) {
		atomic_fetch_add(&rdma_fast.pending, 1);
		ok = post(to, RDMA_FAST_PUT, VB_WR_WRITE, (uintptr_t)data, 0, remote, n);
		if (ok) {
			extend(run_of(rank), rank, at);
			extend(&rdma_fast.all, ALL, all);
		} else {
			atomic_fetch_sub(&rdma_fast.pending, 1);
		}
	}
	leave();
	return ok ? FAST_DONE : FAST_DECLINED;
}

static enum fast_result put(int rank, const void *local, uintptr_t remote, uint64_t n, struct traffic *at, struct traffic *all)
{
	return put_if(false, rank, local, remote, n, at, all);
}

static enum fast_result put_after(int rank, const void *local, uintptr_t remote, uint64_t n, struct traffic *at,
	struct traffic *all)
{
	return put_if(true, rank, local, remote, n, at, all);
}

static bool reaches(int rank, uintptr_t remote, uint64_t n)
{
	if (!enter())
		return false;
	bool known = range_of(rank, remote, n) != NULL;
	leave();
	return known;
}

static void collect(void *local, uint64_t n)
{
	if (atomic_load(&rdma_fast.get) == RDMA_FAST_HERE)
		k_copy(local, (const void *)rdma_fast.buffer, n);
	atomic_store(&rdma_fast.get, RDMA_FAST_IDLE);
}

static enum fast_result get(int rank, void *local, uintptr_t remote, uint64_t n)
{
	if (n > FAST_BYTES || !enter())
		return FAST_DECLINED;
	struct rdma_fast_range *to = range_of(rank, remote, n);
	atomic_store(&rdma_fast.get, RDMA_FAST_ASKED);
	if (!to || !post(to, RDMA_FAST_GET, VB_WR_READ, rdma_fast.buffer, rdma_fast.lkey, remote, n)) {
		atomic_store(&rdma_fast.get, RDMA_FAST_IDLE);
		leave();
		return FAST_DECLINED;
	}
	bool here = until(got);
	if (here)
		collect(local, n);
	leave();
	return here ? FAST_DONE : FAST_PENDING;
}

static bool fenced(const struct rdma_fast_run *run, int rank, struct traffic *at)
{
	if (!enter())
		return false;
	uint32_t posted = atomic_load(&at->posted), fenced = atomic_load(&at->fenced);
	bool mine = own(run, rank, at, posted) && until(all_done);
	leave();
	if (mine)
		while ((int32_t)(posted - fenced) > 0 && !atomic_compare_exchange_weak(&at->fenced, &fenced, posted))
			continue;
	return mine;
}

static bool fence(int rank, struct traffic *at) { return fenced(run_of(rank), rank, at); }
static bool fence_all(struct traffic *all) { return fenced(&rdma_fast.all, ALL, all); }

void rdma_fast_publish(bool open)
{
	static const struct fast_path path = {.put = put, .put_after = put_after, .reaches = reaches, .get = get, .collect = collect, .fence = fence, .fence_all = fence_all};
	atomic_store(&fast_path, open ? &path : NULL);
}
