// SPDX-License-Identifier: BSD-3-Clause
// Broadcast, allgather and allreduce among the members of a team, in small steps of up to 256 bytes
// or pipelined bulk steps of up to 256 KiB: one is written while the one before is read. Reductions
// combine (fold) operands in member order, so that the result has the same bits on every member.
#include <string.h>

#include "../kernel/kernel.h"
#include "team.h"

#define BCAST_LEAST (32u << 10)  // bytes of a step of a broadcast, at least
#define BCAST_MOST (64u << 10)   // and at most
// bytes of a step of a reduction, at least; at most a bulk slot's
#define REDUCE_LEAST SHM_LEAST_BULK
#define FOLD (8u << 10)          // bytes folded and published at a time
#define FEW_SLOTS 4u             // bulk slots that are used in turn by short transfers

// bcast_small broadcasts through one small slot.
static void bcast_small(struct shm_team *h, void *buf, size_t n, int root)
{
	uint64_t k = shm_begin_step(h, SHM_SMALL_SLOTS);
	uint8_t *slot = shm_small_data(h, root, k);
	if (h->me == root) {
		memcpy(slot, buf, n);
		shm_publish_small(h, k);
	} else {
		shm_await_small(h, root, k);
		memcpy(buf, slot, n);
	}
	shm_finish_step(h, k);
}

// bcast_bulk broadcasts through one bulk slot, in pieces: readers follow the root, and finish when
// they have read all pieces.
static void bcast_bulk(struct shm_team *h, uint8_t *buf, size_t n, size_t piece, unsigned slots,
	int root)
{
	unsigned at = shm_next_slot(h, slots);
	uint8_t *slot = shm_bulk_slot(h, root, at);
	shm_claim_bulk(h, at);
	uint64_t k = 0;
	for (size_t from = 0; from < n; from += piece) {
		size_t some = n - from < piece ? n - from : piece;
		k = shm_begin_bulk_step(h);
		if (h->me == root) {
			shm_stream(slot + from, buf + from, some);
			shm_publish_bulk(h, k);
		} else {
			shm_team_wait(h, &h->context->member[root].published, k);
			memcpy(buf + from, slot + from, some);
		}
	}
	shm_bulk_busy_until(h, at, k);
	shm_finish_step(h, k);
}

void shm_bcast(struct shm_team *h, void *buf, size_t nbytes, int root)
{
	uint8_t *p = buf;
	if (h->n == 1)
		return;
	if (nbytes <= SHM_SMALL) {
		bcast_small(h, p, nbytes, root);
		return;
	}
	size_t piece = nbytes / 4 < BCAST_LEAST ? BCAST_LEAST : BCAST_MOST;
	unsigned slots = nbytes <= FEW_SLOTS * h->bulk_bytes ? FEW_SLOTS : SHM_BULK_SLOTS;
	for (size_t at = 0; at < nbytes; at += h->bulk_bytes)
		bcast_bulk(h, p + at, nbytes - at < h->bulk_bytes ? nbytes - at : h->bulk_bytes,
			piece, slots, root);
}

void shm_allgather(struct shm_team *h, const void *mine, size_t nbytes, void *all)
{
	uint64_t k = shm_begin_step(h, SHM_SMALL_SLOTS);
	memcpy(shm_small_data(h, h->me, k), mine, nbytes);
	shm_publish_small(h, k);
	shm_await_all_small(h, k);
	for (int i = 0; i < h->n; i++)
		memcpy((uint8_t *)all + (size_t)i * nbytes, shm_small_data(h, i, k), nbytes);
	shm_finish_step(h, k);
}

// reduce_small publishes all data of each member, and every member folds all: one exchange, best
// for small data.
static void reduce_small(struct shm_team *h, uint8_t *x, size_t nelem, size_t esize, int type,
	int red)
{
	uint64_t k = shm_begin_step(h, SHM_SMALL_SLOTS);
	memcpy(shm_small_data(h, h->me, k), x, nelem * esize);
	shm_publish_small(h, k);
	shm_await_all_small(h, k);
	memcpy(x, shm_small_data(h, 0, k), nelem * esize);
	for (int i = 1; i < h->n; i++) k_reduce(red, type, x, shm_small_data(h, i, k), nelem);
	shm_finish_step(h, k);
}

