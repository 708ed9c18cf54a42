// SPDX-License-Identifier: BSD-3-Clause
// What data and the word that it has arrived are held against: raw writes there and back, both ends
// looking at their own memory. The data and its flag are two writes that are posted in one go, the
// word alone is one.
#include <string.h>

#include "rdma.h"

// places at each end
enum { WORD = 8, INLINE = 64, FLAG = 0, NUMBER = 64, DATA = 4096, SOURCE = 1 << 20 };

static long number;      // of half trips so far
static size_t bytes;     // of data
static bool outstanding; // there is a write whose completion was not taken

static void take_completion(void)
{
	if (outstanding && link_wait(&rdma.link, 1) != IBV_WC_SUCCESS)
		link_fail("completion");
	outstanding = false;
}

static void write_both(struct perf_transfer *t)
{
	struct ibv_sge from[2];
	struct ibv_send_wr data, flag;
	take_completion();
	*(long *)(void *)(rdma.link.memory + NUMBER) = ++number;
	data = link_request(&rdma.link, IBV_WR_RDMA_WRITE, &from[0], SOURCE, DATA, bytes);
	flag = link_request(&rdma.link, IBV_WR_RDMA_WRITE, &from[1], NUMBER, FLAG, WORD);
	data.send_flags = bytes <= INLINE ? IBV_SEND_INLINE : 0;
	flag.send_flags |= IBV_SEND_INLINE;
	data.next = &flag;
	link_post(&rdma.link, t ? &data : &flag);
	outstanding = true;
}

static void write_flag(struct perf_transfer *t)
{
	(void)t;
	write_both(NULL);
}

static void look(struct perf_transfer *t)
{
	(void)t;
	_Atomic long *flag = (_Atomic long *)(void *)(rdma.link.memory + FLAG);
	number++;
	for (int i = 0; atomic_load_explicit(flag, memory_order_acquire) != number; i++)
		bench_wait(i);
}

static void both(void *arg, long n)
{
	perf_half_trips(arg, n, write_both, look);
	take_completion();
}

static void alone(void *arg, long n)
{
	perf_half_trips(arg, n, write_flag, look);
	take_completion();
}

bool rdma_trips_baseline(struct perf_case *c)
{
	bool one = strcmp(c->op, "notify") == 0;
	if (!one && strcmp(c->op, "put+notify") != 0 && strcmp(c->op, "put-flag") != 0)
		return false;
	bytes = (size_t)c->bytes;
	c->raw = one ? alone : both;
	return true;
}
