// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations and events of armcix.h: on the node by the processor, to another node by the
// fast path or Go.
#include "far.h"

#include "../internal/kernel/atomic.h"

_Static_assert(K_WORD_ADD == ARMCIX_ADD && K_WORD_AND == ARMCIX_AND && K_WORD_OR == ARMCIX_OR &&
		K_WORD_XOR == ARMCIX_XOR && K_WORD_SWAP == ARMCIX_SWAP && K_WORD_CAS == ARMCIX_CAS,
	"operations");

// At another node, by C; false: Go has to do it, also where the old value is not wanted: then
// nothing is waited for.
static bool atomic_far(int op, int bytes, void *old, void *prem, const void *operand,
	const void *compare, int proc, int *code)
{
	if (!old || !operand || (bytes != 4 && bytes != 8) || op < K_WORD_ADD || op > K_WORD_CAS ||
	    (op == K_WORD_CAS && !compare))
		return false;
	uint64_t value = 0, expected = 0, before;
	memcpy(&value, operand, (size_t)bytes);
	if (op == K_WORD_CAS)
		memcpy(&expected, compare, (size_t)bytes);
	if (!far_change("ARMCIX_Atomic", op, bytes, prem, value, expected, proc, &before, code))
		return false;
	if (*code == 0)
		memcpy(old, &before, (size_t)bytes);
	return true;
}

SECOND int atomic_unusual(int op, int bytes, void *old, void *prem, const void *operand,
	const void *compare, int proc)
{
	PROFILED(Atomic, op, bytes, old, prem, operand, compare, proc);
	struct shm_region declared;
	if ((bytes == 4 || bytes == 8) && operand && (uintptr_t)prem % (unsigned)bytes == 0 &&
		front_reach(proc, prem, (uint64_t)bytes) &&
		!(bytes == 8 && shm_declared((uintptr_t)prem, &declared)) &&
		(bytes == 4 ? k_change_32(op, old, prem, operand, compare) :
			      k_change_64(op, old, prem, operand, compare)))
		return 0;
	int code;
	if (atomic_far(op, bytes, old, prem, operand, compare, proc, &code))
		return code;
	return armcigo_atomic(op, bytes, old, prem, (void *)operand, (void *)compare, proc);
}

