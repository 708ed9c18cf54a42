// SPDX-License-Identifier: BSD-3-Clause
// Open devices: their segment, thread and tables, and what they tell about themselves. What is
// still open when the process ends is closed then as far as others see it.
#define _GNU_SOURCE
#include "softverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#undef ibv_query_port

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *opened[64];

static void note(struct context *was, struct context *is)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof opened / sizeof opened[0]; i++)
		if (opened[i] == was) {
			opened[i] = is;
			break;
		}
	pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void leave(void)
{
	for (size_t i = 0; i < sizeof opened / sizeof opened[0]; i++)
		if (opened[i] && opened[i]->process == getpid()) // a child process has no segment
			segment_remove(opened[i]->segment);
}

static int query_device(struct ibv_context *context, struct ibv_device_attr *a)
{
	(void)context;
	*a = (struct ibv_device_attr){.fw_ver = "softverbs",
		.max_mr_size = (uint64_t)1 << 46,
		.page_size_cap = 0xfffff000,
		.node_guid = 0x534256,
		.sys_image_guid = 0x534256,
		.max_qp = settings.max_pairs,
		.max_qp_wr = settings.max_requests,
		.device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN,
		.max_sge = settings.max_pieces,
		.max_sge_rd = settings.max_pieces,
		.max_cq = QUEUES,
		.max_cqe = settings.max_completions,
		.max_mr = settings.max_regions,
		.max_pd = 1 << 16,
		.max_qp_rd_atom = 16,
		.max_res_rd_atom = 1 << 16,
		.max_qp_init_rd_atom = 16,
		.atomic_cap = (enum ibv_atomic_cap)settings.atomics,
		.max_ah = 1 << 20,
		.max_srq = QUEUES,
		.max_srq_wr = settings.max_receives,
		.max_srq_sge = settings.max_pieces,
		.max_pkeys = 1,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = 1};
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *a)
{
	return query_device(context, a);
}

static int query_device_ex(struct ibv_context *context,
	const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *a, size_t bytes)
{
	struct ibv_device_attr_ex all = {0};
	(void)input;
	if (bytes < sizeof all.orig_attr)
		return EINVAL;
	query_device(context, &all.orig_attr);
	if (settings.on_demand)
		all.odp_caps = (struct ibv_odp_caps){.general_caps = IBV_ODP_SUPPORT,
			.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND |
				IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
				IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC};
	memcpy(a, &all, bytes < sizeof all ? bytes : sizeof all);
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *a,
	size_t bytes)
{
	const struct device *d = (struct device *)context->device;
	const struct segment *s = context_of(context)->segment;
	if (port != 1)
		return EINVAL;
	struct ibv_port_attr all = {.state = s->down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_4096,
		.gid_tbl_len = ADDRESSES,
		.max_msg_sz = 1u << 31,
		.pkey_tbl_len = 1,
		.lid = d->lid,
		.sm_lid = d->link == IBV_LINK_LAYER_INFINIBAND,
		.max_vl_num = 1,
		.active_width = 2,
		.active_speed = 32,
		.phys_state = s->down ? 3 : 5,
		.link_layer = (uint8_t)d->link};
	memcpy(a, &all, bytes < sizeof all ? bytes : sizeof all);
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *a)
{
	return query_port(context, port, (struct ibv_port_attr *)a, sizeof(struct ibv_port_attr));
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	const struct device *d = (struct device *)context->device;
	if (port != 1 || index < 0 || index >= ADDRESSES)
		return errno = EINVAL, -1;
	*gid = index < d->addresses ? d->address[index] : (union ibv_gid){.raw = {0}};
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
	struct ibv_gid_entry *entry, uint32_t flags, size_t bytes)
{
	const struct device *d = (struct device *)context->device;
	if (port != 1 || flags || index >= ADDRESSES)
		return EINVAL;
	if (index >= (uint32_t)d->addresses)
		return ENODATA;
	struct ibv_gid_entry all = {.gid = d->address[index],
		.gid_index = index,
		.port_num = port,
		.gid_type = d->link == IBV_LINK_LAYER_INFINIBAND ? IBV_GID_TYPE_IB :
			d->roce1[index]                          ? IBV_GID_TYPE_ROCE_V1 :
								   IBV_GID_TYPE_ROCE_V2};
	memcpy(entry, &all, bytes < sizeof all ? bytes : sizeof all);
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context;
	if (port != 1 || index != 0)
		return errno = EINVAL, -1;
	*pkey = 0xffff;
	return 0;
}

static void fill(struct context *c, struct ibv_device *device)
{
	c->verbs.query_port = query_port;
	c->verbs.query_device_ex = query_device_ex;
	c->verbs.sz = sizeof c->verbs;
	struct ibv_context *x = &c->verbs.context;
	x->device = device;
	x->ops.poll_cq = poll_queue;
	x->ops.req_notify_cq = arm_queue;
	x->ops.post_srq_recv = post_srq_receive;
	x->ops.post_send = post_send;
	x->ops.post_recv = post_receive;
	x->cmd_fd = -1;
	x->num_comp_vectors = 1;
	x->abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&x->mutex, NULL);
	pthread_mutex_init(&c->table, NULL);
	pthread_mutex_init(&c->finding, NULL);
}

// Starts the device's thread, which takes no signals, and waits until it lives.
static int start(struct context *c)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = pthread_create(&c->thread, NULL, thread_main, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (!err && atomic_load(&c->segment->bell) == 0)
		syscall(SYS_futex, &c->segment->bell, FUTEX_WAIT, 0, NULL, NULL, 0);
	return err;
}

static void stop(struct context *c)
{
	atomic_store(&c->closing, true);
	thread_wake(c);
	pthread_join(c->thread, NULL);
}

static void release(struct context *c)
{
	segment_unmap(c->segment);
	if (c->verbs.context.async_fd > 0)
		close(c->verbs.context.async_fd);
	if (c->events > 0)
		close(c->events);
	free(c->free_regions);
	free(c);
}

static void close_context(struct context *c)
{
	segment_remove(c->segment);
	stop(c);
	peers_close(c);
	release(c);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct context *c = calloc(1, sizeof *c);
	const struct device *d = (struct device *)device;
	int fds[2];
	settings_read();
	if (!c || refused("open_device")) {
		free(c);
		return NULL;
	}
	if (settings.say_open)
		fprintf(stderr, "softverbs: process %d opens %s\n", (int)getpid(), device->name);
	fill(c, device);
	c->free_regions = malloc(REGIONS * sizeof *c->free_regions);
	c->segment = segment_new();
	if (!c->free_regions || !c->segment || pipe2(fds, O_CLOEXEC) != 0) {
		release(c);
		return NULL;
	}
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	c->process = getpid();
	c->verbs.context.async_fd = fds[0];
	c->events = fds[1];
	c->segment->lid = d->lid;
	c->segment->addresses = d->addresses;
	memcpy(c->segment->address, d->address, sizeof d->address);
	errno = start(c);
	if (errno == 0 && (errno = segment_publish(c->segment)) != 0)
		stop(c);
	if (errno) {
		release(c);
		return NULL;
	}
	// completions and flushes of its own look for it later, and cannot fail
	if (!peer_find(c, c->segment->number << INDEX_BITS)) {
		close_context(c);
		errno = ENOMEM;
		return NULL;
	}
	note(NULL, c);
	return &c->verbs.context;
}

int ibv_close_device(struct ibv_context *context)
{
	struct context *c = context_of(context);
	note(c, NULL);
	close_context(c);
	return 0;
}
