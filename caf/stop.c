/* SPDX-License-Identifier: BSD-3-Clause */
/* STOP, ERROR STOP, FAIL IMAGE and the end of the program. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "caf.h"

/* FLUSH of the Fortran library, which is part of every Fortran program; null: all units. */
extern void _gfortran_flush_i4(int *unit) __attribute__((weak));

static void *flush(void *unused)
{
	if (_gfortran_flush_i4)
		_gfortran_flush_i4(NULL);
	fflush(NULL);
	return unused;
}

/* By another thread: inside an input/output statement, as PRINT *, X[9], the calling one holds a
 * unit that FLUSH waits for. */
void caf_flush(void)
{
	pthread_t thread;
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += 300 * 1000 * 1000;
	if (end.tv_nsec >= 1000 * 1000 * 1000) {
		end.tv_sec++;
		end.tv_nsec -= 1000 * 1000 * 1000;
	}
	if (pthread_create(&thread, NULL, flush, NULL) == 0 &&
		pthread_timedjoin_np(thread, NULL, &end) != 0)
		pthread_detach(thread);
}

/* The reason has been printed: ARMCI's own line would only say that the job ends. */
static void be_silent(void)
{
	int null = open("/dev/null", O_WRONLY);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

/* A status whose low 8 bits are 0 becomes another: launchers end a job only if a process fails. */
void caf_abort(int status)
{
	caf_flush();
	if (!caf.on)
		_exit(status & 255 ? status : 1);
	be_silent();
	armci_msg_abort(status & 255 ? status : 1);
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