// part_range computes the elements [*from, *to) of member i, where nelem are divided among n
// members.
static void part_range(size_t nelem, int n, int i, size_t *from, size_t *to)
{
	size_t each = nelem / (size_t)n, more = nelem % (size_t)n, u = (size_t)i;
	*from = u * each + (u < more ? u : more);
	*to = *from + each + (u < more ? 1 : 0);
}

// A piece of a reduction in progress: nelem elements at x, published in bulk slots as step k.
struct piece {
	uint8_t *x;
	size_t nelem, esize;
	unsigned slot;
	uint64_t k;
};

// publish_piece begins the step of a piece: it publishes the parts that other members fold.
static struct piece publish_piece(struct shm_team *h, uint8_t *x, size_t nelem, size_t esize,
	unsigned slot)
{
	struct piece p = {.x = x, .nelem = nelem, .esize = esize, .slot = slot};
	uint8_t *mine = shm_bulk_slot(h, h->me, p.slot);
	size_t from, to;
	shm_claim_bulk(h, slot);
	p.k = shm_begin_bulk_step(h);
	part_range(nelem, h->n, h->me, &from, &to);
	shm_stream(mine, x, from * esize);
	shm_stream(mine + to * esize, x + to * esize, (nelem - to) * esize);
	shm_publish_bulk(h, p.k);
	return p;
}

// fold_chunk folds n elements at byte offset `at` of a piece in member order, and publishes the
// result. It folds into buf until the turn of this member's operand, then into that.
static void fold_chunk(struct shm_team *h, const struct piece *p, size_t at, size_t n, int type,
	int red)
{
	_Alignas(SHM_LINE) uint8_t buf[FOLD];
	uint8_t *x = p->x + at;
	const uint8_t *sum = h->me == 0 ? x : shm_bulk_slot(h, 0, p->slot) + at;
	for (int i = 1; i < h->n; i++) {
		uint8_t *out = i < h->me ? buf : x;
		const uint8_t *operand = i == h->me ? x : shm_bulk_slot(h, i, p->slot) + at;
		k_reduce_to(red, type, out, sum, operand, n);
		sum = out;
	}
	shm_stream(shm_bulk_slot(h, h->me, p->slot) + at, x, n * p->esize);
}

// fold_part folds this member's part of a piece, FOLD bytes at a time, which stay in the nearest
// cache until they are copied to the slot. The slot has no other data in the place of this part.
static void fold_part(struct shm_team *h, const struct piece *p, int type, int red)
{
	size_t from, to, most = FOLD / p->esize;
	part_range(p->nelem, h->n, h->me, &from, &to);
	for (; from < to; from += most)
		fold_chunk(h, p, from * p->esize, to - from < most ? to - from : most, type, red);
}

// collect_parts copies the parts that other members have folded and published as step k.
static void collect_parts(struct shm_team *h, const struct piece *p, uint64_t k)
{
	for (int turn = 1; turn < h->n; turn++) {
		int i = (h->me + turn) % h->n; // members start with different sources
		size_t from, to;
		part_range(p->nelem, h->n, i, &from, &to);
		shm_team_wait(h, &h->context->member[i].published, k);
		memcpy(p->x + from * p->esize, shm_bulk_slot(h, i, p->slot) + from * p->esize,
			(to - from) * p->esize);
	}
	shm_bulk_busy_until(h, p->slot, k);
}

// piece_bytes returns the size of the pieces of nbytes: four pieces suffice to overlap, and larger
// pieces take fewer exchanges.
static size_t piece_bytes(const struct shm_team *h, size_t nbytes)
{
	size_t piece = nbytes / 4;
	piece = piece < REDUCE_LEAST ? REDUCE_LEAST : piece;
	return piece < h->bulk_bytes ? piece : h->bulk_bytes;
}

