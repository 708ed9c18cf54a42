// SPDX-License-Identifier: BSD-3-Clause
// Baselines between nodes: one TCP connection between the same two processes, which moves as many
// bytes in one piece, heads of the library's frames included; where we fence, it waits for an
// answer. It polls while its samples run, which is fastest, unless the name says another way to
// wait.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "dial.h"
#include "wire.h"

// of the library; of the raw requests; of 1000 scattered ones
enum { FRAME = 32, HEAD = 24, PLACES = 3000, STREAM = 16, TAG = 77 };

static struct perf_wire wire;
static double spent;
static struct {
	size_t out, back; // bytes of one exchange beyond the head
	enum perf_style style;
	void (*exchange)(void);
} now;

void perf_tell(int rank, const void *data, int bytes)
{
	armci_msg_snd(TAG, (void *)data, bytes, rank);
}

void perf_hear(int rank, void *data, int bytes)
{
	int got;
	armci_msg_rcv(TAG, data, bytes, &got, rank);
}

void bench_socket_ready(void) { wire = perf_wire_open(BENCH_MOST + 4096, perf_n / 2); }
void bench_socket_end(void) { perf_wire_close(&wire); }

static void ask(void) { perf_wire_ask(&wire, now.out, now.back); }

static void stream_out(void)
{
	for (int k = 1; k < STREAM; k++) perf_wire_send(&wire, now.out, 0);
	ask();
}

static void stream_in(void)
{
	for (int k = 0; k < STREAM; k++) perf_wire_send(&wire, now.out, now.back);
	for (int k = 0; k < STREAM; k++) perf_wire_take(&wire, now.back);
}

// Run by rank 0: the answers come from a thread of its peer.
static void exchanges(void *arg, long n)
{
	(void)arg;
	if (wire.fd < 0)
		return;
	perf_wire_style(&wire, now.style);
	double begin = timing_now();
	for (long i = 0; i < n; i++) now.exchange();
	spent += timing_now() - begin;
	perf_wire_style(&wire, PERF_ASLEEP);
}

double bench_socket_moving(size_t out, size_t back, size_t step, long n)
{
	now.out = out + FRAME - HEAD;
	now.back = back + FRAME;
	now.style = bench_asleep() ? PERF_ASLEEP : PERF_SPINNING;
	now.exchange = ask;
	wire.step = step;
	spent = 0;
	exchanges(NULL, n);
	wire.step = 0;
	return spent;
}

static void half_trips(void *arg, long n)
{
	exchanges(arg, (n + 1) / 2);
}

// The operation that a lock is measured by is ours.
static void fetch_add(void *arg, long n)
{
	struct perf_transfer *t = arg;
	double begin = timing_now();
	for (long i = 0; i < n; i++) {
		long old;
		ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, t->theirs + 64, 1, perf_peer);
	}
	spent += timing_now() - begin;
}

// Which way the data goes, and how many bytes go with them: over what the raw heads are.
enum way { NONE, OUT, BACK };

static const struct baseline {
	const char *op;
	enum way way;
	int out, back;
	bool styles; // a row for each way to wait
	void (*exchange)(void);
	perf_body body;
} baselines[] = {
	{"get", BACK, HEAD - 16, FRAME, true, ask, exchanges},
	{"put+fence", OUT, 2 * FRAME - HEAD, FRAME, true, ask, exchanges},
	{"fetch-add", NONE, HEAD, FRAME - 16, true, ask, exchanges},
	{"barrier", NONE, 8, FRAME, true, ask, exchanges},
	{"msg-barrier", NONE, 8, FRAME, false, ask, exchanges},
	{"lock+unlock", NONE, 0, 0, false, NULL, fetch_add},
	{"acc", OUT, FRAME - HEAD, FRAME, false, ask, exchanges},
	{"put-bandwidth", OUT, FRAME - HEAD, FRAME, false, ask, exchanges},
	{"get-bandwidth", BACK, FRAME - HEAD, FRAME, false, ask, exchanges},
	{"put-stream", OUT, FRAME - HEAD, FRAME, false, stream_out, exchanges},
	{"get-stream", BACK, FRAME - HEAD, FRAME, false, stream_in, exchanges},
	{"put-strided", OUT, 16 + FRAME - HEAD, FRAME, false, ask, exchanges},
	{"acc-strided", OUT, 16 + FRAME - HEAD, FRAME, false, ask, exchanges},
	{"get-strided", BACK, 16 + FRAME - HEAD, FRAME, false, ask, exchanges},
	{"put-vector", OUT, PLACES + FRAME - HEAD, FRAME, false, ask, exchanges},
	{"get-vector", BACK, PLACES + FRAME - HEAD, FRAME, false, ask, exchanges},
	{"nbput-implicit", OUT, PLACES + FRAME - HEAD, FRAME, false, ask, exchanges},
	{"nbput-handles", OUT, PLACES + FRAME - HEAD, FRAME, false, ask, exchanges},
	{"nbput-aggregate", OUT, PLACES + FRAME - HEAD, FRAME, false, ask, exchanges},
	{"message", OUT, FRAME - HEAD, FRAME - HEAD, false, ask, half_trips},
	{"put+notify", OUT, 2 * FRAME - HEAD, 2 * FRAME - HEAD, false, ask, half_trips},
	{"put-flag", OUT, 2 * FRAME - HEAD, 2 * FRAME - HEAD, false, ask, half_trips},
	{"notify", NONE, FRAME - HEAD, FRAME - HEAD, false, ask, half_trips},
};

