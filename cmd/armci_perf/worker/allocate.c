// SPDX-License-Identifier: BSD-3-Clause
// ARMCI_Malloc and ARMCI_Free of 1 MiB a rank: reused memory, and, in a job that keeps none (ARMCI_SHM_KEEP=0), new
// pages each time beside what the kernel takes to populate as much of a memory file and to take it back. The
// baseline does that in all ranks at once too, each in a file of its own, the plain way: a page fault for every page.
#define _GNU_SOURCE
#include "perf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { BYTES = 1 << 20 };

struct pages {
	void **all; // addresses of one allocation
	int fd;
	char *at; // the memory file, mapped
	struct perf_gate gate;
	double get, give; // seconds
};

static void malloc_free(void *arg, long n)
{
	struct pages *p = arg;
	for (long i = 0; i < n; i++) {
		ARMCI_Malloc(p->all, BYTES);
		ARMCI_Free(p->all[perf_me]);
	}
}

// The same, the two calls timed apart; everybody begins each at the same time.
static void new_pages(void *arg, long n)
{
	struct pages *p = arg;
	for (long i = 0; i < n; i++) {
		perf_gate_pass(&p->gate);
		double t0 = perf_now();
		ARMCI_Malloc(p->all, BYTES);
		double t1 = perf_now();
		perf_gate_pass(&p->gate);
		double t2 = perf_now();
		ARMCI_Free(p->all[perf_me]);
		p->get += t1 - t0;
		p->give += perf_now() - t2;
	}
}

// What the kernel takes: new pages for a memory file, then none.
static void populate_punch(void *arg, long n)
{
	struct pages *p = arg;
	for (long i = 0; i < n; i++) {
		perf_gate_pass(&p->gate);
		double t0 = perf_now();
		if (madvise(p->at, BYTES, MADV_POPULATE_WRITE) != 0 && fallocate(p->fd, 0, 0, BYTES) != 0)
			perror("populate");
		double t1 = perf_now();
		perf_gate_pass(&p->gate);
		double t2 = perf_now();
		if (fallocate(p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BYTES) != 0)
			perror("punch");
		p->get += t1 - t0;
		p->give += perf_now() - t2;
	}
}

static void malloc_free_local(void *arg, long n)
{
	(void)arg;
	for (long i = 0; i < n; i++) ARMCI_Free_local(ARMCI_Malloc_local(BYTES));
}

static void measure(const char *op, perf_body ours, struct pages *p)
{
	struct perf_case c = {.op = op, .shape = "-", .bytes = BYTES, .unit = PERF_NS, .ours = ours, .arg = p};
	perf_all(&c);
}

void perf_memory(void)
{
	struct pages p = {.all = calloc((size_t)perf_n, sizeof(void *))};
	measure("malloc+free", malloc_free, &p);
	measure("malloc+free-local", malloc_free_local, &p);
	free(p.all);
}

void perf_memory_new(void)
{
	struct pages p = {.all = calloc((size_t)perf_n, sizeof(void *)), .fd = memfd_create("perf", MFD_CLOEXEC)};
	if (p.fd < 0 || ftruncate(p.fd, BYTES) != 0) {
		perror("perf worker: memory file");
		exit(1);
	}
	p.at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p.fd, 0);
	if (p.at == MAP_FAILED) {
		perror("perf worker: map the memory file");
		exit(1);
	}
	p.gate.shared = perf_shared(sizeof(struct perf_barrier));
	struct perf_case c = {.op = "malloc-new", .shape = "-", .bytes = BYTES, .unit = PERF_NS, .ours = new_pages,
		.raw = populate_punch, .arg = &p, .clock = &p.get};
	perf_all(&c);
	c.op = "free-new", c.clock = &p.give;
	perf_all(&c);
	perf_shared_free(p.gate.shared);
	munmap(p.at, BYTES);
	close(p.fd);
	free(p.all);
}
