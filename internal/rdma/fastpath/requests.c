// SPDX-License-Identifier: BSD-3-Clause
// What C has in flight: slots, one for each work request, and requests, under which an application
// waits for one or more of them. Callers hold the queues, except those of
// rdma_fast_request_is_open.
#include "questions.h"

#include "../../kernel/kernel.h"

_Static_assert(RDMA_FAST_DEPTH == 64, "a bit for each");

enum { STORE_LOST = -2 }; // in rank of a run of which a store has failed: it covers nothing
enum { NUMBER_BITS = 6, USES = 1 << (FAST_REQUEST_BITS - NUMBER_BITS) };

static uint64_t lowest_bits(unsigned n) { return n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0; }

// Raises or lowers a counter that only the thread that holds the queues changes. Returns its value.
static uint32_t add_to_counter(_Atomic uint32_t *n, int change)
{
	uint32_t now = atomic_load_explicit(n, memory_order_relaxed) + (uint32_t)change;
	atomic_store_explicit(n, now, memory_order_release);
	return now;
}

void rdma_fast_reset(uint32_t depth)
{
	for (unsigned i = 0; i < RDMA_FAST_DEPTH; i++) {
		rdma_fast.slots[i] = (struct rdma_fast_slot){.id = rdma_fast.slots[i].id,
			.request = RDMA_FAST_NO_REQUEST};
		atomic_store(&rdma_fast.requests[i].number, 0);
		atomic_store(&rdma_fast.requests[i].open_parts, 0);
		atomic_store(&rdma_fast.requests[i].failed, 0);
		rdma_fast.open_questions[i].pair = NULL;
	}
	for (unsigned i = 0; i < RDMA_FAST_PEERS; i++)
		atomic_store(&rdma_fast.peer_behind[i], false);
	rdma_fast.depth = depth;
	rdma_fast.free_slots = lowest_bits(depth);
	atomic_store(&rdma_fast.stores_in_flight, 0);
	atomic_store(&rdma_fast.unanswered, 0);
	atomic_store(&rdma_fast.unanswered_stores, 0);
	atomic_store(&rdma_fast.implicit_gets, 0);
}

bool rdma_fast_request_is_open(int32_t number)
{
	struct rdma_fast_request *r = &rdma_fast.requests[(uint32_t)number % RDMA_FAST_DEPTH];
	return number != 0 && atomic_load_explicit(&r->number, memory_order_acquire) == number;
}

// The index of a request that is free; NO_REQUEST: there is none.
static int free_request(void)
{
	for (unsigned i = 0; i < RDMA_FAST_DEPTH; i++) {
		unsigned place = rdma_fast.request_hint % RDMA_FAST_DEPTH;
		struct rdma_fast_request *r = &rdma_fast.requests[place];
		if (place != RDMA_FAST_IMPLICIT_PLACE &&
		    atomic_load_explicit(&r->number, memory_order_acquire) == 0)
			return (int)place;
		rdma_fast.request_hint++;
	}
	return RDMA_FAST_NO_REQUEST;
}

int rdma_fast_open_request(int32_t number)
{
	int place;
	if (number == FAST_IMPLICIT) {
		place = RDMA_FAST_IMPLICIT_PLACE;
	} else if (rdma_fast_request_is_open(number)) {
		place = (int)((uint32_t)number % RDMA_FAST_DEPTH);
	} else {
		place = free_request();
		if (place == RDMA_FAST_NO_REQUEST)
			return place;
	}
	struct rdma_fast_request *r = &rdma_fast.requests[place];
	if (atomic_load_explicit(&r->number, memory_order_relaxed) == 0) {
		if (place != RDMA_FAST_IMPLICIT_PLACE)
			r->used = (r->used + 1) % USES;
		atomic_store_explicit(&r->number, FAST_IMPLICIT | r->used << NUMBER_BITS | place,
			memory_order_release);
	}
	return place;
}

// Frees a request, and counts that it is over.
static void close_request(int place)
{
	struct rdma_fast_request *r = &rdma_fast.requests[place];
	r->abandoned = false;
	atomic_store_explicit(&r->failed, 0, memory_order_relaxed);
	atomic_store_explicit(&r->number, 0, memory_order_release); // after the data
	add_to_counter(&rdma_fast.over_count, 1);
}

void rdma_fast_hold_request(int request)
{
	add_to_counter(&rdma_fast.requests[request].open_parts, 1);
}

void rdma_fast_release_request(int request)
{
	struct rdma_fast_request *r = &rdma_fast.requests[request];
	bool failed = atomic_load_explicit(&r->failed, memory_order_relaxed) != 0;
	if (add_to_counter(&r->open_parts, -1) != 0)
		return;
	if (r->abandoned || !failed)
		close_request(request);
	else
		add_to_counter(&rdma_fast.over_count, 1);
}

void rdma_fast_abandon_request(int request)
{
	struct rdma_fast_request *r = &rdma_fast.requests[request];
	if (atomic_load_explicit(&r->open_parts, memory_order_relaxed) == 0)
		close_request(request);
	else
		r->abandoned = true;
}

int rdma_fast_take_slot(bool buffer)
{
	uint64_t some = rdma_fast.free_slots;
	if (buffer)
		some &= lowest_bits(rdma_fast.buffer_count);
	if (some == 0)
		return -1;
	// Slots with a buffer are the lowest: they are kept for transfers that need one.
	int slot = buffer ? __builtin_ctzll(some) : 63 - __builtin_clzll(some);
	rdma_fast.free_slots &= ~((uint64_t)1 << slot);
	return slot;
}

