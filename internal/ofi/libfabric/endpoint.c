// SPDX-License-Identifier: BSD-3-Clause
// Endpoints, addresses and registered memory.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "libfabric.h"

static int close_fid(struct lf_fid *f) { return f->ops->close(f); }

// Opens the completion queue: with a descriptor to wait for if the provider has one.
static int open_queue(struct lf_device *d, size_t entries, struct lf_endpoint *e)
{
	struct lf_cq_attr a = {.size = entries, .format = LF_CQ_FORMAT_MSG, .wait_obj = LF_WAIT_FD};
	e->fd = -1;
	if (d->domain->ops->cq_open(d->domain, &a, &e->cq, NULL) == 0) {
		if (e->cq->fid.ops->control(&e->cq->fid, LF_GETWAIT, &e->fd) == 0 && e->fd >= 0)
			return 0;
		close_fid(&e->cq->fid);
	}
	e->fd = -1;
	e->cq = NULL;
	a.wait_obj = LF_WAIT_NONE;
	return d->domain->ops->cq_open(d->domain, &a, &e->cq, NULL);
}

// Provider "shm" takes over signals when an endpoint is enabled; they are the application's and
// Go's.
static const int signals[] = {SIGBUS, SIGSEGV, SIGTERM, SIGINT};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static int enable(struct lf_endpoint *e)
{
	struct sigaction old[SIGNALS];
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i], NULL, &old[i]);
	int err = e->ep->fid.ops->control(&e->ep->fid, LF_ENABLE, NULL);
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &old[i], NULL);
	return err;
}

int lf_endpoint_open(struct lf_device *d, size_t requests, size_t buffers, struct lf_endpoint *e)
{
	struct lf_av_attr av = {.type = d->info->domain_attr->av_type};
	memset(e, 0, sizeof *e);
	e->fabric = d->fabric;
	d->info->tx_attr->size = requests; // some providers make buffers for all of them
	d->info->rx_attr->size = buffers;
	int err = open_queue(d, requests + buffers, e);
	if (!err)
		err = d->domain->ops->av_open(d->domain, &av, &e->av, NULL);
	if (!err) {
		lf_environment_begin();
		err = d->domain->ops->endpoint(d->domain, d->info, &e->ep, NULL);
		lf_environment_end();
	}
	if (!err && (err = e->ep->fid.ops->bind(&e->ep->fid, &e->av->fid, 0)))
		e->ep = NULL; // it stays: ofi_rxm of libfabric 1.17 crashes in closing it
	if (!err)
		err = e->ep->fid.ops->bind(&e->ep->fid, &e->cq->fid, LF_SEND | LF_RECV);
	if (!err)
		err = enable(e);
	if (err)
		lf_endpoint_close(e);
	return err;
}

int lf_endpoint_close(struct lf_endpoint *e)
{
	int err = 0, more;
	if (e->ep)
		err = close_fid(&e->ep->fid);
	if (e->av && (more = close_fid(&e->av->fid)))
		err = more;
	if (e->cq && (more = close_fid(&e->cq->fid)))
		err = more;
	memset(e, 0, sizeof *e);
	return err;
}

int lf_name(struct lf_endpoint *e, void *name, size_t *n)
{
	return e->ep->cm->getname(&e->ep->fid, name, n);
}

int lf_insert(struct lf_endpoint *e, const void *name, uint64_t *addr)
{
	int n = e->av->ops->insert(e->av, name, 1, addr, 0, NULL);
	if (n == 1 && *addr != LF_ADDR_UNSPEC)
		return 0;
	return n < 0 ? n : -EADDRNOTAVAIL;
}

int lf_remove(struct lf_endpoint *e, uint64_t addr)
{
	return e->av->ops->remove(e->av, &addr, 1, 0);
}

int lf_register(struct lf_device *d, struct lf_endpoint *e, uintptr_t addr, size_t n, int remote,
	uint64_t key, struct lf_mr **out)
{
	uint64_t access = LF_SEND | LF_RECV | LF_READ | LF_WRITE;
	if (remote)
		access |= LF_REMOTE_READ | LF_REMOTE_WRITE;
	int err = d->domain->mr->reg(&d->domain->fid, (void *)addr, n, access, 0, key, 0, out,
		NULL);
	if (err || !(d->info->domain_attr->mr_mode & LF_MR_ENDPOINT))
		return err;
	err = (*out)->fid.ops->bind(&(*out)->fid, &e->ep->fid, 0);
	if (!err)
		err = (*out)->fid.ops->control(&(*out)->fid, LF_ENABLE, NULL);
	if (err)
		lf_deregister(*out);
	return err;
}

int lf_deregister(struct lf_mr *mr) { return close_fid(&mr->fid); }
