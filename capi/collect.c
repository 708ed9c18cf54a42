// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets to another node that are recorded in a batch: those under an aggregate handle, and
// nonblocking ones while an answer is outstanding. Go decides what may be recorded, and does
// everything else (core/batch.go, core/coalesce.go).
#include "front.h"

static bool lock(struct front_batch *b)
{
	return atomic_exchange_explicit(&b->busy, 1, memory_order_acquire) == 0;
}

static void unlock(struct front_batch *b)
{
	atomic_store_explicit(&b->busy, 0, memory_order_release);
}

// The caller has the lock.
static bool add(struct front_batch *b, int kind, void *local, void *remote, int bytes, int proc)
{
	uintptr_t at = (uintptr_t)remote - b->lo, n = (uintptr_t)bytes;
	if (b->kind != kind || b->proc != proc || b->n >= FRONT_BATCH || bytes <= 0 ||
	    bytes > b->most || n > b->room || at >= b->size || n > b->size - at ||
	    !front_address(local))
		return false;
	b->local[b->n] = (uintptr_t)local;
	b->remote[b->n] = (uintptr_t)remote;
	b->bytes[b->n++] = bytes;
	b->room -= n;
	return true;
}

bool front_collect(int kind, void *local, void *remote, int bytes, int proc, void *hdl)
{
	if (!front_on() || !front.batches)
		return false;
	struct front_batch *b = &front.batches[((uintptr_t)hdl >> 3) % FRONT_BATCHES];
	if (atomic_load_explicit(&b->owner, memory_order_relaxed) != (uintptr_t)hdl || !lock(b))
		return false;
	bool fits = b->owner == (uintptr_t)hdl && add(b, kind, local, remote, bytes, proc);
	unlock(b);
	return fits;
}

// May operations of a batch be open under this handle, and none but those?
static bool shares(const struct front_batch *b, const int32_t *hdl)
{
	int32_t owner = (int32_t)b->owner;
	if (!hdl)
		return owner == FRONT_DONE;
	return owner != FRONT_DONE && (*hdl == FRONT_DONE || *hdl == owner);
}

bool front_coalesce(int kind, void *local, void *remote, int bytes, int proc, void *hdl)
{
	if (!front_on() || !front.coalesced ||
	    (hdl && atomic_load_explicit(&front.aggregates, memory_order_relaxed) != 0))
		return false;
	struct front_batch *b = &front.coalesced[(unsigned)proc % FRONT_COALESCERS];
	if (!lock(b))
		return false;
	bool fits = shares(b, hdl) && add(b, kind, local, remote, bytes, proc);
	if (fits && hdl)
		*(int32_t *)hdl = (int32_t)b->owner;
	unlock(b);
	return fits;
}
