// SPDX-License-Identifier: BSD-3-Clause
// The connection by bare verbs beside the library's, and loops over one request on it.
#include "rdma.h"

#include <stdlib.h>

#include "dial.h"

enum { INLINE = 64 };

void rdma_begin(struct rdma *d, void **all, size_t bytes)
{
	perf_peer = (perf_me + perf_n / 2) % perf_n;
	*d = (struct rdma){.r = remote_without_socket(all, bytes), .slab = all[perf_me]};
	if (perf_me == 0)
		link_open(&d->link, perf_dial(perf_peer), bytes);
	else if (perf_peer == 0)
		link_open(&d->link, perf_answer(), bytes);
}

void rdma_finish(struct rdma *d, void **all)
{
	ARMCI_Barrier();
	if (d->link.pair)
		link_close(&d->link);
	remote_finish(&d->r, all);
}

void rdma_request(struct rdma *d, enum ibv_wr_opcode opcode, size_t bytes)
{
	if (!d->link.pair)
		return;
	d->request = link_request(&d->link, opcode, &d->list, 0, 0, bytes);
	if (opcode == IBV_WR_RDMA_WRITE && bytes <= INLINE)
		d->request.send_flags |= IBV_SEND_INLINE;
}

void rdma_raw(void *arg, long n)
{
	struct rdma *d = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++) link_do(&d->link, &d->request);
	d->r.clock += perf_now() - begin;
}
