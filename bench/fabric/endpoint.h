// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - a reliable endpoint of libfabric in each of two processes, with one registered piece
// of memory at each, for remote memory access between them. It knows nothing of ARMCI, and its
// errors end the process: it is what the library is compared with.
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct endpoint {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *addresses;
	struct fid_cq *queue;
	struct fid_ep *self;
	struct fid_mr *region;
	void *local;    // descriptor of the memory, for requests
	char *memory;   // of this end
	size_t size;    // of it
	fi_addr_t peer; // the other end
	// where its memory begins: an address, or 0 where the provider counts from its beginning
	uint64_t far;
	uint64_t key;   // of it
	int wake;       // descriptor that can be waited for, or -1: the provider has none
};

// By both ends, over a socket between them: size bytes, zero, at each end, over a provider, as
// `fi_info -p` names it, and the domain of that name, or the first if domain is NULL. Nothing is
// sent by the provider yet.
void endpoint_open(struct endpoint *e, int socket, size_t size, const char *provider,
	const char *domain);
void endpoint_close(struct endpoint *e);

// Whether the provider can wake a process that sleeps.
bool endpoint_wakes(const struct endpoint *e);
// Posts requests to write or read so many bytes at the beginning of both memories. A write
// completes when the bytes are in the other memory. Returns how many requests it took.
int endpoint_write(struct endpoint *e, size_t bytes);
int endpoint_read(struct endpoint *e, size_t bytes);
// Has the provider work, and takes a completion if there is one: how many, 0 or 1.
int endpoint_progress(struct endpoint *e);
// Sleeps until the provider has something to do, or a descriptor besides can be read (-1: none).
void endpoint_sleep(struct endpoint *e, int besides);

#endif
