/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of other images that ARMCI does not reach, since only a pointer component leads there: the
 * caller's side. One procedure call moves a section, packed; large ones go in pieces. Which memory
 * is ARMCI's is known of coarrays; of memory from the heaps of other images the first call that
 * goes there finds out.
 */
#include <gpc.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"

enum {
	PIECE = 4 << 20,  /* bytes of one call */
	UNASKED = 1 << 16 /* so many are sent without asking first whether the memory is ARMCI's */
};

void caf_shared_start(void)
{
	caf.shared = calloc((size_t)caf.n, sizeof *caf.shared);
	struct caf_range *all = calloc((size_t)caf.n, sizeof *all);
	if (!caf.shared || !all)
		caf_fatal("no memory");
	for (int i = 0; i < caf.n; i++) {
		caf.shared[i] = &all[caf.near[i] ? caf.me : i];
		caf_shared_add(i, caf.control[i], 1);
	}
}

/* The handler reads it in another thread; each of the two stores leaves a part of the new range. */
void caf_shared_add(int rank, const void *p, size_t bytes)
{
	struct caf_range *s = caf.shared[rank];
	uintptr_t lo = (uintptr_t)p, hi = lo + bytes;
	uintptr_t first = atomic_load_explicit(&s->lo, memory_order_relaxed);
	if (!first)
		atomic_store_explicit(&s->hi, lo, memory_order_relaxed);
	if (!first || lo < first)
		atomic_store_explicit(&s->lo, lo, memory_order_relaxed);
	if (hi > atomic_load_explicit(&s->hi, memory_order_relaxed))
		atomic_store_explicit(&s->hi, hi, memory_order_relaxed);
}

/* `where` tells what is moved, q->shape or q->add bytes of it. */
static int call(int rank, bool put, struct caf_question *q, const void *where, char *packed)
{
	size_t head = caf_part(q->shape + q->add), bytes = head + (put ? q->bytes : 0);
	struct caf_answer r;
	struct caf_buffer b;
	char none[16];
	bool gets = !put && q->bytes > 0;
	if (!caf_buffer_get(&b, bytes))
		return CAF_MOVE_MEMORY;
	q->kind = put ? CAF_AT_WRITE : CAF_AT_READ;
	memcpy(b.p, where, q->shape + q->add);
	if (put && q->bytes)
		memcpy(b.p + head, packed, q->bytes);
	int rc = ARMCI_Gpc_exec(caf_remote_handler, rank, q, (int)sizeof *q, b.p, (int)bytes, &r,
		(int)sizeof r, gets ? packed : none, gets ? (int)q->bytes : (int)sizeof none, NULL);
	caf_buffer_free(&b);
	if (rc)
		return caf_state(rank) == CAF_FAILED_IMAGE ? CAF_MOVE_FAILED : rc;
	if (r.code == CAF_MOVE_SHARED)
		caf_shared_add(rank, r.staged, r.bytes);
	return r.code;
}

static int call_runs(int rank, bool put, const struct caf_runs *s, size_t bytes, char *packed)
{
	struct caf_question q = {.shape = sizeof *s, .bytes = bytes};
	return call(rank, put, &q, s, packed);
}

/* Before much is written for nothing. */
static int ask(int rank, bool put, char *at, size_t bytes)
{
	struct caf_runs s = {.base = at};
	return put && bytes > UNASKED ? call_runs(rank, false, &s, 0, NULL) : 0;
}

static size_t runs_bytes(const struct caf_runs *s)
{
	size_t bytes = s->run;
	for (int i = 0; i < s->rank; i++) bytes *= (size_t)s->count[i];
	return bytes;
}

/* Divides the outermost dimension until a piece fits. */
static int move(int rank, bool put, const struct caf_runs *s, char *packed)
{
	size_t bytes = runs_bytes(s), outer = s->rank ? (size_t)s->count[s->rank - 1] : bytes,
	       step = bytes / outer;
	ptrdiff_t stride = s->rank ? s->stride[s->rank - 1] : 1;
	if (bytes <= PIECE)
		return call_runs(rank, put, s, bytes, packed);
	size_t some = step < PIECE ? PIECE / step : 1;
	int code = 0;
	for (size_t i = 0; i < outer && code == 0; i += some) {
		struct caf_runs part = *s;
		size_t n = outer - i < some ? outer - i : some;
		part.base += (ptrdiff_t)i * stride;
		if (part.rank == 0)
			part.run = n;
		else if (n == 1)
			part.rank--;
		else
			part.count[part.rank - 1] = (ptrdiff_t)n;
		code = move(rank, put, &part, packed + i * step);
	}
	return code;
}

int caf_private_section(int rank, bool put, const struct caf_section *there, char *packed)
{
	struct caf_runs s = {.base = there->base, .run = there->elem};
	for (int i = 0; i < there->rank; i++) {
		if (there->count[i] == 1)
			continue;
		if (s.rank == 0 && there->stride[i] == (ptrdiff_t)s.run) {
			s.run *= (size_t)there->count[i];
			continue;
		}
		s.count[s.rank] = there->count[i];
		s.stride[s.rank++] = there->stride[i];
	}
	size_t bytes = runs_bytes(&s);
	int code = ask(rank, put, s.base, bytes);
	return code || bytes == 0 ? code : move(rank, put, &s, packed);
}

int caf_private_list(int rank, bool put, void *const *at, size_t n, size_t run, char *packed)
{
	size_t some = PIECE / (run + sizeof *at);
	int code = ask(rank, put, at[0], n * run);
	for (size_t i = 0; i < n && code == 0; i += some ? some : 1) {
		struct caf_runs one = {.base = at[i], .run = run};
		size_t now = n - i < some ? n - i : some;
		struct caf_question q = {.add = now * sizeof *at,
			.view_bytes = run,
			.bytes = now * run};
		code = some ? call(rank, put, &q, at + i, packed + i * run) :
			      move(rank, put, &one, packed + i * run);
	}
	return code;
}
