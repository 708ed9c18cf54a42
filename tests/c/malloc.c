// SPDX-License-Identifier: BSD-3-Clause
// malloc.c - collective memory: uneven and zero sizes, equal pointers on all ranks of a node, loads
// and stores through them, local and device memory, reuse in a loop. Memory of groups is in
// group.c.
#define _GNU_SOURCE
#include <sys/resource.h>

#include "check.h"

static void uneven(void)
{
	void **base = check_alloc(sizeof(void *) * (size_t)np);
	size_t mine = (size_t)(me % 3) * 1000 + (me % 3 ? 7 : 0);
	CHECK_OK(ARMCI_Malloc(base, (armci_size_t)mine));
	for (int r = 0; r < np; r++)
		CHECK((base[r] == NULL) == (r % 3 == 0));
	if (mine)
		check_fill(base[me], mine, (uint64_t)me);
	armci_msg_barrier();
	for (int r = 0; r < np; r++) {
		size_t n = (size_t)(r % 3) * 1000 + (r % 3 ? 7 : 0);
		unsigned char want[3007], got[3007];
		if (n == 0)
			continue;
		check_fill(want, n, (uint64_t)r);
		CHECK_OK(ARMCI_Get(base[r], got, (int)n, r));
		CHECK_MEM(got, want, n);
	}
	ARMCI_Barrier();
	CHECK_OK(ARMCI_Free(base[me]));
	free(base);
}

static void zero(void)
{
	void **base = check_alloc(sizeof(void *) * (size_t)np);
	base[0] = base;
	CHECK_OK(ARMCI_Malloc(base, 0));
	for (int r = 0; r < np; r++)
		CHECK_PTR(base[r], NULL);
	CHECK_OK(ARMCI_Free(NULL));
	free(base);
}

// Pointers are equal on all ranks of the node and plain loads and stores reach the peers' memory.
static void symmetric(void)
{
	void **base = check_malloc(4096);
	void *theirs[64];
	CHECK(np <= 64);
	memcpy(theirs, base, sizeof(void *) * (size_t)np);
	armci_msg_bcast(theirs, (int)sizeof(void *) * np, 0);
	if (ARMCI_Same_node(0))
		for (int r = 0; r < np; r++)
			if (ARMCI_Same_node(r))
				CHECK_PTR(base[r], theirs[r]);
	for (int r = 0; r < np; r++)
		if (ARMCI_Same_node(r))
			((int *)base[r])[me] = 100 * r + me;
	armci_msg_barrier();
	for (int r = 0; r < np; r++)
		if (ARMCI_Same_node(r))
			CHECK_INT(((int *)base[me])[r], 100 * me + r);
	armci_msg_barrier();
	check_free(base);
}

// Live allocations never share a byte.
static void disjoint(void)
{
	enum { MANY = 40 };
	void **base[MANY];
	size_t size[MANY];
	for (int i = 0; i < MANY; i++) {
		size[i] = (size_t)(i * i * 37 + 1);
		base[i] = check_malloc((armci_size_t)size[i]);
		CHECK((uintptr_t)base[i][me] % 16 == 0);
		memset(base[i][me], i + 1, size[i]);
	}
	ARMCI_Barrier();
	for (int i = 0; i < MANY; i++)
		for (size_t k = 0; k < size[i]; k++)
			CHECK_INT(((unsigned char *)base[i][me])[k], i + 1);
	for (int i = 0; i < MANY; i++)
		check_free(base[i * 7 % MANY]);
}

static void loop(void)
{
	for (int i = 0; i < check_rounds(300); i++) {
		size_t n = (size_t)1 << i % 19;
		void **base = check_malloc((armci_size_t)n);
		int peer = (me + 1) % np;
		char c = (char)i;
		CHECK_OK(ARMCI_Put(&c, (char *)base[peer] + n - 1, 1, peer));
		ARMCI_Barrier();
		CHECK_INT(((char *)base[me])[n - 1], c);
		check_free(base);
	}
}

static void large(void)
{
	size_t n = (size_t)48 << 20;
	for (int i = 0; i < 3; i++) {
		void **base = check_malloc((armci_size_t)n);
		for (size_t k = 0; k < n; k += 4096)
			((char *)base[me])[k] = (char)(k >> 12);
		((char *)base[me])[n - 1] = 7;
		for (size_t k = 0; k < n; k += 4096)
			CHECK_INT(((char *)base[me])[k], (char)(k >> 12));
		check_free(base);
	}
}

static void other_kinds(void)
{
	void **base = check_alloc(sizeof(void *) * (size_t)np);
	CHECK_OK(ARMCI_Malloc_memdev(base, 64, "dram"));
	int *local = ARMCI_Malloc_local(64);
	CHECK(local != NULL);
	int peer = (me + np - 1) % np;
	local[0] = 77 + me;
	CHECK_OK(ARMCI_Put(local, base[peer], sizeof(int), peer));
	ARMCI_Barrier();
	CHECK_INT(*(int *)base[me], 77 + (me + 1) % np);
	CHECK_OK(ARMCI_Free_local(local));
	CHECK_OK(ARMCI_Free_memdev(base[me]));
	free(base);
}

// New memory of a peer on the node is used without a page fault for each page.
static void first_touch(void)
{
	size_t n = (size_t)8 << 20;
	int peer = (me + 1) % np;
	void **base = check_malloc((armci_size_t)n);
	struct rusage before, after;
	armci_msg_barrier();
	getrusage(RUSAGE_THREAD, &before);
	for (size_t k = 0; ARMCI_Same_node(peer) && k < n; k += 4096)
		CHECK_OK(ARMCI_Put(&n, (char *)base[peer] + k, sizeof n, peer));
	getrusage(RUSAGE_THREAD, &after);
	if (after.ru_minflt - before.ru_minflt > (long)(n / 4096 / 8))
		check_fail(__FILE__, __LINE__, "%ld page faults for %zu pages",
			after.ru_minflt - before.ru_minflt, n / 4096);
	armci_msg_barrier();
	check_free(base);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	first_touch();
	uneven();
	zero();
	symmetric();
	disjoint();
	loop();
	large();
	other_kinds();
	return check_end("malloc");
}
