// SPDX-License-Identifier: BSD-3-Clause
// Connections by bare verbs: the two ends exchange their addresses over a socket. InfiniBand, or
// RoCE version 2 with a GID that is an IPv4 address.
#define _GNU_SOURCE
#include "link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READS = 16 }; // and atomics that may be outstanding

// What one end tells the other.
struct end {
	union ibv_gid gid;
	uint64_t memory;
	uint32_t number, key;
	uint16_t lid;
};

void link_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void need(bool ok, const char *what)
{
	if (!ok)
		link_fail(what);
}

// Whether the device may be used: any, or the one that the library is told to use.
static bool chosen(struct ibv_device *device)
{
	const char *wanted = getenv("ARMCI_RDMA_DEVICE"), *name = ibv_get_device_name(device);
	return !wanted || !*wanted || strncmp(wanted, name, strcspn(wanted, ":")) == 0;
}

void link_device(struct link *l)
{
	int n = 0;
	struct ibv_device **all = ibv_get_device_list(&n);
	for (int i = 0; i < n && !l->device; i++)
		if (chosen(all[i]))
			l->device = ibv_open_device(all[i]);
	need(l->device != NULL, "no verbs device");
	ibv_free_device_list(all);
	l->domain = ibv_alloc_pd(l->device);
	need(l->domain != NULL, "protection domain");
}

// The index of the GID of RoCE version 2 that is an IPv4 address; -1 for InfiniBand, which needs
// none.
static int own_gid(struct link *l, const struct ibv_port_attr *port, union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct ibv_gid_entry entry;
	if (port->link_layer == IBV_LINK_LAYER_INFINIBAND)
		return -1;
	for (int i = 0; i < 16; i++)
		if (ibv_query_gid_ex(l->device, 1, (uint32_t)i, &entry, 0) == 0 &&
			entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
			memcmp(entry.gid.raw, mapped, sizeof mapped) == 0) {
			*gid = entry.gid;
			return i;
		}
	link_fail("no GID of RoCE version 2 with an IPv4 address");
}

static void make_pair(struct link *l, size_t size)
{
	// As the library's memory is: shared, which a device in software can map instead of asking
	// the kernel for each copy.
	l->memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	need(l->memory != MAP_FAILED, "memory");
	l->size = size;
	l->region = ibv_reg_mr(l->domain, l->memory, size,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC);
	need(l->region != NULL, "registration");
	l->channel = ibv_create_comp_channel(l->device);
	need(l->channel != NULL, "completion channel");
	l->queue = ibv_create_cq(l->device, LINK_DEPTH, NULL, l->channel, 0);
	need(l->queue != NULL, "completion queue");
	struct ibv_qp_init_attr how = {.send_cq = l->queue,
		.recv_cq = l->queue,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = LINK_DEPTH,
			.max_recv_wr = 1,
			.max_send_sge = LINK_GATHER,
			.max_recv_sge = 1,
			.max_inline_data = 64}};
	l->pair = ibv_create_qp(l->domain, &how);
	need(l->pair != NULL, "queue pair");
	struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	need(ibv_modify_qp(l->pair, &state, mask) == 0, "queue pair to INIT");
}

// Patience is great: on a busy machine an emulated host may not answer for a while.
static void connect_pair(struct link *l, const struct ibv_port_attr *port, const struct end *far,
	int gid_index)
{
	struct ibv_qp_attr state = {.qp_state = IBV_QPS_RTR,
		.path_mtu = port->active_mtu,
		.dest_qp_num = far->number,
		.max_dest_rd_atomic = READS,
		.min_rnr_timer = 12,
		.ah_attr = {.port_num = 1, .dlid = far->lid}};
	if (gid_index >= 0) {
		state.ah_attr.is_global = 1;
		state.ah_attr.grh = (struct ibv_global_route){.dgid = far->gid,
			.sgid_index = (uint8_t)gid_index,
			.hop_limit = 64};
	}
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	need(ibv_modify_qp(l->pair, &state, mask) == 0, "queue pair to RTR");
	struct ibv_qp_attr ready = {.qp_state = IBV_QPS_RTS,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = READS};
	mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC;
	need(ibv_modify_qp(l->pair, &ready, mask) == 0, "queue pair to RTS");
}

// swap tells the other end and is told.
static void swap(struct link *l, const struct end *mine, struct end *far)
{
	need(send(l->socket, mine, sizeof *mine, MSG_NOSIGNAL) == sizeof *mine, "send");
	need(recv(l->socket, far, sizeof *far, MSG_WAITALL) == sizeof *far, "receive");
}

void link_open(struct link *l, int socket, size_t size)
{
	struct end mine = {0}, far;
	struct ibv_port_attr port;
	l->socket = socket;
	link_device(l);
	need(ibv_query_port(l->device, 1, &port) == 0, "port");
	int gid_index = own_gid(l, &port, &mine.gid);
	make_pair(l, size);
	mine.memory = (uintptr_t)l->memory;
	mine.number = l->pair->qp_num;
	mine.key = l->region->rkey;
	mine.lid = port.lid;
	swap(l, &mine, &far);
	connect_pair(l, &port, &far, gid_index);
	l->far = far.memory;
	l->key = far.key;
	swap(l, &mine, &far); // both are ready
}

void link_close(struct link *l)
{
	ibv_destroy_qp(l->pair);
	ibv_destroy_cq(l->queue);
	ibv_destroy_comp_channel(l->channel);
	ibv_dereg_mr(l->region);
	ibv_dealloc_pd(l->domain);
	ibv_close_device(l->device);
	munmap(l->memory, l->size);
	close(l->socket);
}
