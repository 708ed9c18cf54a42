/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symmetric heap: one allocation of ARMCI, cut into blocks. What is decided depends on the
 * calls alone, which are the same on every PE, so blocks are at the same offsets everywhere. The
 * descriptions of blocks are outside of the heap: a PE that writes beyond its block does not
 * change what others decide.
 */
#include <sys/mman.h>

#include "osh.h"

enum {
	LINE = 64,                 /* alignment of blocks, and their granularity */
	LEAST_ALIGNMENT = 2 << 20, /* of the heap */
	MOST_ALIGNMENT = 64 << 20,
	ALIGNMENT_PART = 8         /* it is at most that part of the heap, or the least */
};

/* The alignment of the heap on each PE: offsets are aligned as addresses are. */
static size_t heap_alignment(size_t bytes)
{
	size_t a = LEAST_ALIGNMENT;
	while (a < MOST_ALIGNMENT && 2 * a <= bytes / ALIGNMENT_PART) a *= 2;
	return a;
}

/* Neighbours by address; no two free ones touch. */
struct block {
	size_t at, bytes;
	bool used;
	struct block *next;
};

static struct block *blocks;

static size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }

void *osh_alloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);
	if (!p)
		osh_die("shmem", "no memory: %zu bytes", bytes);
	return p;
}

static struct block *new_block(size_t at, size_t bytes, struct block *next)
{
	struct block *b = osh_alloc(sizeof *b);
	*b = (struct block){.at = at, .bytes = bytes, .next = next};
	return b;
}

void osh_heap_start(size_t bytes)
{
	bytes = up(bytes ? bytes : 1, 4096);
	osh_segment_start(&osh.heap, bytes, heap_alignment(bytes),
		"a symmetric heap (SHMEM_SYMMETRIC_SIZE)");
	osh_segment_share(&osh.heap);
	blocks = new_block(0, bytes, NULL);
}

void osh_heap_end(void)
{
	for (struct block *next; blocks; blocks = next) {
		next = blocks->next;
		free(blocks);
	}
	if (osh.heap.base != (uintptr_t)osh.heap.at[osh.me])
		munmap((void *)osh.heap.base, osh.heap.bytes);
	osh_segment_end(&osh.heap);
}

/* First fit. */
static void *take(size_t bytes, size_t alignment)
{
	bytes = up(bytes, LINE);
	for (struct block *b = blocks; b; b = b->next) {
		size_t skip = up(b->at, alignment) - b->at;
		if (b->used || bytes > b->bytes || skip > b->bytes - bytes)
			continue;
		if (skip) {
			b->next = new_block(b->at + skip, b->bytes - skip, b->next);
			b->bytes = skip;
			b = b->next;
		}
		if (b->bytes > bytes) {
			b->next = new_block(b->at + bytes, b->bytes - bytes, b->next);
			b->bytes = bytes;
		}
		b->used = true;
		return (void *)(osh.heap.base + b->at);
	}
	return NULL;
}

static struct block *find(const void *p, const char *fn)
{
	size_t at = (uintptr_t)p - osh.heap.base;
	struct block *b = blocks;
	while (b && b->at < at) b = b->next;
	if (!b || b->at != at || !b->used)
		osh_die(fn, "ptr: %p is no block of the symmetric heap", p);
	return b;
}

static void join(struct block *b)
{
	struct block *next = b->next;
	if (b->used || !next || next->used)
		return;
	b->bytes += next->bytes;
	b->next = next->next;
	free(next);
}

static void give_back(struct block *b)
{
	struct block *before = NULL;
	for (struct block *i = blocks; i != b; i = i->next) before = i;
	b->used = false;
	join(b);
	if (before)
		join(before);
}

static void must_be_on(const char *fn)
{
	if (!osh.on)
		osh_die(fn, "shmem_init was not called");
}

static void *allocate(size_t bytes, size_t alignment, bool zero, const char *fn)
{
	must_be_on(fn);
	if (!bytes)
		return NULL;
	void *p = bytes <= osh.heap.bytes ? take(bytes, alignment) : NULL;
	if (p && zero)
		memset(p, 0, bytes);
	osh_quiet(&osh.world_ctx);
	osh_barrier(osh.world);
	return p;
}

API(void *, malloc, (size_t size)) { return allocate(size, LINE, false, FN); }

/* Hints change nothing: all memory of the heap does for atomic operations and signals. */
API(void *, malloc_with_hints, (size_t size, long hints))
{
	(void)hints;
	return allocate(size, LINE, false, FN);
}

API(void *, calloc, (size_t count, size_t size))
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX;
	return allocate(bytes, LINE, true, FN);
}

API(void *, align, (size_t alignment, size_t size))
{
	size_t to = LINE; /* where the specification defines nothing, the next power of two */
	while (to < alignment && to < heap_alignment(osh.heap.bytes)) to *= 2;
	return alignment && alignment <= to ? allocate(size, to, false, FN) : NULL;
}

static void release(void *ptr, const char *fn)
{
	must_be_on(fn);
	if (!ptr)
		return;
	osh_quiet(&osh.world_ctx);
	osh_barrier(osh.world);
	give_back(find(ptr, fn));
}

API(void, free, (void *ptr)) { release(ptr, FN); }

API(void *, realloc, (void *ptr, size_t size))
{
	if (!ptr)
		return allocate(size, LINE, false, FN);
	if (!size) {
		release(ptr, FN);
		return NULL;
	}
	must_be_on(FN);
	osh_quiet(&osh.world_ctx);
	osh_barrier(osh.world);
	struct block *b = find(ptr, FN);
	void *p = ptr;
	if (up(size, LINE) > b->bytes) {
		p = size <= osh.heap.bytes ? take(size, LINE) : NULL;
		if (p) {
			memcpy(p, ptr, b->bytes);
			give_back(find(ptr, FN));
		}
	}
	osh_barrier(osh.world);
	return p;
}

/* Deprecated names. */
__attribute__((visibility("default"))) void *shmalloc(size_t size)
{
	return allocate(size, LINE, false, __func__);
}
__attribute__((visibility("default"))) void shfree(void *ptr) { release(ptr, __func__); }
__attribute__((visibility("default"))) void *shrealloc(void *ptr, size_t size)
{
	return pshmem_realloc(ptr, size);
}
__attribute__((visibility("default"))) void *shmemalign(size_t alignment, size_t size)
{
	return pshmem_align(alignment, size);
}
