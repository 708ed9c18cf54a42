// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets that C posts to a provider of libfabric: one request each, of memory that need not
// be registered. There is one C fast path in a process, and so one set of slots.
// "C's requests" are those of this file, "Go's requests" those of package ofi.
#include "fast.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../transport/fast.h"

enum { CONTEXT = 64, BURST = 8 };
enum state { FREE, POSTED, OVER };

// A request that the provider has: its context, and data that was copied.
static struct slot {
	_Alignas(CONTEXT) unsigned char context[CONTEXT];
	unsigned char copied[FAST_BYTES];
	struct ofi_pair *pair;
	uint64_t id;
	int64_t err;
	uint32_t number; // of the pair
	bool write;
	_Atomic uint32_t state;
} slots[QP_REQUESTS];

static struct slot *slot_of(uintptr_t context)
{
	uintptr_t at = context - (uintptr_t)slots;
	return at < sizeof slots ? &slots[at / sizeof *slots] : NULL;
}

// Tells whether a request has to wait for earlier writes, since the provider does not keep order.
static bool must_wait_for_writes(const struct ofi_pair *p, bool write)
{
	if (write ? p->queue->write_write : p->queue->write_read)
		return false;
	return atomic_load(&p->writes) > 0 || atomic_load(&p->gos_writes) > 0;
}

// Counts a request that is given to the provider.
static void count_posted(struct ofi_pair *p, bool write)
{
	atomic_fetch_add(&p->queue->requests, 1);
	atomic_fetch_add(&p->requests, 1);
	if (write)
		atomic_fetch_add(&p->writes, 1);
}

// Counts a request that the provider has completed or refused. Afterwards the pair may be freed.
static void count_completed(struct ofi_pair *p, bool write)
{
	if (write)
		atomic_fetch_sub(&p->writes, 1);
	atomic_fetch_sub(&p->queue->requests, 1);
	atomic_fetch_sub(&p->requests, 1);
}

// Posts the request of a slot to the provider.
static int64_t post_slot(struct slot *s, const struct vb_request *r, struct vb_sge *data)
{
	struct ofi_queue *q = s->pair->queue;
	struct iovec here = {(void *)(uintptr_t)data->addr, data->length};
	void *desc = NULL;
	if (r->flags & VB_INLINE)
		here.iov_base = memcpy(s->copied, here.iov_base, here.iov_len);
	struct lf_rma_iov there = {.addr = r->remote, .len = here.iov_len, .key = r->rkey};
	struct lf_msg_rma m = {.iov = &here, .desc = &desc, .count = 1, .addr = s->pair->to,
		.rma_iov = &there, .rma_count = 1, .context = s->context};
	struct lf_ep *ep = q->ep.ep;
	return s->write ? ep->rma->writemsg(ep, &m, q->told)
	                : ep->rma->readmsg(ep, &m, LF_COMPLETION);
}

static int post(void *pair, const struct vb_request *r, int n, struct vb_sge *data, int *posted)
{
	struct ofi_pair *p = pair;
	bool write = r->op == VB_WR_WRITE;
	*posted = 0;
	if (n != 1 || r->sges != 1 || atomic_load(&p->blocked))
		return -EBUSY;
	if (atomic_load(&p->failed)) // later requests must not be posted
		return -EIO;
	if (must_wait_for_writes(p, write)) // completions of Go's writes may be left to Go
		return atomic_load(&p->queue->left) > 0 ? -EBUSY : -EAGAIN;
	struct slot *s = &slots[r->id % QP_REQUESTS];
	s->pair = p;
	s->number = p->number;
	s->id = r->id;
	s->write = write;
	count_posted(p, write); // before another thread may find its completion
	atomic_store(&s->state, POSTED);
	int64_t err = post_slot(s, r, data);
	if (err) {
		atomic_store(&s->state, FREE);
		count_completed(p, write);
		return (int)err;
	}
	*posted = 1;
	return 0;
}

static struct vb_wc completion(const struct slot *s)
{
	return (struct vb_wc){.wr_id = s->id, .status = (int)s->err, .qp_num = s->number};
}

