// SPDX-License-Identifier: BSD-3-Clause
// Broadcast, all-gather and all-reduce among the members of a team, in small steps of up to 256 bytes or pipelined
// bulk steps of up to 64 KiB. Results of a reduction are the same bits on every member: always folded in member order.
#include <string.h>

#include "../kernel/kernel.h"
#include "team.h"

static void bcast_step(struct shm_hold *h, uint8_t *buf, size_t n, int root, bool small)
{
	uint64_t k = shm_step(h, small ? SHM_SMALL_SLOTS : SHM_BULK_SLOTS);
	uint8_t *slot = small ? shm_small(h, root, k) : shm_bulk(h, root, k);
	if (h->me == root) {
		memcpy(slot, buf, n);
		shm_post(h, k);
	} else {
		shm_team_wait(h, &h->team->member[root].post, k);
		memcpy(buf, slot, n);
	}
	shm_done(h, k);
}

void shm_bcast(struct shm_hold *h, void *buf, size_t nbytes, int root)
{
	uint8_t *p = buf;
	if (h->n == 1)
		return;
	if (nbytes <= SHM_SMALL) {
		bcast_step(h, p, nbytes, root, true);
		return;
	}
	for (size_t at = 0; at < nbytes; at += SHM_BULK)
		bcast_step(h, p + at, nbytes - at < SHM_BULK ? nbytes - at : SHM_BULK, root, false);
}

void shm_allgather(struct shm_hold *h, const void *mine, size_t nbytes, void *all)
{
	uint64_t k = shm_step(h, SHM_SMALL_SLOTS);
	memcpy(shm_small(h, h->me, k), mine, nbytes);
	shm_post(h, k);
	shm_await_posts(h, k);
	for (int i = 0; i < h->n; i++) memcpy((uint8_t *)all + (size_t)i * nbytes, shm_small(h, i, k), nbytes);
	shm_done(h, k);
}

// Everyone publishes all of it, everyone folds all of it: one exchange, right while the data are small.
static void reduce_small(struct shm_hold *h, uint8_t *x, size_t nelem, size_t esize, int type, int red)
{
	uint64_t k = shm_step(h, SHM_SMALL_SLOTS);
	memcpy(shm_small(h, h->me, k), x, nelem * esize);
	shm_post(h, k);
	shm_await_posts(h, k);
	memcpy(x, shm_small(h, 0, k), nelem * esize);
	for (int i = 1; i < h->n; i++) k_reduce(red, type, x, shm_small(h, i, k), nelem);
	shm_done(h, k);
}

// Part `i` of nelem elements cut among n members: [*from, *to).
static void part(size_t nelem, int n, int i, size_t *from, size_t *to)
{
	size_t each = nelem / (size_t)n, more = nelem % (size_t)n, u = (size_t)i;
	*from = u * each + (u < more ? u : more);
	*to = *from + each + (u < more ? 1 : 0);
}

// Fold my part, in member order, into my own (until now unpublished) place in my slot.
static void fold_part(struct shm_hold *h, const uint8_t *x, uint64_t k, size_t from, size_t to, size_t esize, int type, int red)
{
	uint8_t *sum = shm_bulk(h, h->me, k) + from * esize;
	size_t n = to - from;
	const uint8_t *first = h->me == 0 ? x : shm_bulk(h, 0, k);
	memcpy(sum, first + from * esize, n * esize);
	for (int i = 1; i < h->n; i++) {
		const uint8_t *in = i == h->me ? x : shm_bulk(h, i, k);
		k_reduce(red, type, sum, in + from * esize, n);
	}
}

// Two steps on one slot: publish what others fold, fold my own part; then collect the parts.
static void reduce_bulk(struct shm_hold *h, uint8_t *x, size_t nelem, size_t esize, int type, int red)
{
	size_t from, to, total = nelem * esize;
	uint64_t k = shm_step(h, SHM_BULK_SLOTS);
	uint8_t *mine = shm_bulk(h, h->me, k);
	part(nelem, h->n, h->me, &from, &to);
	memcpy(mine, x, from * esize);
	memcpy(mine + to * esize, x + to * esize, total - to * esize);
	shm_post(h, k);
	shm_await_posts(h, k);
	fold_part(h, x, k, from, to, esize, type, red);
	shm_done(h, k);
	uint64_t k2 = shm_step(h, SHM_BULK_SLOTS);
	shm_post(h, k2);
	for (int i = 0; i < h->n; i++) {
		part(nelem, h->n, i, &from, &to);
		shm_team_wait(h, &h->team->member[i].post, k2);
		memcpy(x + from * esize, shm_bulk(h, i, k) + from * esize, (to - from) * esize);
	}
	if (h->known < k2 - 1)
		h->known = k2 - 1;
	shm_done(h, k2);
}

void shm_allreduce(struct shm_hold *h, void *x, size_t nelem, int type, int red)
{
	size_t esize = k_type_size(type), most = SHM_BULK / esize;
	uint8_t *p = x;
	if (h->n == 1) {
		k_reduce_finish(red, type, x, nelem);
		return;
	}
	if (nelem * esize <= SHM_SMALL) {
		reduce_small(h, p, nelem, esize, type, red);
		return;
	}
	for (size_t at = 0; at < nelem; at += most)
		reduce_bulk(h, p + at * esize, nelem - at < most ? nelem - at : most, esize, type, red);
}
