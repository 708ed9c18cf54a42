// SPDX-License-Identifier: BSD-3-Clause
// Memory that was declared for the atomics of network devices. These are not atomic with respect to
// CPUs, so every atomic operation on a long there has to be the device's. A range stays declared,
// also for later allocations there, since other ranks may remember it.
#include "shm.h"

bool shm_declared(uint64_t addr, struct shm_region *out)
{
	uint32_t n = atomic_load_explicit(&shm.head->declared, memory_order_acquire);
	for (uint32_t i = 0; i < n; i++) {
		struct shm_region *r = &shm.head->ranges[i];
		uint64_t hi = atomic_load_explicit(&r->hi, memory_order_acquire);
		uint64_t lo = atomic_load_explicit(&r->lo, memory_order_relaxed);
		if (addr < lo || addr >= hi) // 0 while it is being added
			continue;
		atomic_store_explicit(&out->lo, lo, memory_order_relaxed);
		atomic_store_explicit(&out->hi, hi, memory_order_relaxed);
		return true;
	}
	return false;
}

bool shm_declare(uint64_t lo, uint64_t hi)
{
	struct shm_region known;
	if (shm_declared(lo, &known) && known.hi >= hi)
		return true;
	uint32_t n = atomic_load(&shm.head->declared);
	do {
		if (n == SHM_RANGES)
			return false;
	} while (!atomic_compare_exchange_weak(&shm.head->declared, &n, n + 1));
	atomic_store_explicit(&shm.head->ranges[n].lo, lo, memory_order_relaxed);
	atomic_store_explicit(&shm.head->ranges[n].hi, hi, memory_order_release);
	return true;
}
