// SPDX-License-Identifier: BSD-3-Clause
// ARMCI_STATS and ARMCI_TRACE=FILE for windows. While they are on, rma_find finds no window, so
// every operation goes the way of a window that is the MPI's own: to the table of the MPI's
// functions. There the functions of this file stand, which record the call and make it once more,
// now with the window found. While they are off nothing is asked, and nothing is paid. A window
// that is the MPI's own is not recorded. Bytes are those of the data at the target.
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>

_Atomic bool rma_recording;
_Thread_local bool rma_recorded __attribute__((tls_model("initial-exec")));
static struct real mpi; // the MPI's own functions, while `real` has ours

static uint64_t data(count_t count, handle type)
{
	const struct rma_type *t = count > 0 ? rma_type(rma_handle(type)) : NULL;
	return t ? (uint64_t)count * (uint64_t)t->size : 0;
}

static int peer(const struct rma_win *w, int rank)
{
	return (unsigned)rank < (unsigned)w->n ? w->target[rank].world : -1;
}

// The functions as OPERATION(name, public name, row, rank in the window or -1, bytes, parameters,
// arguments).
#define ORIGIN(N) const void *origin, N n, handle type
#define TARGET(N) int rank, aint disp, N there, handle there_type
#define RESULT(N) void *result, N result_n, handle result_type
#define TRANSFERS(N, c) \
	OPERATION(Put##c, MPI_PUT, rank, data(there, there_type), \
		(ORIGIN(N), TARGET(N), handle win), \
		(origin, n, type, rank, disp, there, there_type, win)) \
	OPERATION(Get##c, MPI_GET, rank, data(there, there_type), \
		(void *origin, N n, handle type, TARGET(N), handle win), \
		(origin, n, type, rank, disp, there, there_type, win)) \
	OPERATION(Accumulate##c, MPI_ACCUMULATE, rank, data(there, there_type), \
		(ORIGIN(N), TARGET(N), handle op, handle win), \
		(origin, n, type, rank, disp, there, there_type, op, win)) \
	OPERATION(Get_accumulate##c, MPI_GET_ACCUMULATE, rank, data(there, there_type), \
		(ORIGIN(N), RESULT(N), TARGET(N), handle op, handle win), \
		(origin, n, type, result, result_n, result_type, rank, disp, there, there_type, \
			op, win)) \
	OPERATION(Rput##c, MPI_RPUT, rank, data(there, there_type), \
		(ORIGIN(N), TARGET(N), handle win, void *request), \
		(origin, n, type, rank, disp, there, there_type, win, request)) \
	OPERATION(Rget##c, MPI_RGET, rank, data(there, there_type), \
		(void *origin, N n, handle type, TARGET(N), handle win, void *request), \
		(origin, n, type, rank, disp, there, there_type, win, request)) \
	OPERATION(Raccumulate##c, MPI_RACCUMULATE, rank, data(there, there_type), \
		(ORIGIN(N), TARGET(N), handle op, handle win, void *request), \
		(origin, n, type, rank, disp, there, there_type, op, win, request)) \
	OPERATION(Rget_accumulate##c, MPI_RGET_ACCUMULATE, rank, data(there, there_type), \
		(ORIGIN(N), RESULT(N), TARGET(N), handle op, handle win, void *request), \
		(origin, n, type, result, result_n, result_type, rank, disp, there, there_type, \
			op, win, request))
#define OPERATIONS \
	TRANSFERS(int, ) \
	TRANSFERS(count_t, _c) \
	OPERATION(Fetch_and_op, MPI_FETCH_AND_OP, rank, data(1, type), \
		(const void *origin, void *result, handle type, int rank, aint disp, handle op, \
			handle win), \
		(origin, result, type, rank, disp, op, win)) \
	OPERATION(Compare_and_swap, MPI_COMPARE_AND_SWAP, rank, data(1, type), \
		(const void *origin, const void *compare, void *result, handle type, int rank, \
			aint disp, handle win), \
		(origin, compare, result, type, rank, disp, win)) \
	OPERATION(Win_fence, MPI_FENCE, -1, 0, (int assertion, handle win), (assertion, win)) \
	OPERATION(Win_post, MPI_POST, -1, 0, (handle group, int assertion, handle win), \
		(group, assertion, win)) \
	OPERATION(Win_start, MPI_START, -1, 0, (handle group, int assertion, handle win), \
		(group, assertion, win)) \
	OPERATION(Win_complete, MPI_COMPLETE, -1, 0, (handle win), (win)) \
	OPERATION(Win_wait, MPI_WAIT, -1, 0, (handle win), (win)) \
	OPERATION(Win_test, MPI_TEST, -1, 0, (handle win, int *flag), (win, flag)) \
	OPERATION(Win_lock, MPI_LOCK, rank, 0, (int type, int rank, int assertion, handle win), \
		(type, rank, assertion, win)) \
	OPERATION(Win_unlock, MPI_UNLOCK, rank, 0, (int rank, handle win), (rank, win)) \
	OPERATION(Win_lock_all, MPI_LOCK_ALL, -1, 0, (int assertion, handle win), \
		(assertion, win)) \
	OPERATION(Win_unlock_all, MPI_UNLOCK_ALL, -1, 0, (handle win), (win)) \
	OPERATION(Win_flush, MPI_FLUSH, rank, 0, (int rank, handle win), (rank, win)) \
	OPERATION(Win_flush_all, MPI_FLUSH_ALL, -1, 0, (handle win), (win)) \
	OPERATION(Win_flush_local, MPI_FLUSH_LOCAL, rank, 0, (int rank, handle win), (rank, win)) \
	OPERATION(Win_flush_local_all, MPI_FLUSH_LOCAL_ALL, -1, 0, (handle win), (win)) \
	OPERATION(Win_sync, MPI_SYNC, -1, 0, (handle win), (win))

// The error handler of the window may call the program, whose calls in there belong to this one.
#define OPERATION(name, row, rank_, bytes_, params, args) \
	int PMPI_##name params; \
	static int recorded_##name params \
	{ \
		struct rma_win *w = rma_known(rma_handle(win)); \
		if (!w) \
			return mpi.name args; \
		int proc = peer(w, rank_); \
		uint64_t bytes = proc < 0 ? 0 : bytes_; \
		struct profile_span s = profile_begin("MPI_" #name, proc, bytes); \
		rma_recorded = true; \
		int failed = PMPI_##name args; \
		rma_recorded = false; \
		profile_end(&s, PROFILE_##row, proc, bytes); \
		return failed; \
	}
OPERATIONS
#undef OPERATION

// Called by Go: begins to record, or ends. No other thread is in an operation.
void record_operations(bool on)
{
	if (on == rma_recording)
		return;
	if (on) {
		mpi = real;
// where handles are written, it has handle * for void *
#define OPERATION(name, ...) real.name = (__typeof__(real.name))recorded_##name;
		OPERATIONS
	} else {
		real = mpi;
	}
	rma_recording = on;
	rma_hide_windows(on);
}

// Called by Go: is libarmci in this process, too? It has a trace of its own.
bool record_beside(void) { return dlsym(RTLD_DEFAULT, "PARMCI_Init") != NULL; }
