// SPDX-License-Identifier: BSD-3-Clause
// Loads libibverbs and calls its functions. It must not know what they are used for.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "verbs.h"

// name, result, parameters, version
#define FUNCTIONS(F) \
	F(get_device_list, struct vb_device **, (int *)) \
	F(free_device_list, void, (struct vb_device **)) \
	F(get_device_name, const char *, (struct vb_device *)) \
	F(open_device, struct vb_context *, (struct vb_device *)) \
	F(close_device, int, (struct vb_context *)) \
	F(query_device, int, (struct vb_context *, struct vb_device_attr *)) \
	F(query_port, int, (struct vb_context *, uint8_t, struct vb_port_attr *)) \
	F(alloc_pd, struct vb_pd *, (struct vb_context *)) \
	F(dealloc_pd, int, (struct vb_pd *)) \
	F(reg_mr, struct vb_mr *, (struct vb_pd *, void *, size_t, int)) \
	F(dereg_mr, int, (struct vb_mr *)) \
	F(create_cq, struct vb_cq *, (struct vb_context *, int, void *, struct vb_channel *, int)) \
	F(destroy_cq, int, (struct vb_cq *)) \
	F(get_cq_event, int, (struct vb_channel *, struct vb_cq **, void **)) \
	F(ack_cq_events, void, (struct vb_cq *, unsigned)) \
	F(create_srq, struct vb_srq *, (struct vb_pd *, struct vb_srq_init_attr *)) \
	F(destroy_srq, int, (struct vb_srq *)) \
	F(create_qp, struct vb_qp *, (struct vb_pd *, struct vb_qp_init_attr *)) \
	F(destroy_qp, int, (struct vb_qp *)) \
	F(modify_qp, int, (struct vb_qp *, struct vb_qp_attr *, int)) \
	F(query_qp, int, \
		(struct vb_qp *, struct vb_qp_attr *, int, struct vb_qp_init_attr *)) \
	F(create_ah, struct vb_ah *, (struct vb_pd *, struct vb_ah_attr *)) \
	F(destroy_ah, int, (struct vb_ah *)) \
	F(get_async_event, int, (struct vb_context *, struct vb_async_event *)) \
	F(ack_async_event, void, (struct vb_async_event *))
// Of another version in the library, or of one that differs: found by name alone.
#define PLAIN_FUNCTIONS(F) \
	F(create_comp_channel, struct vb_channel *, (struct vb_context *)) \
	F(destroy_comp_channel, int, (struct vb_channel *)) \
	F(wc_status_str, const char *, (int)) \
	F(event_type_str, const char *, (int))

#define DECLARE(name, result, params) static result(*p_##name) params;
FUNCTIONS(DECLARE)
PLAIN_FUNCTIONS(DECLARE)

// A function's address becomes a pointer without a cast that the language does not know.
static int find_symbol(void *lib, const char *name, const char *version, void *pointer)
{
	void *f = version ? dlvsym(lib, name, version) : dlsym(lib, name);
	memcpy(pointer, &f, sizeof f);
	return f != NULL;
}

const char *vb_load(void)
{
	static void *lib;
	if (lib)
		return NULL;
	void *l = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!l)
		return dlerror();
