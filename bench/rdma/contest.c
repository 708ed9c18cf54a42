// SPDX-License-Identifier: BSD-3-Clause
// Protocols are chosen by settings, which a process reads once. So each rank of a node has another one, and they take
// turns, in one job and beside one raw loop: whatever else the machine does hits all of them. It judges nothing.
#include "rdma.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST = 10 };

// A way to do it: by a rank, in a loop.
struct way {
	const char *name;
	int rank;
	perf_body body;
	long n; // operations of a sample; 0: not known yet
};

static int list_ways(struct way *w, const struct rdma_contest *k)
{
	int n = 0;
	for (int i = 0; i < bench_variants; i++)
		if (!k->without || strcmp(bench_settings[i], k->without) != 0)
			w[n++] = (struct way){bench_settings[i], i, k->c.ours, 0};
	if (k->packed)
		w[n++] = (struct way){"packed", 0, k->packed, 0};
	if (k->by_hand)
		w[n++] = (struct way){"by-hand", 0, k->by_hand, 0};
	w[n++] = (struct way){"raw", 0, rdma_raw, 0};
	return n;
}

static void pass(sem_t *s)
{
	while (sem_wait(s) != 0) continue; // interrupted
}

// The ranks that measure are those of one node. They wait for their turns asleep, on a semaphore each in memory that they
// share; those of the other node are in a barrier. Who waits there looks some hundred times before it sleeps, and there
// are more ranks than cores: so the first sample begins late. Before each sample go some that do not count: while the
// others had their turns, a process and its server have fallen asleep, and Go's monitor, woken with them, looks at
// everything 50 times in a row, 20 us apart, which an emulated processor is busy with for 20 ms.
static void take_turns(struct way *w, int n, const struct perf_case *c, sem_t *turn, double figure[MOST][PERF_REPS_MAX],
	bool by_hand)
{
	const struct timespec settle = {.tv_nsec = perf_quick ? 20000000 : 300000000};
	int turns = n * (perf_reps + 1); // the first round is to warm up
	double seconds = perf_pace(0.0005, 0.02);
	for (int i = 0; i < turns && perf_me < bench_variants; i++) {
		struct way *now = &w[(i + i / n) % n], *next = &w[(i + 1 + (i + 1) / n) % n];
		if (perf_me != now->rank)
			continue;
		pass(&turn[perf_me]);
		if (i == 0)
			nanosleep(&settle, NULL);
		figure[now - w][i < n ? 0 : i / n - 1] = perf_sample(c, now->body, seconds, &now->n);
		sem_post(&turn[i + 1 < turns ? next->rank : 0]);
	}
	if (by_hand && perf_me == 0)
		rdma_end_by_hand();
	else if (by_hand && perf_me == perf_n / 2)
		rdma_serve_by_hand(c->arg);
	ARMCI_Barrier();
	armci_msg_dgop(&figure[0][0], n * PERF_REPS_MAX, (char *)"+");
}

// Of the node's first rank, whose turn comes first. Collective.
static sem_t *open_turns(void **memory)
{
	sem_t *turn = memory[0];
	for (int i = 0; i < bench_variants && perf_me == 0; i++) sem_init(&turn[i], 1, i == 0);
	ARMCI_Barrier();
	return turn;
}

static double mean(const double *v)
{
	double sum = 0;
	for (int i = 0; i < perf_reps; i++) sum += v[i];
	return sum / perf_reps;
}

static void print(struct perf_case c, const char *op, const char *way, const double *ours, const double *beside)
{
	char name[96];
	snprintf(name, sizeof name, "%s/%s", op, way);
	c.op = name;
	perf_figures(&c, ours, beside, perf_reps);
}

// The best of the forced settings: the last but those that come after the settings.
static int best_forced(const struct way *w, int n, enum perf_unit unit, double figure[MOST][PERF_REPS_MAX])
{
	int best = 1;
	for (int i = 2; i < n && w[i].body == w[0].body; i++) {
		double than = mean(figure[i]), now = mean(figure[best]);
		if (unit == PERF_MBS ? than > now : than < now)
			best = i;
	}
	return best;
}

void rdma_contest(const struct rdma_contest *k)
{
	static double figure[MOST][PERF_REPS_MAX];
	struct way w[MOST];
	struct perf_case c = k->c;
	int n = list_ways(w, k);
	c.warm = perf_pace(0, 0.05);
	c.raw = rdma_raw; // its clock is another
	c.raw_clock = &rdma.clock;
	memset(figure, 0, sizeof figure);
	void **memory = perf_malloc(MOST * sizeof(sem_t));
	take_turns(w, n, &c, open_turns(memory), figure, k->by_hand != NULL);
	perf_free(memory);
	for (int i = 0; i < n - 1; i++) print(c, k->c.op, w[i].name, figure[i], figure[n - 1]);
	if (bench_variants > 1)
		print(c, k->c.op, "auto:best", figure[0], figure[best_forced(w, n, c.unit, figure)]);
	for (int i = 1; i < n - 1; i++)
		if (w[i].body != w[0].body) {
			char beside[32];
			snprintf(beside, sizeof beside, "auto:%s", w[i].name);
			print(c, k->c.op, beside, figure[0], figure[i]);
		}
}
