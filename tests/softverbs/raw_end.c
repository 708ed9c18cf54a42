// SPDX-License-Identifier: BSD-3-Clause
// An end: its device, objects and connection. The device and the GID are chosen as
// bench/verbs/link.c does.
#define _GNU_SOURCE
#include "raw.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		IBV_ACCESS_REMOTE_ATOMIC
};

void raw_fail(const char *format, ...)
{
	va_list values;
	int was = errno;
	va_start(values, format);
	fprintf(stderr, "FAIL ");
	vfprintf(stderr, format, values);
	fprintf(stderr, " (errno: %s)\n", strerror(was));
	va_end(values);
	exit(1);
}

uint64_t raw_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void raw_rest(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	nanosleep(&t, NULL);
}

bool raw_soft(struct ibv_context *device)
{
	struct ibv_device_attr a;
	WANT(ibv_query_device(device, &a) == 0);
	return strcmp(a.fw_ver, "softverbs") == 0;
}

static struct ibv_context *open_device(void)
{
	int n = 0;
	const char *wanted = getenv("ARMCI_RDMA_DEVICE");
	struct ibv_device **all = ibv_get_device_list(&n);
	struct ibv_context *device = NULL;
	for (int i = 0; i < n && !device; i++)
		if (!wanted || !*wanted ||
			strncmp(wanted, ibv_get_device_name(all[i]), strcspn(wanted, ":")) == 0)
			device = ibv_open_device(all[i]);
	if (all)
		ibv_free_device_list(all);
	if (!device) {
		printf("skip: no verbs device\n");
		exit(77);
	}
	return device;
}

static void choose_address(struct end *e, const struct ibv_port_attr *port)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct ibv_gid_entry entry;
	e->mine.lid = port->lid;
	e->gid_index = -1;
	if (port->link_layer == IBV_LINK_LAYER_INFINIBAND)
		return;
	for (int i = 0; i < 16 && e->gid_index < 0; i++)
		if (ibv_query_gid_ex(e->device, 1, (uint32_t)i, &entry, 0) == 0 &&
			entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
			memcmp(entry.gid.raw, mapped, sizeof mapped) == 0) {
			e->mine.gid = entry.gid;
			e->gid_index = i;
		}
	WANT(e->gid_index >= 0);
}

