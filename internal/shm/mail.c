// SPDX-License-Identifier: BSD-3-Clause
// Receiving two-sided messages within a node: a byte ring per ordered pair, matched by source and tag in order of arrival.
// An expected message goes to its buffer. An unexpected one is moved to private memory, also while sending, so that two
// ranks that send to each other never block for good. Not for bulk data between arena addresses: those are puts.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mail.h"

struct match;
// A message whose label has arrived; complete when got == mail.nbytes. data is its own memory, or the buffer of a waiting
// receiver; then no other receiver may take it.
struct letter {
	struct letter *next;
	struct shm_mail mail;
	size_t got;
	struct match *receiver;
	uint8_t *data;
	uint8_t own[];
};
// Messages that this process has read from its rings; guarded by lock. open[i]: the message from local rank i whose data is
// still arriving.
static struct {
	pthread_mutex_t lock;
	struct letter *first, **last;
	struct letter **open;
} inbox = {.lock = PTHREAD_MUTEX_INITIALIZER};

// data: the buffer of the message; NULL: memory of its own.
static struct letter *new_letter(const struct shm_mail *m, uint8_t *data)
{
	struct letter *l = malloc(sizeof *l + (data ? 0 : m->nbytes));
	if (!l)
		abort();
	*l = (struct letter){.mail = *m, .data = data ? data : l->own};
	*inbox.last = l;
	inbox.last = &l->next;
	return l;
}

static struct shm_mail mail_of(const struct label *b)
{
	return (struct shm_mail){.from = b->from, .tag = b->tag, .nbytes = b->nbytes, .total = b->total};
}

// Moves what has arrived from one rank into letters. True if there was something.
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
			struct shm_mail m = mail_of(&b);
			inbox.open[from] = l = new_letter(&m, NULL);
		}
		size_t n = l->mail.nbytes - l->got < head - tail ? l->mail.nbytes - l->got : head - tail;
		shm_ring_copy(r, tail, l->data + l->got, n, false);
		l->got += n;
		tail += n;
		if (l->got == l->mail.nbytes)
			inbox.open[from] = NULL;
	}
	if (tail == start)
		return false;
	atomic_store_explicit(&r->tail, tail, memory_order_release);
	shm_ring(from); // it may be waiting for room in the ring
	return true;
}

static void drain(void)
{
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

void shm_mail_keep(const struct shm_mail *m, const void *buf)
{
	pthread_mutex_lock(&inbox.lock);
	struct letter *l = new_letter(m, NULL);
	if (m->nbytes > 0)
		memcpy(l->data, buf, m->nbytes);
	l->got = m->nbytes;
	pthread_mutex_unlock(&inbox.lock);
}

struct match {
	struct shm_mail *mail; // source and tag to match; once done, those of the message
	int local;             // local rank of the source, -1 if it is any or of another node
	uint8_t *buf;
	size_t cap;
	bool done;
	struct letter *found; // the message; NULL: it is too long, and stays in the list
};

// The list's pointer to the oldest letter that matches, complete or not; NULL if there is none.
static struct letter **oldest(const struct match *m)
{
	for (struct letter **p = &inbox.first; *p; p = &(*p)->next) {
		const struct letter *l = *p;
		if (l->mail.tag == m->mail->tag && (m->mail->from < 0 || l->mail.from == m->mail->from) &&
		    (!l->receiver || l->receiver == m))
			return p;
	}
	return NULL;
}

// If the next message from the source is the expected one, it will be received straight into the receiver's buffer.
static void aim(struct match *m)
{
	struct shm_ring *r = shm_ring_of(shm.me, m->local);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	struct label b;
	if (m->local == shm.me || inbox.open[m->local] ||
	    atomic_load_explicit(&r->head, memory_order_acquire) - tail < sizeof b || oldest(m))
		return;
	shm_ring_copy(r, tail, &b, sizeof b, false);
	if (b.from != m->mail->from || b.tag != m->mail->tag || b.total > m->cap || b.nbytes == 0)
		return;
	atomic_store_explicit(&r->tail, tail + sizeof b, memory_order_release);
	struct shm_mail mail = mail_of(&b);
	struct letter *l = new_letter(&mail, m->buf);
	l->receiver = m;
	inbox.open[m->local] = l;
}

// Removes the matching letter from the list once it is complete, if it fits into the buffer.
static bool matched(void *arg)
{
	struct match *m = arg;
	pthread_mutex_lock(&inbox.lock);
	if (m->local >= 0)
		aim(m);
	drain();
	struct letter **p = oldest(m);
	m->done = p && (*p)->got == (*p)->mail.nbytes;
	if (m->done && (*p)->mail.total <= m->cap) {
		m->found = *p;
		*p = m->found->next;
		if (!*p)
			inbox.last = p;
	}
	if (m->done)
		*m->mail = m->found ? m->found->mail : (*p)->mail;
	pthread_mutex_unlock(&inbox.lock);
	return m->done;
}

int shm_recv(struct shm_mail *mail, void *buf, size_t cap)
{
	struct match m = {.mail = mail, .local = mail->from < 0 ? -1 : shm_local_of(mail->from), .buf = buf, .cap = cap};
	shm_wait(matched, &m, "armci_msg_rcv", m.local);
	if (!m.found)
		return -1;
	if (m.found->data != buf && mail->nbytes > 0)
		memcpy(buf, m.found->data, mail->nbytes);
	free(m.found);
	return 0;
}

bool shm_arrived(int from, int64_t tag)
{
	struct shm_mail mail = {.from = from, .tag = tag};
	const struct match m = {.mail = &mail};
	pthread_mutex_lock(&inbox.lock);
	drain();
	struct letter **p = oldest(&m);
	bool whole = p && (*p)->got == (*p)->mail.nbytes;
	pthread_mutex_unlock(&inbox.lock);
	return whole;
}

void shm_mail_open(void)
{
	inbox.open = calloc((size_t)shm.nlocal, sizeof *inbox.open);
	if (!inbox.open)
		abort();
	inbox.first = NULL;
	inbox.last = &inbox.first;
	shm_send_open();
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
	inbox.open = NULL;
	pthread_mutex_unlock(&inbox.lock);
	shm_send_reset();
}
