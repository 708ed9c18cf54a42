// SPDX-License-Identifier: BSD-3-Clause
// The pool by messages: rank 0 is the master. It answers requests for the next task and computes
// none itself, so that no worker waits for it; with few ranks that costs much. Workers send results
// straight to their owners, which receive them between two tasks. A rank alone does all tasks
// itself.
#include "counter.h"

enum { REQUEST = 1, TASK, RESULT, OUTGOING = 8 };

struct result {
	// one message; the number of the segment is exact as a double
	double segment, element[LENGTH];
};

static void take(struct pool *p, const struct result *r)
{
	add((double *)p->sums[app_me] + (int)r->segment * LENGTH, r->element);
}

static void receive_result(struct pool *p, MPI_Status *status)
{
	struct result r;
	MPI_Recv(&r, LENGTH + 1, MPI_DOUBLE, status->MPI_SOURCE, RESULT, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	take(p, &r);
}

// Returns how many of the results that have come so far were taken.
static int take_some(struct pool *p)
{
	MPI_Status status;
	for (int taken = 0, come;; taken++) {
		MPI_Iprobe(MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &come, &status);
		if (!come)
			return taken;
		receive_result(p, &status);
	}
}

// Takes the results that have been sent to me and not taken yet. sent: how many I have sent to each
// rank.
static void take_rest(struct pool *p, const int *sent, int taken)
{
	int coming;
	MPI_Status status;
	for (MPI_Reduce_scatter_block(sent, &coming, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		taken < coming; taken++) {
		MPI_Probe(MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
		receive_result(p, &status);
	}
}

// Hands out tasks until every worker has been told that there are none left.
static void master(struct pool *p)
{
	long task = 0;
	int taken = 0, sent[app_n];
	for (int r = 0; r < app_n; r++) sent[r] = 0;
	for (int working = app_n - 1; working > 0;) {
		MPI_Status status;
		MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == RESULT) {
			receive_result(p, &status);
			taken++;
			continue;
		}
		long answer = task < p->tasks ? task++ : -1;
		MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, REQUEST, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		MPI_Send(&answer, 1, MPI_LONG, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
		working -= answer < 0;
	}
	take_rest(p, sent, taken);
}

// The answer comes while the present task is done: its request is made before.
static void ask(long *task, MPI_Request *answer)
{
	MPI_Irecv(task, 1, MPI_LONG, 0, TASK, MPI_COMM_WORLD, answer);
	MPI_Send(NULL, 0, MPI_BYTE, 0, REQUEST, MPI_COMM_WORLD);
}

static void worker(struct pool *p)
{
	static struct result results[OUTGOING];
	MPI_Request sends[OUTGOING], answer;
	int sent[app_n], taken = 0, turn = 0;
	long next;
	for (int r = 0; r < app_n; r++) sent[r] = 0;
	for (int i = 0; i < OUTGOING; i++) sends[i] = MPI_REQUEST_NULL;
	APP_COMM(ask(&next, &answer));
	for (;; turn = (turn + 1) % OUTGOING) {
		APP_COMM(MPI_Wait(&answer, MPI_STATUS_IGNORE));
		long task = next;
		if (task < 0)
			break;
		struct result *r = &results[turn];
		int to = owner_of(task);
		APP_COMM(ask(&next, &answer); MPI_Wait(&sends[turn], MPI_STATUS_IGNORE));
		task_do(p, task, r->element);
		r->segment = segment_of(task);
		if (to == app_me)
			take(p, r);
		else
			APP_COMM(MPI_Isend(r, LENGTH + 1, MPI_DOUBLE, to, RESULT, MPI_COMM_WORLD,
				&sends[turn]);
				 sent[to]++);
		APP_COMM(taken += take_some(p));
	}
	APP_COMM(take_rest(p, sent, taken); MPI_Waitall(OUTGOING, sends, MPI_STATUSES_IGNORE));
}

void pool_messages(struct pool *p)
{
	double result[LENGTH];
	if (app_n == 1)
		for (long task = 0; task < p->tasks; task++) {
			task_do(p, task, result);
			add((double *)p->sums[0] + segment_of(task) * LENGTH, result);
		}
	else if (app_me == 0)
		APP_COMM(master(p));
	else
		worker(p);
}
