// SPDX-License-Identifier: BSD-3-Clause
// Protection domains and memory regions: keys, bounds, rights, and what a process may pin.
// Registering touches every page, as pinning does. A registration ends when it is out of use.
#define _GNU_SOURCE
#include "softverbs.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#define PAGE ((uint64_t)4096)

static _Atomic uint64_t pinned;

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct domain *d = refused("alloc_pd") ? NULL : calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->pd.context = context;
	d->pd.handle = d->number = ++context_of(context)->domains;
	return &d->pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

static uint64_t pages(uint64_t addr, uint64_t n)
{
	return ((addr + n + PAGE - 1) & ~(PAGE - 1)) - (addr & ~(PAGE - 1));
}

// Whether no limit is set for this process.
static bool may_lock_all(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {0};
	return syscall(SYS_capget, &head, data) == 0 && (data[0].effective & (1u << CAP_IPC_LOCK));
}

static int pin(uint64_t addr, uint64_t n, bool write)
{
	struct rlimit limit;
	uint64_t bytes = pages(addr, n);
	if (madvise((void *)(uintptr_t)(addr & ~(PAGE - 1)), bytes,
		    write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) != 0)
		return errno == ENOMEM || errno == EINVAL ? EFAULT : errno;
	uint64_t all = atomic_fetch_add(&pinned, bytes) + bytes;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && all > limit.rlim_cur && !may_lock_all()) {
		atomic_fetch_sub(&pinned, bytes);
		return ENOMEM;
	}
	return 0;
}

static uint32_t take_index(struct context *c)
{
	if (c->live_regions >= (uint32_t)settings.max_regions)
		return REGIONS;
	c->live_regions++;
	return c->free_region > 0 ? c->free_regions[--c->free_region] : ++c->regions;
}

static struct ibv_mr *enter(struct ibv_pd *pd, void *addr, size_t length, unsigned access)
{
	struct context *c = context_of(pd->context);
	struct ibv_mr *mr = calloc(1, sizeof *mr);
	pthread_mutex_lock(&c->table);
	uint32_t i = mr ? take_index(c) : REGIONS;
	if (i >= REGIONS) {
		pthread_mutex_unlock(&c->table);
		free(mr);
		errno = ENOMEM;
		return NULL;
	}
	struct region *r = &c->segment->region[i];
	uint32_t serial = ++c->serial;
	*mr = (struct ibv_mr){.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.handle = i};
	mr->lkey = mr->rkey = i << KEY_BITS | (serial & ((1u << KEY_BITS) - 1));
	r->domain = ((struct domain *)pd)->number;
	r->access = access;
	r->serial = serial;
	r->addr = (uintptr_t)addr;
	r->length = length;
	atomic_store(&r->key, mr->rkey);
	pthread_mutex_unlock(&c->table);
	return mr;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, unsigned access)
{
	bool write = access & IBV_ACCESS_LOCAL_WRITE, on_demand = access & IBV_ACCESS_ON_DEMAND;
	if (refused("reg_mr"))
		return NULL;
	if (length == 0 ||
		(!write && (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))) ||
		(on_demand && !settings.on_demand)) {
		errno = EINVAL;
		return NULL;
	}
	errno = context_of(pd->context)->segment->vanished ? EIO :
		on_demand                                  ? 0 :
							     pin((uintptr_t)addr, length, write);
	if (errno)
		return NULL;
	struct ibv_mr *mr = enter(pd, addr, length, access);
	if (!mr && !on_demand)
		atomic_fetch_sub(&pinned, pages((uintptr_t)addr, length));
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg_mr(pd, addr, length, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
	unsigned access)
{
	if (iova != (uintptr_t)addr) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return reg_mr(pd, addr, length, access & ~(unsigned)IBV_ACCESS_OPTIONAL_RANGE);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
	int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct context *c = context_of(mr->context);
	struct region *r = &c->segment->region[mr->handle];
	atomic_store(&r->key, 0);
	for (uint32_t i = 0; i < c->pairs; i++) { // a user of the region has one of these locks
		struct pair *p = &c->segment->pair[i];
		if (atomic_load(&p->state) == IBV_QPS_RESET)
			continue;
		shared_lock(&p->lock);
		shared_unlock(&p->lock);
	}
	if (!(r->access & IBV_ACCESS_ON_DEMAND))
		atomic_fetch_sub(&pinned, pages(r->addr, r->length));
	pthread_mutex_lock(&c->table);
	c->free_regions[c->free_region++] = mr->handle;
	c->live_regions--;
	pthread_mutex_unlock(&c->table);
	free(mr);
	return 0;
}

struct region *region_find(struct segment *s, uint32_t key, uint32_t domain, uint64_t addr,
	uint64_t n, uint32_t access)
{
	uint32_t i = key >> KEY_BITS;
	if (key == 0 || i >= REGIONS)
		return NULL;
	struct region *r = &s->region[i];
	if (atomic_load_explicit(&r->key, memory_order_acquire) != key || r->domain != domain ||
		(r->access & access) != access || addr < r->addr || n > r->length ||
		addr - r->addr > r->length - n)
		return NULL;
	return r;
}
