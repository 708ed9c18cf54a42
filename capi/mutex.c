// SPDX-License-Identifier: BSD-3-Clause
// Mutexes, those of the job and the sets of armcix.h: hosts on this node are locked in place,
// others by the fast path where they are free, or by Go. A set is found by its handle in a small
// table; one that finds no place there is locked by Go.
#include "far.h"

#include <stdlib.h>

// Where the mutexes of a set are; those of other nodes are not mapped here. The handle of the job's
// set is not used.
struct set {
	_Atomic uintptr_t handle; // 0: no set; numbered from 1 as sets are made
	uint8_t **first;          // by rank: its first mutex; NULL if it hosts none
	int *count;               // by rank
};

#define SETS   64u
#define PROBES 4u
#define HELD   16u
struct front_sets {
	struct set job, all[SETS];
	_Atomic uint64_t held[HELD]; // mutexes of other nodes that C has locked; 0: none
};
extern struct front_sets front_sets; // one for both states of the fast path
#define of_job front_sets.job

enum { KEY_SHIFT = 48 };

// Names a mutex of another node by its address and rank; 0: neither fits.
static uint64_t key_of(uintptr_t at, int proc)
{
	return at >> KEY_SHIFT == 0 && proc < 0xffff ? at | ((uint64_t)proc + 1) << KEY_SHIFT : 0;
}

// Exchanges an entry of what C holds: false if there is none.
static bool exchange_held(uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < HELD; i++) {
		uint64_t was = from;
		if (atomic_compare_exchange_strong(&front_sets.held[i], &was, to))
			return true;
	}
	return false;
}

static struct set *place_of(uintptr_t handle, unsigned probe)
{
	return &front_sets.all[(handle + probe) % SETS];
}

static struct set *find(uintptr_t handle)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct set *s = place_of(handle, i);
		if (likely(atomic_load_explicit(&s->handle, memory_order_acquire) == handle))
			return s;
	}
	return NULL;
}

#ifndef FRONT_INNER
struct front_sets front_sets;

// Forgets that mutexes of a set are held.
static void forget_held(const struct set *s)
{
	for (unsigned i = 0; s->first && i < HELD; i++) {
		uint64_t key = atomic_load(&front_sets.held[i]);
		uintptr_t at = key & (((uint64_t)1 << KEY_SHIFT) - 1);
		unsigned proc = (unsigned)(key >> KEY_SHIFT) - 1;
		if (!key || !s->first[proc])
			continue;
		uintptr_t number = (at - (uintptr_t)s->first[proc]) / sizeof(struct shm_mutex);
		if (number < (unsigned)s->count[proc])
			atomic_store(&front_sets.held[i], 0);
	}
}

static void clear(struct set *s)
{
	forget_held(s);
	atomic_store_explicit(&s->handle, 0, memory_order_release);
	free(s->first);
	free(s->count);
	s->first = NULL;
	s->count = NULL;
}

// Called by Go when a set has been made; handle 0 is the job's. first and count are malloc'ed and
// owned by C from now on.
void front_add_mutexes(uintptr_t handle, uint8_t **first, int *count)
{
	struct set *s = handle == 0 ? &of_job : NULL;
	for (unsigned i = 0; !s && i < PROBES; i++)
		if (atomic_load_explicit(&place_of(handle, i)->handle, memory_order_relaxed) == 0)
			s = place_of(handle, i);
	if (!s) {
		free(first);
		free(count);
		return;
	}
	clear(s);
	s->first = first;
	s->count = count;
	atomic_store_explicit(&s->handle, handle, memory_order_release);
}

// Before a set is destroyed.
void front_drop_mutexes(uintptr_t handle)
{
	struct set *s = handle == 0 ? &of_job : find(handle);
	if (s)
		clear(s);
}

void front_drop_all_mutexes(void)
{
	clear(&of_job);
	for (unsigned i = 0; i < SETS; i++) clear(&front_sets.all[i]);
}

int PARMCI_Create_mutexes(int num) { return armcigo_create_mutexes(num); }
WEAK(ARMCI_Create_mutexes);

int PARMCI_Destroy_mutexes(void) { return armcigo_destroy_mutexes(); }
WEAK(ARMCI_Destroy_mutexes);

PUBLIC armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *group)
{
	return (armcix_mutex_hdl_t)armcigo_mutex_set(count, front_group(group));
}

PUBLIC int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl)
{
	return armcigo_mutex_set_free((uintptr_t)hdl);
}
#endif

static inline struct shm_mutex *mutex_at(const struct set *s, int mutex, int proc)
{
	if ((unsigned)proc >= atomic_load_explicit(&front.ranks, memory_order_acquire) || !s ||
		!s->first || !s->first[proc] || (unsigned)mutex >= (unsigned)s->count[proc])
		return NULL;
	return (struct shm_mutex *)s->first[proc] + mutex;
}

