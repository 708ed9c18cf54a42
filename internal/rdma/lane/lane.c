// SPDX-License-Identifier: BSD-3-Clause
// The lane's own part: who may be at the queues, requests of one piece, and waits of bounded length. A flag on
// either side, set before the other's is read, keeps C and Go apart (Dekker's rule). Nothing here allocates, logs or
// tells of errors.
#include "lane.h"

#include <string.h>
#include <time.h>

struct lane lane;

enum { ALL = -1 }; // the rank of the run of all
enum { LOOKS = 8, PATIENCE = 200000 }; // before a yield; nanoseconds before a wait is left to Go

static void leave(void) { atomic_store(&lane.held, 0); }

// Is the lane free, and Go not at the queues?
static bool enter(void)
{
	if (!atomic_load_explicit(&lane.open, memory_order_acquire) || atomic_exchange(&lane.held, 1) != 0)
		return false;
	if (atomic_load(&lane.busy) == 0 && atomic_load(&lane.open) && atomic_load(&lane.get) == LANE_IDLE &&
	    atomic_load(&lane.stashed) == 0)
		return true;
	leave();
	return false;
}

static struct lane_run *run_of(int rank) { return &lane.runs[(unsigned)rank % LANE_WAYS]; }

static struct lane_way *way_to(int rank, uintptr_t remote, uint64_t n)
{
	struct lane_way *w = &lane.ways[((unsigned)rank ^ (remote >> 22)) % LANE_WAYS];
	uintptr_t at = remote - w->lo;
	return w->rank == rank && at < w->bytes && n <= w->bytes - at ? w : NULL;
}

// Waits a little for a completion, and takes it: 1 if it was the lane's, 0 if there is none, -1 if Go has to look.
static int take(void)
{
	struct vb_wc done;
	int rang, n = lane.channel ? vb_poll(lane.queue, 1, &done) : vb_look(lane.queue, 1, &done, LOOKS, 1);
	if (n == 0 && lane.channel)
		n = vb_sleep(lane.queue, lane.channel, 1, &done, -1, PATIENCE, &rang);
	if (n <= 0)
		return n;
	if (done.status != 0 || (done.wr_id != LANE_PUT && done.wr_id != LANE_GET)) {
		lane.stash = done;
		atomic_store(&lane.stashed, 1);
		return -1;
	}
	if (done.wr_id == LANE_PUT)
		atomic_fetch_sub(&lane.pending, 1);
	else
		atomic_store(&lane.get, LANE_HERE);
	return 1;
}

static bool got(void) { return atomic_load_explicit(&lane.get, memory_order_relaxed) == LANE_HERE; }
static bool room(void) { return atomic_load_explicit(&lane.pending, memory_order_relaxed) < LANE_DEPTH; }
static bool all_done(void) { return atomic_load_explicit(&lane.pending, memory_order_relaxed) == 0; }

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Takes completions until done; false if it takes long, or Go has to look.
static bool until(bool (*done)(void))
{
	uint64_t since = 0;
	while (!done()) {
		int some = take();
		if (some < 0)
			return false;
		if (some > 0)
			continue;
		if (since == 0)
			since = now();
		else if (now() - since > PATIENCE)
			return false;
	}
	return true;
}

static bool post(const struct lane_way *w, uint64_t id, int op, uintptr_t local, uint32_t lkey, uintptr_t remote, uint64_t n)
{
	struct vb_request r = {.id = id, .remote = remote, .rkey = w->rkey, .sges = 1, .op = (uint8_t)op,
		.flags = op == VB_WR_WRITE ? VB_SIGNALED | VB_INLINE : VB_SIGNALED};
	struct vb_sge data = {.addr = local, .length = (uint32_t)n, .lkey = lkey};
	int posted;
	return vb_post(w->pair, &r, 1, &data, &posted) == 0;
}

// Adds a store to a run. If Go has counted one meanwhile, another run begins.
static void extend(struct lane_run *run, int rank, struct lane_traffic *of)
{
	uint32_t was = atomic_fetch_add(&of->posted, 1);
	if (run->rank != rank || run->hi != was)
		*run = (struct lane_run){.rank = rank, .lo = was};
	run->hi = was + 1;
}

enum lane_result lane_put(int rank, const void *local, uintptr_t remote, uint64_t n, struct lane_traffic *of,
	struct lane_traffic *all)
{
	unsigned char data[LANE_BYTES];
	if (n > LANE_BYTES)
		return LANE_DECLINED;
	memcpy(data, local, n); // here, so that a crash report names who has a bad address
	if (!enter())
		return LANE_DECLINED;
	struct lane_way *w = way_to(rank, remote, n);
	bool ok = w && n <= lane.longest && until(room);
	if (ok) {
		atomic_fetch_add(&lane.pending, 1);
		ok = post(w, LANE_PUT, VB_WR_WRITE, (uintptr_t)data, 0, remote, n);
		if (ok) {
			extend(run_of(rank), rank, of);
			extend(&lane.all, ALL, all);
		} else {
			atomic_fetch_sub(&lane.pending, 1);
		}
	}
	leave();
	return ok ? LANE_DONE : LANE_DECLINED;
}

enum lane_result lane_get(int rank, void *local, uintptr_t remote, uint64_t n)
{
	if (n > LANE_BYTES || !enter())
		return LANE_DECLINED;
	struct lane_way *w = way_to(rank, remote, n);
	atomic_store(&lane.get, LANE_ASKED);
	if (!w || !post(w, LANE_GET, VB_WR_READ, lane.room, lane.lkey, remote, n)) {
		atomic_store(&lane.get, LANE_IDLE);
		leave();
		return LANE_DECLINED;
	}
	bool here = until(got);
	if (here)
		lane_collect(local, n);
	leave();
	return here ? LANE_DONE : LANE_OPEN;
}

void lane_collect(void *local, uint64_t n)
{
	if (atomic_load(&lane.get) == LANE_HERE)
		memcpy(local, (const void *)lane.room, n);
	atomic_store(&lane.get, LANE_IDLE);
}

static bool fence(const struct lane_run *run, int rank, struct lane_traffic *of)
{
	if (!enter())
		return false;
	uint32_t posted = atomic_load(&of->posted), fenced = atomic_load(&of->fenced);
	bool mine = run->rank == rank && run->hi == posted && (int32_t)(fenced - run->lo) >= 0 && until(all_done);
	leave();
	if (mine)
		while ((int32_t)(posted - fenced) > 0 && !atomic_compare_exchange_weak(&of->fenced, &fenced, posted))
			continue;
	return mine;
}

bool lane_fence(int rank, struct lane_traffic *of) { return fence(run_of(rank), rank, of); }
bool lane_fence_all(struct lane_traffic *all) { return fence(&lane.all, ALL, all); }
