// SPDX-License-Identifier: BSD-3-Clause
// How much of a transfer from another node disappears behind computation of its caller, beside a raw socket that a thread
// of the caller reads meanwhile. The computation is a fixed amount of work: what takes the caller's core makes it longer.
#include "perf.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "crew.h"
#include "dial.h"
#include "wire.h"

enum { LARGE = 1 << 20 };

struct transfer {
	void *theirs;
	char *mine;
	armci_hdl_t handle;
	struct perf_wire wire;
	pthread_t reader; // of the raw socket
	sem_t go, done;
	bool end;
};

static void ours_begin(void *arg)
{
	struct transfer *t = arg;
	ARMCI_INIT_HANDLE(&t->handle);
	ARMCI_NbGet(t->theirs, t->mine, LARGE, perf_peer, &t->handle);
}

static void ours_wait(void *arg) { ARMCI_Wait(&((struct transfer *)arg)->handle); }

static void pass(sem_t *s)
{
	while (sem_wait(s) != 0) continue; // interrupted
}

static void *read_raw(void *arg)
{
	struct transfer *t = arg;
	for (pass(&t->go); !t->end; pass(&t->go)) {
		perf_wire_take(&t->wire, LARGE);
		sem_post(&t->done);
	}
	return NULL;
}

static void raw_begin(void *arg)
{
	struct transfer *t = arg;
	perf_wire_send(&t->wire, 8, LARGE);
	sem_post(&t->go);
}

static void raw_wait(void *arg) { pass(&((struct transfer *)arg)->done); }

double perf_hidden(void *t, void (*start)(void *t), void (*end)(void *t))
{
	double alone = 0, work = 0, both = 0;
	for (int i = 0; i < (perf_quick ? 2 : 10); i++) {
		double t0 = perf_now();
		start(t);
		end(t);
		double t1 = perf_now();
		long rounds = perf_rounds(2 * (t1 - t0));
		double t2 = perf_now();
		perf_compute(rounds);
		double t3 = perf_now();
		start(t);
		perf_compute(rounds);
		end(t);
		both += perf_now() - t3;
		alone += t1 - t0;
		work += t3 - t2;
	}
	return 100 * (1 - (both - work) / alone);
}

static void overlap(struct transfer *t, const char *op)
{
	double ours[PERF_REPS_MAX], raw[PERF_REPS_MAX];
	ARMCI_Barrier();
	for (int i = -1; i < perf_reps && perf_me == 0; i++) { // the first is to warm up
		ours[i < 0 ? 0 : i] = perf_hidden(t, ours_begin, ours_wait);
		raw[i < 0 ? 0 : i] = perf_hidden(t, raw_begin, raw_wait);
	}
	struct perf_case c = {.op = op, .shape = "nbget", .bytes = LARGE, .unit = PERF_PERCENT};
	perf_figures(&c, ours, raw, perf_reps);
	ARMCI_Barrier();
}

// Then with a thread that computes on each core but the caller's, and on each of the target's machine if it is another.
static void overlaps(struct transfer *t)
{
	bool one_machine = perf_one_machine();
	overlap(t, "remote-overlap");
	if (perf_me == 0)
		perf_crew_start(perf_cores() - 1);
	else if (!one_machine)
		perf_crew_start(perf_cores());
	overlap(t, "remote-overlap-crowded");
	perf_crew_stop();
}

void perf_remote_overlap(void)
{
	void **all = perf_malloc(LARGE);
	struct transfer t = {.theirs = all[perf_peer], .mine = perf_private(LARGE), .wire = perf_wire_open(LARGE, 1)};
	if (perf_me == 0) {
		sem_init(&t.go, 0, 0);
		sem_init(&t.done, 0, 0);
		perf_need(pthread_create(&t.reader, NULL, read_raw, &t) == 0, "thread");
	}
	overlaps(&t);
	if (perf_me == 0) {
		t.end = true;
		sem_post(&t.go);
		pthread_join(t.reader, NULL);
	}
	perf_wire_close(&t.wire);
	free(t.mine);
	perf_free(all);
}