// A mutex of this node.
static inline struct shm_mutex *mutex_of(const struct set *s, int mutex, int proc)
{
	struct shm_mutex *m = mutex_at(s, mutex, proc);
	return m && likely(front.local[proc] >= 0) ? m : NULL;
}

// Locks a mutex of another node if it is free; false: Go has to. hdl is 0 for the job's set.
static bool lock_far(const char *name, uintptr_t hdl, const struct set *s, int mutex, int proc)
{
	struct shm_mutex *m = mutex_at(s, mutex, proc);
	uint64_t old, key = m ? key_of((uintptr_t)m, proc) : 0;
	int code;
	uint64_t owner = (uint64_t)front.me + 1;
	if (!key || !far_change(name, FAST_LOCK, 4, m, owner, 0, proc, &old, &code))
		return false;
	if (code)
		armcigo_fatal();
	if (!exchange_held(0, key))
		armcigo_holds_mutex(hdl, mutex, proc);
	return true;
}

// Unlocks a mutex of another node that C has locked; false: Go has to, or it is not held.
static bool unlock_far(uintptr_t hdl, const struct set *s, int mutex, int proc)
{
	struct shm_mutex *m = mutex_at(s, mutex, proc);
	uint64_t key = m ? key_of((uintptr_t)m, proc) : 0;
	if (!key || !exchange_held(key, 0))
		return false;
	const struct fast_path *fast = far_uncollected(proc);
	struct fast_change c = {.rank = proc, .op = FAST_UNLOCK, .bytes = 4, .word = (uintptr_t)m,
		.operand = (uint64_t)front.me + 1, .at = &front.traffic[proc],
		.all = &front.traffic[front.ranks]};
	if (fast && fast->change && atomic_load_explicit(&front.open, memory_order_relaxed) == 0 &&
	    fast->change(&c) == FAST_DONE)
		return true;
	armcigo_holds_mutex(hdl, mutex, proc);
	return false;
}

static inline bool held_by_me(const struct shm_mutex *m)
{
	return atomic_load_explicit(&m->owner, memory_order_relaxed) == (uint32_t)front.me + 1;
}

void PARMCI_Lock(int mutex, int proc)
{
	struct shm_mutex *m = mutex_of(&of_job, mutex, proc);
	if (likely(m != NULL)) {
		shm_lock(m, (uint32_t)front.me + 1);
		return;
	}
	PROFILED(Lock, mutex, proc);
	if (lock_far("ARMCI_Lock", 0, &of_job, mutex, proc))
		return;
	armcigo_lock(mutex, proc);
}
WEAK(ARMCI_Lock);

void PARMCI_Unlock(int mutex, int proc)
{
	struct shm_mutex *m = mutex_of(&of_job, mutex, proc);
	if (likely(m && held_by_me(m))) {
		shm_unlock(m);
		return;
	}
	PROFILED(Unlock, mutex, proc);
	if (unlock_far(0, &of_job, mutex, proc))
		return;
	armcigo_unlock(mutex, proc);
}
WEAK(ARMCI_Unlock);

PUBLIC void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
	struct shm_mutex *m = mutex_of(find((uintptr_t)hdl), mutex, proc);
	if (likely(m != NULL)) {
		shm_lock(m, (uint32_t)front.me + 1);
		return;
	}
	PROFILED(Lock_hdl, hdl, mutex, proc);
	if (lock_far("ARMCIX_Lock_hdl", (uintptr_t)hdl, find((uintptr_t)hdl), mutex, proc))
		return;
	armcigo_lock_hdl((uintptr_t)hdl, mutex, proc);
}

PUBLIC int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
	struct shm_mutex *m = mutex_of(find((uintptr_t)hdl), mutex, proc);
	if (likely(m != NULL))
		return shm_trylock(m, (uint32_t)front.me + 1) ? 0 : 1;
	PROFILED(Trylock_hdl, hdl, mutex, proc);
	if (lock_far("ARMCIX_Trylock_hdl", (uintptr_t)hdl, find((uintptr_t)hdl), mutex, proc))
		return 0;
	return armcigo_trylock_hdl((uintptr_t)hdl, mutex, proc);
}

PUBLIC void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
	struct shm_mutex *m = mutex_of(find((uintptr_t)hdl), mutex, proc);
	if (likely(m && held_by_me(m))) {
		shm_unlock(m);
		return;
	}
	PROFILED(Unlock_hdl, hdl, mutex, proc);
	if (unlock_far((uintptr_t)hdl, find((uintptr_t)hdl), mutex, proc))
		return;
	armcigo_unlock_hdl((uintptr_t)hdl, mutex, proc);
}