static const struct baseline *find(const char *op)
{
	for (size_t i = 0; i < sizeof baselines / sizeof baselines[0]; i++)
		if (strcmp(baselines[i].op, op) == 0)
			return &baselines[i];
	return NULL;
}

bool bench_socket_baseline(struct perf_case *c, int k)
{
	static const char *const names[] = {"mixed", "spinning", "blocking"};
	static const enum perf_style styles[] = {PERF_MIXED, PERF_SPINNING, PERF_ASLEEP};
	static char name[64];
	const struct baseline *b = find(c->op);
	bool all = b && b->styles && !bench_asleep();
	if (!b || k >= (all ? 3 : 1))
		return false;
	// a batch goes in one piece, a stream in many
	size_t bytes = (size_t)(c->bytes * (c->ops > STREAM ? c->ops : 1));
	now.out = (size_t)b->out + (b->way == OUT ? bytes : 0);
	now.back = (size_t)b->back + (b->way == BACK || b->body == half_trips ? bytes : 0);
	now.style = all ? styles[k] : bench_asleep() ? PERF_ASLEEP : PERF_SPINNING;
	now.exchange = b->exchange;
	if (all) {
		snprintf(name, sizeof name, "%s/%s", c->op, names[k]);
		c->op = name;
	}
	c->raw = b->body;
	c->raw_clock = &spent;
	return true;
}

// A thread of rank 0 reads what comes while rank 0 computes.
struct reader {
	pthread_t thread;
	sem_t go, done;
	size_t bytes;
};

static void pass(sem_t *s)
{
	while (sem_wait(s) != 0) continue; // interrupted
}

static void *read_raw(void *arg)
{
	struct reader *r = arg;
	for (;;) {
		pass(&r->go);
		perf_wire_take(&wire, r->bytes);
		sem_post(&r->done);
	}
	return NULL;
}

static void start_raw(struct perf_overlap *o)
{
	struct reader *r = o->raw;
	r->bytes = (size_t)o->t.count[0];
	perf_wire_send(&wire, 8, r->bytes);
	sem_post(&r->go);
}

static void end_raw(struct perf_overlap *o) { pass(&((struct reader *)o->raw)->done); }

void bench_socket_overlap(struct perf_overlap *o)
{
	static struct reader reader; // sleeps until the process ends
	o->raw_start = o->get ? start_raw : NULL;
	o->raw_end = end_raw;
	o->raw = &reader;
	if (perf_me != 0 || reader.thread)
		return;
	sem_init(&reader.go, 0, 0);
	sem_init(&reader.done, 0, 0);
	perf_need(pthread_create(&reader.thread, NULL, read_raw, &reader) == 0, "thread");
}

// The caller computes for longer than a waiter polls, then asks once: the far side has to be woken.
// Only the asking counts.
static long rounds_between;

PERF_COUNTED(rare_gets, t->clock, timing_compute(rounds_between),
	ARMCI_Get(t->theirs, t->mine, 8, perf_peer), (void)0)

static void rare_exchanges(void *arg, long n)
{
	(void)arg;
	perf_wire_style(&wire, PERF_MIXED);
	for (long i = 0; i < n; i++) {
		timing_compute(rounds_between);
		double begin = timing_now();
		perf_wire_ask(&wire, HEAD - 16, 8 + FRAME);
		spent += timing_now() - begin;
	}
	perf_wire_style(&wire, PERF_ASLEEP);
}

void perf_rare(void)
{
	struct perf_transfer t = perf_transfer(4096);
	struct perf_case c = {.op = "get-rare",
		.shape = "-",
		.bytes = 8,
		.unit = TIMING_NS,
		.ours = rare_gets,
		.arg = &t,
		.clock = &t.clock,
		.raw = wire.most > 0 || perf_me != 0 ? rare_exchanges : NULL,
		.raw_clock = &spent};
	rounds_between = timing_rounds(200e-6);
	perf_solo(&c);
	perf_transfer_end(&t);
}
