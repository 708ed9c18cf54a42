// SPDX-License-Identifier: BSD-3-Clause
// Sending two-sided messages within a node, also on behalf of ranks of other nodes. A sender that
// finds no room receives its own messages meanwhile.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

// The sending side of the ring to each local rank. lock is held while a message is written: a lock
// per ring, so that a receiver that does not read blocks only its own senders.
static struct sending {
	pthread_mutex_t lock;
	// tail of the ring as last read; cached, since reading it takes its line from the receiver
	uint64_t tail;
	_Atomic bool backlogged; // messages of other nodes are queued in Go for room
} *sending;

// A wait for `need` free bytes in the ring to a local rank.
struct space {
	int to;
	uint64_t head, need;
};

// ring_space_to returns free bytes of the ring to a rank: possibly fewer than there are, but at
// least `need` if so many are free.
static uint64_t ring_space_to(int to, uint64_t head, uint64_t need)
{
	struct sending *s = &sending[to];
	if (shm_ring_capacity() - (head - s->tail) < need)
		s->tail = atomic_load_explicit(&shm_ring_of(to, shm.me)->tail,
			memory_order_acquire);
	return shm_ring_capacity() - (head - s->tail);
}

static bool has_ring_space(void *arg)
{
	struct space *s = arg;
	if (ring_space_to(s->to, s->head, s->need) >= s->need)
		return true;
	shm_messages_drain();
	return false;
}

// push_copy writes a copy of a short message beside the head of its ring. head: the head behind it.
static void push_copy(struct shm_ring *r, uint64_t head, const struct message_header *b,
	const void *buf)
{
	struct short_message s = {.header = *b};
	uint64_t words[SHM_COPIED];
	memcpy(s.data, buf, b->nbytes);
	memcpy(words, &s, sizeof words);
	atomic_store_explicit(&r->copied, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (int i = 0; i < SHM_COPIED; i++)
		atomic_store_explicit(&r->copy[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&r->copied, head, memory_order_release);
}

// push_message_at writes a message at `head` and publishes it. The caller has found room for it,
// and holds the ring's lock, as do the callers of the functions below.
static void push_message_at(int to, struct shm_ring *r, uint64_t head,
	const struct message_header *b, const void *buf)
{
	if (sizeof *b + b->nbytes <= sizeof(struct short_message))
		push_copy(r, head + sizeof *b + b->nbytes, b, buf);
	shm_ring_copy(r, head, (void *)(uintptr_t)b, sizeof *b, true);
	shm_ring_copy(r, head + sizeof *b, (void *)(uintptr_t)buf, b->nbytes, true);
	atomic_store_explicit(&r->head, head + sizeof *b + b->nbytes, memory_order_release);
	shm_wake_rank(to);
}

// push_whole waits for room for the whole message, then writes it.
static void push_whole(int to, const struct message_header *b, const void *buf)
{
	struct shm_ring *r = shm_ring_of(to, shm.me);
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	struct space s = {.to = to, .head = head, .need = sizeof *b + b->nbytes};
	if (!has_ring_space(&s)) // usually there is, and a wait costs more to begin
		shm_wait(has_ring_space, &s, "armci_msg_snd", to);
	push_message_at(to, r, head, b, buf);
}

// try_push_message writes a message; false: there is no room.
static bool try_push_message(int to, const struct message_header *b, const void *buf)
{
	struct shm_ring *r = shm_ring_of(to, shm.me);
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	if (ring_space_to(to, head, sizeof *b + b->nbytes) < sizeof *b + b->nbytes)
		return false;
	push_message_at(to, r, head, b, buf);
	return true;
}

// push_bytes writes bytes in as many pieces as the ring has room for, and waits in between.
static void push_bytes(int to, const void *buf, size_t nbytes)
{
	struct shm_ring *r = shm_ring_of(to, shm.me);
	const uint8_t *p = buf;
	while (nbytes > 0) {
		uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
		uint64_t quarter = shm_ring_capacity() / 4;
		uint64_t least = nbytes < quarter ? nbytes : quarter;
		struct space s = {.to = to, .head = head, .need = least};
		shm_wait(has_ring_space, &s, "armci_msg_snd", to);
		uint64_t space = ring_space_to(to, head, nbytes);
		size_t n = nbytes < space ? nbytes : space;
		shm_ring_copy(r, head, (void *)(uintptr_t)p, n, true);
		atomic_store_explicit(&r->head, head + n, memory_order_release);
		shm_wake_rank(to);
		p += n;
		nbytes -= n;
	}
}

static void push_message(int to, const struct message_header *b, const void *buf)
{
	if (b->nbytes <= shm_ring_capacity() / 4) {
		push_whole(to, b, buf);
	} else {
		push_bytes(to, b, sizeof *b);
		push_bytes(to, buf, b->nbytes);
	}
}

bool shm_deliver(int to, const struct shm_message *m, const void *buf, bool wait)
{
	if (to == shm.me) {
		shm_queue_own_message(m, buf);
		shm_wake_rank(shm.me); // another thread of this process may wait for it
		return true;
	}
	struct message_header b = {.nbytes = m->nbytes,
		.total = m->total,
		.tag = m->tag,
		.from = m->from};
	bool done = true;
	if (wait)
		pthread_mutex_lock(&sending[to].lock);
	else if (pthread_mutex_trylock(&sending[to].lock) != 0)
		return false;
	if (wait)
		push_message(to, &b, buf);
	else
		done = try_push_message(to, &b, buf);
	pthread_mutex_unlock(&sending[to].lock);
	return done;
}

bool shm_deliver_next(int to, const struct shm_message *m, const void *buf)
{
	return !atomic_load(&sending[to].backlogged) && shm_deliver(to, m, buf, false);
}

void shm_set_backlogged(int to, bool yes) { atomic_store(&sending[to].backlogged, yes); }

void shm_send(int to, int64_t tag, const void *buf, size_t nbytes)
{
	struct shm_message m = {.from = shm.rank[shm.me].world,
		.tag = tag,
		.nbytes = nbytes,
		.total = nbytes};
	shm_deliver(to, &m, buf, true);
}

bool shm_send_open(void)
{
	sending = calloc((size_t)shm.nlocal, sizeof *sending);
	for (int i = 0; sending && i < shm.nlocal; i++) pthread_mutex_init(&sending[i].lock, NULL);
	return sending;
}

void shm_send_reset(void)
{
	free(sending);
	sending = NULL;
}
