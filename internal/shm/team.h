// SPDX-License-Identifier: BSD-3-Clause
// The steps of collectives; private to team.c and collect.c.
//
// Step k of a member: claim one of its slots (shm_begin_step), fill it, publish it (published = k),
// read the slots of others, finish (finished = k). A small slot is chosen by the number of the
// step, which it contains (shm_publish_small). Bulk slots are used in turn (shm_claim_bulk), in the
// same order by every member. A bulk slot may be overwritten after the step that
// shm_bulk_busy_until sets.
#ifndef ARMCI_SHM_TEAM_H
#define ARMCI_SHM_TEAM_H

#include "shm.h"
#include "stream.h"

#define SHM_LEAST_BULK (64u << 10) // bytes of a bulk slot, at least

// shm_team_set publishes a counter of this member and wakes sleepers.
void shm_team_set(struct shm_context *t, shm_u64 *word, uint64_t value);
void shm_team_wait_slow(struct shm_team *h, const shm_u64 *word, uint64_t want);
// shm_begin_step begins a step and returns its number k; its slot (k % slots) may be overwritten.
uint64_t shm_begin_step(struct shm_team *h, uint64_t slots);
// shm_begin_bulk_step begins a step that uses bulk slots only.
static inline uint64_t shm_begin_bulk_step(struct shm_team *h) { return ++h->step; }
// shm_claim_bulk waits until no member reads this member's bulk slot any more.
void shm_claim_bulk(struct shm_team *h, unsigned slot);
// Both wait until every member has published step k: a bulk step, a small one.
void shm_await_posts(struct shm_team *h, uint64_t k);
void shm_await_all_small(struct shm_team *h, uint64_t k);

static inline void shm_team_wait(struct shm_team *h, const shm_u64 *word, uint64_t want)
{
	if (atomic_load_explicit(word, memory_order_acquire) < want)
		shm_team_wait_slow(h, word, want);
}
static inline struct shm_member *shm_own_member(struct shm_team *h)
{
	return &h->context->member[h->me];
}
static inline struct shm_slot *shm_slot(struct shm_team *h, int member, uint64_t k)
{
	return &h->context->member[member].small[k % SHM_SMALL_SLOTS];
}
static inline uint8_t *shm_small_data(struct shm_team *h, int member, uint64_t k)
{
	return shm_slot(h, member, k)->data;
}
static inline uint8_t *shm_bulk_slot(struct shm_team *h, int member, unsigned slot)
{
	return h->bulk + ((uint64_t)member * SHM_BULK_SLOTS + slot) * h->bulk_bytes;
}
static inline unsigned shm_next_slot(struct shm_team *h, unsigned among)
{
	return (unsigned)(h->bulk_uses++ % among);
}
static inline void shm_bulk_busy_until(struct shm_team *h, unsigned slot, uint64_t k)
{
	h->bulk_busy_until[slot] = k;
}
static inline void shm_publish_small(struct shm_team *h, uint64_t k)
{
	shm_team_set(h->context, &shm_slot(h, h->me, k)->step, k);
}
static inline void shm_await_small(struct shm_team *h, int member, uint64_t k)
{
	shm_team_wait(h, &shm_slot(h, member, k)->step, k);
}
static inline void shm_publish_bulk(struct shm_team *h, uint64_t k)
{
	shm_stream_end();
	shm_team_set(h->context, &shm_own_member(h)->published, k);
}
static inline void shm_finish_step(struct shm_team *h, uint64_t k)
{
	shm_team_set(h->context, &shm_own_member(h)->finished, k);
}

#endif
