// SPDX-License-Identifier: BSD-3-Clause
// Formats the control block, attaches a process to it, and maintains each rank's table of live
// regions. Go maps the memory (arena.go).
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "shm.h"
#include "team.h"

struct shm_view shm;

static uint64_t page_up(uint64_t x) { return (x + 4095) & ~4095ull; }

static uint64_t context_bytes(const struct shm_head *p)
{
	uint64_t n = p->nlocal,
		 members = page_up(sizeof(struct shm_context) + n * sizeof(struct shm_member));
	return members + n * SHM_BULK_SLOTS * p->bulk_bytes;
}

uint64_t shm_plan(struct shm_head *p, uint64_t arena_bytes, uint32_t nlocal, uint32_t world)
{
	uint64_t n = nlocal, off;
	memset(p, 0, sizeof *p);
	p->magic = SHM_MAGIC;
	p->version = SHM_VERSION;
	p->nlocal = nlocal;
	p->world = world;
	p->arena_bytes = arena_bytes;
	p->stripes = 4096;
	p->contexts = 4096;
	p->region_cap = 1u << 20;
	p->ring_bytes = SHM_RING_BYTES;
	p->bulk_bytes = SHM_BULK;
	p->context_bytes = context_bytes(p);
	// A small arena (RLIMIT_AS, or a setting) has fewer contexts and shorter tables; one that
	// is too small even then is refused.
	while (p->contexts > 64 && p->contexts * p->context_bytes > arena_bytes / 8)
		p->contexts /= 2;
	while (p->contexts > 16 && p->contexts * p->context_bytes > arena_bytes / 8) {
		if (p->bulk_bytes > SHM_LEAST_BULK)
			p->bulk_bytes /= 2;
		else
			p->contexts /= 2;
		p->context_bytes = context_bytes(p);
	}
	while (p->region_cap > 4096 &&
		n * p->region_cap * sizeof(struct shm_region) > arena_bytes / 16)
		p->region_cap /= 2;
	// a fragment from another node must fit into an empty ring
	uint64_t shortest = world > nlocal ? SHM_RING_BYTES : 8192;
	while (p->ring_bytes > shortest && n * n * p->ring_bytes > arena_bytes / 16)
		p->ring_bytes /= 2;
	p->rank_off = page_up(sizeof *p);
	p->stripe_off = off = page_up(p->rank_off + n * sizeof(struct shm_rank));
	p->notify_off = off = page_up(off + (uint64_t)p->stripes * SHM_LINE);
	p->region_off = off = page_up(off + shm_notify_bytes(n, world));
	p->ring_off = off = page_up(off + n * p->region_cap * sizeof(struct shm_region));
	p->context_off = off = page_up(off + n * n * p->ring_bytes);
	p->request_off = off = page_up(off + p->contexts * p->context_bytes);
	off += n * sizeof(struct shm_request_slot);
	p->slice_off = (off + (2u << 20) - 1) & ~((2ull << 20) - 1);
	if (p->slice_off >= arena_bytes / 2)
		return 0;
	p->slice_bytes = ((arena_bytes - p->slice_off) / n) & ~((2ull << 20) - 1);
	return p->slice_bytes ? p->slice_off : 0;
}

void shm_format(void *base, struct shm_head *plan) { memcpy(base, plan, sizeof *plan); }

int shm_attach(void *base, int me, int world, int pid)
{
	struct shm_head *h = base;
	if (h->magic != SHM_MAGIC || h->version != SHM_VERSION || (uint32_t)me >= h->nlocal)
		return -1;
	shm.base = base;
	shm.head = h;
	shm.rank = (struct shm_rank *)(shm.base + h->rank_off);
	shm.bytes = h->arena_bytes;
	shm.nlocal = (int)h->nlocal;
	shm.me = me;
	// until the machine is known
	wait_policy_open(&shm.policy, WAIT_USUAL_WAKE, WAIT_CROWDED_SPIN);
	wait_policy_open(&shm.remote_policy, WAIT_USUAL_WAKE, WAIT_CROWDED_SPIN);
	shm.rank[me].world = world;
	shm.rank[me].pid = pid;
	return shm_messages_open() ? 0 : -2;
}

void shm_detach(void)
{
	shm_messages_reset();
	memset(&shm, 0, sizeof shm);
}

// Ranks of a node are in ascending order, and usually consecutive.
int shm_local_of(int world)
{
	int lo = 0, hi = shm.nlocal - 1, i = world - shm.rank[0].world;
	while (lo <= hi) {
		if (i < lo || i > hi)
			i = lo + (hi - lo) / 2;
		if (shm.rank[i].world == world)
			return i;
		if (shm.rank[i].world < world)
			lo = i + 1;
		else
			hi = i - 1;
		i = -1;
	}
	return -1;
}

static struct shm_region *region_table(int local)
{
	return (struct shm_region *)(shm.base + shm.head->region_off) +
		(uint64_t)local * shm.head->region_cap;
}

