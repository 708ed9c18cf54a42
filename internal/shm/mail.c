// SPDX-License-Identifier: BSD-3-Clause
// Two-sided messages between ranks of a node: a byte ring per ordered pair, matched by source and tag in order of
// arrival. What arrives unasked is moved to private memory, also while sending, so that two ranks sending to each
// other never block for good. Not for bulk data between arena addresses: those are puts.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shm.h"

// A message that arrived before it was asked for; complete once got == nbytes.
struct letter {
	struct letter *next;
	int from;
	int64_t tag;
	size_t nbytes, got;
	uint8_t data[];
};
struct label { // what precedes a message in a ring
	uint64_t nbytes;
	int64_t tag;
};
// What this process has read so far; guarded by lock. open[i]: the message from i whose data are still arriving.
static struct {
	pthread_mutex_t lock, send_lock;
	struct letter *first, **last;
	struct letter **open;
} inbox = {.lock = PTHREAD_MUTEX_INITIALIZER, .send_lock = PTHREAD_MUTEX_INITIALIZER};

static struct shm_ring *ring(int to, int from)
{
	uint64_t i = (uint64_t)to * (uint64_t)shm.nlocal + (uint64_t)from;
	return (struct shm_ring *)(shm.base + shm.head->mail_off + i * shm.head->ring_bytes);
}

static uint64_t room(void) { return shm.head->ring_bytes - sizeof(struct shm_ring); }

static void ring_copy(struct shm_ring *r, uint64_t at, void *mem, size_t n, bool write)
{
	uint64_t cap = room(), off = at % cap, first = n < cap - off ? n : cap - off;
	uint8_t *p = mem;
	if (write) {
		memcpy(r->data + off, p, first);
		memcpy(r->data, p + first, n - first);
	} else {
		memcpy(p, r->data + off, first);
		memcpy(p + first, r->data, n - first);
	}
}

static void append(struct letter *l)
{
	if (!inbox.last)
		inbox.last = &inbox.first;
	*inbox.last = l;
	inbox.last = &l->next;
}

static struct letter *new_letter(int from, int64_t tag, size_t nbytes)
{
	struct letter *l = malloc(sizeof *l + nbytes);
	if (!l)
		abort();
	*l = (struct letter){.from = from, .tag = tag, .nbytes = nbytes};
	append(l);
	return l;
}

// Move what has arrived from one rank into letters. True if anything moved.
static bool drain_ring(int from)
{
	struct shm_ring *r = ring(shm.me, from);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed), start = tail;
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	while (head - tail > 0) {
		struct letter *l = inbox.open[from];
		if (!l) {
			struct label b;
			if (head - tail < sizeof b)
				break;
			ring_copy(r, tail, &b, sizeof b, false);
			tail += sizeof b;
			inbox.open[from] = l = new_letter(from, b.tag, b.nbytes);
		}
		size_t n = l->nbytes - l->got < head - tail ? l->nbytes - l->got : head - tail;
		ring_copy(r, tail, l->data + l->got, n, false);
		l->got += n;
		tail += n;
		if (l->got == l->nbytes)
			inbox.open[from] = NULL;
	}
	if (tail == start)
		return false;
	atomic_store_explicit(&r->tail, tail, memory_order_release);
	shm_ring(from); // it may be waiting for room
	return true;
}

static void drain(void)
{
	if (!inbox.open) {
		inbox.open = calloc((size_t)shm.nlocal, sizeof *inbox.open);
		if (!inbox.open)
			abort();
	}
	for (int i = 0; i < shm.nlocal; i++)
		if (i != shm.me)
			drain_ring(i);
}

static void drain_locked(void)
{
	pthread_mutex_lock(&inbox.lock);
	drain();
	pthread_mutex_unlock(&inbox.lock);
}

struct space {
	struct shm_ring *ring;
	uint64_t head, need;
};

static bool has_space(void *arg)
{
	struct space *s = arg;
	if (room() - (s->head - atomic_load_explicit(&s->ring->tail, memory_order_acquire)) >= s->need)
		return true;
	drain_locked();
	return false;
}

static void push(int to, const void *buf, size_t nbytes)
{
	struct shm_ring *r = ring(to, shm.me);
	const uint8_t *p = buf;
	while (nbytes > 0) {
		uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
		struct space s = {.ring = r, .head = head, .need = nbytes < room() / 4 ? nbytes : room() / 4};
		shm_wait(has_space, &s, "armci_msg_snd", to);
		uint64_t space = room() - (head - atomic_load_explicit(&r->tail, memory_order_acquire));
		size_t n = nbytes < space ? nbytes : space;
		ring_copy(r, head, (void *)(uintptr_t)p, n, true);
		atomic_store_explicit(&r->head, head + n, memory_order_release);
		shm_ring(to);
		p += n;
		nbytes -= n;
	}
}

void shm_send(int to, int64_t tag, const void *buf, size_t nbytes)
{
	if (to == shm.me) {
		pthread_mutex_lock(&inbox.lock);
		struct letter *l = new_letter(to, tag, nbytes);
		memcpy(l->data, buf, nbytes);
		l->got = nbytes;
		pthread_mutex_unlock(&inbox.lock);
		shm_ring(shm.me); // another thread of mine may be waiting for it
		return;
	}
	struct label b = {.nbytes = nbytes, .tag = tag};
	pthread_mutex_lock(&inbox.send_lock);
	push(to, &b, sizeof b);
	push(to, buf, nbytes);
	pthread_mutex_unlock(&inbox.send_lock);
}

struct match {
	int from;
	int64_t tag;
	struct letter *found;
};

// The oldest letter that fits, complete or not; takes it off the list once complete.
static bool matched(void *arg)
{
	struct match *m = arg;
	pthread_mutex_lock(&inbox.lock);
	drain();
	for (struct letter **p = &inbox.first; *p; p = &(*p)->next) {
		struct letter *l = *p;
		if (l->tag != m->tag || (m->from >= 0 && l->from != m->from))
			continue;
		if (l->got == l->nbytes) {
			*p = l->next;
			if (!l->next)
				inbox.last = p;
			m->found = l;
		}
		break;
	}
	pthread_mutex_unlock(&inbox.lock);
	return m->found;
}

static void put_back(struct letter *l)
{
	pthread_mutex_lock(&inbox.lock);
	l->next = inbox.first;
	inbox.first = l;
	if (!l->next)
		inbox.last = &l->next;
	pthread_mutex_unlock(&inbox.lock);
}

int shm_recv(int *from, int64_t tag, void *buf, size_t cap, size_t *nbytes)
{
	struct match m = {.from = *from, .tag = tag};
	shm_wait(matched, &m, "armci_msg_rcv", *from);
	*from = m.found->from;
	*nbytes = m.found->nbytes;
	if (m.found->nbytes > cap) {
		put_back(m.found);
		return -1;
	}
	memcpy(buf, m.found->data, m.found->nbytes);
	free(m.found);
	return 0;
}

void shm_mail_reset(void)
{
	pthread_mutex_lock(&inbox.lock);
	for (struct letter *l = inbox.first, *next; l; l = next) {
		next = l->next;
		free(l);
	}
	free(inbox.open);
	inbox.first = NULL;
	inbox.last = NULL;
	inbox.open = NULL;
	pthread_mutex_unlock(&inbox.lock);
}
