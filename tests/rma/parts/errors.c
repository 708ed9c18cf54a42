// SPDX-License-Identifier: BSD-3-Clause
// An error of a window goes to its error handler: one that returns, the program's own, or, with the
// argument `fatal`, the default, which prints a line of ours and ends the job. Linked with the C
// files of mpirma under test.
#include <mpi.h>

#include "../../../mpirma/rma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(yes) \
	do { \
		if (!(yes)) { \
			printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #yes); \
			exit(2); \
		} \
	} while (0)

static int seen;
static MPI_Win seen_at;

static void handler(MPI_Win *win, int *code, ...)
{
	MPI_Error_class(*code, &seen);
	seen_at = *win;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	struct rma_win w = { 0 };
	MPI_Errhandler mine;
	CHECK(abi_open() && rma_real_window(abi.info_null, &w.win) == 0);
	MPI_Win win = MPI_WIN_NULL;
	rma_set_handle(&win, w.win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	CHECK(rma_error(&w, "MPI_Put", abi.err_rank, "target_rank: %d is outside 0..%d", 7, 1) ==
		MPI_ERR_RANK);
	MPI_Win_create_errhandler(handler, &mine);
	MPI_Win_set_errhandler(win, mine);
	CHECK(rma_error(&w, "MPI_Put", abi.err_rma_sync, "win: no epoch is open") ==
		MPI_ERR_RMA_SYNC);
	CHECK(seen == MPI_ERR_RMA_SYNC && seen_at == win);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK(rma_error(NULL, "MPI_Win_create", abi.err_disp, "disp_unit: %d is less than 1", 0) ==
		MPI_ERR_DISP);
	if (argc > 1 && !strcmp(argv[1], "fatal")) {
		MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
		rma_error(&w, "MPI_Put", abi.err_rank, "target_rank: %d is outside 0..%d", 7, 1);
		puts("errors: the job goes on");
		return 0;
	}
	MPI_Win_free(&win);
	MPI_Errhandler_free(&mine);
	MPI_Finalize();
	puts("errors: passed");
	return 0;
}
