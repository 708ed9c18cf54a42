// SPDX-License-Identifier: BSD-3-Clause
// Receiving two-sided messages within a node: a byte ring per ordered pair, matched by source and
// tag in order of arrival. An expected message goes to its buffer. An unexpected one is moved to
// private memory, also while sending, so that two ranks that send to each other never block for
// good. Not for bulk data between arena addresses: those are puts.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

struct match;
// A message whose header has arrived; it is complete when got == msg.nbytes. data is `own`, or the
// buffer of the waiting receiver, which then is the only one that may receive it.
struct queued {
	struct queued *next;
	struct shm_message msg;
	size_t got;
	struct match *receiver;
	uint8_t *data;
	uint8_t own[];
};
// Messages that this process has read from its rings, in order of arrival; lock guards them.
// open[i]: the message from local rank i of which data is still arriving.
static struct {
	pthread_mutex_t lock;
	struct queued *first, **last;
	struct queued **open;
} unexpected = {.lock = PTHREAD_MUTEX_INITIALIZER};

// new_queued appends a message to the list. data: the buffer of its receiver; NULL: memory of its
// own. The caller holds the lock.
static struct queued *new_queued(const struct shm_message *m, uint8_t *data)
{
	struct queued *l = malloc(sizeof *l + (data ? 0 : m->nbytes));
	if (!l)
		shm.no_memory("a message that no receiver waits for");
	*l = (struct queued){.msg = *m, .data = data ? data : l->own};
	*unexpected.last = l;
	unexpected.last = &l->next;
	return l;
}

static struct shm_message message_of(const struct message_header *b)
{
	return (struct shm_message){.from = b->from,
		.tag = b->tag,
		.nbytes = b->nbytes,
		.total = b->total};
}

// drain_ring moves the arrived bytes of one rank's ring to queued messages; false: there were none.
// The caller holds the lock.
static bool drain_ring(int from)
{
	struct shm_ring *r = shm_ring_of(shm.me, from);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed), start = tail;
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	while (head - tail > 0) {
		struct queued *l = unexpected.open[from];
		if (!l) {
			struct message_header b;
			if (head - tail < sizeof b)
				break;
			shm_ring_copy(r, tail, &b, sizeof b, false);
			tail += sizeof b;
			struct shm_message m = message_of(&b);
			unexpected.open[from] = l = new_queued(&m, NULL);
		}
		size_t n = l->msg.nbytes - l->got < head - tail ? l->msg.nbytes - l->got :
								  head - tail;
		shm_ring_copy(r, tail, l->data + l->got, n, false);
		l->got += n;
		tail += n;
		if (l->got == l->msg.nbytes)
			unexpected.open[from] = NULL;
	}
	if (tail == start)
		return false;
	atomic_store_explicit(&r->tail, tail, memory_order_release);
	shm_wake_rank(from); // it may be waiting for room in the ring
	return true;
}

static void drain_rings(void)
{
	for (int i = 0; i < shm.nlocal; i++)
		if (i != shm.me)
			drain_ring(i);
}

void shm_messages_drain(void)
{
	pthread_mutex_lock(&unexpected.lock);
	drain_rings();
	pthread_mutex_unlock(&unexpected.lock);
}

void shm_queue_own_message(const struct shm_message *m, const void *buf)
{
	pthread_mutex_lock(&unexpected.lock);
	struct queued *l = new_queued(m, NULL);
	if (m->nbytes > 0)
		memcpy(l->data, buf, m->nbytes);
	l->got = m->nbytes;
	pthread_mutex_unlock(&unexpected.lock);
}

// A receive in progress.
struct match {
	struct shm_message *msg; // source and tag to match; once done, those of the message
	int local;             // local rank of the source, -1 if it is any or of another node
	uint8_t *buf;
	size_t cap;
	bool whole;           // messages with parts that travel another way are not received
	bool done;            // a message matches; it is copied, found, or refused
	bool copied;          // the message has been copied from the ring to buf
	// the message, removed from the list; NULL and not copied: it is refused and stays there
	struct queued *found;
};

// oldest_match returns the list's pointer to the oldest message that matches, complete or not;
// NULL: there is none. The caller holds the lock.
static struct queued **oldest_match(const struct match *m)
{
	for (struct queued **p = &unexpected.first; *p; p = &(*p)->next) {
		const struct queued *l = *p;
		if (l->msg.tag == m->msg->tag &&
			(m->msg->from < 0 || l->msg.from == m->msg->from) &&
			(!l->receiver || l->receiver == m))
			return p;
	}
	return NULL;
}

// finish_direct removes a message that ends at `end` from its ring, after it has been copied to the
// receiver's buffer.
static void finish_direct(struct match *m, struct shm_ring *r, uint64_t end,
	const struct message_header *b)
{
	atomic_store_explicit(&r->tail, end, memory_order_release);
	shm_wake_rank(m->local); // it may be waiting for room in the ring
	*m->msg = message_of(b);
	m->done = m->copied = true;
}