static void make_pairs(struct end *e, const struct test *t)
{
	struct ibv_srq_init_attr shared = {.attr = {.max_wr = DEPTH, .max_sge = PIECES}};
	struct ibv_qp_init_attr how = {.send_cq = e->queue,
		.recv_cq = e->queue,
		.qp_type = IBV_QPT_RC,
		.cap = {DEPTH, DEPTH, PIECES, PIECES, INLINE}};
	struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC};
	if (t->srq)
		WANT((e->srq = ibv_create_srq(e->domain, &shared)) != NULL);
	how.srq = e->srq;
	WANT((e->pair = ibv_create_qp(e->domain, &how)) != NULL);
	WANT(ibv_modify_qp(e->pair, &state,
		     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
	how.srq = NULL;
	how.qp_type = IBV_QPT_UD;
	WANT((e->datagrams = ibv_create_qp(e->domain, &how)) != NULL);
	state = (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 77};
	WANT(ibv_modify_qp(e->datagrams, &state,
		     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
	state = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR};
	WANT(ibv_modify_qp(e->datagrams, &state, IBV_QP_STATE) == 0);
	state.qp_state = IBV_QPS_RTS;
	WANT(ibv_modify_qp(e->datagrams, &state, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
}

void raw_open(struct end *e, const struct test *t)
{
	struct ibv_port_attr port;
	e->device = open_device();
	if (t->soft && !raw_soft(e->device))
		exit(77);
	WANT(ibv_query_port(e->device, 1, &port) == 0);
	choose_address(e, &port);
	WANT((e->domain = ibv_alloc_pd(e->device)) != NULL);
	WANT((e->channel = ibv_create_comp_channel(e->device)) != NULL);
	WANT((e->queue = ibv_create_cq(e->device, 4 * DEPTH, e, e->channel, 0)) != NULL);
	make_pairs(e, t);
	e->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
		(t->shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	WANT(e->memory != MAP_FAILED);
	WANT((e->region = ibv_reg_mr(e->domain, e->memory, MEMORY, ALL)) != NULL);
	e->mine.memory = (uintptr_t)e->memory;
	e->mine.key = e->region->rkey;
	e->mine.number = e->pair->qp_num;
	e->mine.datagrams = e->datagrams->qp_num;
}

static void swap(struct end *e, const void *mine, void *far, size_t n)
{
	WANT(send(e->socket, mine, n, MSG_NOSIGNAL) == (ssize_t)n);
	WANT(recv(e->socket, far, n, MSG_WAITALL) == (ssize_t)n);
}

void raw_meet(struct end *e)
{
	char mine = 0, far;
	swap(e, &mine, &far, 1);
}

void raw_connect(struct end *e, int rnr_retry)
{
	swap(e, &e->mine, &e->far, sizeof e->mine);
	struct ibv_qp_attr state = {.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = e->far.number,
		.rq_psn = e->far.number & 0xffff,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = {.port_num = 1, .dlid = e->far.lid}};
	if (e->gid_index >= 0) {
		state.ah_attr.is_global = 1;
		state.ah_attr.grh = (struct ibv_global_route){.dgid = e->far.gid,
			.sgid_index = (uint8_t)e->gid_index,
			.hop_limit = 64};
	}
	WANT(ibv_modify_qp(e->pair, &state,
		     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
	struct ibv_qp_attr ready = {.qp_state = IBV_QPS_RTS,
		.timeout = 12,
		.retry_cnt = 6,
		.rnr_retry = (uint8_t)rnr_retry,
		.sq_psn = e->mine.number & 0xffff,
		.max_rd_atomic = 4};
	WANT(ibv_modify_qp(e->pair, &ready,
		     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
	raw_meet(e);
}

void raw_close(struct end *e)
{
	WANT(ibv_destroy_qp(e->pair) == 0);
	WANT(ibv_destroy_qp(e->datagrams) == 0);
	if (e->srq)
		WANT(ibv_destroy_srq(e->srq) == 0);
	WANT(ibv_destroy_cq(e->queue) == 0);
	WANT(ibv_destroy_comp_channel(e->channel) == 0);
	if (e->region)
		WANT(ibv_dereg_mr(e->region) == 0);
	WANT(ibv_dealloc_pd(e->domain) == 0);
	WANT(ibv_close_device(e->device) == 0);
	munmap(e->memory, MEMORY);
}

struct ibv_send_wr raw_request(struct end *e, enum ibv_wr_opcode opcode, struct ibv_sge *piece,
	size_t at, size_t to, size_t n)
{
	*piece = (struct ibv_sge){(uintptr_t)e->memory + at, (uint32_t)n, e->region->lkey};
	struct ibv_send_wr w = {.wr_id = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = piece,
		.num_sge = 1};
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		w.wr.atomic.remote_addr = e->far.memory + to;
		w.wr.atomic.rkey = e->far.key;
	} else {
		w.wr.rdma.remote_addr = e->far.memory + to;
		w.wr.rdma.rkey = e->far.key;
	}
	return w;
}

void raw_post(struct end *e, struct ibv_send_wr *w)
{
	struct ibv_send_wr *bad;
	errno = ibv_post_send(e->pair, w, &bad);
	WANT(errno == 0);
}

void raw_receive(struct end *e, uint64_t id, size_t at, size_t n)
{
	struct ibv_sge piece = {(uintptr_t)e->memory + at, (uint32_t)n, e->region->lkey};
	struct ibv_recv_wr w = {.wr_id = id, .sg_list = &piece, .num_sge = n > 0}, *bad;
	WANT((e->srq ? ibv_post_srq_recv(e->srq, &w, &bad) : ibv_post_recv(e->pair, &w, &bad)) ==
		0);
}

struct ibv_wc raw_next(struct end *e)
{
	struct ibv_wc done;
	uint64_t limit = raw_now() + 20000000000u;
	int n;
	while ((n = ibv_poll_cq(e->queue, 1, &done)) == 0) WANT(raw_now() < limit);
	WANT(n == 1);
	return done;
}

enum ibv_wc_status raw_do(struct end *e, struct ibv_send_wr *w)
{
	raw_post(e, w);
	return raw_next(e).status;
}

bool raw_quiet(struct end *e, long us)
{
	struct ibv_wc done;
	for (uint64_t limit = raw_now() + (uint64_t)us * 1000; raw_now() < limit;)
		if (ibv_poll_cq(e->queue, 1, &done) != 0)
			return false;
	return true;
}
