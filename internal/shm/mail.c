// SPDX-License-Identifier: BSD-3-Clause
// Two-sided messages between ranks of a node, the receiving half: a byte ring per ordered pair, matched by source and
// tag in order of arrival. What is waited for goes to its buffer; what arrives unasked is moved to private memory, also
// while sending, so that two ranks sending to each other never block for good. Not for bulk data between arena
// addresses: those are puts.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mail.h"

struct match;
// A message of which at least the label has arrived; complete once got == nbytes. data is its own memory, or the buffer
// of the receiver that waits for it and nobody else may take it.
struct letter {
	struct letter *next;
	int from;
	int64_t tag;
	size_t nbytes, got;
	struct match *receiver;
	uint8_t *data;
	uint8_t own[];
};
// What this process has read so far; guarded by lock. open[i]: the message from i whose data are still arriving.
static struct {
	pthread_mutex_t lock;
	struct letter *first, **last;
	struct letter **open;
} inbox = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void append(struct letter *l)
{
	if (!inbox.last)
		inbox.last = &inbox.first;
	*inbox.last = l;
	inbox.last = &l->next;
}

// data: where the message goes, NULL for memory of its own.
static struct letter *new_letter(int from, int64_t tag, size_t nbytes, uint8_t *data)
{
	struct letter *l = malloc(sizeof *l + (data ? 0 : nbytes));
	if (!l)
		abort();
	*l = (struct letter){.from = from, .tag = tag, .nbytes = nbytes, .data = data ? data : l->own};
	append(l);
	return l;
}

// Move what has arrived from one rank into letters. True if anything moved.
static bool drain_ring(int from)
{
	struct shm_ring *r = shm_ring_of(shm.me, from);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed), start = tail;
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	while (head - tail > 0) {
		struct letter *l = inbox.open[from];
		if (!l) {
			struct label b;
			if (head - tail < sizeof b)
				break;
			shm_ring_copy(r, tail, &b, sizeof b, false);
			tail += sizeof b;
			inbox.open[from] = l = new_letter(from, b.tag, b.nbytes, NULL);
		}
		size_t n = l->nbytes - l->got < head - tail ? l->nbytes - l->got : head - tail;
		shm_ring_copy(r, tail, l->data + l->got, n, false);
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

static void open_inbox(void)
{
	if (!inbox.open)
		inbox.open = calloc((size_t)shm.nlocal, sizeof *inbox.open);
	if (!inbox.open)
		abort();
}

static void drain(void)
{
	open_inbox();
	for (int i = 0; i < shm.nlocal; i++)
		if (i != shm.me)
			drain_ring(i);
}

void shm_mail_drain(void)
{
	pthread_mutex_lock(&inbox.lock);
	drain();
	pthread_mutex_unlock(&inbox.lock);
}

void shm_mail_keep(int64_t tag, const void *buf, size_t nbytes)
{
	pthread_mutex_lock(&inbox.lock);
	struct letter *l = new_letter(shm.me, tag, nbytes, NULL);
	memcpy(l->data, buf, nbytes);
	l->got = nbytes;
	pthread_mutex_unlock(&inbox.lock);
}

struct match {
	int from;
	int64_t tag;
	uint8_t *buf;
	size_t cap;
	bool done;
	int source; // once done: of the message that was found
	size_t nbytes;
	struct letter *found; // the message, NULL if it is too long: then it stays where it is, in its order
};

// The oldest letter that fits, complete or not: where the list points to it, NULL if there is none.
static struct letter **oldest(const struct match *m)
{
	for (struct letter **p = &inbox.first; *p; p = &(*p)->next) {
		const struct letter *l = *p;
		if (l->tag == m->tag && (m->from < 0 || l->from == m->from) && (!l->receiver || l->receiver == m))
			return p;
	}
	return NULL;
}

// If what comes next from the source is the message that is waited for, it shall go straight to its buffer.
static void aim(struct match *m)
{
	struct shm_ring *r = shm_ring_of(shm.me, m->from);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	struct label b;
	if (m->from == shm.me || inbox.open[m->from] ||
	    atomic_load_explicit(&r->head, memory_order_acquire) - tail < sizeof b || oldest(m))
		return;
	shm_ring_copy(r, tail, &b, sizeof b, false);
	if (b.tag != m->tag || b.nbytes > m->cap || b.nbytes == 0)
		return;
	atomic_store_explicit(&r->tail, tail + sizeof b, memory_order_release);
	struct letter *l = new_letter(m->from, b.tag, b.nbytes, m->buf);
	l->receiver = m;
	inbox.open[m->from] = l;
}

// Takes the letter off the list once it is complete, if it fits.
static bool matched(void *arg)
{
	struct match *m = arg;
	pthread_mutex_lock(&inbox.lock);
	open_inbox();
	if (m->from >= 0)
		aim(m);
	drain();
	struct letter **p = oldest(m);
	if (p && (*p)->got == (*p)->nbytes) {
		m->done = true;
		m->source = (*p)->from;
		m->nbytes = (*p)->nbytes;
	}
	if (m->done && m->nbytes <= m->cap) {
		m->found = *p;
		*p = m->found->next;
		if (!*p)
			inbox.last = p;
	}
	pthread_mutex_unlock(&inbox.lock);
	return m->done;
}

int shm_recv(int *from, int64_t tag, void *buf, size_t cap, size_t *nbytes)
{
	struct match m = {.from = *from, .tag = tag, .buf = buf, .cap = cap};
	shm_wait(matched, &m, "armci_msg_rcv", *from);
	*from = m.source;
	*nbytes = m.nbytes;
	if (!m.found)
		return -1;
	if (m.found->data != buf)
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
