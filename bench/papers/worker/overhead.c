// SPDX-License-Identifier: BSD-3-Clause
// What strided puts and gets cost the processors at both sides, by protocol (paper 004, section 5):
// n by n patches, put and fenced, or got, back to back, at the second node's first rank, whose
// process has the data server; memory of ARMCI_Malloc at both sides. Rows:
//   overhead/time/OP/PROTOCOL      ns that an operation takes
//   overhead/caller/OP/PROTOCOL    ns of processor time, user and system, of all threads of the
//                                  caller's process, for each
//   overhead/target/OP/PROTOCOL    the same of the target's process, whose program sleeps
//   overhead/slowdown/OP/PROTOCOL  how much longer, in per cent, a fixed amount of computation of
//                                  the target's program takes meanwhile than just before, while the
//                                  caller sleeps; on a machine without other load
//   overhead/slowdown/computing    the same while the caller only computes: what sharing the
//                                  machine costs
// Over software verbs the caller's process does the device's work, too. The ranks of a node differ
// in the setting (variants.h).
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "variants.h"

enum { LEADING = 1024, LARGEST = 512, SPACE = LEADING * LARGEST * 8, MOST = 8 };

struct overhead {
	struct perf_transfer t;
	void **flags;        // of each rank: a word that others set
	volatile long *flag; // of this one
	int target;          // the second node's first rank
	long rounds;         // of the fixed amount of computation
	// operations of the next sample, by way: of protocol way / 2, a get if it is odd
	long n[2 * MOST];
	char shape[32];
};

// What is measured, by way and repetition. It is 0 on a rank that does not measure.
struct figures {
	double seconds[2 * MOST][TIMING_REPS_MAX], operations[2 * MOST][TIMING_REPS_MAX];
	// seconds of processor time
	double caller[2 * MOST][TIMING_REPS_MAX], target[2 * MOST][TIMING_REPS_MAX];
	// seconds; the last is COMPUTING's
	double computing[2 * MOST + 1][TIMING_REPS_MAX], alone[2 * MOST + 1][TIMING_REPS_MAX];
};
enum { COMPUTING = 2 * MOST };

PERF_BODY(put, ARMCI_PutS(t->mine, t->stride, t->theirs, t->stride, t->count, 1, perf_n / 2);
	  ARMCI_Fence(perf_n / 2))
PERF_BODY(get, ARMCI_GetS(t->theirs, t->stride, t->mine, t->stride, t->count, 1, perf_n / 2))

static perf_body body_of(int way) { return way % 2 ? get : put; }

// Pushing is about gets.
static bool takes_part(int way) { return way % 2 || strcmp(variants_name(way / 2), "push") != 0; }

static double processor_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void raise_flag(struct overhead *o, int rank)
{
	long one = 1;
	ARMCI_Put(&one, o->flags[rank], sizeof one, rank);
	ARMCI_Fence(rank);
}

// Sleeps outside the library, so that no call of the program helps the data server.
static void sleep_until_flag(struct overhead *o)
{
	const struct timespec moment = {.tv_nsec = 3000000};
	while (!*o->flag) nanosleep(&moment, NULL);
}

static void begin_sample(struct overhead *o)
{
	*o->flag = 0;
	ARMCI_Barrier();
}

// Processor time of both processes.
static void cost(struct overhead *o, struct figures *f, int way, int rep)
{
	long n = o->n[way];
	begin_sample(o);
	double before = processor_time();
	if (perf_me == way / 2) {
		double begin = timing_now(), seconds;
		body_of(way)(&o->t, n);
		seconds = timing_now() - begin;
		f->caller[way][rep] = processor_time() - before;
		raise_flag(o, o->target);
		f->seconds[way][rep] = seconds;
		f->operations[way][rep] = (double)n;
		o->n[way] = (long)((double)n * perf_pace(0.003, 0.015) / seconds) + 1;
	} else if (perf_me == o->target) {
		sleep_until_flag(o);
		f->target[way][rep] = processor_time() - before;
	}
}

// Seconds that the target's computation takes while the caller communicates or computes; none:
// while it sleeps, as the others do.
static double computation(struct overhead *o, int way, bool none)
{
	int caller = none ? -1 : way == COMPUTING ? 0 : way / 2;
	double spent = 0;
	begin_sample(o);
	if (perf_me == caller) {
		while (!*o->flag)
			if (way == COMPUTING)
				timing_compute(2000);
			else
				body_of(way)(&o->t, 1);
	} else if (perf_me == o->target) {
		timing_compute(o->rounds / 10 + 1); // by now the caller does what it does
		double begin = timing_now();
		timing_compute(o->rounds);
		spent = timing_now() - begin;
		if (caller >= 0)
			raise_flag(o, caller);
	}
	return spent;
}

