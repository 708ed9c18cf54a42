// SPDX-License-Identifier: BSD-3-Clause
// The sending half of messages between ranks of a node. A sender that finds no room drains its own mail meanwhile.
#include <pthread.h>

#include "mail.h"

static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER; // one message at a time goes into a ring

struct space {
	struct shm_ring *ring;
	uint64_t head, need;
};

static bool has_space(void *arg)
{
	struct space *s = arg;
	if (shm_room() - (s->head - atomic_load_explicit(&s->ring->tail, memory_order_acquire)) >= s->need)
		return true;
	shm_mail_drain();
	return false;
}

// The label and, if it is short, the message go in one piece.
static void push_short(int to, const struct label *b, const void *buf)
{
	struct shm_ring *r = shm_ring_of(to, shm.me);
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	struct space s = {.ring = r, .head = head, .need = sizeof *b + b->nbytes};
	shm_wait(has_space, &s, "armci_msg_snd", to);
	shm_ring_copy(r, head, (void *)(uintptr_t)b, sizeof *b, true);
	shm_ring_copy(r, head + sizeof *b, (void *)(uintptr_t)buf, b->nbytes, true);
	atomic_store_explicit(&r->head, head + s.need, memory_order_release);
	shm_ring(to);
}

static void push(int to, const void *buf, size_t nbytes)
{
	struct shm_ring *r = shm_ring_of(to, shm.me);
	const uint8_t *p = buf;
	while (nbytes > 0) {
		uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
		struct space s = {.ring = r, .head = head, .need = nbytes < shm_room() / 4 ? nbytes : shm_room() / 4};
		shm_wait(has_space, &s, "armci_msg_snd", to);
		uint64_t space = shm_room() - (head - atomic_load_explicit(&r->tail, memory_order_acquire));
		size_t n = nbytes < space ? nbytes : space;
		shm_ring_copy(r, head, (void *)(uintptr_t)p, n, true);
		atomic_store_explicit(&r->head, head + n, memory_order_release);
		shm_ring(to);
		p += n;
		nbytes -= n;
	}
}

void shm_send(int to, int64_t tag, const void *buf, size_t nbytes)
{
	if (to == shm.me) {
		shm_mail_keep(tag, buf, nbytes);
		shm_ring(shm.me); // another thread of mine may be waiting for it
		return;
	}
	struct label b = {.nbytes = nbytes, .tag = tag};
	pthread_mutex_lock(&sending);
	if (nbytes <= shm_room() / 4) {
		push_short(to, &b, buf);
	} else {
		push(to, &b, sizeof b);
		push(to, buf, nbytes);
	}
	pthread_mutex_unlock(&sending);
}
