// SPDX-License-Identifier: BSD-3-Clause
//
// The functions that Go calls: those of libfabric, found by lf_load, and calls of the data path
// with the loops that Go would need. Errors are negative numbers: of errno, or libfabric's own.
#ifndef ARMCI_LIBFABRIC_H
#define ARMCI_LIBFABRIC_H

#include "abi.h"

// Finds the library and its functions: NULL, or why that failed.
const char *lf_load(void);
uint32_t lf_version(void);
const char *lf_error_text(int code); // of a number without its sign

// Calls between these see the parameters of providers that are wanted here (environment.c). They do
// not nest, and other threads wait for the end.
void lf_environment_begin(void);
void lf_environment_end(void);

// Lists the domains of a provider for reliable datagram endpoints with these capabilities and
// completions; NULL: any provider, any domain.
int lf_getinfo(const char *provider, const char *domain, uint64_t caps, uint64_t op_flags,
	int mr_mode, struct lf_info **out);
void lf_freeinfo(struct lf_info *list);

// A domain, with its fabric and the info of which it was made. Parts that do not exist are NULL.
struct lf_device {
	struct lf_info *info;
	struct lf_fabric *fabric;
	struct lf_domain *domain;
};
// keeps a copy of info, with which endpoints are made
int lf_open(const struct lf_info *info, struct lf_device *out);
int lf_close(struct lf_device *d);
// 1: sums and compare-and-swap of 8 bytes, which return the old value
int lf_atomics(struct lf_device *d);

// An endpoint with its completion queue and its addresses. fd is readable when there may be
// completions; -1: there is none.
struct lf_endpoint {
	struct lf_fabric *fabric;
	struct lf_ep *ep;
	struct lf_cq *cq;
	struct lf_av *av;
	int fd;
};
// With room for so many requests and receive buffers.
int lf_endpoint_open(struct lf_device *d, size_t requests, size_t buffers, struct lf_endpoint *out);
int lf_endpoint_close(struct lf_endpoint *e);
int lf_name(struct lf_endpoint *e, void *name, size_t *n);
int lf_insert(struct lf_endpoint *e, const void *name, uint64_t *addr);
int lf_remove(struct lf_endpoint *e, uint64_t addr);

// Registers memory for this process, or for others, too; with an endpoint where the provider wants
// one.
int lf_register(struct lf_device *d, struct lf_endpoint *e, uintptr_t addr, size_t n, int remote,
	uint64_t key, struct lf_mr **out);
int lf_deregister(struct lf_mr *mr);

int lf_receive(struct lf_endpoint *e, uintptr_t buffer, size_t n, void *desc, uintptr_t context);

// One request. Addresses of memory and descriptors are numbers: all memory is outside of Go's heap.
enum { LF_PIECES = 16 };
enum {
	LF_OP_WRITE = 0,
	LF_OP_SEND = 2,
	LF_OP_READ = 4,
	LF_OP_COMPARE_SWAP = 5,
	LF_OP_FETCH_ADD = 6
};
struct lf_request {
	uint64_t to, remote, key, flags;
	uintptr_t context, operand, compare; // of atomics: addresses of the operands
	uintptr_t operands;                  // and their descriptor
	uint32_t op, pieces;
	struct {
		uintptr_t addr;
		size_t n;
		uintptr_t desc;
	} piece[LF_PIECES];
};
int lf_post(struct lf_endpoint *e, const struct lf_request *r);

// A completion. err is 0, or why the request has failed.
struct lf_done {
	uintptr_t context;
	uint64_t bytes;
	int64_t err;
};
// Polls until there is a completion: `looks` times, with a yield of the core now and then, and
// `yields` times more with a yield before each.
int lf_look(struct lf_endpoint *e, int n, struct lf_done *out, unsigned looks, unsigned yields);
// Polls once, sleeps, and polls again. The sleep ends when there may be a completion, when the
// descriptor wake (-1: none) is readable, or after `limit` nanoseconds (negative: no limit). *why
// says which descriptor was readable. Without a descriptor of the endpoint it naps: longer and
// longer, up to `nap` nanoseconds each.
enum { LF_WAKE = 1, LF_NETWORK = 2 };
int lf_sleep(struct lf_endpoint *e, int n, struct lf_done *out, int wake, int64_t limit,
	int64_t nap, int *why);
// 1: there may be completions already, so the caller must not wait for the descriptor.
int lf_pending(struct lf_endpoint *e);

#endif
