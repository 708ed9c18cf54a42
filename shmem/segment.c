/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric memory is memory of ARMCI_Malloc, which PEs of the node load and store, and network
 * devices read and write, mapped a second time at another address: the heap where all PEs have
 * room, and the program's global and static variables, which are at the same offset from its
 * beginning in every process.
 */
#define _GNU_SOURCE
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "osh.h"

static uintptr_t page; /* bytes of a page */

static uintptr_t down(uintptr_t p) { return p & ~(page - 1); }
static uintptr_t up(uintptr_t p) { return down(p + page - 1); }

/* The first object is the program itself. Its segments that can be written, without what the
 * dynamic linker has made read-only. */
static int look(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	uintptr_t *range = arg, readonly = 0;
	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + h->p_vaddr;
		if (h->p_type == PT_GNU_RELRO)
			readonly = down(at + h->p_memsz);
		if (h->p_type == PT_LOAD && h->p_flags & PF_W) {
			if (!range[0] || down(at) < range[0])
				range[0] = down(at);
			if (up(at + h->p_memsz) > range[1])
				range[1] = up(at + h->p_memsz);
		}
	}
	if (readonly > range[0])
		range[0] = readonly;
	return 1;
}

static bool zeros(const char *p)
{
	const uint64_t *words = (const uint64_t *)(const void *)p;
	uint64_t any = 0;
	for (size_t i = 0; i < page / sizeof *words && !any; i++) any |= words[i];
	return !any;
}

/* Copies pages; most of a large segment has never been written, and stays without memory where the
 * destination is zero, too. */
static void copy_pages(char *to, const char *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += page)
		if (!zeros(from + i) || !zeros(to + i))
			memcpy(to + i, from + i, page);
}

/* mremap to a given place, by the kernel itself: a network library that an MPI has loaded may have
 * replaced the function of libc by one that passes no place. A mapping of old size 0 is a second
 * one of the same pages. */
static bool map_at(void *to, void *from, size_t old, size_t bytes)
{
	return syscall(SYS_mremap, from, old, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == (long)to;
}

void osh_segment_start(struct osh_segment *s, size_t bytes, size_t alignment, const char *what)
{
	*s = (struct osh_segment){.bytes = bytes, .at = osh_alloc((size_t)osh.n * sizeof *s->at)};
	if (engine.ARMCI_Malloc((void **)s->at, (armci_size_t)(bytes + alignment)) != 0)
		osh_die("shmem_init", "no memory for %zu bytes of %s", bytes, what);
	s->allocation = s->at[osh.me];
	for (int i = 0; i < osh.n; i++) s->at[i] += -(uintptr_t)s->at[i] & (alignment - 1);
	s->base = (uintptr_t)s->at[osh.me];
}

void osh_segment_end(struct osh_segment *s)
{
	engine.ARMCI_Free(s->allocation);
	free(s->at);
	*s = (struct osh_segment){0};
}

/* Places below programs, apart from those of ARMCI; the last two where addresses are shorter. */
void osh_segment_share(struct osh_segment *s)
{
	static const uint64_t places[] = {(uint64_t)84 << 40, (uint64_t)32 << 40, (uint64_t)1 << 39,
		(uint64_t)1 << 35};
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		char *to = (char *)(uintptr_t)places[i], *got = mmap(to, s->bytes, PROT_NONE, flags,
			-1, 0);
		long all = got == to && map_at(to, s->at[osh.me], 0, s->bytes);
		engine.armci_msg_lgop(&all, 1, "min");
		if (all) {
			s->base = (uintptr_t)to;
			return;
		}
		if (got != MAP_FAILED)
			munmap(got, s->bytes);
	}
}

void osh_data_start(void)
{
	uintptr_t range[2] = {0, 0};
	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	dl_iterate_phdr(look, range);
	long bytes = range[1] > range[0] ? (long)(range[1] - range[0]) : 0, least = bytes;
	engine.armci_msg_lgop(&least, 1, "min");
	if (least != bytes)
		osh_die("shmem_init", "the PEs run different programs: %ld bytes of global and "
			"static variables here, %ld elsewhere", bytes, least);
	osh_segment_start(&osh.data, (size_t)bytes, page, "global and static variables");
	char *at = osh.data.at[osh.me];
	osh.data.base = range[0];
	if (bytes) {
		copy_pages(at, (char *)range[0], (size_t)bytes);
		if (!map_at((void *)range[0], at, 0, (size_t)bytes))
			osh_die("shmem_init", "the system does not map memory twice: %m");
		madvise((void *)range[0], (size_t)bytes, MADV_DODUMP);
	}
}

/* The variables get memory of their own again: ARMCI's ends. */
void osh_data_end(void)
{
	struct osh_segment s = osh.data;
	osh.data.bytes = 0;
	if (s.bytes) {
		char *copy = mmap(NULL, s.bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (copy == MAP_FAILED)
			osh_die("shmem_finalize", "no memory for global and static variables");
		copy_pages(copy, (char *)s.base, s.bytes);
		if (!map_at((void *)s.base, copy, s.bytes, s.bytes))
			osh_die("shmem_finalize", "global and static variables: %m");
	}
	osh_segment_end(&osh.data);
}
