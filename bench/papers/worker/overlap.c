// SPDX-License-Identifier: BSD-3-Clause
// Computation beside a nonblocking get (paper 000 fig. 19 and section 6.1.2): a transfer alone, as
// much work alone, and both together; what of the shorter disappears when they are together, in per
// cent, is the overlap. The MPI's version asks by a message and waits for a nonblocking receive,
// while the other side waits for requests and does nothing else. Protocols are compared by starts
// with other settings and a label (-l). And what the whole takes by the work, 64 KiB, beside the
// work alone.
#include "papers.h"

#include <stdio.h>

enum {
	LEAST = 1 << 10,
	MOST = 1 << 20,
	ASK = 41,
	REPLY = 42,
	POINTS = 10,
	STEP_US = 16,
	FEWEST = 5,
	TIMES = 200,
	TURNS = 3
};

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

static void work_alone(long rounds) { timing_compute(rounds); }

// The parts take turns, so that whatever else the machine does hits all of them.
static double overlap(void (*operation)(long rounds))
{
	int n = enough(operation);
	double transfers[TURNS], works[TURNS], togethers[TURNS];
	long rounds = (long)(timed(operation, 0, n) * rounds_a_second);
	for (int i = 0; i < TURNS; i++) {
		transfers[i] = timed(operation, 0, n);
		works[i] = timed(work_alone, rounds, n);
		togethers[i] = timed(operation, rounds, n);
	}
	double transfer = timing_median(transfers, TURNS), alone = timing_median(works, TURNS),
	       together = timing_median(togethers, TURNS);
	return 100 * (transfer + alone - together) / (transfer < alone ? transfer : alone);
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
	struct perf_case c = {.op = "overlap-part",
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
	double ours[TIMING_REPS_MAX], mpi[TIMING_REPS_MAX], alone[TIMING_REPS_MAX];
	t.count[0] = 64 << 10;
	for (int point = 0; point <= POINTS; point += perf_quick ? POINTS / 2 : 1) {
		char shape[16];
		snprintf(shape, sizeof shape, "%dus", point * STEP_US);
		struct perf_case c = {.op = "overlap-total",
			.shape = shape,
			.bytes = t.count[0],
			.unit = TIMING_NS};
		for (int i = -1; i < perf_reps; i++) {
			int at = i < 0 ? 0 : i;
			if (perf_me == 0) {
				rounds_a_second = (double)timing_rounds(1);
				work = (long)(point * STEP_US * 1e-6 * rounds_a_second);
				alone[at] = whole(work_alone);
			}
			versions(whole, &ours[at], &mpi[at]);
		}
		papers_row(&c, "get", ours, point > 0 ? alone : NULL);
		papers_row(&c, "mpi", mpi, point > 0 ? alone : NULL);
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
