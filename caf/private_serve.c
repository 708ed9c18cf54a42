/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that ARMCI does not reach: the side of the image whose memory it is. The kernel copies the
 * first run of each page, and refuses addresses at which there is no memory, or none that can be
 * written. It runs in a thread of libarmci, beside the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "remote.h"

enum { PAGES = 256 };

/* Pages at which the kernel has copied for this call; other runs there are left to the processor,
 * which takes far less time for small ones. Numbers + 1, by number modulo. */
struct pages {
	size_t bytes; /* of a page */
	uintptr_t known[PAGES];
};

/* Goes from run to run. */
struct walk {
	struct caf_runs s;
	const char *list; /* of addresses; null: a section */
	ptrdiff_t index[CAF_MAX_RANK];
};

static char *next_run(struct walk *w)
{
	char *at = w->s.base;
	if (w->list) {
		memcpy(&at, w->list, sizeof at);
		w->list += sizeof at;
		return at;
	}
	for (int i = 0; i < w->s.rank; i++) {
		w->s.base += w->s.stride[i];
		if (++w->index[i] < w->s.count[i])
			break;
		w->s.base -= w->s.stride[i] * w->s.count[i];
		w->index[i] = 0;
	}
	return at;
}

static void copy(bool write, char *at, char *packed, size_t n)
{
	memcpy(write ? at : packed, write ? packed : at, n);
}

/* False: the memory cannot be accessed. Where the system forbids the kernel's copies, nothing is
 * checked. */
static bool copy_checked(bool write, char *at, char *packed, size_t n)
{
	struct iovec local = {packed, n}, run = {at, n};
	ssize_t done = write ? process_vm_writev(getpid(), &local, 1, &run, 1, 0) :
			       process_vm_readv(getpid(), &local, 1, &run, 1, 0);
	if (done < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS)) {
		copy(write, at, packed, n);
		return true;
	}
	return done == (ssize_t)n;
}

static bool copy_run(struct pages *p, bool write, char *at, char *packed, size_t n)
{
	uintptr_t first = (uintptr_t)at / p->bytes, last = ((uintptr_t)at + n - 1) / p->bytes;
	if (first == last && p->known[first % PAGES] == first + 1) {
		copy(write, at, packed, n);
		return true;
	}
	if (!copy_checked(write, at, packed, n))
		return false;
	p->known[first % PAGES] = first + 1;
	p->known[last % PAGES] = last + 1;
	return true;
}

static bool copy_all(bool write, struct walk *w, char *packed, size_t bytes)
{
	struct pages p = {.bytes = (size_t)sysconf(_SC_PAGESIZE)};
	for (size_t done = 0; done < bytes; done += w->s.run) {
		if (!copy_run(&p, write, next_run(w), packed + done, w->s.run))
			return false;
	}
	return true;
}

void caf_serve_private(const struct caf_question *q, const char *data, struct caf_answer *r,
	char *rdata, int rdlen, int *rdsize)
{
	struct walk w = {.s = {.run = q->view_bytes}, .list = q->add ? data : NULL};
	const struct caf_range *mine = caf.shared[caf.me];
	bool write = q->kind == CAF_AT_WRITE;
	char *first;
	if (!w.list)
		memcpy(&w.s, data, sizeof w.s);
	first = w.s.base;
	if (w.list)
		memcpy(&first, w.list, sizeof first);
	if (caf_is_shared(caf.me, first)) {
		r->code = CAF_MOVE_SHARED;
		uintptr_t lo = atomic_load_explicit(&mine->lo, memory_order_relaxed);
		r->staged = (char *)lo;
		r->bytes = atomic_load_explicit(&mine->hi, memory_order_relaxed) - lo;
		return;
	}
	if (write) /* the data are a copy, of which the kernel only reads */
		r->code = copy_all(true, &w, (char *)(uintptr_t)data + caf_part(q->shape + q->add),
				  q->bytes) ?
			0 :
			FAIL8;
	else if (q->bytes <= (size_t)rdlen)
		r->code = copy_all(false, &w, rdata, q->bytes) ? 0 : FAIL8;
	else
		r->code = CAF_MOVE_MEMORY;
	*rdsize = write || r->code ? 0 : (int)q->bytes;
}