static void beside_alone(struct overhead *o, struct figures *f, int way, int rep)
{
	f->alone[way][rep] = computation(o, way, true);
	f->computing[way][rep] = computation(o, way, false);
}

static void row(const struct overhead *o, const char *what, int way, const double *value,
	enum timing_unit unit)
{
	char op[96];
	struct perf_case c = {.op = op,
		.shape = o->shape,
		.bytes = o->t.count[0] * o->t.count[1],
		.unit = unit};
	if (way == COMPUTING)
		snprintf(op, sizeof op, "overhead/%s/computing", what);
	else
		snprintf(op, sizeof op, "overhead/%s/%s/%s", what, way % 2 ? "get" : "put",
			variants_name(way / 2));
	perf_figures(&c, value, NULL, perf_reps);
}

static void each(const struct overhead *o, const char *what, int way, double *seconds,
	const double *operations)
{
	for (int i = 0; i < perf_reps; i++) seconds[i] *= 1e9 / operations[i];
	row(o, what, way, seconds, TIMING_NS);
}

static void slowdown(const struct overhead *o, struct figures *f, int way)
{
	double percent[TIMING_REPS_MAX];
	for (int i = 0; i < perf_reps; i++)
		percent[i] = 100 * (f->computing[way][i] / f->alone[way][i] - 1);
	row(o, "slowdown", way, percent, TIMING_PERCENT);
}

static void print(const struct overhead *o, struct figures *f)
{
	for (int way = 0; way < 2 * variants_count(); way++) {
		if (!takes_part(way))
			continue;
		each(o, "time", way, f->seconds[way], f->operations[way]);
		each(o, "caller", way, f->caller[way], f->operations[way]);
		each(o, "target", way, f->target[way], f->operations[way]);
		slowdown(o, f, way);
	}
	slowdown(o, f, COMPUTING);
}

static void measure(struct overhead *o)
{
	static struct figures f;
	memset(&f, 0, sizeof f);
	for (int way = 0; way < 2 * MOST; way++) o->n[way] = 4;
	for (int rep = -1; rep < perf_reps; rep++) { // the first is to warm up
		int at = rep < 0 ? 0 : rep;
		for (int way = 0; way < 2 * variants_count(); way++)
			if (takes_part(way)) {
				cost(o, &f, way, at);
				beside_alone(o, &f, way, at);
			}
		beside_alone(o, &f, COMPUTING, at);
	}
	ARMCI_Barrier();
	armci_msg_dgop((double *)&f, (int)(sizeof f / sizeof(double)), (char *)"+");
	if (perf_me == 0)
		print(o, &f);
}

// Each caller in turn: what it has put comes back.
static void check(struct overhead *o)
{
	char name[64];
	double wrong = 0;
	int row = o->t.count[0], rows = o->t.count[1], apart = o->t.stride[0];
	for (int caller = 0; caller < variants_count(); caller++) {
		if (perf_me == caller) {
			for (int i = 0; i < row * rows; i++)
				o->t.mine[i / row * apart + i % row] = (char)(i * 7 + caller);
			put(&o->t, 1);
			memset(o->t.mine, 0, (size_t)(rows - 1) * (size_t)apart + (size_t)row);
			get(&o->t, 1);
			for (int i = 0; i < row * rows; i++)
				wrong += o->t.mine[i / row * apart + i % row] !=
					(char)(i * 7 + caller);
		}
		ARMCI_Barrier();
	}
	snprintf(name, sizeof name, "overhead/%s", o->shape);
	perf_check(name, perf_total(wrong), 0);
}

void papers_overhead(void)
{
	variants_need("overhead", false);
	struct overhead o = {.t = perf_transfer(SPACE),
		.flags = perf_malloc(sizeof(long)),
		.target = perf_n / 2};
	o.flag = o.flags[perf_me];
	// as a program should have it that moves it again and again: the device reaches it
	o.t.mine = o.t.all[perf_me];
	o.t.theirs = o.t.all[o.target];
	o.t.stride[0] = LEADING * (int)sizeof(double);
	o.rounds = timing_rounds(perf_pace(0.002, 0.01));
	for (int n = perf_quick ? 64 : 16; n <= (int)perf_pace(64, LARGEST / 2); n *= 4) {
		snprintf(o.shape, sizeof o.shape, "%dx%d", n, n);
		o.t.count[0] = n * (int)sizeof(double);
		o.t.count[1] = n;
		check(&o);
		measure(&o);
	}
	perf_free(o.flags);
	perf_transfer_end(&o.t);
}
