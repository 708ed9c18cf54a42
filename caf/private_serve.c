/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that ARMCI does not reach: the side of the image whose memory it is. The kernel copies, many runs at a time, and refuses
 * addresses at which there is no memory, or none that can be written. It runs in a thread of libarmci, beside the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "remote.h"

enum { RUNS = 512 }; /* of one call of the kernel, which takes 1024 */

/* Goes from run to run. */
struct walk {
	struct caf_runs s;
	const char *list; /* of addresses; null: a section */
	ptrdiff_t index[CAF_MAX_RANK];
};

static void *next_run(struct walk *w)
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

/* Where the system forbids the kernel's copies, those of the processor, which do not forgive wild addresses. */
static bool copy_unchecked(bool write, const struct iovec *run, size_t n, char *packed)
{
	for (size_t i = 0; i < n; packed += run[i++].iov_len)
		memcpy(write ? run[i].iov_base : packed, write ? packed : run[i].iov_base, run[i].iov_len);
	return true;
}

static bool copy(bool write, const struct iovec *run, size_t n, char *packed, size_t bytes)
{
	struct iovec local = {packed, bytes};
	ssize_t done = write ? process_vm_writev(getpid(), &local, 1, run, n, 0) : process_vm_readv(getpid(), &local, 1, run, n, 0);
	if (done < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES))
		return copy_unchecked(write, run, n, packed);
	return done == (ssize_t)bytes;
}

static bool copy_all(bool write, struct walk *w, char *packed, size_t bytes)
{
	struct iovec run[RUNS];
	size_t done = 0, now;
	for (; done < bytes; done += now) {
		size_t n = 0;
		for (now = 0; n < RUNS && done + now < bytes; now += w->s.run) run[n++] = (struct iovec){next_run(w), w->s.run};
		if (!copy(write, run, n, packed + done, now))
			return false;
	}
	return true;
}

void caf_serve_private(const struct caf_question *q, const char *data, struct caf_answer *r, char *rdata, int rdlen, int *rdsize)
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
		r->staged = (char *)__atomic_load_n(&mine->lo, __ATOMIC_RELAXED);
		r->bytes = __atomic_load_n(&mine->hi, __ATOMIC_RELAXED) - (uintptr_t)r->staged;
		return;
	}
	if (write) /* the data are a copy, of which the kernel only reads */
		r->code = copy_all(true, &w, (char *)(uintptr_t)data + caf_part(q->shape + q->add), q->bytes) ? 0 : FAIL8;
	else if (q->bytes <= (size_t)rdlen)
		r->code = copy_all(false, &w, rdata, q->bytes) ? 0 : FAIL8;
	else
		r->code = CAF_MOVE_MEMORY;
	*rdsize = write || r->code ? 0 : (int)q->bytes;
}
