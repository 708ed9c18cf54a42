// SPDX-License-Identifier: BSD-3-Clause
// Protocols are chosen by settings, which a process reads once. So each rank of a node has another
// one, and they take turns, in one job and beside one raw loop: whatever else the machine does hits
// all of them. It judges nothing.
#include "rdma.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int list_ways(struct rdma_way *w, const struct rdma_contest *k)
{
	int n = 0;
	for (int i = 0; i < bench_variants; i++)
		if (!k->without || strcmp(bench_settings[i], k->without) != 0)
			w[n++] = (struct rdma_way){bench_settings[i], i, k->c.ours, k->c.arg,
				k->c.clock, 0};
	if (k->packed)
		w[n++] = (struct rdma_way){"packed", 0, k->packed, k->c.arg, NULL, 0};
	if (k->by_hand)
		w[n++] = (struct rdma_way){"by-hand", 0, k->by_hand, k->c.arg, NULL, 0};
	w[n++] = (struct rdma_way){"raw", 0, rdma_raw, NULL, NULL, 0};
	return n;
}

static void pass(sem_t *s)
{
	while (sem_wait(s) != 0) continue; // interrupted
}

// The ranks that measure are those of one node. They wait for their turns asleep, on a semaphore
// each in memory that they share; those of the other node are in a barrier. A waiter there polls
// some hundred times before it sleeps, and there are more ranks than cores: so the first sample
// begins late. Before each sample go some that do not count: while the others had their turns, a
// process and its server have fallen asleep, and Go's monitor, woken with them, looks at everything
// 50 times in a row, 20 us apart, which an emulated processor is busy with for 20 ms.
static void take_turns(const struct perf_case *c, struct rdma_way *w, int n, double seconds,
	double figure[][TIMING_REPS_MAX], sem_t *turn)
{
	const struct timespec settle = {.tv_nsec = perf_quick ? 20000000 : 300000000};
	int turns = n * (perf_reps + 1); // the first round is to warm up
	for (int i = 0; i < turns; i++) {
		struct rdma_way *now = &w[timing_order(i, i / n, n)],
				*next = &w[timing_order(i + 1, (i + 1) / n, n)];
		struct perf_case mine = *c;
		if (perf_me != now->rank)
			continue;
		mine.ours = now->body, mine.arg = now->arg, mine.clock = now->clock;
		pass(&turn[perf_me]);
		if (i == 0)
			nanosleep(&settle, NULL);
		figure[now - w][i < n ? 0 : i / n - 1] = perf_sample(&mine, mine.ours, seconds,
			&now->n);
		sem_post(&turn[i + 1 < turns ? next->rank : 0]);
	}
}

// The semaphores are the node's first rank's, whose turn comes first.
void rdma_turns(const struct perf_case *c, struct rdma_way *w, int n, double seconds,
	double figure[][TIMING_REPS_MAX], struct perf_transfer *served)
{
	void **memory = perf_malloc(RDMA_WAYS * sizeof(sem_t));
	sem_t *turn = memory[0];
	memset(figure, 0, (size_t)n * sizeof figure[0]);
	for (int i = 0; i < RDMA_WAYS && perf_me == 0; i++) sem_init(&turn[i], 1, i == 0);
	ARMCI_Barrier();
	take_turns(c, w, n, seconds, figure, turn);
	if (served && perf_me == 0)
		rdma_end_by_hand();
	else if (served && perf_me == perf_n / 2)
		rdma_serve_by_hand(served);
	ARMCI_Barrier();
	armci_msg_dgop(&figure[0][0], n * TIMING_REPS_MAX, (char *)"+");
	perf_free(memory);
}

static double mean(const double *v)
{
	double sum = 0;
	for (int i = 0; i < perf_reps; i++) sum += v[i];
	return sum / perf_reps;
}

static void print(struct perf_case c, const char *op, const char *way, const double *ours,
	const double *beside)
{
	char name[96];
	snprintf(name, sizeof name, "%s/%s", op, way);
	c.op = name;
	perf_figures(&c, ours, beside, perf_reps);
}

// The best of the forced settings: the last but those that come after the settings.
static int best_forced(const struct rdma_way *w, int n, enum timing_unit unit,
	double figure[][TIMING_REPS_MAX])
{
	int best = 1;
	for (int i = 2; i < n && w[i].body == w[0].body; i++) {
		double than = mean(figure[i]), now = mean(figure[best]);
		if (unit == TIMING_MBS ? than > now : than < now)
			best = i;
	}
	return best;
}

void rdma_contest(const struct rdma_contest *k)
{
	static double figure[RDMA_WAYS][TIMING_REPS_MAX];
	struct rdma_way w[RDMA_WAYS];
	struct perf_case c = k->c;
	int n = list_ways(w, k);
	c.warm = perf_pace(0, 0.05);
	rdma_turns(&c, w, n, perf_pace(0.0005, 0.02), figure, k->by_hand ? c.arg : NULL);
	for (int i = 0; i < n - 1; i++) print(c, k->c.op, w[i].name, figure[i], figure[n - 1]);
	if (bench_variants > 1)
		print(c, k->c.op, "auto:best", figure[0],
			figure[best_forced(w, n, c.unit, figure)]);
	for (int i = 1; i < n - 1; i++)
		if (w[i].body != w[0].body) {
			char beside[32];
			snprintf(beside, sizeof beside, "auto:%s", w[i].name);
			print(c, k->c.op, beside, figure[0], figure[i]);
		}
}
