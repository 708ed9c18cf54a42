// SPDX-License-Identifier: BSD-3-Clause
// Barrier, and the steps of which collectives within a node consist.
// Each member writes its own slots only and reads those of others, so no slot has two writers.
// One process calls one collective at a time on a team; all members call the same ones in the same
// order.
#define _GNU_SOURCE
#include "team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int shm_context_alloc(void)
{
	for (uint32_t i = 0; i < shm.head->contexts; i++) {
		shm_u64 *word = &shm.head->context_used[i / 64];
		uint64_t bit = 1ull << (i % 64);
		if (!(atomic_load_explicit(word, memory_order_relaxed) & bit) &&
			!(atomic_fetch_or(word, bit) & bit))
			return (int)i;
	}
	return -1;
}

static struct shm_context *context_at(int id)
{
	return (struct shm_context *)(shm.base + shm.head->context_off +
		(uint64_t)id * shm.head->context_bytes);
}

// Counters of a context only grow, also from one group to the next: a member of the former group
// may still read them when the next group starts.
void shm_context_start(int id, uint64_t *phase, uint64_t *step)
{
	struct shm_context *t = context_at(id);
	*phase = atomic_load(&t->phase);
	*step = 0;
	for (int i = 0; i < shm.nlocal; i++) {
		uint64_t done = atomic_load(&t->member[i].finished),
			 reached = atomic_load(&t->member[i].phase);
		*step = done > *step ? done : *step;
		*phase = reached > *phase ? reached : *phase;
	}
}

void shm_context_free(int id)
{
	atomic_fetch_and(&shm.head->context_used[id / 64], ~(1ull << (id % 64)));
}

// All teams of this process, for leak checkers: they do not see the pointers in Go's memory.
static struct {
	pthread_mutex_t lock;
	struct shm_team *first;
	struct shm_team *spare;
} teams = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void list_team(struct shm_team *h)
{
	pthread_mutex_lock(&teams.lock);
	h->next = teams.first;
	teams.first = h;
	pthread_mutex_unlock(&teams.lock);
}

static void unlist_team(struct shm_team *h)
{
	pthread_mutex_lock(&teams.lock);
	struct shm_team **at = &teams.first;
	while (*at != h) at = &(*at)->next;
	*at = h->next;
	pthread_mutex_unlock(&teams.lock);
}

struct shm_team *shm_team_new(int n)
{
	struct shm_team *h = malloc(sizeof *h);
	int *members = malloc((size_t)n * sizeof *members);
	uint8_t *room = malloc((size_t)(n + 1) * SHM_SMALL);
	if (!h || !members || !room) {
		free(h);
		free(members);
		free(room);
		return NULL;
	}
	*h = (struct shm_team){.local = members, .gather_buf = room};
	return h;
}

static void free_team(struct shm_team *h)
{
	free(h->local);
	free(h->gather_buf);
	free(h);
}

bool shm_team_reserve(void)
{
	if (teams.spare)
		free_team(teams.spare);
	teams.spare = shm_team_new(shm.nlocal);
	return teams.spare != NULL;
}

struct shm_team *shm_team_spare(void) { return teams.spare; }

void shm_team_attach(struct shm_team *h, int id, int n, const int *local, int me, uint64_t phase,
	uint64_t step)
{
	struct shm_context *t = context_at(id);
	memcpy(h->local, local, (size_t)n * sizeof *local);
	*h = (struct shm_team){.context = t,
		.n = n,
		.me = me,
		.id = id,
		.local = h->local,
		.gather_buf = h->gather_buf};
	h->phase = phase;
	h->step = h->known_finished = step;
	h->bulk_bytes = shm.head->bulk_bytes;
	h->bulk = (uint8_t *)t + shm.head->context_bytes -
		(uint64_t)shm.nlocal * SHM_BULK_SLOTS * h->bulk_bytes;
	atomic_store(&t->member[me].phase, phase);
	atomic_store(&t->member[me].finished, step);
	atomic_store(&t->member[me].published, step);
	list_team(h);
}

void shm_team_detach(struct shm_team *h)
{
	unlist_team(h);
	if (h != teams.spare)
		free_team(h);
}

// member_of returns the member that sets a counter; -1: the barrier's common counter, which the
// last member to arrive sets.
static int member_of(const struct shm_team *h, const shm_u64 *word)
{
	const struct shm_context *t = h->context;
	if (word == &t->phase)
		return -1;
	return (int)(((const uint8_t *)word - (const uint8_t *)t->member) /
		(ptrdiff_t)sizeof(struct shm_member));
}

// departed_member returns the local rank that has left, so that `word` will never have the awaited
// value; -1: there is none. A member's counter depends on that member only, the barrier's common
// counter on all. A rank that ends still enters the barrier of the world.
static int departed_member(struct shm_team *h, const shm_u64 *word)
{
	struct shm_context *t = h->context;
	int from = 0, to = h->n;
	if (!shm.stuck || !atomic_load(&shm.head->departed))
		return -1;
	int member = member_of(h, word);
	bool barrier = member < 0 || word == &t->member[member].phase;
	if (member >= 0) {
		from = member;
		to = from + 1;
	}
	for (int i = from; i < to; i++)
		if (shm_has_left(h->local[i], barrier && h->id == 0))
			return h->local[i];
	return -1;
}

