// SPDX-License-Identifier: BSD-3-Clause
// Initialisation in all its forms, finalisation, abort, and actions at process exit.
#define _GNU_SOURCE
#include "front.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "_cgo_export.h"

// ARMCI_Init_mpi_comm returns this for success: Global Arrays goes on only if it is not 0.
#define COMM_OK 1
#ifndef ARMCI_ABI_MPI
front_comm ARMCI_COMM_WORLD PUBLIC;
int PARMCI_Init_mpi_comm(front_comm comm);
int PARMCI_Init_thread_comm(int level, front_comm comm);
void armci_msg_init_comm(front_comm comm);
front_comm armci_group_comm(ARMCI_Group *group);
void ARMCIX_Get_world_comm(front_comm *comm);
#endif

#ifdef ARMCI_ABI_MPI
PUBLIC front_comm ARMCI_COMM_WORLD;
#endif

static pid_t starting_pid;

static void at_exit(int status, void *unused)
{
	(void)unused;
	if (getpid() != starting_pid) // a forked child without exec
		return;
	if (status == 0)
		armcigo_leave();
	else
		armcigo_flush();
}

// Called by Go after a successful initialisation, on the thread that asked for it; comm is the
// value of ARMCI_COMM_WORLD, and idle lets an MPI go on while this thread waits.
void life_started(uintptr_t comm, void (*idle)(void))
{
	wait_idle = idle;
	ARMCI_COMM_WORLD = (front_comm)comm;
	if (starting_pid == 0)
		on_exit(at_exit, NULL);
	starting_pid = getpid();
}

static int init(const char *name, uintptr_t *comm) { return armcigo_init((char *)name, comm); }

int PARMCI_Init(void) { return init("ARMCI_Init", NULL); }
WEAK(ARMCI_Init);

int PARMCI_Init_args(int *argc, char ***argv)
{
	armcigo_mpi_init(argc, argv);
	return init("ARMCI_Init_args", NULL);
}
WEAK(ARMCI_Init_args);

int PARMCI_Init_thread(int level)
{
	return armcigo_check_thread(level) ? -1 : init("ARMCI_Init_thread", NULL);
}
WEAK(ARMCI_Init_thread);

PUBLIC int PARMCI_Init_mpi_comm(front_comm comm)
{
	uintptr_t c = (uintptr_t)comm;
	return init("ARMCI_Init_mpi_comm", &c) == 0 ? COMM_OK : !COMM_OK;
}
WEAK(ARMCI_Init_mpi_comm);

PUBLIC int PARMCI_Init_thread_comm(int level, front_comm comm)
{
	uintptr_t c = (uintptr_t)comm;
	return armcigo_check_thread(level) ? -1 : init("ARMCI_Init_thread_comm", &c);
}
WEAK(ARMCI_Init_thread_comm);

int PARMCI_Initialized(void) { return armcigo_initialized(); }
WEAK(ARMCI_Initialized);

int PARMCI_Finalize(void) { return armcigo_finalize(); }
WEAK(ARMCI_Finalize);

// Nothing of the library outlives the process, so there is nothing to clean up.
PUBLIC void ARMCI_Cleanup(void) {}

PUBLIC void ARMCI_Error(const char *msg, int code)
{
	armcigo_error((char *)msg, code);
	_exit(1);
}

PUBLIC void armci_msg_init(int *argc, char ***argv) { armcigo_msg_init(argc, argv, NULL); }

PUBLIC void armci_msg_init_comm(front_comm comm)
{
	uintptr_t c = (uintptr_t)comm;
	armcigo_msg_init(NULL, NULL, &c);
}

PUBLIC void armci_msg_finalize(void) { armcigo_msg_finalize(); }

PUBLIC void armci_msg_abort(int code)
{
	armcigo_error(NULL, code);
	_exit(1);
}

PUBLIC int armci_msg_me(void)
{
	if (front_on())
		return front.me;
	return atomic_load_explicit(&front_used->ranks, memory_order_acquire) ? front_used->me :
										armcigo_me();
}

PUBLIC int armci_msg_nproc(void)
{
	unsigned n = atomic_load_explicit(&front.ranks, memory_order_acquire);
	if (n == 0) // perhaps because calls are profiled
		n = atomic_load_explicit(&front_used->ranks, memory_order_acquire);
	return n ? (int)n : armcigo_nproc();
}

PUBLIC front_comm armci_group_comm(ARMCI_Group *group)
{
	return (front_comm)armcigo_group_comm(front_group(group));
}

// The program's variable has the size of its MPI's communicators, which the classic ABI does not
// know.
PUBLIC void ARMCIX_Get_world_comm(front_comm *comm)
{
	front_comm world = (front_comm)armcigo_group_comm(0);
	size_t bytes = (size_t)armcigo_comm_bytes();
	memcpy(comm, &world, bytes < sizeof world ? bytes : sizeof world);
}

PUBLIC void derr_printf(const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
	if (write(STDERR_FILENO, text, len) < 0)
		return; // no way to report an error
}

PUBLIC int dassertp_fail(const char *cond, const char *file, const char *func, unsigned line,
	int code)
{
	char text[512];
	snprintf(text, sizeof text, "%s:%u: %s: assertion failed: %s", file, line, func, cond);
	ARMCI_Error(text, code);
	return code;
}
