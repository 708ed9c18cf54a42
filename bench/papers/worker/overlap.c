// SPDX-License-Identifier: BSD-3-Clause
// Computation beside a nonblocking get (paper 000 fig. 19 and section 6.1.2): work between the call
// and the wait is increased until the whole takes longer; that much work, in per cent of the time
// without work, is the overlap. The MPI's version asks by a message and waits for a nonblocking
// receive, while the other side waits for requests and does nothing else. Protocols are compared by
// starts with other settings and a label (-l). And what the whole takes by the work, 64 KiB.
#include "papers.h"

#include <stdio.h>

enum {
	LEAST = 1 << 10,
	MOST = 1 << 20,
	ASK = 41,
	REPLY = 42,
	STEPS = 20,
	POINTS = 10,
	STEP_US = 16,
	FEWEST = 5,
	TIMES = 200
};
static const double tolerance = 0.05; // growth that counts as longer
static const double most_work = 1.25; // of the time without

static struct perf_transfer t;
static double rounds_a_second;

static void get(long rounds)
{
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	ARMCI_NbGet(t.theirs, t.mine, t.count[0], perf_peer, &h);
	timing_compute(rounds);
	ARMCI_Wait(&h);
}

static void ask(long rounds)
{
	MPI_Request reply;
	MPI_Irecv(t.mine, t.count[0], MPI_BYTE, perf_peer, REPLY, MPI_COMM_WORLD, &reply);
	MPI_Send(&t.count[0], 1, MPI_INT, perf_peer, ASK, MPI_COMM_WORLD);
	timing_compute(rounds);
	MPI_Wait(&reply, MPI_STATUS_IGNORE);
}

// By the peer, until it is asked for nothing.
static void reply(void)
{
	int bytes;
	for (;;) {
		MPI_Recv(&bytes, 1, MPI_INT, 0, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (bytes == 0)
			return;
		MPI_Send(t.mine, bytes, MPI_BYTE, 0, REPLY, MPI_COMM_WORLD);
	}
}

static void end_replies(void)
{
	int nothing = 0;
	MPI_Send(&nothing, 1, MPI_INT, perf_peer, ASK, MPI_COMM_WORLD);
}

// Seconds of one operation with so much work: the median of n, since others want the cores, too; of
// fewer if they have them.
static double timed(void (*operation)(long rounds), long rounds, int n)
{
	double took[TIMES], until = timing_now() + perf_pace(0.001, 0.006);
	int done = 0;
	while (done < n && (done < FEWEST || timing_now() < until)) {
		double begin = timing_now();
		operation(rounds);
		took[done++] = timing_now() - begin;
	}
	return timing_median(took, done);
}

static int enough(void (*operation)(long rounds))
{
	timed(operation, 0, FEWEST);
	double n = perf_pace(0.0003, 0.002) / timed(operation, 0, FEWEST);
	return n < FEWEST ? FEWEST : n > TIMES ? TIMES : (int)n;
}

// Where the line through both points reaches the limit.
static double crossing(double x0, double y0, double x1, double y1, double limit)
{
	return y1 > y0 ? x0 + (x1 - x0) * (limit - y0) / (y1 - y0) : x1;
}

// Beyond the point where the whole begins to grow it grows with the work: the limit is met
// `tolerance` later than that. The last point below the limit counts: whatever else the machine
// does lengthens some before it.
static double overlap(void (*operation)(long rounds))
{
	int n = enough(operation), last = 0;
	double tries[3], whole[STEPS + 1];
	for (int i = 0; i < 3; i++) tries[i] = timed(operation, 0, n);
	double alone = timing_median(tries, 3), limit = alone * (1 + tolerance);
	whole[0] = alone;
	for (int i = 1; i <= STEPS; i++) {
		whole[i] = timed(operation, (long)(most_work * i / STEPS * alone * rounds_a_second),
			n);
		if (whole[i] <= limit)
			last = i;
	}
	double step = most_work / STEPS, share = 1;
	if (last < STEPS)
		share = crossing(step * last, whole[last], step * (last + 1), whole[last + 1],
				limit) -
			tolerance;
	return 100 * (share < 0 ? 0 : share > 1 ? 1 : share);
}

// One figure of each version, taking turns. Rank 0 measures; the peer of the MPI's version answers;
// the others wait.
static void versions(double (*measure)(void (*operation)(long rounds)), double *ours, double *mpi)
{
	if (perf_me == 0)
		*ours = measure(get);
	ARMCI_Barrier();
	if (perf_me == 0) {
		*mpi = measure(ask);
		end_replies();
	} else if (papers_takes_part()) {
		reply();
	}
	ARMCI_Barrier();
}

static void overlap_rows(int bytes)
{
	double ours[TIMING_REPS_MAX], mpi[TIMING_REPS_MAX];
	struct perf_case c = {.op = "overlap-work",
		.shape = "-",
		.bytes = bytes,
		.unit = TIMING_PERCENT};
	t.count[0] = bytes;
	for (int i = -1; i < perf_reps; i++) { // the first is to warm up
		if (perf_me == 0)
			rounds_a_second = (double)timing_rounds(1);
		versions(overlap, &ours[i < 0 ? 0 : i], &mpi[i < 0 ? 0 : i]);
	}
	papers_row(&c, "get", ours, NULL);
	papers_row(&c, "mpi", mpi, NULL);
}

static long work; // rounds between call and wait

static double whole(void (*operation)(long rounds))
{
	return 1e9 * timed(operation, work, enough(operation));
}

static void total_rows(void)
{
	double ours[TIMING_REPS_MAX], mpi[TIMING_REPS_MAX];
	t.count[0] = 64 << 10;
	for (int point = 0; point <= POINTS; point += perf_quick ? POINTS / 2 : 1) {
		char shape[16];
		snprintf(shape, sizeof shape, "%dus", point * STEP_US);
		struct perf_case c = {.op = "overlap-total",
			.shape = shape,
			.bytes = t.count[0],
			.unit = TIMING_NS};
		for (int i = -1; i < perf_reps; i++) {
			if (perf_me == 0) {
				rounds_a_second = (double)timing_rounds(1);
				work = (long)(point * STEP_US * 1e-6 * rounds_a_second);
			}
			versions(whole, &ours[i < 0 ? 0 : i], &mpi[i < 0 ? 0 : i]);
		}
		papers_row(&c, "get", ours, NULL);
		papers_row(&c, "mpi", mpi, NULL);
	}
}

void papers_overlap_work(void)
{
	if (!perf_far) {
		if (perf_me == 0)
			fprintf(stderr,
				"papers: no overlap within a node, where a transfer is a copy by "
				"its caller\n");
		return;
	}
	t = perf_transfer(MOST);
	for (int bytes = LEAST; bytes <= MOST; bytes *= perf_quick ? 1024 : 4) overlap_rows(bytes);
	total_rows();
	perf_transfer_end(&t);
}
