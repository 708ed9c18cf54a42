// SPDX-License-Identifier: BSD-3-Clause
// Connections by bare verbs: who is where is told over a TCP connection, which then stays open to show that the other
// end lives. RoCE version 2 with a GID that is an IPv4 address, as Soft-RoCE has it.
#include "link.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT "18515"

enum { READS = 16 }; // and atomics that may be outstanding

// What one end tells the other.
struct end {
	union ibv_gid gid;
	uint64_t memory;
	uint32_t number, key;
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

static int dial(const char *host)
{
	struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *at = NULL;
	struct timespec pause = {.tv_nsec = 50000000};
	need(getaddrinfo(host, PORT, &want, &at) == 0, host);
	for (int tries = 0; tries < 600; tries++) { // the other end may not be there yet
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, at->ai_addr, at->ai_addrlen) == 0) {
			freeaddrinfo(at);
			return fd;
		}
		close(fd);
		nanosleep(&pause, NULL);
	}
	link_fail(host);
}

static int answer(void)
{
	struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *at = NULL;
	int on = 1;
	need(getaddrinfo(NULL, PORT, &want, &at) == 0, "own address");
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	need(bind(listener, at->ai_addr, at->ai_addrlen) == 0 && listen(listener, 1) == 0, "listen");
	int fd = accept(listener, NULL, NULL);
	need(fd >= 0, "accept");
	close(listener);
	freeaddrinfo(at);
	return fd;
}

void link_device(struct link *l)
{
	int n = 0;
	struct ibv_device **all = ibv_get_device_list(&n);
	for (int i = 0; i < n && !l->device; i++)
		l->device = ibv_open_device(all[i]);
	need(l->device != NULL, "no verbs device");
	ibv_free_device_list(all);
	l->domain = ibv_alloc_pd(l->device);
	need(l->domain != NULL, "protection domain");
}

// The index of the GID of RoCE version 2 that is an IPv4 address.
static int own_gid(struct link *l, union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct ibv_gid_entry entry;
	for (int i = 0; i < 16; i++)
		if (ibv_query_gid_ex(l->device, 1, (uint32_t)i, &entry, 0) == 0 && entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
			memcmp(entry.gid.raw, mapped, sizeof mapped) == 0) {
			*gid = entry.gid;
			return i;
		}
	link_fail("no GID of RoCE version 2 with an IPv4 address");
}

static void make_pair(struct link *l, size_t size)
{
	l->memory = aligned_alloc(4096, size);
	need(l->memory != NULL, "memory");
	memset(l->memory, 0, size);
	l->region = ibv_reg_mr(l->domain, l->memory, size,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	need(l->region != NULL, "registration");
	l->channel = ibv_create_comp_channel(l->device);
	need(l->channel != NULL, "completion channel");
	l->queue = ibv_create_cq(l->device, LINK_DEPTH, NULL, l->channel, 0);
	need(l->queue != NULL, "completion queue");
	struct ibv_qp_init_attr how = {.send_cq = l->queue, .recv_cq = l->queue, .qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = LINK_DEPTH, .max_recv_wr = 1, .max_send_sge = LINK_GATHER, .max_recv_sge = 1,
			.max_inline_data = 64}};
	l->pair = ibv_create_qp(l->domain, &how);
	need(l->pair != NULL, "queue pair");
	struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	need(ibv_modify_qp(l->pair, &state, mask) == 0, "queue pair to INIT");
}

// Patience is great: on a busy machine an emulated host may not answer for a while.
static void connect_pair(struct link *l, const struct end *far, int gid_index)
{
	struct ibv_port_attr port;
	need(ibv_query_port(l->device, 1, &port) == 0, "port");
	struct ibv_qp_attr state = {.qp_state = IBV_QPS_RTR, .path_mtu = port.active_mtu, .dest_qp_num = far->number,
		.max_dest_rd_atomic = READS, .min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = far->gid, .sgid_index = (uint8_t)gid_index,
			.hop_limit = 64}}};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	need(ibv_modify_qp(l->pair, &state, mask) == 0, "queue pair to RTR");
	struct ibv_qp_attr ready = {.qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = READS};
	mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
	need(ibv_modify_qp(l->pair, &ready, mask) == 0, "queue pair to RTS");
}

// swap tells the other end and is told.
static void swap(struct link *l, const struct end *mine, struct end *far)
{
	need(send(l->socket, mine, sizeof *mine, MSG_NOSIGNAL) == sizeof *mine, "send");
	need(recv(l->socket, far, sizeof *far, MSG_WAITALL) == sizeof *far, "receive");
}

void link_open(struct link *l, const char *host, size_t size)
{
	struct end mine = {0}, far;
	l->socket = host ? dial(host) : answer();
	link_device(l);
	int gid_index = own_gid(l, &mine.gid);
	make_pair(l, size);
	mine.memory = (uintptr_t)l->memory;
	mine.number = l->pair->qp_num;
	mine.key = l->region->rkey;
	swap(l, &mine, &far);
	connect_pair(l, &far, gid_index);
	l->far = far.memory;
	l->key = far.key;
	swap(l, &mine, &far); // both are ready
}

void link_serve(struct link *l)
{
	char end;
	need(recv(l->socket, &end, 1, 0) == 0, "the other end");
}

void link_close(struct link *l)
{
	ibv_destroy_qp(l->pair);
	ibv_destroy_cq(l->queue);
	ibv_destroy_comp_channel(l->channel);
	ibv_dereg_mr(l->region);
	ibv_dealloc_pd(l->domain);
	ibv_close_device(l->device);
	free(l->memory);
	close(l->socket);
}
