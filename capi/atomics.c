// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations and events of armcix.h: on the node by the processor, to another node by Go.
#include "front.h"

#include "_cgo_export.h"

// One operation on an aligned, accessible word; false: there is no such operation. Without `old` the processor need not fetch.
#define OPERATIONS(bits)                                                                                          \
	static inline bool change_##bits(int op, uint##bits##_t *old, void *prem, const void *operand, const void *compare) \
	{                                                                                                         \
		_Atomic uint##bits##_t *word = prem;                                                              \
		uint##bits##_t v, was;                                                                            \
		memcpy(&v, operand, sizeof v);                                                                    \
		switch (op) {                                                                                     \
		case ARMCIX_ADD: was = atomic_fetch_add(word, v); break;                                          \
		case ARMCIX_AND:                                                                                  \
			if (!old)                                                                                 \
				return atomic_fetch_and(word, v), true;                                           \
			was = atomic_fetch_and(word, v);                                                          \
			break;                                                                                    \
		case ARMCIX_OR:                                                                                   \
			if (!old)                                                                                 \
				return atomic_fetch_or(word, v), true;                                            \
			was = atomic_fetch_or(word, v);                                                           \
			break;                                                                                    \
		case ARMCIX_XOR:                                                                                  \
			if (!old)                                                                                 \
				return atomic_fetch_xor(word, v), true;                                           \
			was = atomic_fetch_xor(word, v);                                                          \
			break;                                                                                    \
		case ARMCIX_SWAP: was = atomic_exchange(word, v); break;                                          \
		case ARMCIX_CAS:                                                                                  \
			if (!compare)                                                                             \
				return false;                                                                     \
			memcpy(&was, compare, sizeof was);                                                        \
			atomic_compare_exchange_strong(word, &was, v);                                            \
			break;                                                                                    \
		default: return false;                                                                            \
		}                                                                                                 \
		if (old)                                                                                          \
			memcpy(old, &was, sizeof was);                                                            \
		return true;                                                                                      \
	}

OPERATIONS(32)
OPERATIONS(64)

SECOND int atomic_unusual(int op, int bytes, void *old, void *prem, const void *operand, const void *compare, int proc)
{
	struct shm_region declared;
	if ((bytes == 4 || bytes == 8) && operand && (uintptr_t)prem % (unsigned)bytes == 0 &&
	    front_reach(proc, prem, (uint64_t)bytes) && !(bytes == 8 && shm_declared((uintptr_t)prem, &declared)) &&
	    (bytes == 4 ? change_32(op, old, prem, operand, compare) : change_64(op, old, prem, operand, compare)))
		return 0;
	return armcigo_atomic(op, bytes, old, prem, (void *)operand, (void *)compare, proc);
}

// As PARMCI_Rmw: a path for each size.
PUBLIC int ARMCIX_Atomic(int op, int bytes, void *old, void *prem, const void *operand, const void *compare, int proc)
{
#define ATOMIC_HERE(bits, allowed)                                                                                \
	((uintptr_t)prem % (bits / 8) == 0 && front_known(proc, prem, bits / 8) && (allowed) &&                   \
	 change_##bits(op, old, prem, operand, compare))
	__builtin_prefetch(prem, 1);
	if (likely(operand && (bytes == 4 ? ATOMIC_HERE(32, true) : bytes == 8 && ATOMIC_HERE(64, !shm_any_declared()))))
		return 0;
	return atomic_unusual(op, bytes, old, prem, operand, compare, proc);
}

_Static_assert(sizeof(armcix_event_t) == sizeof(struct shm_event), "an event");

static inline bool event_aligned(const armcix_event_t *e) { return (uintptr_t)e % _Alignof(struct shm_event) == 0; }

static inline bool in_arena(const void *p) { return (uintptr_t)p - (uintptr_t)shm.base < shm.bytes; }

// On the node all that the caller has stored is there already, except under aggregate handles.
static inline bool stored_here(void) { return atomic_load_explicit(&front.aggregates, memory_order_relaxed) == 0; }

SECOND int event_add_unusual(armcix_event_t *event, unsigned n, int proc)
{
	if (!event_aligned(event) || !stored_here() || !front_reach(proc, event, sizeof *event) || !in_arena(event))
		return armcigo_event_add(event, n, proc);
	shm_event_add((struct shm_event *)event, n);
	return 0;
}

PUBLIC int ARMCIX_Event_add(armcix_event_t *event, unsigned n, int proc)
{
	if (likely(event_aligned(event) && front_known(proc, event, sizeof *event) && stored_here())) {
		shm_event_add((struct shm_event *)event, n);
		return 0;
	}
	return event_add_unusual(event, n, proc);
}

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