#define FIND(name, result, params) \
	if (!find_symbol(l, "ibv_" #name, "IBVERBS_1.1", &p_##name)) \
		return "libibverbs has no ibv_" #name;
#define FIND_PLAIN(name, result, params) \
	if (!find_symbol(l, "ibv_" #name, NULL, &p_##name)) \
		return "libibverbs has no ibv_" #name;
	FUNCTIONS(FIND)
	PLAIN_FUNCTIONS(FIND_PLAIN)
	lib = l;
	return NULL;
}

struct vb_device **vb_devices(int *n) { return p_get_device_list(n); }
void vb_free_devices(struct vb_device **list) { p_free_device_list(list); }
const char *vb_device_name(struct vb_device *d) { return p_get_device_name(d); }
int vb_close(struct vb_context *c) { return -p_close_device(c); }
int vb_query_device(struct vb_context *c, struct vb_device_attr *out)
{
	return -p_query_device(c, out);
}
int vb_on_demand(struct vb_context *c)
{
	const struct vb_extended *x = (const void *)((const char *)c -
		offsetof(struct vb_extended, context));
	struct vb_device_attr_ex a = {0};
	if (c->abi != UINTPTR_MAX || x->size < sizeof *x || !x->query_device_ex)
		return 0;
	if (x->query_device_ex(c, NULL, &a, sizeof a))
		return 0;
	return (a.on_demand & VB_ODP) && (a.on_demand_rc & VB_ODP_WRITE) &&
		(a.on_demand_rc & VB_ODP_READ);
}
int vb_query_port(struct vb_context *c, uint8_t port, struct vb_port_attr *out)
{
	return -p_query_port(c, port, out);
}
struct vb_pd *vb_alloc_pd(struct vb_context *c) { return p_alloc_pd(c); }
int vb_dealloc_pd(struct vb_pd *pd) { return -p_dealloc_pd(pd); }
int vb_dereg_mr(struct vb_mr *mr) { return -p_dereg_mr(mr); }
int vb_destroy_channel(struct vb_channel *ch) { return -p_destroy_comp_channel(ch); }
int vb_destroy_cq(struct vb_cq *cq) { return -p_destroy_cq(cq); }
int vb_destroy_srq(struct vb_srq *srq) { return -p_destroy_srq(srq); }
struct vb_qp *vb_create_qp(struct vb_pd *pd, struct vb_qp_init_attr *a)
{
	return p_create_qp(pd, a);
}
int vb_destroy_qp(struct vb_qp *qp) { return -p_destroy_qp(qp); }
int vb_modify_qp(struct vb_qp *qp, struct vb_qp_attr *a, int mask)
{
	return -p_modify_qp(qp, a, mask);
}
int vb_query_qp(struct vb_qp *qp, struct vb_qp_attr *a, int mask)
{
	struct vb_qp_init_attr unused;
	return -p_query_qp(qp, a, mask, &unused);
}
struct vb_ah *vb_create_ah(struct vb_pd *pd, struct vb_ah_attr *a) { return p_create_ah(pd, a); }
int vb_destroy_ah(struct vb_ah *ah) { return -p_destroy_ah(ah); }
const char *vb_status_text(int status) { return p_wc_status_str(status); }
const char *vb_event_text(int type) { return p_event_type_str(type); }

static int unblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

struct vb_context *vb_open(struct vb_device *d)
{
	struct vb_context *c = p_open_device(d);
	if (c)
		unblock(c->async_fd);
	return c;
}

struct vb_mr *vb_reg_mr(struct vb_pd *pd, uintptr_t addr, size_t n, int access)
{
	return p_reg_mr(pd, (void *)addr, n, access);
}

struct vb_channel *vb_create_channel(struct vb_context *c)
{
	struct vb_channel *ch = p_create_comp_channel(c);
	if (ch)
		unblock(ch->fd);
	return ch;
}

int vb_take_event(struct vb_channel *ch)
{
	struct vb_cq *cq;
	void *context;
	if (p_get_cq_event(ch, &cq, &context))
		return 0;
	p_ack_cq_events(cq, 1);
	return 1;
}

struct vb_cq *vb_create_cq(struct vb_context *c, int cqe, struct vb_channel *ch)
{
	return p_create_cq(c, cqe, NULL, ch, 0);
}

struct vb_srq *vb_create_srq(struct vb_pd *pd, uint32_t n)
{
	struct vb_srq_init_attr a = {.attr = {.max_wr = n, .max_sge = 1}};
	return p_create_srq(pd, &a);
}

int vb_async_event(struct vb_context *c, int *type, int *port)
{
	struct vb_async_event e;
	if (p_get_async_event(c, &e))
		return 0;
	*type = e.event_type;
	*port = e.element.port;
	p_ack_async_event(&e);
	return 1;
}