// read_copy reads the message at `tail` from the copy beside the head of its ring; false: the copy
// is that of another message.
static bool read_copy(struct shm_ring *r, uint64_t tail, struct short_message *s)
{
	uint64_t words[SHM_COPIED], head = atomic_load_explicit(&r->copied, memory_order_acquire);
	if (head <= tail || head - tail > sizeof words)
		return false;
	for (int i = 0; i < SHM_COPIED; i++)
		words[i] = atomic_load_explicit(&r->copy[i], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&r->copied, memory_order_relaxed) != head)
		return false;
	memcpy(s, words, sizeof words);
	return head - tail == sizeof s->header + s->header.nbytes;
}

// receive_direct receives the next message of the ring straight into the receiver's buffer, if it
// matches and no queued message goes first. If only a part has arrived, it directs the rest there.
// The caller holds the lock.
static void receive_direct(struct match *m)
{
	struct shm_ring *r = shm_ring_of(shm.me, m->local);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint64_t here = atomic_load_explicit(&r->head, memory_order_acquire) - tail;
	struct short_message s;
	const struct message_header *b = &s.header;
	if (m->local == shm.me || unexpected.open[m->local] || here < sizeof *b || oldest_match(m))
		return;
	bool copied = read_copy(r, tail, &s);
	if (!copied)
		shm_ring_copy(r, tail, &s.header, sizeof s.header, false);
	if (b->from != m->msg->from || b->tag != m->msg->tag || b->total > m->cap || b->nbytes == 0)
		return;
	tail += sizeof *b;
	if (here >= sizeof *b + b->nbytes) {
		if (copied)
			memcpy(m->buf, s.data, b->nbytes);
		else
			shm_ring_copy(r, tail, m->buf, b->nbytes, false);
		finish_direct(m, r, tail + b->nbytes, b);
		return;
	}
	atomic_store_explicit(&r->tail, tail, memory_order_release);
	struct shm_message msg = message_of(b);
	struct queued *l = new_queued(&msg, m->buf);
	l->receiver = m;
	unexpected.open[m->local] = l;
}

// match_queued drains the rings and looks for the oldest matching message. If that is complete, m
// is done, and the message is removed from the list if it fits into the buffer. The caller holds
// the lock.
static void match_queued(struct match *m)
{
	drain_rings();
	struct queued **p = oldest_match(m);
	m->done = p && (*p)->got == (*p)->msg.nbytes;
	if (!m->done)
		return;
	*m->msg = (*p)->msg;
	if (m->msg->total > m->cap || (m->whole && m->msg->nbytes != m->msg->total))
		return;
	m->found = *p;
	*p = m->found->next;
	if (!*p)
		unexpected.last = p;
}

// matched is the condition of a receive: it looks in the ring of the source, then in the list.
static bool matched(void *arg)
{
	struct match *m = arg;
	pthread_mutex_lock(&unexpected.lock);
	if (m->local >= 0)
		receive_direct(m);
	if (!m->done)
		match_queued(m);
	pthread_mutex_unlock(&unexpected.lock);
	return m->done;
}

// receive_matching waits for a message that matches *msg and copies it to buf: 0, or -1 if it is
// refused.
static int receive_matching(struct shm_message *msg, void *buf, size_t cap, bool whole)
{
	struct match m = {.msg = msg, .local = msg->from < 0 ? -1 : shm_local_of(msg->from),
		.buf = buf, .cap = cap, .whole = whole};
	int peer = m.local < 0 && (msg->from >= 0 || shm.nlocal == 1) ? SHM_SENDER : m.local;
	shm_wait(matched, &m, "armci_msg_rcv", peer);
	if (m.copied)
		return 0;
	if (!m.found)
		return -1;
	if (m.found->data != buf && msg->nbytes > 0)
		memcpy(buf, m.found->data, msg->nbytes);
	free(m.found);
	return 0;
}

int shm_recv(struct shm_message *msg, void *buf, size_t cap)
{
	return receive_matching(msg, buf, cap, false);
}

int shm_recv_whole(struct shm_message *msg, void *buf, size_t cap)
{
	return receive_matching(msg, buf, cap, true);
}

bool shm_arrived(int from, int64_t tag)
{
	struct shm_message msg = {.from = from, .tag = tag};
	const struct match m = {.msg = &msg};
	pthread_mutex_lock(&unexpected.lock);
	drain_rings();
	struct queued **p = oldest_match(&m);
	bool whole = p && (*p)->got == (*p)->msg.nbytes;
	pthread_mutex_unlock(&unexpected.lock);
	return whole;
}

bool shm_messages_open(void)
{
	unexpected.open = calloc((size_t)shm.nlocal, sizeof *unexpected.open);
	unexpected.first = NULL;
	unexpected.last = &unexpected.first;
	return shm_send_open() && unexpected.open;
}

void shm_messages_reset(void)
{
	pthread_mutex_lock(&unexpected.lock);
	for (struct queued *l = unexpected.first, *next; l; l = next) {
		next = l->next;
		free(l);
	}
	free(unexpected.open);
	unexpected.first = NULL;
	unexpected.open = NULL;
	pthread_mutex_unlock(&unexpected.lock);
	shm_send_reset();
}
