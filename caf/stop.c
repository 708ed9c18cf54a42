/* SPDX-License-Identifier: BSD-3-Clause */
/* STOP, ERROR STOP, FAIL IMAGE and the end of the program. */
#include <stdio.h>
#include <unistd.h>

#include "caf.h"

/* FLUSH of the Fortran library, which is part of every Fortran program; null: all units. */
extern void _gfortran_flush_i4(int *unit) __attribute__((weak));

void caf_flush(void)
{
	if (_gfortran_flush_i4)
		_gfortran_flush_i4(NULL);
	fflush(NULL);
}

/* ERROR STOP 0 ends the job with another status than 0 where the launcher would not end it otherwise. */
void caf_abort(int status)
{
	caf_flush();
	if (!caf.on)
		_exit(status & 255 ? status : 1);
	armci_msg_abort(status);
	_exit(1);
}

/* The image ends as the others do; waits for all images of the job. */
static void leave(int state)
{
	if (!caf.on)
		return;
	caf_flush();
	caf_end_image(state);
	caf.on = false;
	ARMCI_Finalize();
	armci_msg_finalize(); /* MPI, if it is there and the program has not finalized it */
}

CAF_API void _gfortran_caf_finalize(void) { leave(CAF_STOPPED_IMAGE); }

CAF_API void _gfortran_caf_stop_numeric(int code, bool quiet)
{
	if (!quiet)
		fprintf(stderr, "STOP %d\n", code);
	leave(CAF_STOPPED_IMAGE);
	exit(code);
}

CAF_API void _gfortran_caf_stop_str(const char *text, size_t length, bool quiet)
{
	if (!quiet && length)
		fprintf(stderr, "STOP %.*s\n", (int)length, text);
	leave(CAF_STOPPED_IMAGE);
	exit(0);
}

CAF_API void _gfortran_caf_error_stop(int code, bool quiet)
{
	caf_flush();
	if (!quiet)
		fprintf(stderr, "ERROR STOP %d\n", code);
	caf_abort(code);
}

CAF_API void _gfortran_caf_error_stop_str(const char *text, size_t length, bool quiet)
{
	caf_flush();
	if (!quiet)
		fprintf(stderr, "ERROR STOP %.*s\n", (int)length, text ? text : "");
	caf_abort(1);
}

/* The others go on; the process waits for them, and does not make the job fail. */
CAF_API void _gfortran_caf_fail_image(void)
{
	leave(CAF_FAILED_IMAGE);
	exit(0);
}