static uint64_t load_bound(const shm_u64 *w)
{
	return atomic_load_explicit(w, memory_order_relaxed);
}

// first_beyond returns the index of the first of n regions that ends beyond addr; n: there is none.
static uint32_t first_beyond(const struct shm_region *t, uint32_t n, uint64_t addr)
{
	uint32_t lo = 0, hi = n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (load_bound(&t[mid].hi) > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

bool shm_find(int local, uint64_t addr, struct shm_found *out)
{
	struct shm_rank *r = &shm.rank[local];
	const struct shm_region *t = region_table(local);
	for (unsigned tries = 0;; tries++) {
		uint64_t gen = atomic_load_explicit(&r->gen, memory_order_acquire);
		if (!(gen & 1)) {
			uint32_t n = atomic_load_explicit(&r->nregion, memory_order_relaxed);
			uint32_t i = first_beyond(t, n, addr);
			uint64_t lo = i < n ? load_bound(&t[i].lo) : 0;
			uint64_t hi = i < n ? load_bound(&t[i].hi) : 0;
			atomic_thread_fence(memory_order_acquire);
			if (atomic_load_explicit(&r->gen, memory_order_relaxed) == gen) {
				*out = (struct shm_found){.lo = lo, .hi = hi, .gen = gen};
				return i < n && addr >= lo;
			}
		}
		if (tries > 100)
			sched_yield(); // the owner is changing the table: let it run
		else
			cpu_relax();
	}
}

// begin_change and change_end enclose a change of a rank's table, of n regions afterwards (a
// seqlock).
static void begin_change(struct shm_rank *r)
{
	atomic_fetch_add_explicit(&r->gen, 1, memory_order_relaxed);
	// a reader that sees one of the stores that follow sees that gen is odd
	atomic_thread_fence(memory_order_release);
}

static void end_change(struct shm_rank *r, uint32_t n)
{
	atomic_store_explicit(&r->nregion, n, memory_order_relaxed);
	atomic_fetch_add_explicit(&r->gen, 1, memory_order_release);
}

static void store_region(struct shm_region *r, uint64_t lo, uint64_t hi)
{
	atomic_store_explicit(&r->lo, lo, memory_order_relaxed);
	atomic_store_explicit(&r->hi, hi, memory_order_relaxed);
}

int shm_region_add(uint64_t lo, uint64_t hi)
{
	struct shm_rank *r = &shm.rank[shm.me];
	struct shm_region *t = region_table(shm.me);
	uint32_t n = r->nregion;
	if (n == shm.head->region_cap)
		return -1;
	begin_change(r);
	uint32_t i = first_beyond(t, n, lo);
	for (uint32_t j = n; j > i; j--)
		store_region(&t[j], load_bound(&t[j - 1].lo), load_bound(&t[j - 1].hi));
	store_region(&t[i], lo, hi);
	end_change(r, n + 1);
	return 0;
}

// Of several callers only one changes the table. Its owner may have exited during a change.
void shm_withdraw_rank(int local)
{
	struct shm_rank *r = &shm.rank[local];
	uint32_t how = SHM_EXITED;
	if (!atomic_compare_exchange_strong(&r->departure, &how, SHM_WITHDRAWN))
		return;
	uint64_t odd = atomic_load(&r->gen) | 1;
	atomic_store(&r->gen, odd);
	atomic_store(&r->nregion, 0);
	atomic_store(&r->gen, odd + 1);
}

int shm_region_replace(uint64_t lo, uint64_t hi, const uint64_t *pairs, uint32_t n)
{
	struct shm_rank *r = &shm.rank[shm.me];
	struct shm_region *t = region_table(shm.me);
	uint32_t all = r->nregion, i = first_beyond(t, all, lo), end = i;
	while (end < all && load_bound(&t[end].lo) < hi) end++;
	uint32_t gone = end - i;
	if (n > gone && shm.head->region_cap - all < n - gone)
		return -1;
	begin_change(r);
	if (n > gone)
		for (uint32_t j = all; j-- > end;)
			store_region(&t[j + n - gone], load_bound(&t[j].lo), load_bound(&t[j].hi));
	else if (n < gone)
		for (uint32_t j = end; j < all; j++)
			store_region(&t[j + n - gone], load_bound(&t[j].lo), load_bound(&t[j].hi));
	for (uint32_t j = 0; j < n; j++) store_region(&t[i + j], pairs[2 * j], pairs[2 * j + 1]);
	end_change(r, all + n - gone);
	return 0;
}

int shm_region_drop(uint64_t lo)
{
	struct shm_rank *r = &shm.rank[shm.me];
	struct shm_region *t = region_table(shm.me);
	uint32_t n = r->nregion, i = first_beyond(t, n, lo);
	if (i == n || load_bound(&t[i].lo) != lo)
		return -1;
	begin_change(r);
	for (; i + 1 < n; i++)
		store_region(&t[i], load_bound(&t[i + 1].lo), load_bound(&t[i + 1].hi));
	end_change(r, n - 1);
	return 0;
}
