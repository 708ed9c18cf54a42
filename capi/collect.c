// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets to another node under an aggregate handle: recorded in the handle's batch if they are like the one before.
// Go decides what may be recorded, and does everything else (core/batch.go).
#include "front.h"

bool front_collect(int kind, void *local, void *remote, int bytes, int proc, void *hdl)
{
	if (!front_on() || !front.batches)
		return false;
	struct front_batch *b = &front.batches[((uintptr_t)hdl >> 3) % FRONT_BATCHES];
	if (atomic_load_explicit(&b->handle, memory_order_relaxed) != (uintptr_t)hdl ||
	    atomic_exchange_explicit(&b->busy, 1, memory_order_acquire) != 0)
		return false;
	bool fits = b->handle == (uintptr_t)hdl && b->kind == kind && b->proc == proc && b->bytes == bytes && b->n < FRONT_BATCH &&
	            (uintptr_t)remote - b->lo < b->span && front_address(local);
	if (fits) {
		b->local[b->n] = (uintptr_t)local;
		b->remote[b->n++] = (uintptr_t)remote;
	}
	atomic_store_explicit(&b->busy, 0, memory_order_release);
	return fits;
}
