// SPDX-License-Identifier: BSD-3-Clause
// Opens and closes an endpoint of libfabric: the two ends exchange their addresses over a socket.
#define _GNU_SOURCE
#include "endpoint.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "failure.h"

enum { QUEUE = 1024, KEY = 1 };

// What one end tells the other.
struct end {
	char name[256];
	size_t length;
	uint64_t memory, key;
};

void endpoint_failed(const char *what, long status)
{
	fprintf(stderr, "libfabric: %s: %s\n", what,
		fi_strerror((int)(status < 0 ? -status : status)));
	exit(1);
}

static void need(const char *what, long status)
{
	if (status != 0)
		endpoint_failed(what, status);
}

static struct fi_info *find(const char *provider, const char *domain)
{
	struct fi_info *hints = fi_allocinfo(), *found = NULL;
	need("memory", hints ? 0 : -FI_ENOMEM);
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
		FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	hints->domain_attr->threading = FI_THREAD_SAFE;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->fabric_attr->prov_name = strdup(provider);
	if (domain)
		hints->domain_attr->name = strdup(domain);
	if (strcmp(provider, "shm") != 0)
		hints->addr_format = FI_SOCKADDR_IN;
	need(provider, fi_getinfo(FI_VERSION(1, 11), NULL, NULL, 0, hints, &found));
	fi_freeinfo(hints);
	return found;
}

static void open_queue(struct endpoint *e)
{
	struct fi_cq_attr how = {.format = FI_CQ_FORMAT_CONTEXT,
		.wait_obj = FI_WAIT_FD,
		.size = QUEUE};
	e->wake = -1;
	if (fi_cq_open(e->domain, &how, &e->queue, NULL) != 0) {
		how.wait_obj = FI_WAIT_NONE;
		need("completion queue", fi_cq_open(e->domain, &how, &e->queue, NULL));
	} else if (fi_control(&e->queue->fid, FI_GETWAIT, &e->wake) != 0) {
		e->wake = -1;
	}
}

static void register_memory(struct endpoint *e, size_t size)
{
	uint64_t access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	// As the library's memory is: shared, which a provider in software can map.
	e->memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	need("memory", e->memory == MAP_FAILED ? -FI_ENOMEM : 0);
	e->size = size;
	need("registration",
		fi_mr_reg(e->domain, e->memory, size, access, 0, KEY, 0, &e->region, NULL));
	if (e->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		need("registration", fi_mr_bind(e->region, &e->self->fid, 0));
		need("registration", fi_mr_enable(e->region));
	}
	e->local = fi_mr_desc(e->region);
}

// introduce tells the other end where this one is, and is told.
static void introduce(struct endpoint *e, int socket)
{
	struct end mine = {.length = sizeof mine.name}, far;
	need("name", fi_getname(&e->self->fid, mine.name, &mine.length));
	mine.memory = e->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)e->memory : 0;
	mine.key = fi_mr_key(e->region);
	need("the other end",
		send(socket, &mine, sizeof mine, MSG_NOSIGNAL) == sizeof mine ? 0 : -FI_EIO);
	need("the other end",
		recv(socket, &far, sizeof far, MSG_WAITALL) == sizeof far ? 0 : -FI_EIO);
	need("address",
		fi_av_insert(e->addresses, far.name, 1, &e->peer, 0, NULL) == 1 ? 0 : -FI_EINVAL);
	e->far = far.memory;
	e->key = far.key;
}

void endpoint_open(struct endpoint *e, int socket, size_t size, const char *provider,
	const char *domain)
{
	struct fi_av_attr book = {.type = FI_AV_TABLE, .count = 2};
	e->info = find(provider, domain);
	need("fabric", fi_fabric(e->info->fabric_attr, &e->fabric, NULL));
	need("domain", fi_domain(e->fabric, e->info, &e->domain, NULL));
	need("addresses", fi_av_open(e->domain, &book, &e->addresses, NULL));
	open_queue(e);
	need("endpoint", fi_endpoint(e->domain, e->info, &e->self, NULL));
	need("endpoint", fi_ep_bind(e->self, &e->queue->fid, FI_TRANSMIT | FI_RECV));
	need("endpoint", fi_ep_bind(e->self, &e->addresses->fid, 0));
	need("endpoint", fi_enable(e->self));
	register_memory(e, size);
	introduce(e, socket);
}

void endpoint_close(struct endpoint *e)
{
	struct fid *all[] = {&e->self->fid, &e->region->fid, &e->queue->fid, &e->addresses->fid,
		&e->domain->fid, &e->fabric->fid};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) fi_close(all[i]);
	fi_freeinfo(e->info);
	munmap(e->memory, e->size);
}
