// SPDX-License-Identifier: BSD-3-Clause
// Messages between two ranks, there and back, beside MPI_Send and MPI_Recv where the worker has MPI, else beside a
// bare mailbox in shared memory. Half a round trip is one operation.
#include "perf.h"

#include <stdlib.h>
#include <string.h>

#ifdef PERF_MPI
#include <mpi.h>
#endif

enum { MOST = 1 << 20, TAG = 7 };

struct box { // one direction of the bare mailbox
	_Alignas(PERF_LINE) _Atomic long full;
	_Alignas(PERF_LINE) char data[MOST];
};
struct mail {
	struct box *box; // [2], to rank 0 and to rank 1
	char *buf;
	int bytes;
	long round;
};

static void send_ours(struct mail *m, int to) { armci_msg_snd(TAG, m->buf, m->bytes, to); }

static void receive_ours(struct mail *m, int from)
{
	int got;
	armci_msg_rcv(TAG, m->buf, m->bytes, &got, from);
}

#ifdef PERF_MPI
static void send_raw(struct mail *m, int to) { MPI_Send(m->buf, m->bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD); }

static void receive_raw(struct mail *m, int from)
{
	MPI_Recv(m->buf, m->bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
#else
static void send_raw(struct mail *m, int to)
{
	memcpy(m->box[to].data, m->buf, (size_t)m->bytes);
	atomic_store_explicit(&m->box[to].full, m->round, memory_order_release);
}

static void receive_raw(struct mail *m, int from)
{
	struct box *b = &m->box[1 - from];
	for (int i = 0; atomic_load_explicit(&b->full, memory_order_acquire) != m->round; i++) {
		if (i < 1000)
			perf_relax();
		else
			perf_yield();
	}
	memcpy(m->buf, b->data, (size_t)m->bytes);
}
#endif

typedef void (*one_way)(struct mail *m, int other);

// n half round trips: rank 0 begins.
static void ping_pong(struct mail *m, long n, one_way send, one_way receive)
{
	if (perf_me > 1)
		return;
	for (long i = 0; i < n; i++) {
		m->round++;
		if ((i & 1) == perf_me)
			send(m, 1 - perf_me);
		else
			receive(m, 1 - perf_me);
	}
}

static void ours(void *arg, long n) { ping_pong(arg, (n + 1) & ~1l, send_ours, receive_ours); }
static void raw(void *arg, long n) { ping_pong(arg, (n + 1) & ~1l, send_raw, receive_raw); }

void perf_message(void)
{
	if (perf_n < 2)
		return;
	struct mail m = {.box = perf_shared(2 * sizeof(struct box)), .buf = perf_private(MOST)};
	for (m.bytes = 8; m.bytes <= MOST; m.bytes *= perf_quick ? 64 : 4) {
		struct perf_case c = {.op = "message", .shape = "half-trip", .bytes = m.bytes, .unit = PERF_NS, .ours = ours, .raw = raw,
			.arg = &m};
		perf_all(&c);
	}
	free(m.buf);
	perf_shared_free(m.box);
}