// Handles the completion of a request, of which the slot becomes FREE or OVER. Then C may use the
// slot again, and when the last request is counted the pair may be freed.
static void finish_request(struct slot *s, int64_t err, enum state now)
{
	struct ofi_pair *p = s->pair;
	bool write = s->write;
	uint32_t none = 0;
	s->err = err;
	if (err) // before later requests may be posted
		atomic_compare_exchange_strong(&p->failed, &none, (uint32_t)err);
	atomic_fetch_add(&p->news, 1);
	atomic_store(&s->state, now);
	if (now == OVER)
		atomic_fetch_add(&p->queue->over, 1);
	count_completed(p, write);
}

bool ofi_completed(uintptr_t context, int64_t err)
{
	struct slot *s = slot_of(context);
	if (s)
		finish_request(s, err, OVER);
	return s != NULL;
}

int ofi_take_over(struct ofi_queue *q, int n, struct vb_wc *out)
{
	int taken = 0;
	if (atomic_load_explicit(&q->over, memory_order_relaxed) == 0)
		return 0;
	atomic_store(&q->over, 0); // before the search: a request that ends meanwhile counts again
	for (struct slot *s = slots; s < slots + QP_REQUESTS; s++) {
		if (atomic_load(&s->state) != OVER)
			continue;
		if (taken == n) {
			atomic_fetch_add(&q->over, 1);
			break;
		}
		out[taken++] = completion(s);
		atomic_store(&s->state, FREE);
	}
	return taken;
}

// Locks found and left.
static void lock_found(struct ofi_queue *q)
{
	while (atomic_exchange(&q->locked, 1))
		sched_yield();
}

static void unlock_found(struct ofi_queue *q) { atomic_store(&q->locked, 0); }

// Leaves a completion to Go. There is room: one thread at a time, in C, adds completions.
static void leave_to_go(struct ofi_queue *q, const struct lf_done *done)
{
	lock_found(q);
	q->found[q->left] = *done;
	atomic_fetch_add(&q->left, 1);
	unlock_found(q);
}

int ofi_take_left(struct ofi_queue *q, int n, struct lf_done *out)
{
	lock_found(q);
	int all = (int)q->left, some = n < all ? n : all;
	memcpy(out, q->found, (size_t)some * sizeof *out);
	memmove(q->found, q->found + some, (size_t)(all - some) * sizeof *out);
	atomic_store(&q->left, (uint32_t)(all - some));
	unlock_found(q);
	return some;
}

// Returns completions of C's requests, and leaves those of Go's to Go.
static int poll_queue(void *queue, int n, struct vb_wc *out, unsigned looks, unsigned yields)
{
	struct ofi_queue *q = queue;
	struct lf_done done[BURST];
	int taken = ofi_take_over(q, n, out);
	if (taken > 0)
		return taken;
	if (atomic_load(&q->left) > OFI_LEFT - BURST) // Go has to take them
		return -EAGAIN;
	int got = lf_look(&q->ep, n < BURST ? n : BURST, done, looks, yields);
	for (int i = 0; i < got; i++) {
		struct slot *s = slot_of(done[i].context);
		if (!s) {
			leave_to_go(q, &done[i]);
			continue;
		}
		finish_request(s, done[i].err, FREE);
		out[taken++] = completion(s);
	}
	return got < 0 ? got : taken;
}

// Has Go drive the provider if requests or completions are left when C stops polling.
static void need_progress(void *queue, bool outstanding)
{
	struct ofi_queue *q = queue;
	struct ofi_progress *g = q->progress;
	uint64_t one = 1;
	if (!outstanding && atomic_load(&q->left) == 0)
		return;
	if (g->bell >= 0 && !atomic_load(&g->needed) &&
	    !atomic_exchange(&g->needed, 1))
		(void)!write(g->bell, &one, sizeof one);
}

static uint32_t number(const void *pair) { return ((const struct ofi_pair *)pair)->number; }

const struct qp_network ofi_network = {
	.post = post, .look = poll_queue, .left = need_progress, .number = number};
