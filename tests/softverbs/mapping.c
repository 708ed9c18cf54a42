// SPDX-License-Identifier: BSD-3-Clause
// Memory regions of other processes, mapped here where they are of files: found in /proc/PID/maps,
// opened by /proc/PID/map_files, which needs root. A region whose memory is on demand may change,
// and is not mapped.
#define _GNU_SOURCE
#include "softverbs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct mapping {
	uint32_t serial; // of the region
	char *base;      // NULL: it cannot be mapped
	uint64_t lo, bytes;
};

// Bytes up to which a mapping is populated: a write is not to fault on each page of buffers, as
// with a card. Of large memory few pages may ever be used.
enum { PAGE = 4096, POPULATED = 16 << 20 };

// One area of the other process's, from lo to hi, to be mapped at `to`.
static bool map_area(int pid, uint64_t area_lo, uint64_t area_hi, uint64_t offset, uint64_t lo,
	uint64_t hi, char *to)
{
	char name[96];
	snprintf(name, sizeof name, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, area_lo,
		area_hi);
	int fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	int flags = MAP_SHARED | MAP_FIXED | (hi - lo <= POPULATED ? MAP_POPULATE : 0);
	void *p = mmap(to, hi - lo, PROT_READ | PROT_WRITE, flags, fd,
		(off_t)(offset + (lo - area_lo)));
	close(fd);
	if (p != MAP_FAILED)
		madvise(p, hi - lo, MADV_DONTFORK);
	return p != MAP_FAILED;
}

// Maps the areas of [lo, hi) one after the other; false unless all of it could be.
static bool map_all(int pid, uint64_t lo, uint64_t hi, char *base)
{
	char line[512], permissions[5];
	uint64_t area_lo, area_hi, offset, at = lo;
	snprintf(line, sizeof line, "/proc/%d/maps", pid);
	FILE *f = fopen(line, "re");
	if (!f)
		return false;
	while (at < hi && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64, &area_lo, &area_hi,
			    permissions, &offset) != 4)
			continue; // the end of a long line
		if (area_hi <= at)
			continue;
		if (area_lo > at || permissions[3] != 's' || permissions[1] != 'w')
			break;
		uint64_t end = area_hi < hi ? area_hi : hi;
		if (!map_area(pid, area_lo, area_hi, offset, at, end, base + (at - lo)))
			break;
		at = end;
	}
	fclose(f);
	return at >= hi;
}

static struct mapping *make(struct peer *p, const struct region *r)
{
	struct mapping *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->serial = r->serial;
	m->lo = r->addr & ~(uint64_t)(PAGE - 1);
	m->bytes = ((r->addr + r->length + PAGE - 1) & ~(uint64_t)(PAGE - 1)) - m->lo;
	if (r->access & IBV_ACCESS_ON_DEMAND)
		return m;
	char *base = mmap(NULL, m->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		-1, 0);
	if (base == MAP_FAILED)
		return m;
	if (map_all(p->segment->pid, m->lo, m->lo + m->bytes, base))
		m->base = base;
	else
		munmap(base, m->bytes);
	return m;
}

static void end(struct mapping *m)
{
	if (m && m->base)
		munmap(m->base, m->bytes);
	free(m);
}

char *mapping_at(struct peer *p, const struct region *r, uint64_t addr)
{
	if (p->own)
		return (char *)(uintptr_t)addr;
	struct mapping *_Atomic *place = &p->mapping[r - p->segment->region],
				*m = atomic_load_explicit(place, memory_order_acquire);
	if (!m || m->serial != r->serial) {
		// the former one is out of use: its region's owner has waited for that
		pthread_mutex_lock(&p->lock);
		m = atomic_load(place);
		if (!m || m->serial != r->serial) {
			end(m);
			atomic_store(place, m = make(p, r));
		}
		pthread_mutex_unlock(&p->lock);
	}
	return m && m->base ? m->base + (addr - m->lo) : NULL;
}

void mappings_free(struct peer *p)
{
	for (int i = 0; i < REGIONS; i++)
		if (p->mapping[i])
			end(p->mapping[i]);
}