// A reduction in pieces, and its progress. Every member takes the same steps in the same order.
struct reduction {
	uint8_t *x;
	size_t nelem; // elements
	size_t esize; // bytes of an element
	size_t most;  // elements of a piece, at most
	size_t at;    // elements published so far
	int type, red;
};

// publish_next_piece publishes the next piece in a bulk slot; false: all are published.
static bool publish_next_piece(struct shm_team *h, struct reduction *r, struct piece *p,
	unsigned slot)
{
	size_t n = r->nelem - r->at < r->most ? r->nelem - r->at : r->most;
	if (n == 0)
		return false;
	*p = publish_piece(h, r->x + r->at * r->esize, n, r->esize, slot);
	r->at += n;
	return true;
}

// finish_pieces folds this member's parts of n pieces, and collects those of the others.
static void finish_pieces(struct shm_team *h, const struct reduction *r, const struct piece *p,
	unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		shm_await_posts(h, p[i].k);
		fold_part(h, &p[i], r->type, r->red);
	}
	uint64_t k = shm_begin_bulk_step(h);
	shm_publish_bulk(h, k);
	for (unsigned i = 0; i < n; i++) collect_parts(h, &p[i], k);
	shm_finish_step(h, k);
}

// any_crowded reports whether a member had lost time slices before its first post. All members have
// posted, so the result is the same on all.
static bool any_crowded(struct shm_team *h)
{
	for (int i = 0; i < h->n; i++)
		if (atomic_load_explicit(&h->context->member[i].crowded, memory_order_relaxed))
			return true;
	return false;
}

// reduce_in_few reduces as many pieces at a time as there are slots, for ranks that share cores,
// where each exchange costs a time slice. The first two pieces have been published.
static void reduce_in_few(struct shm_team *h, struct reduction *r, const struct piece *first)
{
	struct piece p[SHM_BULK_SLOTS] = {first[0], first[1]};
	unsigned taken = 1u << p[0].slot | 1u << p[1].slot;
	for (unsigned n = 2;; n = taken = 0) {
		for (unsigned slot = 0; slot < SHM_BULK_SLOTS; slot++)
			if (!(taken & 1u << slot) && publish_next_piece(h, r, &p[n], slot))
				n++;
		if (n == 0)
			return;
		finish_pieces(h, r, p, n);
	}
}

// reduce_bulk reduces piece by piece. The next piece is published before one is folded.
static void reduce_bulk(struct shm_team *h, struct reduction *r)
{
	struct piece p[2]; // this one and the next one
	if (r->nelem > r->most)
		atomic_store_explicit(&shm_own_member(h)->crowded, shm_lost_slices(),
			memory_order_relaxed);
	publish_next_piece(h, r, &p[0], shm_next_slot(h, FEW_SLOTS));
	bool more = publish_next_piece(h, r, &p[1], shm_next_slot(h, FEW_SLOTS));
	shm_await_posts(h, p[0].k);
	if (more && any_crowded(h)) {
		reduce_in_few(h, r, p);
		return;
	}
	for (;;) {
		finish_pieces(h, r, p, 1);
		if (!more)
			return;
		p[0] = p[1];
		more = publish_next_piece(h, r, &p[1], shm_next_slot(h, FEW_SLOTS));
	}
}

void shm_allreduce(struct shm_team *h, void *x, size_t nelem, int type, int red)
{
	size_t esize = k_type_size(type);
	if (h->n == 1) {
		k_reduce_finish(red, type, x, nelem);
		return;
	}
	if (nelem * esize <= SHM_SMALL) {
		reduce_small(h, x, nelem, esize, type, red);
		return;
	}
	struct reduction r = {.x = x,
		.nelem = nelem,
		.esize = esize,
		.most = piece_bytes(h, nelem * esize) / esize,
		.type = type,
		.red = red};
	reduce_bulk(h, &r);
}