// sleep_until_counter sleeps until a counter is at least want. Once a second it checks whether the
// member that sets it has left, and ends the job if so.
static void sleep_until_counter(struct shm_team *h, const shm_u64 *word, uint64_t want)
{
	struct shm_context *t = h->context;
	atomic_fetch_add(&t->sleepers, 1);
	for (int because = -1;; because = departed_member(h, word)) {
		uint32_t seen = atomic_load(&t->event);
		if (atomic_load(word) >= want)
			break;
		if (because >= 0)
			shm.stuck("a collective call", because);
		wait_sleep(&t->event, seen, 1000);
	}
	atomic_fetch_sub(&t->sleepers, 1);
}

// A wait until a counter is at least want.
struct counter {
	const shm_u64 *word;
	uint64_t want;
};

static bool counter_reached(void *arg)
{
	const struct counter *c = arg;
	return atomic_load_explicit(c->word, memory_order_acquire) >= c->want;
}

void shm_team_wait_slow(struct shm_team *h, const shm_u64 *word, uint64_t want)
{
	if (WAIT_SOON(&shm.policy, atomic_load_explicit(word, memory_order_acquire) >= want))
		return;
	struct counter c = {word, want};
	struct wait w;
	int member = member_of(h, word);
	if (shm_poll(&w, counter_reached, &c, member < 0 ? -1 : h->local[member]))
		return;
	sleep_until_counter(h, word, want);
	shm_wait_woken(&w, atomic_load_explicit(&h->context->woken_at, memory_order_relaxed));
}

// `word` is one of the team's counters. The store of it and the load of sleepers are seq_cst, as
// are a sleeper's store of sleepers and load of word: at least one sees the other.
void shm_team_set(struct shm_context *t, shm_u64 *word, uint64_t value)
{
	atomic_exchange_explicit(word, value, memory_order_seq_cst);
	if (atomic_load_explicit(&t->sleepers, memory_order_seq_cst)) {
		atomic_store_explicit(&t->woken_at, wait_clock(), memory_order_relaxed);
		atomic_fetch_add(&t->event, 1);
		wait_wake(&t->event, INT32_MAX);
	}
}

// barrier_by_flags sets this member's flag and waits for those of all others.
static void barrier_by_flags(struct shm_team *h, uint64_t mine)
{
	shm_team_set(h->context, &shm_own_member(h)->phase, mine);
	for (int turn = 1; turn < h->n; turn++) {
		int i = h->me + turn < h->n ? h->me + turn : h->me + turn - h->n;
		shm_team_wait(h, &h->context->member[i].phase, mine);
	}
}

void shm_barrier(struct shm_team *h)
{
	struct shm_context *t = h->context;
	uint64_t mine = ++h->phase;
	if (h->n == 1)
		return;
	if (h->n <= SHM_FLAGS) {
		barrier_by_flags(h, mine);
	} else if (atomic_fetch_add(&t->arrived, 1) + 1 == (uint32_t)h->n) {
		atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
		shm_team_set(t, &t->phase, mine);
	} else {
		shm_team_wait(h, &t->phase, mine);
	}
}

// finished_by_all waits until all members have finished step `need`, and returns the last step that
// all have finished.
static uint64_t finished_by_all(struct shm_team *h, uint64_t need)
{
	uint64_t least = h->step;
	for (int i = 0; i < h->n; i++) {
		const shm_u64 *done = &h->context->member[i].finished;
		shm_team_wait(h, done, need);
		uint64_t d = atomic_load_explicit(done, memory_order_acquire);
		least = d < least ? d : least;
	}
	return least;
}

uint64_t shm_begin_step(struct shm_team *h, uint64_t slots)
{
	uint64_t k = ++h->step;
	// the last use of the slot, and the step after it, have ended
	uint64_t need = k > slots - 1 ? k - (slots - 1) : 0;
	if (h->known_finished < need)
		h->known_finished = finished_by_all(h, need);
	return k;
}

void shm_claim_bulk(struct shm_team *h, unsigned slot)
{
	if (h->known_finished < h->bulk_busy_until[slot])
		h->known_finished = finished_by_all(h, h->bulk_busy_until[slot]);
}

void shm_await_posts(struct shm_team *h, uint64_t k)
{
	for (int i = 0; i < h->n; i++) shm_team_wait(h, &h->context->member[i].published, k);
	if (h->known_finished < k - 1) // a member that has begun step k has finished the one before
		h->known_finished = k - 1;
}

void shm_await_all_small(struct shm_team *h, uint64_t k)
{
	for (int i = 0; i < h->n; i++) shm_await_small(h, i, k);
	if (h->known_finished < k - 1)
		h->known_finished = k - 1;
}
