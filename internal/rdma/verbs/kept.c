// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs that keep their requests, and go on after a failure: the same queue pair is connected
// again, and what the peer has not executed is posted again, so that all above sees nothing but a
// delay. It must not know how the two ends agree on that.
//
// What was executed is known by packets: a peer executes them in order, and its device says which
// one it expects next. A request takes a packet for each MTU of its data, at least one; a read
// those of its answer; an atomic one. So a write or message that was executed is not repeated: in
// its place an empty write is posted: its completion says what the lost one would have. A read is
// always made again. An atomic that was executed cannot be: its answer is lost.
//
// Requests that are complete stay in the log until their place is needed. Which were not is known
// from the completions of a queue pair that has failed: the first of them names the request by its
// id, and those of all later ones are withheld.
#define _GNU_SOURCE
#include "kept.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECEIVED ((uint64_t)1 << 63) // in the id of a receive buffer
#define MARKER   ((uint64_t)1 << 61) // id of the request behind all others of a halted queue pair

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vb_log *all; // guarded by list_lock
static _Atomic uint32_t breaks;

static void lock(struct vb_log *l)
{
	if (l->shared)
		while (atomic_exchange_explicit(&l->locked, 1, memory_order_acquire))
			sched_yield();
}

static void unlock(struct vb_log *l)
{
	if (l->shared)
		atomic_store_explicit(&l->locked, 0, memory_order_release);
}

struct vb_log *vb_keep(struct vb_qp *qp, int n, int pieces, int inlined, int shared, int wake)
{
	struct vb_qp_head *head = (struct vb_qp_head *)qp;
	size_t most = (size_t)pieces * sizeof(struct vb_sge);
	struct vb_log *l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	if (most < (size_t)inlined)
		most = (size_t)inlined;
	l->stride = (sizeof(struct kept) + most + LINE - 1) & ~(size_t)(LINE - 1);
	l->capacity = (uint32_t)n;
	l->requests = aligned_alloc(LINE, l->capacity * l->stride);
	if (!l->requests) {
		free(l);
		return NULL;
	}
	l->qp = qp;
	l->cq = head->send_cq;
	l->number = head->qp_num;
	l->wake = wake;
	l->shared = shared != 0;
	l->simple = !l->shared;
	l->place = l->requests;
	l->end = l->requests + l->capacity * l->stride;
	head->qp_context = l;
	pthread_mutex_lock(&list_lock);
	l->further = all;
	all = l;
	pthread_mutex_unlock(&list_lock);
	return l;
}

void vb_forget(struct vb_log *l)
{
	pthread_mutex_lock(&list_lock);
	struct vb_log **p = &all;
	while (*p != l)
		p = &(*p)->further;
	*p = l->further;
	pthread_mutex_unlock(&list_lock);
	((struct vb_qp_head *)l->qp)->qp_context = NULL;
	free(l->requests);
	free(l);
}

void vb_count_packets(struct vb_log *l, uint32_t first, int mtu)
{
	l->packet = first & PACKET;
	l->mtu = 128u << mtu;
}

/* the log -------------------------------------------------------------------------------------- */

// The request that was appended as the nth; it is one of the last ones.
static struct kept *nth(const struct vb_log *l, uint64_t n)
{
	char *at = l->place - (l->count - n) * l->stride;
	return (struct kept *)(at >= l->requests ? at : at + l->capacity * l->stride);
}

int vb_post_kept(struct vb_log *l, const struct vb_request *r, int n, struct vb_sge *data,
	int *posted)
{
	const struct vb_sge *d = data;
	int err = 0;
	lock(l);
	if (l->held_back)
		*posted = n;
	else
		err = vb_post_now(l->qp, r, n, data, posted);
	for (int i = 0; i < *posted; d += r[i++].sges) // while the device works
		vb_append(l, &r[i], d, vb_id_of(r, i, n));
	unlock(l);
	return err;
}

/* failure -------------------------------------------------------------------------------------- */

// Notes the failure of a request. True: the queue pair may go on, and the
// completion is withheld.
static bool withhold(struct vb_cq *cq, const struct vb_wc *done)
{
	bool kept = false;
	pthread_mutex_lock(&list_lock);
	struct vb_log *l = all;
	while (l && (l->number != done->qp_num || l->cq != cq))
		l = l->further;
	bool may = done->status == VB_WC_RETRY_EXC || done->status == VB_WC_WR_FLUSH;
	if (l && !l->given_up) {
		int was = atomic_load(&l->broken);
		kept = was || may;
		if (!kept)
			l->given_up = true;
		else if (done->wr_id == MARKER)
			l->drained = true;
		else if (!l->named) {
			l->named = true;
			l->failed_id = done->wr_id;
		}
		if (kept && !was) {
			uint64_t one = 1;
			atomic_store(&l->broken, done->status);
			atomic_fetch_add(&breaks, 1);
			while (write(l->wake, &one, sizeof one) < 0 && errno == EINTR) continue;
		}
	}
	pthread_mutex_unlock(&list_lock);
	return kept;
}