uint64_t rdma_fast_take_slots(unsigned n, bool with_buffer)
{
	uint64_t taken = 0;
	if (with_buffer)
		taken = (uint64_t)1 << rdma_fast_take_slot(true), n--;
	while (n-- > 0) {
		uint64_t highest = (uint64_t)1 << (63 - __builtin_clzll(rdma_fast.free_slots));
		rdma_fast.free_slots &= ~highest;
		taken |= highest;
	}
	return taken;
}

uint64_t rdma_fast_start_work(int slot, const struct rdma_fast_range *to,
	struct rdma_fast_local *from, int request, bool store)
{
	struct rdma_fast_slot *s = &rdma_fast.slots[slot];
	s->id = ((s->id + RDMA_FAST_DEPTH) & ~(uint64_t)(RDMA_FAST_DEPTH - 1)) | RDMA_FAST_ID |
	        (unsigned)slot;
	s->pair = to->pair;
	s->from = from && from->watched ? from : NULL;
	if (s->from)
		add_to_counter(&from->users, 1);
	s->rank = to->rank;
	s->request = (int8_t)request;
	s->store = store;
	s->copy_bytes = 0;
	s->chain = 0;
	if (store)
		rdma_fast_begin_store();
	else if (request == RDMA_FAST_IMPLICIT_PLACE)
		add_to_counter(&rdma_fast.implicit_gets, 1);
	if (request != RDMA_FAST_NO_REQUEST)
		add_to_counter(&rdma_fast.requests[request].open_parts, 1);
	return s->id;
}

void rdma_fast_note_failure(int request, int rank)
{
	struct rdma_fast_request *r = &rdma_fast.requests[request];
	if (!atomic_load_explicit(&r->failed, memory_order_relaxed)) {
		r->rank = rank;
		atomic_store_explicit(&r->failed, 1, memory_order_relaxed);
	}
}

// A work request of the slot's request is over.
static void release_part(const struct rdma_fast_slot *s, bool failed)
{
	if (failed)
		rdma_fast_note_failure(s->request, s->rank);
	rdma_fast_release_request(s->request);
}

// Copies what has arrived in a slot's buffer to where the get wants it.
static void copy_out(const struct rdma_fast_slot *s, unsigned slot)
{
	const void *data = (const void *)rdma_fast_slot_buffer(slot);
	if (s->copy_to)
		k_copy((void *)s->copy_to, data, s->copy_bytes);
	else
		k_cursor_unpack(&rdma_fast.scatters[slot].to, rdma_fast.scatters[slot].list, data,
			s->copy_bytes);
}

void rdma_fast_begin_store(void) { add_to_counter(&rdma_fast.stores_in_flight, 1); }

void rdma_fast_end_store(int rank, bool ok)
{
	if (add_to_counter(&rdma_fast.stores_in_flight, -1) == 0)
		add_to_counter(&rdma_fast.over_count, 1);
	if (!ok) {
		rdma_fast_stores_at(rank)->rank = STORE_LOST;
		rdma_fast.runs_of_all.rank = STORE_LOST;
	}
}

// Ends a work request: delivers its data, and updates the counters and its request. It does so
// once: the slot remembers nothing of that afterwards.
static void settle_work(struct rdma_fast_slot *s, unsigned slot, bool failed)
{
	if (s->copy_bytes > 0 && !failed)
		copy_out(s, slot);
	if (s->store)
		rdma_fast_end_store(s->rank, !failed);
	if (!s->store && s->request == RDMA_FAST_IMPLICIT_PLACE)
		add_to_counter(&rdma_fast.implicit_gets, -1);
	if (s->from)
		add_to_counter(&s->from->users, -1);
	s->from = NULL;
	if (s->request != RDMA_FAST_NO_REQUEST)
		release_part(s, failed);
	s->copy_bytes = 0;
	s->store = false;
	s->request = RDMA_FAST_NO_REQUEST;
}

static void free_slot(unsigned slot)
{
	rdma_fast.slots[slot].pair = NULL;
	rdma_fast.free_slots |= (uint64_t)1 << slot | rdma_fast.slots[slot].chain;
}

void rdma_fast_complete_work(uint64_t id, bool failed)
{
	unsigned slot = (unsigned)(id % RDMA_FAST_DEPTH);
	struct rdma_fast_slot *s = &rdma_fast.slots[slot];
	if (s->pair && s->id == id) {
		settle_work(s, slot, failed);
		free_slot(slot);
	}
}

// A closed pair is NULL, as are those of free slots: nothing is done then.
void rdma_fast_fail_pair(const void *pair)
{
	for (unsigned i = 0; pair && i < RDMA_FAST_DEPTH; i++)
		if (rdma_fast.slots[i].pair == pair)
			settle_work(&rdma_fast.slots[i], i, true);
	rdma_fast_fail_questions(pair);
}

void rdma_fast_forget_pair(const void *pair)
{
	for (unsigned i = 0; pair && i < RDMA_FAST_DEPTH; i++)
		if (rdma_fast.slots[i].pair == pair)
			free_slot(i);
}

bool rdma_fast_pair_in_use(const void *pair)
{
	for (unsigned i = 0; pair && i < RDMA_FAST_DEPTH; i++)
		if (rdma_fast.slots[i].pair == pair)
			return true;
	return rdma_fast_has_questions(pair);
}

bool rdma_fast_take_failure(int32_t number, int *rank)
{
	int place = (int)((uint32_t)number % RDMA_FAST_DEPTH);
	struct rdma_fast_request *r = &rdma_fast.requests[place];
	if (atomic_load(&r->number) != number || atomic_load(&r->open_parts) != 0 ||
	    !atomic_exchange(&r->failed, 0))
		return false;
	*rank = r->rank;
	close_request(place);
	return true;
}
