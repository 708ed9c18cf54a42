/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of allocatable components, which an image allocates and frees without the others, and
 * which the others reach: blocks in chunks of ARMCI_Memget. Free blocks are kept by size, powers of
 * two and their halves; large blocks have a chunk of their own.
 */
#include <pthread.h>
#include <string.h>

#include "caf.h"

enum {
	LINE = 64,                 /* alignment of blocks, and what the header of a block takes */
	CLASSES = 36,              /* 64, 96, 128, 192, ... bytes */
	CHUNK = 1 << 20,
	LARGEST = 1 << 18          /* largest block that shares a chunk */
};

/* Stands in front of each block; armcix memory is aligned to LINE. */
struct block {
	struct block *next;        /* while it is free */
	size_t bytes;              /* of the block, without the header */
	int class;                 /* -1: alone in its chunk */
	armci_meminfo_t *chunk;    /* of such a block */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *freed[CLASSES];
static char *fresh, *fresh_end; /* the rest of the youngest chunk */

static size_t class_bytes(int class)
{
	return (class & 1 ? (size_t)96 : (size_t)64) << (class / 2);
}

static int class_of(size_t bytes)
{
	int class = 0;
	while (class_bytes(class) < bytes) class++;
	return class;
}

static size_t whole_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static struct block *alone(size_t bytes)
{
	armci_meminfo_t *chunk = malloc(sizeof *chunk);
	if (!chunk)
		return NULL;
	ARMCI_Memget(LINE + bytes, chunk, 0);
	struct block *b = (struct block *)(void *)chunk->addr;
	if (!b) {
		free(chunk);
		return NULL;
	}
	caf_shared_add(caf.me, b, LINE + bytes);
	*b = (struct block){.bytes = bytes, .class = -1, .chunk = chunk};
	return b;
}

static struct block *carve(int class)
{
	size_t need = LINE + whole_lines(class_bytes(class));
	if ((size_t)(fresh_end - fresh) < need) {
		armci_meminfo_t chunk; /* never given back: its blocks are used again */
		ARMCI_Memget(CHUNK, &chunk, 0);
		if (!chunk.addr)
			return NULL;
		fresh = chunk.addr;
		fresh_end = fresh + CHUNK;
		caf_shared_add(caf.me, fresh, CHUNK);
	}
	struct block *b = (struct block *)(void *)fresh;
	fresh += need;
	*b = (struct block){.bytes = class_bytes(class), .class = class};
	return b;
}

void *caf_heap_alloc(size_t bytes)
{
	struct block *b;
	if (bytes > LARGEST) {
		b = alone(whole_lines(bytes));
	} else {
		int class = class_of(bytes);
		pthread_mutex_lock(&lock);
		b = freed[class];
		if (b)
			freed[class] = b->next;
		else
			b = carve(class);
		pthread_mutex_unlock(&lock);
	}
	return b ? memset((char *)b + LINE, 0, bytes) : NULL;
}

void caf_heap_free(void *p)
{
	if (!p)
		return;
	struct block *b = (struct block *)(void *)((char *)p - LINE);
	if (b->class < 0) {
		armci_meminfo_t *chunk = b->chunk;
		ARMCI_Memctl(chunk);
		free(chunk);
		return;
	}
	pthread_mutex_lock(&lock);
	b->next = freed[b->class];
	freed[b->class] = b;
	pthread_mutex_unlock(&lock);
}
