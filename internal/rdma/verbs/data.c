// SPDX-License-Identifier: BSD-3-Clause
// The data path. libibverbs has these as inline functions, which call pointers in the device's
// context.
#define _GNU_SOURCE
#include "kept.h"

#include <poll.h>
#include <sched.h>

static struct vb_ops *ops(const void *queue)
{
	return &((const struct vb_object *)queue)->context->ops;
}

int vb_post_now(struct vb_qp *qp, const struct vb_request *r, int n, struct vb_sge *data,
	int *posted)
{
	struct vb_send_wr wr[VB_CHAIN], *bad = NULL;
	*posted = 0;
	while (n > 0) {
		int k = n < VB_CHAIN ? n : VB_CHAIN;
		for (int i = 0; i < k; i++, r++) {
			wr[i].wr_id = vb_id_of(r, 0, n - i);
			wr[i].next = &wr[i + 1];
			wr[i].sg_list = data;
			wr[i].num_sge = r->sges;
			wr[i].opcode = r->op;
			wr[i].send_flags = r->flags;
			wr[i].imm_data = 0;
			wr[i].wr.rdma.remote_addr = r->remote;
			wr[i].wr.rdma.rkey = (uint32_t)r->rkey;
			if (r->op == VB_WR_COMPARE_SWAP || r->op == VB_WR_FETCH_ADD) {
				wr[i].wr.atomic.compare_add = r->operand;
				wr[i].wr.atomic.swap = r->swap;
				wr[i].wr.atomic.rkey = (uint32_t)r->rkey;
			}
			data += r->sges;
		}
		wr[k - 1].next = NULL;
		int err = ops(qp)->post_send(qp, wr, &bad);
		if (err) {
			*posted += (int)(bad - wr);
			return -err;
		}
		*posted += k;
		n -= k;
	}
	return 0;
}

int vb_post(struct vb_qp *qp, const struct vb_request *r, int n, struct vb_sge *data, int *posted)
{
	struct vb_log *log = ((const struct vb_qp_head *)qp)->qp_context;
	if (log && (n > 1 || !log->simple))
		return vb_post_kept(log, r, n, data, posted);
	int err = vb_post_now(qp, r, n, data, posted);
	if (log && !err)
		vb_append(log, r, data, r->id);
	return err;
}

int vb_post_datagram(struct vb_qp *qp, uint64_t id, struct vb_sge *data, struct vb_ah *ah,
	uint32_t qpn, uint32_t qkey)
{
	struct vb_send_wr wr = {.wr_id = id,
				  .sg_list = data,
				  .num_sge = 1,
				  .opcode = VB_WR_SEND,
				  .send_flags = VB_SIGNALED},
			  *bad;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = qkey;
	return -ops(qp)->post_send(qp, &wr, &bad);
}

int vb_post_recv(struct vb_srq *srq, struct vb_qp *qp, const uint64_t *ids, struct vb_sge *data,
	int n)
{
	struct vb_recv_wr wr[VB_CHAIN], *bad;
	while (n > 0) {
		int k = n < VB_CHAIN ? n : VB_CHAIN;
		for (int i = 0; i < k; i++, ids++, data++)
			wr[i] = (struct vb_recv_wr){.wr_id = *ids,
				.next = &wr[i + 1],
				.sg_list = data,
				.num_sge = 1};
		wr[k - 1].next = NULL;
		int err = srq ? ops(srq)->post_srq_recv(srq, wr, &bad) :
				ops(qp)->post_recv(qp, wr, &bad);
		if (err)
			return -err;
		n -= k;
	}
	return 0;
}

int vb_poll(struct vb_cq *cq, int n, struct vb_wc *out)
{
	int got = ops(cq)->poll_cq(cq, n, out);
	for (int i = 0; i < got; i++)
		if (out[i].status != 0)
			return vb_withhold(cq, got, out);
	return got;
}

int vb_arm(struct vb_cq *cq) { return -ops(cq)->req_notify_cq(cq, 0); }

enum { YIELD_EVERY = 8, LOOKS_AGAIN = 4 };

int vb_look(struct vb_cq *cq, int n, struct vb_wc *out, unsigned looks, unsigned yields)
{
	for (unsigned i = 1;; i++) {
		int got = vb_poll(cq, n, out);
		// A yield takes as long as many polls.
		for (unsigned more = 1; got == 0 && i > looks && more < LOOKS_AGAIN; more++)
			got = vb_poll(cq, n, out);
		if (got != 0 || i >= looks + yields)
			return got;
		if (i >= looks || i % YIELD_EVERY == 0)
			sched_yield();
	}
}

int vb_sleep(struct vb_cq *cq, struct vb_channel *ch, int n, struct vb_wc *out, int wake,
	int64_t limit, int *rang)
{
	struct pollfd fds[2] = {{.fd = ch->fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
	struct timespec ts = {.tv_sec = limit / 1000000000, .tv_nsec = limit % 1000000000};
	*rang = 0;
	int err = vb_arm(cq);
	if (err)
		return err;
	int got = vb_poll(cq, n, out); // a completion may have come before vb_arm
	if (got != 0)
		return got;
	ppoll(fds, 2, limit < 0 ? NULL : &ts, NULL); // a negative descriptor is ignored
	while (vb_take_event(ch)) continue;
	*rang = fds[1].revents != 0;
	return vb_poll(cq, n, out);
}

/* as the C fast path calls it (qp.h) ----------------------------------------------------------- */

static int post(void *pair, const struct vb_request *r, int n, struct vb_sge *data, int *posted)
{
	return vb_post(pair, r, n, data, posted);
}

static int look(void *queue, int n, struct vb_wc *out, unsigned looks, unsigned yields)
{
	return vb_look(queue, n, out, looks, yields);
}

static int sleep_on(void *queue, void *channel, int n, struct vb_wc *out, int64_t limit)
{
	int rang;
	return vb_sleep(queue, channel, n, out, -1, limit, &rang);
}

static int offer_receive(void *receive, uint64_t id, struct vb_sge *data)
{
	return vb_post_recv(receive, NULL, &id, data, 1);
}

static uint32_t pair_number(const void *pair) { return ((const struct vb_qp_head *)pair)->qp_num; }

const struct qp_network vb_network = {
	.post = post, .look = look, .sleep = sleep_on, .number = pair_number,
	.offer = offer_receive, .chains = true};
