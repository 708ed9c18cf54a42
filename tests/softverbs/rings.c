// SPDX-License-Identifier: BSD-3-Clause
// Room for rings in the segment: powers of two, which are used again when they are free.
#define _GNU_SOURCE
#include "softverbs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static int size_class(uint64_t n)
{
	int k = 6;
	while (((uint64_t)1 << k) < n)
		k++;
	return k;
}

static void clear(char *at, uint64_t size)
{
	if (size < (1 << 20) || madvise(at, size, MADV_REMOVE) != 0) // which gives the pages back
		memset(at, 0, size);
}

// A free piece begins with where the next of its size is, plus one; so does the list.
uint64_t rings_take(struct context *c, uint64_t n)
{
	int k = size_class(n);
	uint64_t at = c->freed[k], size = (uint64_t)1 << k;
	if (at != 0) {
		memcpy(&c->freed[k], c->segment->rings + at - 1, sizeof at);
		clear(c->segment->rings + at - 1, size);
		return at - 1;
	}
	if (c->rings + size > RINGS_BYTES) {
		errno = ENOMEM;
		return UINT64_MAX;
	}
	at = c->rings;
	c->rings += size;
	return at;
}

void rings_give(struct context *c, uint64_t at, uint64_t n)
{
	int k = size_class(n);
	memcpy(c->segment->rings + at, &c->freed[k], sizeof at);
	c->freed[k] = at + 1;
}
