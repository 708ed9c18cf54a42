// SPDX-License-Identifier: BSD-3-Clause
// How bytes move: by copying where the other process's memory is mapped here, by the kernel where
// it is not. Aligned words are read and written as one.
#define _GNU_SOURCE
#include "softverbs.h"

#include <errno.h>
#include <string.h>

#define WORD(type) \
	{ \
		type w; \
		memcpy(&w, from, sizeof w); \
		__atomic_store_n((type *)to, w, __ATOMIC_RELAXED); \
		return; \
	}

static bool aligned(const char *a, const char *b, size_t n)
{
	return (((uintptr_t)a | (uintptr_t)b) & (n - 1)) == 0;
}

static void copy(char *to, const char *from, size_t n)
{
	if (n == 8 && aligned(to, to, 8))
		WORD(uint64_t)
	if (n == 4 && aligned(to, to, 4))
		WORD(uint32_t)
	if (n == 2 && aligned(to, to, 2))
		WORD(uint16_t)
	if (n <= 256 && n % 8 == 0 && aligned(to, from, 8)) {
		for (size_t i = 0; i < n; i += 8)
			__atomic_store_n((uint64_t *)(to + i),
				__atomic_load_n((const uint64_t *)(from + i), __ATOMIC_RELAXED),
				__ATOMIC_RELAXED);
		return;
	}
	memmove(to, from, n); // of aligned words of large blocks, too, none is copied in parts
}

static void copy_all(bool out, const struct iovec *mine, int n, const struct span *theirs, int m)
{
	size_t skip = 0, done = 0; // in the first of theirs, of mine
	while (n > 0 && m > 0) {
		size_t a = mine->iov_len - done, b = theirs->bytes - skip, k = a < b ? a : b;
		char *here = (char *)mine->iov_base + done, *there = theirs->at + skip;
		if (k > 0)
			copy(out ? there : here, out ? here : there, k);
		done += k;
		skip += k;
		if (done == mine->iov_len)
			mine++, n--, done = 0;
		if (m > 0 && skip == theirs->bytes)
			theirs++, m--, skip = 0;
	}
}

int transfer(struct peer *p, bool out, const struct iovec *mine, int n, const struct span *theirs,
	int m)
{
	struct iovec far[MOST_SGE];
	size_t bytes = 0;
	bool mapped = true;
	for (int i = 0; i < m; i++) {
		mapped = mapped && theirs[i].at;
		far[i] = (struct iovec){(void *)(uintptr_t)theirs[i].addr, theirs[i].bytes};
		bytes += theirs[i].bytes;
	}
	if (mapped) {
		copy_all(out, mine, n, theirs, m);
		atomic_thread_fence(memory_order_release); // before what is written next
		return 0;
	}
	int pid = life_thread(p->segment);
	if (pid == 0)
		return ESRCH;
	ssize_t moved = out ?
		process_vm_writev(pid, mine, (unsigned long)n, far, (unsigned long)m, 0) :
		process_vm_readv(pid, mine, (unsigned long)n, far, (unsigned long)m, 0);
	size_t wanted = 0;
	for (int i = 0; i < n; i++)
		wanted += mine[i].iov_len;
	return moved < 0 ? errno : moved == (ssize_t)(wanted < bytes ? wanted : bytes) ? 0 : EFAULT;
}

static uint64_t changed(const struct request *r, uint64_t was)
{
	if (r->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return was + r->operand;
	return was == r->operand ? r->swap : was;
}

static uint64_t by_processor(char *at, const struct request *r)
{
	uint64_t was = r->operand;
	if (r->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return __atomic_fetch_add((uint64_t *)at, r->operand, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n((uint64_t *)at, &was, r->swap, false, __ATOMIC_SEQ_CST,
		__ATOMIC_SEQ_CST);
	return was;
}

int transfer_atomic(struct peer *p, char *at, uint64_t addr, const struct request *r,
	uint64_t *before)
{
	struct iovec mine = {before, sizeof *before};
	struct span span = {NULL, addr, sizeof *before};
	if (at && !p->own) {
		*before = by_processor(at, r);
		return 0;
	}
	shared_lock(&p->segment->atomics); // also of own memory, which may not be mapped by others
	int err = 0;
	if (at)
		*before = by_processor(at, r);
	else if ((err = transfer(p, false, &mine, 1, &span, 1)) == 0) {
		uint64_t now = changed(r, *before);
		mine.iov_base = &now;
		err = transfer(p, true, &mine, 1, &span, 1);
	}
	shared_unlock(&p->segment->atomics);
	return err;
}
