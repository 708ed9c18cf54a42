// SPDX-License-Identifier: BSD-3-Clause
// Checks that two hosts reach each other's memory: what is written arrives as it was, is read as it
// is, atomics return what was there, and what is not allowed is an error at the origin. It
// measures nothing.
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void want(bool ok, const char *what, size_t bytes)
{
	if (ok)
		return;
	fprintf(stderr, "raw: %s, %zu bytes: wrong\n", what, bytes);
	exit(1);
}

// There and back: from offset 0 to the other end, from there to the second half.
static void check_bytes(struct link *l, size_t bytes)
{
	struct ibv_sge list;
	for (size_t i = 0; i < bytes; i++)
		l->memory[i] = (char)(i * 7 + bytes);
	memset(l->memory + RAW_MEMORY / 2, 0, bytes + 1);
	struct ibv_send_wr write = link_request(l, IBV_WR_RDMA_WRITE, &list, 0, 64, bytes);
	link_do(l, &write);
	struct ibv_send_wr read = link_request(l, IBV_WR_RDMA_READ, &list, RAW_MEMORY / 2, 64,
		bytes);
	link_do(l, &read);
	want(memcmp(l->memory, l->memory + RAW_MEMORY / 2, bytes) == 0, "write and read", bytes);
	want(l->memory[RAW_MEMORY / 2 + bytes] == 0, "the byte behind a read", bytes);
}

static uint64_t atomic(struct link *l, enum ibv_wr_opcode opcode, uint64_t first, uint64_t second)
{
	struct ibv_sge list;
	struct ibv_send_wr w = link_request(l, opcode, &list, 0, 0, sizeof(uint64_t));
	uint64_t before;
	w.wr.atomic.compare_add = first;
	w.wr.atomic.swap = second;
	link_do(l, &w);
	memcpy(&before, l->memory, sizeof before);
	return before;
}

static void check_atomics(struct link *l)
{
	for (uint64_t i = 0; i < 100; i++)
		want(atomic(l, IBV_WR_ATOMIC_FETCH_AND_ADD, 3, 0) == 3 * i, "fetch and add", 8);
	want(atomic(l, IBV_WR_ATOMIC_CMP_AND_SWP, 299, 1) == 300,
		"compare and swap of another value", 8);
	want(atomic(l, IBV_WR_ATOMIC_CMP_AND_SWP, 300, 7) == 300, "compare and swap", 8);
	want(atomic(l, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0) == 7, "what was swapped in", 8);
}

// The connection is of no more use afterwards.
static void check_refusal(struct link *l)
{
	struct ibv_sge list;
	struct ibv_send_wr w = link_request(l, IBV_WR_RDMA_WRITE, &list, 0, RAW_MEMORY, 8);
	link_post(l, &w);
	want(link_wait(l, 1) == IBV_WC_REM_ACCESS_ERR, "the answer to a write behind the region",
		8);
}

void raw_check(struct link *l)
{
	static const size_t sizes[] = {1, 8, 63, 1000, 4095, 4096, 4097, 65536,
		RAW_MEMORY / 2 - 64};
	for (int asleep = 0; asleep < 2; asleep++) {
		l->asleep = asleep;
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
			check_bytes(l, sizes[i]);
	}
	check_atomics(l);
	check_refusal(l);
	printf("ok raw verbs: write, read, atomics, refusal\n");
}

// Whether the kernel lets this process register so much: prints what it says.
void raw_register(size_t bytes)
{
	struct link l = {0};
	link_device(&l);
	void *memory = aligned_alloc(4096, bytes);
	struct ibv_mr *region = memory ?
		ibv_reg_mr(l.domain, memory, bytes, IBV_ACCESS_LOCAL_WRITE) :
		NULL;
	printf("%s %zu\n", region ? "registered" : "refused", bytes);
}
