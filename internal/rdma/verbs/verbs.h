// SPDX-License-Identifier: BSD-3-Clause
//
// The C functions that Go calls: libibverbs' functions, by pointers that vb_load found, and the
// data path, in which one call handles many requests. Errors are negative errno values, or NULL
// with errno.
#ifndef ARMCI_VERBS_H
#define ARMCI_VERBS_H

#include "../qp/qp.h"
#include "abi.h"

extern const struct qp_network vb_network;

// Loads the library and finds its functions. Returns NULL, or why that failed.
const char *vb_load(void);

struct vb_device **vb_devices(int *n);
void vb_free_devices(struct vb_device **list);
const char *vb_device_name(struct vb_device *d);
struct vb_context *vb_open(struct vb_device *d);
int vb_close(struct vb_context *c);
int vb_query_device(struct vb_context *c, struct vb_device_attr *out);
// 1: writes and reads of connections may use memory that is not pinned
int vb_on_demand(struct vb_context *c);
int vb_query_port(struct vb_context *c, uint8_t port, struct vb_port_attr *out);
struct vb_pd *vb_alloc_pd(struct vb_context *c);
int vb_dealloc_pd(struct vb_pd *pd);
struct vb_mr *vb_reg_mr(struct vb_pd *pd, uintptr_t addr, size_t n, int access);
int vb_dereg_mr(struct vb_mr *mr);
struct vb_channel *vb_create_channel(struct vb_context *c); // does not block
int vb_destroy_channel(struct vb_channel *ch);
int vb_take_event(struct vb_channel *ch); // 1: there was one, which is acknowledged
struct vb_cq *vb_create_cq(struct vb_context *c, int cqe, struct vb_channel *ch);
int vb_destroy_cq(struct vb_cq *cq);
struct vb_srq *vb_create_srq(struct vb_pd *pd, uint32_t n);
int vb_destroy_srq(struct vb_srq *srq);
struct vb_qp *vb_create_qp(struct vb_pd *pd, struct vb_qp_init_attr *a);
int vb_destroy_qp(struct vb_qp *qp);
int vb_modify_qp(struct vb_qp *qp, struct vb_qp_attr *a, int mask);
int vb_query_qp(struct vb_qp *qp, struct vb_qp_attr *a, int mask);
struct vb_ah *vb_create_ah(struct vb_pd *pd, struct vb_ah_attr *a);
int vb_destroy_ah(struct vb_ah *ah);
// 1: there was one; *port is its port if it is about one
int vb_async_event(struct vb_context *c, int *type, int *port);
const char *vb_status_text(int status);
const char *vb_event_text(int type);

// One work request as Go writes it; its data is the next `sges` entries of the list that goes with
// the requests.
struct vb_request {
	uint64_t id, remote;
	uint64_t operand, swap; // of an atomic: what is added, or compared and put in its place
	uint64_t rkey;          // the lower half
	uint16_t sges;
	uint8_t op, flags;
};

// Posts n requests, chained, with one doorbell for each VB_CHAIN of them. After an error *posted is
// how many were posted.
enum { VB_CHAIN = 64 };
int vb_post(struct vb_qp *qp, const struct vb_request *r, int n, struct vb_sge *data, int *posted);
// The id of request i of n: where it is not signalled and has none, that of the last one.
static inline uint64_t vb_id_of(const struct vb_request *r, int i, int n)
{
	return r[i].id || (r[i].flags & VB_SIGNALED) ? r[i].id : r[n - 1].id;
}
// The same for a queue pair that keeps no requests.
int vb_post_now(struct vb_qp *qp, const struct vb_request *r, int n, struct vb_sge *data,
	int *posted);
int vb_post_datagram(struct vb_qp *qp, uint64_t id, struct vb_sge *data, struct vb_ah *ah,
	uint32_t qpn, uint32_t qkey);
// Posts n receive buffers to a shared queue, or to the queue pair where srq is NULL: the completion
// of data[i] has the id ids[i].
int vb_post_recv(struct vb_srq *srq, struct vb_qp *qp, const uint64_t *ids, struct vb_sge *data,
	int n);
int vb_poll(struct vb_cq *cq, int n, struct vb_wc *out);
int vb_arm(struct vb_cq *cq);
// Polls until there are completions: up to `looks` times, with a yield now and then, and up to
// `yields` times more with a yield before each. That is one call from Go, however long the wait.
int vb_look(struct vb_cq *cq, int n, struct vb_wc *out, unsigned looks, unsigned yields);
// Polls once, then sleeps until there may be completions, the descriptor wake (-1: none) is
// readable, or `limit` nanoseconds (negative: no limit) have passed, and polls again. *rang: wake
// was readable.
int vb_sleep(struct vb_cq *cq, struct vb_channel *ch, int n, struct vb_wc *out, int wake,
	int64_t limit, int *rang);

/* queue pairs that go on after a failure (kept.c) ---------------------------------------------- */

// The requests that a queue pair has been given. It is the queue pair's context.
struct vb_log;

// Has a new queue pair keep its requests: up to n, of so many pieces and inline bytes. shared: any
// thread posts; else the callers of all functions that change the queue pair exclude each other.
// The descriptor wake is written to when the queue pair has failed. NULL with errno.
struct vb_log *vb_keep(struct vb_qp *qp, int n, int pieces, int inlined, int shared, int wake);
void vb_forget(struct vb_log *log); // before the queue pair is destroyed
// Packets are counted from the first one of a connection with this MTU (1 = 256 ... 5 = 4096).
void vb_count_packets(struct vb_log *log, uint32_t first, int mtu);
int vb_post_kept(struct vb_log *log, const struct vb_request *r, int n, struct vb_sge *data,
	int *posted);
// Removes completions of queue pairs that may go on from those that were polled. Returns how many
// are left.
int vb_withhold(struct vb_cq *cq, int n, struct vb_wc *out);
uint32_t vb_breaks(void); // how many queue pairs have failed so far
// The status of the request that has failed, 0 if none has, or the owner has been told of it.
int vb_broken(const struct vb_log *log);
// Ends what is in flight, and holds back what is posted from now on.
int vb_halt(struct vb_log *log);
int vb_halted(const struct vb_log *log);    // nothing completes any more
int64_t vb_received(const struct vb_log *log); // the packet that is expected next
// Posts again what the peer has not executed, which expects the packet `received` of the former
// connection. -EPROTO: it cannot be; -ECANCELED: an atomic was executed, and its answer is lost.
int vb_go_on(struct vb_log *log, uint32_t received, uint32_t first);
void vb_give_up(struct vb_log *log);

#endif