// As PARMCI_Rmw: a path for each size.
PUBLIC int ARMCIX_Atomic(int op, int bytes, void *old, void *prem, const void *operand,
	const void *compare, int proc)
{
#define ATOMIC_HERE(bits, allowed) \
	((uintptr_t)prem % (bits / 8) == 0 && front_known(proc, prem, bits / 8) && (allowed) && \
		k_change_##bits(op, old, prem, operand, compare))
	__builtin_prefetch(prem, 1);
	if (likely(operand &&
		    (bytes == 4 ? ATOMIC_HERE(32, true) :
				  bytes == 8 && ATOMIC_HERE(64, !shm_any_declared()))))
		return 0;
	return atomic_unusual(op, bytes, old, prem, operand, compare, proc);
}

_Static_assert(sizeof(armcix_event_t) == sizeof(struct shm_event), "an event");

static inline bool event_aligned(const armcix_event_t *e)
{
	return (uintptr_t)e % _Alignof(struct shm_event) == 0;
}

static inline bool in_arena(const void *p)
{
	return (uintptr_t)p - (uintptr_t)shm.base < shm.bytes;
}

// On the node all that the caller has stored is there already, except under aggregate handles.
static inline bool stored_here(void)
{
	return atomic_load_explicit(&front.aggregates, memory_order_relaxed) == 0;
}

SECOND int event_add_unusual(armcix_event_t *event, unsigned n, int proc)
{
	PROFILED(Event_add, event, n, proc);
	if (!event_aligned(event) || !stored_here() || !front_reach(proc, event, sizeof *event) ||
		!in_arena(event))
		return armcigo_event_add(event, n, proc);
	shm_event_add((struct shm_event *)event, n);
	return 0;
}

PUBLIC int ARMCIX_Event_add(armcix_event_t *event, unsigned n, int proc)
{
	if (likely(event_aligned(event) && front_known(proc, event, sizeof *event) &&
		    stored_here())) {
		shm_event_add((struct shm_event *)event, n);
		return 0;
	}
	return event_add_unusual(event, n, proc);
}

// Is it an event of the caller's own, in memory that C knows?
static bool own_event(armcix_event_t *event)
{
	return event_aligned(event) && front_reach(front.me, event, sizeof *event) &&
		in_arena(event);
}

// At a rank of another node; false: nothing has happened.
static bool event_raise_fast(armcix_event_t *event, struct shm_event *record, int proc, int *result)
{
	const struct fast_path *fast = front_fast((unsigned)proc);
	uint32_t count = shm_event_count(record) + 1;
	struct fast_transfer t = front_transfer(proc, &count, &event->count, sizeof count);
	if (!fast || !event_aligned(event) || !stored_here() || fast->put_after(&t) != FAST_DONE)
		return false;
	*result = shm_event_sent(record, count) ? armcigo_event_tell(event, count, proc) : 0;
	return true;
}

PUBLIC int ARMCIX_Event_raise(armcix_event_t *event, armcix_event_t *record, int proc)
{
	struct shm_event *r = (struct shm_event *)record;
	int result;
	if (likely((unsigned)proc < atomic_load_explicit(&front.ranks, memory_order_acquire) &&
		    own_event(record))) {
		if (front.local[proc] < 0) {
			if (event_raise_fast(event, r, proc, &result))
				return result;
		} else if (event_aligned(event) && stored_here() &&
			front_reach(proc, event, sizeof *event) && in_arena(event)) {
			shm_event_sent(r, shm_event_count(r) + 1);
			shm_event_add((struct shm_event *)event, 1);
			return 0;
		}
	}
	PROFILED(Event_raise, event, record, proc);
	return armcigo_event_raise(event, record, proc);
}

#ifndef FRONT_INNER // waiting for an event is not recorded
// Is it in live memory of any rank of this node?
static bool is_event(const armcix_event_t *event)
{
	struct shm_found f;
	if (!event_aligned(event) || !front_on())
		return false;
	if (likely(front_known(front.me, event, sizeof *event)))
		return true;
	for (int i = 0; in_arena(event) && i < shm.nlocal; i++)
		if (shm_find(i, (uintptr_t)event, &f))
			return sizeof *event <= f.hi - (uintptr_t)event;
	return false;
}

PUBLIC int ARMCIX_Event_wait(armcix_event_t *event, unsigned seen, int millis)
{
	if (!is_event(event))
		return armcigo_event_wait(event, seen, millis);
	return shm_event_wait((struct shm_event *)event, seen, millis, "ARMCIX_Event_wait") ? 0 : 1;
}

PUBLIC int ARMCIX_Wait_until(int (*met)(void *), void *arg, int millis)
{
	struct shm_until u = {met, arg, millis, "ARMCIX_Wait_until"};
	bool uncoalesced = atomic_load_explicit(&front.uncoalesced, memory_order_relaxed) != 0;
	if (!met || !front_on() || (uncoalesced && millis != 0 && !met(arg))) {
		int code = armcigo_wait_until((void *)met, millis);
		if (code != 0)
			return code;
	}
	return shm_wait_until(&u) ? 0 : 1;
}

PUBLIC int ARMCIX_Wake(int proc)
{
	if ((unsigned)proc >= atomic_load_explicit(&front.ranks, memory_order_acquire))
		return armcigo_wake(proc);
	if (front.local[proc] >= 0)
		shm_record_store(front.local[proc]);
	return 0;
}

PUBLIC const unsigned *ARMCIX_Sleepers(int proc)
{
	int local = armcigo_local(proc);
	return local < 0 ? NULL : (const unsigned *)&shm.rank[local].watchers;
}

PUBLIC int ARMCIX_Event_await(armcix_event_t *event, armcix_event_t *record, unsigned seen,
	int millis, int proc)
{
	struct shm_event *e = (struct shm_event *)event;
	if ((unsigned)proc >= atomic_load_explicit(&front.ranks, memory_order_acquire) ||
		!is_event(event))
		return armcigo_event_await(event, record, seen, millis, proc);
	if (front.local[proc] >= 0 || !front.words)
		return shm_event_wait(e, seen, millis, "ARMCIX_Event_await") ? 0 : 1;
	if (millis == 0 ? shm_event_count(e) != seen : shm_event_soon(e, seen))
		return 0;
	return millis == 0 ? 1 : armcigo_event_await(event, record, seen, millis, proc);
}
#endif
