// SPDX-License-Identifier: BSD-3-Clause
// refuse.c - a libfabric.so.1 before the real one, of which calls fail as if there were no memory:
// OFI_REFUSE=CALL:N refuses the Nth fi_CALL of the process, of those below. OFI_REAL is the path of
// the real library. The library of this project calls the functions of tables in objects, so these
// tables are replaced by copies.
#define _GNU_SOURCE
#include "abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refused(const char *call)
{
	static _Atomic long calls;
	const char *text = getenv("OFI_REFUSE"), *colon = text ? strchr(text, ':') : NULL;
	if (!colon || strlen(call) != (size_t)(colon - text) ||
		strncmp(call, text, (size_t)(colon - text)) != 0 ||
		atomic_fetch_add(&calls, 1) + 1 != atol(colon + 1))
		return false;
	fprintf(stderr, "libfabric: call %s of fi_%s is refused\n", colon + 1, call);
	return true;
}

// A copy of a table that begins with its size. It stays until the end.
static void *copy_of(const void *table)
{
	size_t bytes = *(const size_t *)table;
	return memcpy(calloc(1, bytes + 256), table, bytes);
}

// The original tables; one of each, since a process opens one provider.
static struct lf_ops_fabric fabric_ops;
static struct lf_ops_domain domain_ops;
static struct lf_ops_mr mr_ops;
static struct lf_ops_av av_ops;
static struct lf_ops ep_ops;
static struct lf_ops_msg msg_ops;
static struct lf_ops_rma rma_ops;

#define KEEP(ORIGINAL, TABLE) \
	memcpy(&(ORIGINAL), (TABLE), \
		sizeof(ORIGINAL) < *(const size_t *)(TABLE) ? sizeof(ORIGINAL) \
							     : *(const size_t *)(TABLE))
#define REPLACE(ORIGINAL, PLACE, FIELD, FUNCTION) \
	do { \
		if (memcmp(&(PLACE)->FIELD, &(void *){(void *)(FUNCTION)}, sizeof(void *)) != 0) { \
			KEEP(ORIGINAL, PLACE); \
			(PLACE) = copy_of(PLACE); \
			(PLACE)->FIELD = FUNCTION; \
		} \
	} while (0)

static ssize_t recv_(struct lf_ep *e, void *b, size_t n, void *desc, uint64_t from, void *context)
{
	return refused("recv") ? -ENOMEM : msg_ops.recv(e, b, n, desc, from, context);
}

static ssize_t sendmsg_(struct lf_ep *e, const struct lf_msg *m, uint64_t flags)
{
	return refused("sendmsg") ? -ENOMEM : msg_ops.sendmsg(e, m, flags);
}

static ssize_t readmsg_(struct lf_ep *e, const struct lf_msg_rma *m, uint64_t flags)
{
	return refused("readmsg") ? -ENOMEM : rma_ops.readmsg(e, m, flags);
}

static ssize_t writemsg_(struct lf_ep *e, const struct lf_msg_rma *m, uint64_t flags)
{
	return refused("writemsg") ? -ENOMEM : rma_ops.writemsg(e, m, flags);
}

static int bind_(struct lf_fid *f, struct lf_fid *other, uint64_t flags)
{
	return refused("ep_bind") ? -ENOMEM : ep_ops.bind(f, other, flags);
}

// Providers choose the tables of transfers when an endpoint is enabled.
static int control_(struct lf_fid *f, int command, void *arg)
{
	if (command == LF_ENABLE && refused("enable"))
		return -ENOMEM;
	int err = ep_ops.control(f, command, arg);
	struct lf_ep *e = (struct lf_ep *)f;
	if (command == LF_ENABLE && !err) {
		REPLACE(msg_ops, e->msg, recv, recv_);
		e->msg->sendmsg = sendmsg_;
		REPLACE(rma_ops, e->rma, readmsg, readmsg_);
		e->rma->writemsg = writemsg_;
	}
	return err;
}

static int endpoint_(struct lf_domain *d, struct lf_info *info, struct lf_ep **out, void *context)
{
	int err = refused("endpoint") ? -ENOMEM : domain_ops.endpoint(d, info, out, context);
	if (!err) {
		REPLACE(ep_ops, (*out)->fid.ops, bind, bind_);
		(*out)->fid.ops->control = control_;
	}
	return err;
}

static int insert_(struct lf_av *av, const void *addr, size_t n, uint64_t *out, uint64_t flags,
	void *context)
{
	return refused("av_insert") ? -ENOMEM : av_ops.insert(av, addr, n, out, flags, context);
}

static int av_open_(struct lf_domain *d, struct lf_av_attr *a, struct lf_av **out, void *context)
{
	int err = refused("av_open") ? -ENOMEM : domain_ops.av_open(d, a, out, context);
	if (!err)
		REPLACE(av_ops, (*out)->ops, insert, insert_);
	return err;
}

static int cq_open_(struct lf_domain *d, struct lf_cq_attr *a, struct lf_cq **out, void *context)
{
	return refused("cq_open") ? -ENOMEM : domain_ops.cq_open(d, a, out, context);
}

static int reg_(struct lf_fid *d, const void *b, size_t n, uint64_t access, uint64_t offset,
	uint64_t key, uint64_t flags, struct lf_mr **out, void *context)
{
	return refused("mr_reg")
		? -ENOMEM
		: mr_ops.reg(d, b, n, access, offset, key, flags, out, context);
}

static int domain_(struct lf_fabric *f, struct lf_info *info, struct lf_domain **out, void *context)
{
	int err = refused("domain") ? -ENOMEM : fabric_ops.domain(f, info, out, context);
	if (!err) {
		REPLACE(domain_ops, (*out)->ops, endpoint, endpoint_);
		(*out)->ops->av_open = av_open_;
		(*out)->ops->cq_open = cq_open_;
		REPLACE(mr_ops, (*out)->mr, reg, reg_);
	}
	return err;
}

/* the functions of the library ----------------------------------------------------------------- */

static void *real(const char *name)
{
	static void *library;
	if (!library && !(library = dlopen(getenv("OFI_REAL"), RTLD_NOW | RTLD_LOCAL))) {
		fprintf(stderr, "OFI_REAL: %s\n", dlerror());
		exit(2);
	}
	return dlsym(library, name);
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
	const struct lf_info *hints, struct lf_info **out)
{
	int (*f)(uint32_t, const char *, const char *, uint64_t, const struct lf_info *,
		struct lf_info **) = real("fi_getinfo");
	return refused("getinfo") ? -ENOMEM : f(version, node, service, flags, hints, out);
}

int fi_fabric(struct lf_fabric_attr *a, struct lf_fabric **out, void *context)
{
	int (*f)(struct lf_fabric_attr *, struct lf_fabric **, void *) = real("fi_fabric");
	int err = refused("fabric") ? -ENOMEM : f(a, out, context);
	if (!err)
		REPLACE(fabric_ops, (*out)->ops, domain, domain_);
	return err;
}

struct lf_info *fi_dupinfo(const struct lf_info *info)
{
	struct lf_info *(*f)(const struct lf_info *) = real("fi_dupinfo");
	return refused("dupinfo") ? NULL : f(info);
}

void fi_freeinfo(struct lf_info *info)
{
	void (*f)(struct lf_info *) = real("fi_freeinfo");
	f(info);
}

const char *fi_strerror(int code)
{
	const char *(*f)(int) = real("fi_strerror");
	return f(code);
}

uint32_t fi_version(void)
{
	uint32_t (*f)(void) = real("fi_version");
	return f();
}
