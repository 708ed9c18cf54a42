// SPDX-License-Identifier: BSD-3-Clause
// The data path: posting, polling, sleeping.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "libfabric.h"

int lf_receive(struct lf_endpoint *e, uintptr_t buffer, size_t n, void *desc, uintptr_t context)
{
	return (int)e->ep->msg->recv(e->ep, (void *)buffer, n, desc, LF_ADDR_UNSPEC,
		(void *)context);
}

static int post_atomic(struct lf_endpoint *e, const struct lf_request *r)
{
	void *result = (void *)r->piece[0].addr, *desc = (void *)r->piece[0].desc,
	     *operand = (void *)r->operand;
	if (r->op == LF_OP_FETCH_ADD)
		return (int)e->ep->atomic->readwrite(e->ep, operand, 1, (void *)r->operands, result,
			desc, r->to, r->remote, r->key, LF_UINT64, LF_SUM, (void *)r->context);
	return (int)e->ep->atomic->compwrite(e->ep, operand, 1, (void *)r->operands,
		(void *)r->compare, (void *)r->operands, result, desc, r->to, r->remote, r->key,
		LF_UINT64, LF_CSWAP, (void *)r->context);
}

int lf_post(struct lf_endpoint *e, const struct lf_request *r)
{
	if (r->op == LF_OP_COMPARE_SWAP || r->op == LF_OP_FETCH_ADD)
		return post_atomic(e, r);
	struct iovec iov[LF_PIECES];
	void *desc[LF_PIECES];
	size_t all = 0;
	for (uint32_t i = 0; i < r->pieces; i++) {
		iov[i] = (struct iovec){(void *)r->piece[i].addr, r->piece[i].n};
		desc[i] = (void *)r->piece[i].desc;
		all += r->piece[i].n;
	}
	if (r->op == LF_OP_SEND) {
		struct lf_msg m = {.iov = iov,
			.desc = desc,
			.count = r->pieces,
			.addr = r->to,
			.context = (void *)r->context};
		return (int)e->ep->msg->sendmsg(e->ep, &m, r->flags);
	}
	struct lf_rma_iov there = {.addr = r->remote, .len = all, .key = r->key};
	struct lf_msg_rma m = {.iov = iov,
		.desc = desc,
		.count = r->pieces,
		.addr = r->to,
		.rma_iov = &there,
		.rma_count = 1,
		.context = (void *)r->context};
	return (int)(r->op == LF_OP_READ ? e->ep->rma->readmsg : e->ep->rma->writemsg)(e->ep, &m,
		r->flags);
}

enum { BATCH = 32 };

// Reads up to n completions, of which a failed one is the last.
static int read_completions(struct lf_endpoint *e, int n, struct lf_done *out)
{
	struct lf_cq_entry entry[BATCH];
	ssize_t got = e->cq->ops->read(e->cq, entry, (size_t)(n < BATCH ? n : BATCH));
	if (got == -LF_EAVAIL) {
		struct lf_cq_error why;
		memset(&why, 0, sizeof why);
		got = e->cq->ops->readerr(e->cq, &why, 0);
		if (got < 1)
			return got == -EAGAIN ? 0 : (int)got;
		out[0] = (struct lf_done){.context = (uintptr_t)why.context,
			.err = why.err ? why.err : EIO};
		return 1;
	}
	if (got < 0)
		return got == -EAGAIN ? 0 : (int)got;
	for (ssize_t i = 0; i < got; i++)
		out[i] = (struct lf_done){.context = (uintptr_t)entry[i].context,
			.bytes = entry[i].len};
	return (int)got;
}

enum { YIELD_EVERY = 16 };

int lf_look(struct lf_endpoint *e, int n, struct lf_done *out, unsigned looks, unsigned yields)
{
	for (unsigned i = 1;; i++) {
		int got = read_completions(e, n, out);
		if (got != 0 || i >= looks + yields)
			return got;
		if (i >= looks || i % YIELD_EVERY == 0)
			sched_yield();
	}
}

int lf_pending(struct lf_endpoint *e)
{
	struct lf_fid *f = &e->cq->fid;
	return e->fd < 0 || e->fabric->ops->trywait(e->fabric, &f, 1) != 0;
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// Sleeps for a time, for ever if it is negative, and returns which descriptor has ended that.
static int sleep_for(int fd, int wake, int64_t ns)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
	struct timespec ts = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	ppoll(fds, 2, ns < 0 ? NULL : &ts, NULL); // which ignores negative descriptors
	return (fds[1].revents != 0 ? LF_WAKE : 0) | (fds[0].revents != 0 ? LF_NETWORK : 0);
}

// Polls between naps of an eighth of the time so far: so a completion is late by a small part of
// the time that it took.
static int poll_between_naps(struct lf_endpoint *e, int n, struct lf_done *out, int wake,
	int64_t limit, int64_t longest, int *why)
{
	const int64_t shortest = 5000, began = now();
	for (int64_t past = 0;;) {
		int64_t ns = past / 8 < shortest ? shortest :
			past / 8 > longest       ? longest :
						   past / 8;
		if (limit >= 0 && ns > limit - past)
			ns = limit - past > 0 ? limit - past : 0;
		*why = sleep_for(-1, wake, ns);
		int got = read_completions(e, n, out);
		past = now() - began;
		if (got != 0 || *why || (limit >= 0 && past >= limit))
			return got;
	}
}

int lf_sleep(struct lf_endpoint *e, int n, struct lf_done *out, int wake, int64_t limit,
	int64_t longest, int *why)
{
	*why = 0;
	int got = read_completions(e, n, out);
	if (got != 0)
		return got;
	if (e->fd < 0)
		return poll_between_naps(e, n, out, wake, limit, longest, why);
	if (!lf_pending(e))
		*why = sleep_for(e->fd, wake, limit);
	return read_completions(e, n, out);
}
