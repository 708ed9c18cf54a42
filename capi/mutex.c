// SPDX-License-Identifier: BSD-3-Clause
// Mutexes, those of the job and the sets of armcix.h: hosts on this node are locked in place, others by Go. A set is found by its
// handle in a small table; one that finds no place there is locked by Go.
#include "front.h"

#include <stdlib.h>

#include "go.h"

// Where the mutexes of a set are that ranks of this node host. The handle of the job's set is not used.
struct set {
	_Atomic uintptr_t handle; // 0: no set
	uint8_t **first;          // by rank: its first mutex; NULL if it hosts none here
	int *count;               // by rank
};

#define SETS   64u
#define PROBES 4u
struct front_sets {
	struct set job, all[SETS];
};
extern struct front_sets front_sets; // one for both states of the fast path
#define of_job front_sets.job

static struct set *place_of(uintptr_t handle, unsigned probe) { return &front_sets.all[(handle / 16 + probe) % SETS]; }

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

static void clear(struct set *s)
{
	atomic_store_explicit(&s->handle, 0, memory_order_release);
	free(s->first);
	free(s->count);
	s->first = NULL;
	s->count = NULL;
}

// Called by Go when a set has been made; handle 1 is the job's. first and count are malloc'ed and owned by C from now on.
void front_add_mutexes(uintptr_t handle, uint8_t **first, int *count)
{
	struct set *s = handle == 1 ? &of_job : NULL;
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
	struct set *s = handle == 1 ? &of_job : find(handle);
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

PUBLIC int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl) { return armcigo_mutex_set_free(hdl); }
#endif

static inline struct shm_mutex *mutex_of(const struct set *s, int mutex, int proc)
{
	if ((unsigned)proc >= atomic_load_explicit(&front.ranks, memory_order_acquire) || !s || !s->first || !s->first[proc] ||
	    (unsigned)mutex >= (unsigned)s->count[proc])
		return NULL;
	return (struct shm_mutex *)s->first[proc] + mutex;
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
	armcigo_lock_hdl(hdl, mutex, proc);
}

PUBLIC int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
	struct shm_mutex *m = mutex_of(find((uintptr_t)hdl), mutex, proc);
	if (likely(m != NULL))
		return shm_trylock(m, (uint32_t)front.me + 1) ? 0 : 1;
	PROFILED(Trylock_hdl, hdl, mutex, proc);
	return armcigo_trylock_hdl(hdl, mutex, proc);
}

PUBLIC void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
	struct shm_mutex *m = mutex_of(find((uintptr_t)hdl), mutex, proc);
	if (likely(m && held_by_me(m))) {
		shm_unlock(m);
		return;
	}
	PROFILED(Unlock_hdl, hdl, mutex, proc);
	armcigo_unlock_hdl(hdl, mutex, proc);
}
