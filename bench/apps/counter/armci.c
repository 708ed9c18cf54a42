// SPDX-License-Identifier: BSD-3-Clause
// The pool by one-sided operations: a fetch-and-add takes the next task, a nonblocking accumulate
// brings the result to its owner while the next task is done. No rank serves another.
#include "counter.h"

static long next(struct pool *p)
{
	long task;
	APP_COMM(app_need(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &task, p->count[0], 1, 0) == 0,
		"ARMCI_Rmw"));
	return task;
}

void pool_armci(struct pool *p)
{
	static double results[2][LENGTH]; // one is under way
	armci_hdl_t handles[2];
	double one = 1;
	ARMCI_INIT_HANDLE(&handles[0]);
	ARMCI_INIT_HANDLE(&handles[1]);
	long task;
	for (int turn = 0; (task = next(p)) < p->tasks; turn = 1 - turn) {
		double *result = results[turn];
		int to = owner_of(task);
		APP_COMM(app_need(ARMCI_Wait(&handles[turn]) == 0, "ARMCI_Wait"));
		task_do(p, task, result);
		APP_COMM(app_need(ARMCI_NbAcc(ARMCI_ACC_DBL, &one, result,
					  (double *)p->sums[to] + segment_of(task) * LENGTH,
					  (int)sizeof results[turn], to, &handles[turn]) == 0,
			"ARMCI_NbAcc"));
	}
	APP_COMM(ARMCI_Wait(&handles[0]); ARMCI_Wait(&handles[1]); ARMCI_AllFence());
}
