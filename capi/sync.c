// SPDX-License-Identifier: BSD-3-Clause
// Waiting, fences, barrier and read-modify-write.
#include "far.h"

#include "../internal/kernel/atomic.h"

#ifndef FRONT_INNER // not recorded
PUBLIC void ARMCI_INIT_HANDLE(armci_hdl_t *hdl)
{
	if (hdl)
		*(int32_t *)hdl = FRONT_DONE;
}

PUBLIC void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *hdl)
{
	front_done(hdl);
	armcigo_set_aggregate(hdl);
}

PUBLIC void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *hdl) { armcigo_unset_aggregate(hdl); }
#endif

static inline bool is_done(armci_hdl_t *hdl)
{
	return front_on() && hdl && *(int32_t *)hdl == FRONT_DONE &&
	       atomic_load_explicit(&front.aggregates, memory_order_relaxed) == 0;
}

// Operations that were coalesced are complete together, so usually nothing is open when the second
// of their handles is waited for.
static inline bool is_done_since(armci_hdl_t *hdl)
{
	if (!front_on() || !hdl ||
	    atomic_load_explicit(&front.aggregates, memory_order_relaxed) != 0 ||
	    atomic_load_explicit(&front.open, memory_order_acquire) != 0 ||
	    fast_request_open(*(int32_t *)hdl))
		return false;
	*(int32_t *)hdl = FRONT_DONE;
	return true;
}

// Is it a request of the fast path, and how does waiting for it, or testing it, end? DECLINED:
// Go has to.
static enum fast_result complete_fast(armci_hdl_t *hdl, bool waits)
{
	const struct fast_path *fast = front_fast(0);
	if (!fast || !hdl || !fast_request(*(int32_t *)hdl) ||
	    atomic_load_explicit(&front.aggregates, memory_order_relaxed) != 0)
		return FAST_DECLINED;
	enum fast_result r = waits ? fast->wait(*(int32_t *)hdl) : fast->test(*(int32_t *)hdl);
	if (r == FAST_DONE)
		*(int32_t *)hdl = FRONT_DONE;
	return r;
}

int PARMCI_Wait(armci_hdl_t *hdl)
{
	if (likely(is_done(hdl)) || is_done_since(hdl))
		return 0;
	PROFILED(Wait, hdl);
	if (complete_fast(hdl, true) == FAST_DONE)
		return 0;
	return armcigo_wait(hdl);
}
WEAK(ARMCI_Wait);

int PARMCI_Test(armci_hdl_t *hdl)
{
	if (likely(is_done(hdl)) || is_done_since(hdl))
		return 0;
	PROFILED(Test, hdl);
	enum fast_result r = complete_fast(hdl, false);
	return r == FAST_DECLINED ? armcigo_test(hdl) : r == FAST_OPEN;
}
WEAK(ARMCI_Test);

// If all ranks are on this node, every operation is complete when its call returns, except those
// under aggregate handles.
static inline bool nothing_open(void)
{
	return front.world && atomic_load_explicit(&front.aggregates, memory_order_relaxed) == 0;
}

// Completes what has no handle, if Go has nothing of that.
static bool complete_implicit(void)
{
	const struct fast_path *fast = front_fast(0);
	return fast && atomic_load_explicit(&front.aggregates, memory_order_relaxed) == 0 &&
	       atomic_load_explicit(&front.uncoalesced, memory_order_relaxed) == 0 &&
	       atomic_load_explicit(&front.implicit, memory_order_acquire) == 0 &&
	       fast->wait(FAST_IMPLICIT) == FAST_DONE;
}

int PARMCI_WaitProc(int proc)
{
	unsigned ranks = atomic_load_explicit(&front.ranks, memory_order_acquire);
	if (likely((unsigned)proc < ranks && nothing_open()))
		return 0;
	PROFILED(WaitProc, proc);
	if ((unsigned)proc < ranks && complete_implicit())
		return 0;
	return armcigo_wait_proc(proc);
}
WEAK(ARMCI_WaitProc);

int PARMCI_WaitAll(void)
{
	if (likely(front_on() && nothing_open()))
		return 0;
	PROFILED(WaitAll);
	if (complete_implicit())
		return 0;
	return armcigo_wait_all();
}
WEAK(ARMCI_WaitAll);

void PARMCI_Fence(int proc)
{
	if (likely((unsigned)proc < atomic_load_explicit(&front.ranks, memory_order_acquire) &&
		    front_fence_here((unsigned)proc)))
		return;
	PROFILED(Fence, proc);
	const struct fast_path *fast = front_fast((unsigned)proc);
	if (fast && fast->fence(proc, &front.traffic[proc]))
		return;
	if (armcigo_fence((char *)"ARMCI_Fence", proc))
		armcigo_fatal();
}
WEAK(ARMCI_Fence);

