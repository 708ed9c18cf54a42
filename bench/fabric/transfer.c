// SPDX-License-Identifier: BSD-3-Clause
// Requests of an endpoint, their completions, and how it waits.
#include "endpoint.h"

#include <poll.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "failure.h"

typedef ssize_t (*post)(struct fid_ep *self, const struct fi_msg_rma *request, uint64_t flags);

// transfer posts one request, or several where the provider limits their size. A provider that has
// no room is given time.
static int transfer(struct endpoint *e, post function, size_t bytes, uint64_t flags)
{
	size_t most = e->info->ep_attr->max_msg_size, at = 0;
	int posted = 0;
	do {
		size_t part = bytes - at < most ? bytes - at : most;
		struct iovec from = {e->memory + at, part};
		struct fi_rma_iov to = {.addr = e->far + at, .len = part, .key = e->key};
		struct fi_msg_rma request = {.msg_iov = &from,
			.desc = &e->local,
			.iov_count = 1,
			.addr = e->peer,
			.rma_iov = &to,
			.rma_iov_count = 1};
		ssize_t status;
		while ((status = function(e->self, &request, flags)) == -FI_EAGAIN)
			posted -= endpoint_progress(e);
		if (status != 0)
			endpoint_failed("request", status);
		posted++;
		at += part;
	} while (at < bytes);
	return posted;
}

int endpoint_write(struct endpoint *e, size_t bytes)
{
	return transfer(e, fi_writemsg, bytes, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

int endpoint_read(struct endpoint *e, size_t bytes)
{
	return transfer(e, fi_readmsg, bytes, FI_COMPLETION);
}

int endpoint_progress(struct endpoint *e)
{
	struct fi_cq_entry entry;
	ssize_t n = fi_cq_read(e->queue, &entry, 1);
	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL) {
		struct fi_cq_err_entry error = {0};
		fi_cq_readerr(e->queue, &error, 0);
		endpoint_failed("completion", error.err);
	}
	if (n < 0)
		endpoint_failed("completion queue", n);
	return (int)n;
}

bool endpoint_wakes(const struct endpoint *e) { return e->wake >= 0; }

void endpoint_sleep(struct endpoint *e, int besides)
{
	struct fid *queue = &e->queue->fid;
	struct pollfd p[2] = {{.fd = e->wake, .events = POLLIN}, {.fd = besides, .events = POLLIN}};
	if (e->wake < 0 || fi_trywait(e->fabric, &queue, 1) == 0)
		poll(p, 2, -1);
}
