// SPDX-License-Identifier: BSD-3-Clause
// signals.c - a program that installs handlers of its own, as PETSc does for all signals, after
// MPI_Init and without SA_ONSTACK: they are called for the signals that the program sends to
// itself, and for no others, while updates over two nodes allocate and collect memory of Go.
#include "check.h"

#include <signal.h>

enum { ROUNDS = 1000 };

static const int sigs[] = {SIGURG, SIGPROF, SIGSEGV, SIGCHLD};
enum { SIGS = sizeof sigs / sizeof sigs[0] };

static volatile sig_atomic_t count[65];

static void handler(int sig) { count[sig]++; }

int main(int argc, char **argv)
{
	static double memory[64];
	double one = 1, before;
	MPI_Win win;
	check_begin(&argc, &argv);
	for (int i = 0; i < SIGS; i++)
		CHECK(signal(sigs[i], handler) != SIG_ERR);
	CHECK_MPI(MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL,
		MPI_COMM_WORLD, &win));
	for (int i = 0; i < ROUNDS; i++) {
		int peer = (me + 1) % np;
		MPI_Win_fence(0, win);
		MPI_Accumulate(&one, 1, MPI_DOUBLE, peer, 3, 1, MPI_DOUBLE, MPI_SUM, win);
		MPI_Win_fence(0, win);
		if (i % 10 == 0)
			raise(sigs[i / 10 % SIGS]);
	}
	MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
	MPI_Fetch_and_op(&one, &before, MPI_DOUBLE, me, 3, MPI_NO_OP, win);
	MPI_Win_unlock(me, win);
	CHECK_DBL(before, ROUNDS);
	for (int i = 0; i < SIGS; i++)
		CHECK_INT(count[sigs[i]], ROUNDS / 10 / SIGS);
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("signals");
}