void PARMCI_AllFence(void)
{
	unsigned ranks = atomic_load_explicit(&front.ranks, memory_order_acquire);
	if (ranks && front_fence_here(ranks))
		return;
	PROFILED(AllFence);
	const struct fast_path *fast = front_fast(0);
	if (fast && fast->fence_all(&front.traffic[ranks]))
		return;
	if (armcigo_all_fence())
		armcigo_fatal();
}
WEAK(ARMCI_AllFence);

void PARMCI_GroupFence(ARMCI_Group *group)
{
	PROFILED(GroupFence, group);
	armcigo_group_fence(group);
}
WEAK(ARMCI_GroupFence);

void PARMCI_Barrier(void)
{
	if (likely(front_on() && nothing_open())) {
		shm_barrier(front.world); // begins with an atomic exchange: a fence
		return;
	}
	PROFILED(Barrier);
	armcigo_barrier((char *)"ARMCI_Barrier", 1);
}
WEAK(ARMCI_Barrier);

void parmci_msg_barrier(void)
{
	if (likely(front_on() && front.world)) {
		shm_barrier(front.world);
		return;
	}
	PROFILED(msg_barrier);
	armcigo_barrier((char *)"armci_msg_barrier", 0);
}
WEAK_AS(armci_msg_barrier, parmci_msg_barrier);

// One operation of either numbering, on an aligned, accessible int or long. False: Go has to do it.
static inline bool rmw_int(int op, void *ploc, void *prem, int extra)
{
	if (likely(op == ARMCI_FETCH_AND_ADD || op == 0))
		*(int *)ploc = atomic_fetch_add((_Atomic int *)prem, extra);
	else if (op == ARMCI_SWAP || op == 2)
		*(int *)ploc = atomic_exchange((_Atomic int *)prem, *(int *)ploc);
	else
		return false;
	return true;
}

static inline bool rmw_long(int op, void *ploc, void *prem, int extra)
{
	if (likely(op == ARMCI_FETCH_AND_ADD_LONG || op == 1))
		*(long *)ploc = atomic_fetch_add((_Atomic long *)prem, (long)extra);
	else if (op == ARMCI_SWAP_LONG || op == 3)
		*(long *)ploc = atomic_exchange((_Atomic long *)prem, *(long *)ploc);
	else
		return false;
	return true;
}

static inline bool is_long(int op) { return op & 1; } // in either numbering

// At another node, by C; false: Go has to do it.
static bool rmw_far(int op, void *ploc, void *prem, int extra, int proc, int *code)
{
	if (!ploc)
		return false;
	bool swap = op == ARMCI_SWAP || op == ARMCI_SWAP_LONG || op == 2 || op == 3;
	bool add = op == ARMCI_FETCH_AND_ADD || op == ARMCI_FETCH_AND_ADD_LONG || op == 0 ||
	           op == 1;
	uint64_t operand = (uint64_t)(int64_t)extra, old;
	size_t bytes = is_long(op) ? sizeof(long) : sizeof(int);
	if (swap)
		memcpy(&operand, ploc, bytes);
	int what = swap ? K_WORD_SWAP : K_WORD_ADD;
	if (!(swap || add) ||
	    !far_change("ARMCI_Rmw", what, (int)bytes, prem, operand, 0, proc, &old, code))
		return false;
	if (*code == 0)
		memcpy(ploc, &old, bytes);
	return true;
}

SECOND int rmw_unusual(int op, void *ploc, void *prem, int extra, int proc)
{
	PROFILED(Rmw, op, ploc, prem, extra, proc);
	size_t bytes = is_long(op) ? sizeof(long) : sizeof(int);
	struct shm_region declared;
	if (ploc && (uintptr_t)prem % bytes == 0 && front_reach(proc, prem, bytes) &&
	    !(is_long(op) && shm_declared((uintptr_t)prem, &declared)) &&
	    (is_long(op) ? rmw_long(op, ploc, prem, extra) : rmw_int(op, ploc, prem, extra)))
		return 0;
	int code;
	if (rmw_far(op, ploc, prem, extra, proc, &code))
		return code;
	return armcigo_rmw(op, ploc, prem, extra, proc);
}

// An atomic operation waits for every store before it, so the usual path calls no function and
// saves no register. Nor does it compute a size, for which everything after it would wait: there is
// a path for each.
int PARMCI_Rmw(int op, void *ploc, void *prem, int extra, int proc)
{
#define RMW_HERE(type, allowed) \
	((uintptr_t)prem % sizeof(type) == 0 && front_known(proc, prem, sizeof(type)) && \
		(allowed) && rmw_##type(op, ploc, prem, extra))
	// if another core has the line, it arrives while the checks run
	__builtin_prefetch(prem, 1);
	if (likely(ploc &&
		    (is_long(op) ? RMW_HERE(long, !shm_any_declared()) : RMW_HERE(int, true))))
		return 0;
	return rmw_unusual(op, ploc, prem, extra, proc);
}
WEAK(ARMCI_Rmw);
