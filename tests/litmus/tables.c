// SPDX-License-Identifier: BSD-3-Clause
// Tables that one rank changes and others read: regions (a seqlock), declared ranges, contexts, and
// the request slot for private memory.
#include "../../internal/shm/request.c"

#include "cases.h"

enum { PAGE = 4096, LOW = 1 << 20 };

static void first_regions(void)
{
	shm.me = 0;
	shm_region_add(LOW, LOW + PAGE);
	shm_region_add(LOW + 4 * PAGE, LOW + 5 * PAGE);
}

// The owner moves the second region by adding and dropping the first. The reader finds it whole
// each time, and what it found is valid while the generation is the same.
static void regions(int me)
{
	struct shm_found f;
	if (me == 0) {
		shm_region_drop(LOW);
		shm_region_add(LOW + PAGE, LOW + 3 * PAGE);
		return;
	}
	litmus_expect("a region is missing", shm_find(0, LOW + 4 * PAGE, &f));
	litmus_expect("half a region",
		f.lo == LOW + 4 * PAGE && f.hi == LOW + 5 * PAGE && f.gen % 2 == 0);
	if (shm_find(0, LOW + 2 * PAGE, &f))
		litmus_expect("half a new region", f.lo == LOW + PAGE && f.hi == LOW + 3 * PAGE);
}

static void declared(int me)
{
	struct shm_region r;
	if (me == 0) {
		litmus_expect("no room", shm_declare(LOW, LOW + PAGE));
	} else if (shm_declared(LOW + 8, &r)) {
		litmus_expect("half a range", r.lo == LOW && r.hi == LOW + PAGE);
	}
	if (me == 1)
		litmus_expect("a range too many", !shm_declared(8, &r));
}

// Each takes a context, uses it and gives it back.
static void contexts(int me)
{
	int id = shm_context_alloc();
	long *data = (long *)litmus_data(64) + id;
	litmus_expect("no context", id >= 0);
	*data = me;
	litmus_pause(3);
	litmus_expect("a context in two hands", *data == me);
	shm_context_free(id);
}

static struct shm_request_slot *slot_of_0(void)
{
	return shm_request_slot(0);
}
static void make_slot(void)
{
	shm.me = 0;
	shm_region_add((uintptr_t)litmus_data(0), (uintptr_t)litmus_data(PAGE));
	wait_policy_open(&policy, 0, 0);
	atomic_store(&ending, 0);
	atomic_store(&slot_of_0()->thread_runs, 1);
}
static void request(int me)
{
	if (me == 0) {
		uint32_t seen = atomic_load(&slot_of_0()->reply_seq);
		(void)seen;
		serve_requests(slot_of_0());
		return;
	}
	for (int i = 0; i < 2; i++) {
		long mine = 0;
		const struct k_run r = {(uintptr_t)&mine, (uintptr_t)litmus_data(64),
			sizeof mine};
		litmus_expect("the request fails", shm_request_move(0, &r, 1, i == 0) == 0);
	}
	atomic_store(&ending, 1);
	litmus_pause(2);
	wait_wake(&slot_of_0()->request_seq, 1);
	for (int i = 0; i < 40; i++) {
		sched_yield();
		wait_wake(&slot_of_0()->request_seq, 1);
	}
}

const struct litmus case_regions = {"regions", 2, first_regions, regions, NULL, 5000};
const struct litmus case_declared = {"declared", 2, nothing, declared, NULL, 3000};
const struct litmus case_contexts = {"contexts", 2, nothing, contexts, NULL, 3000};
const struct litmus case_request = {"request", 2, make_slot, request, NULL, 3000};