int vb_withhold(struct vb_cq *cq, int n, struct vb_wc *out)
{
	int rest = 0;
	for (int i = 0; i < n; i++) {
		bool sent = !(out[i].wr_id & RECEIVED);
		if (out[i].status == 0 || !sent || !withhold(cq, &out[i]))
			out[rest++] = out[i];
	}
	return rest;
}

uint32_t vb_breaks(void) { return atomic_load(&breaks); }
int vb_broken(const struct vb_log *l) { return l->given_up ? 0 : atomic_load(&l->broken); }
int vb_halted(const struct vb_log *l) { return l->drained; }
void vb_give_up(struct vb_log *l) { l->given_up = true; }

int vb_halt(struct vb_log *l)
{
	static const struct vb_request marker = {.id = MARKER, .op = VB_WR_WRITE,
		.flags = VB_SIGNALED};
	struct vb_qp_attr a = {.qp_state = VB_QPS_ERR};
	int posted, none = 0;
	lock(l);
	// Before the marker, so that the first completion of a request finds it broken.
	atomic_compare_exchange_strong(&l->broken, &none, VB_WC_WR_FLUSH);
	l->held_back = true;
	l->simple = false;
	l->posted_count = l->count;
	l->posted_packet = l->packet;
	int err = vb_modify_qp(l->qp, &a, VB_QP_STATE);
	if (!err)
		err = vb_post_now(l->qp, &marker, 1, NULL, &posted);
	unlock(l);
	return err;
}

int64_t vb_received(const struct vb_log *l)
{
	struct vb_qp_attr a = {0};
	int err = vb_query_qp(l->qp, &a, VB_QP_RQ_PSN);
	return err ? err : (int64_t)(a.rq_psn & PACKET);
}

/* going on ------------------------------------------------------------------------------------- */

// The number of the first request that was not completed; UINT64_MAX: it is not in the log.
static uint64_t first_open(const struct vb_log *l)
{
	if (!l->named)
		return l->posted_count;
	uint64_t oldest = l->count > l->capacity ? l->count - l->capacity : 0;
	uint64_t n = l->posted_count;
	while (n > oldest && nth(l, n - 1)->request.id != l->failed_id)
		n--;
	if (n == oldest)
		return UINT64_MAX;
	while (n > oldest && nth(l, n - 1)->request.id == l->failed_id)
		n--;
	return n;
}

static bool is_executed(const struct kept *k, uint32_t received)
{
	return ((received - k->next) & PACKET) <= PACKET / 2;
}

// Whether the peer may expect that packet, and has executed no atomic of those from `open` on.
static int check(const struct vb_log *l, uint64_t open, uint32_t received)
{
	uint32_t least = open == l->count ? l->packet : nth(l, open)->first;
	if (((received - least) & PACKET) > ((l->posted_packet - least) & PACKET))
		return -EPROTO;
	for (uint64_t n = open; n < l->posted_count; n++)
		if (vb_is_atomic(nth(l, n)->request.op) && is_executed(nth(l, n), received))
			return -ECANCELED;
	return 0;
}

static int post_again(struct vb_log *l, struct kept *k)
{
	struct vb_sge *data = (struct vb_sge *)(k + 1), one;
	struct vb_request r = k->request;
	uint64_t nbytes = 0;
	int posted;
	if (r.flags & VB_INLINE) {
		one = (struct vb_sge){.addr = (uintptr_t)data, .length = k->inlined};
		data = &one;
		r.sges = 1;
	}
	for (int i = 0; i < r.sges; i++)
		nbytes += data[i].length;
	vb_number_packets(l, k, nbytes);
	return vb_post_now(l->qp, &r, 1, data, &posted);
}

int vb_go_on(struct vb_log *l, uint32_t received, uint32_t first)
{
	lock(l);
	uint64_t open = first_open(l);
	int err = open == UINT64_MAX ? -EPROTO : check(l, open, received);
	for (uint64_t n = open; !err && n < l->posted_count; n++) {
		struct kept *k = nth(l, n);
		if (k->request.op != VB_WR_READ && is_executed(k, received))
			k->request = (struct vb_request){.id = k->request.id, .op = VB_WR_WRITE,
				.flags = k->request.flags & VB_SIGNALED};
	}
	if (!err) {
		l->packet = first & PACKET;
		l->held_back = l->named = l->drained = false;
		l->simple = !l->shared;
		atomic_store(&l->broken, 0);
	}
	for (uint64_t n = open; !err && n < l->count; n++)
		err = post_again(l, nth(l, n));
	unlock(l);
	return err;
}
