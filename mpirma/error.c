// SPDX-License-Identifier: BSD-3-Clause
// Raises errors of one-sided communication as the program's MPI would, through the error handler
// that the program has set. A line of ours says what is wrong where the handler ends the job; the
// MPI's own message knows only the class.
#define _GNU_SOURCE
#include "record.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "_cgo_export.h"

// A handler that ends the job: it may be the default. w NULL: a communicator's.
static bool is_fatal(struct rma_win *w, handle comm)
{
	handle h = 0;
	if (w ? real.Win_get_errhandler(w->win, &h) : real.Comm_get_errhandler(comm, &h))
		return true;
	bool fatal = h == abi.errors_are_fatal || (h && h == abi.errors_abort);
	real.Errhandler_free(&h);
	return fatal;
}

// One line, in one write.
static void print(const char *function, const char *format, va_list arguments)
{
	char host[256] = "?", text[400], line[1024];
	int rank = -1;
	gethostname(host, sizeof host - 1);
	real.Comm_rank(abi.comm_world, &rank);
	vsnprintf(text, sizeof text, format, arguments);
	int n = snprintf(line, sizeof line, "[%d@%s] libarmci: %s: %s\n", rank, host, function,
		text);
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
		return; // standard error is closed: nothing can be reported
}

static int raise(struct rma_win *w, handle comm, const char *function, int error_class,
	const char *format, va_list arguments)
{
	if (is_fatal(w, comm)) {
		print(function, format, arguments);
		if (rma_recording)
			mpirmago_aborting();
	}
	if (w)
		real.Win_call_errhandler(w->win, error_class);
	else
		real.Comm_call_errhandler(comm, error_class);
	return error_class;
}

int rma_error(struct rma_win *w, const char *function, int error_class, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	raise(w, abi.comm_world, function, error_class, format, arguments);
	va_end(arguments);
	return error_class;
}

int rma_comm_error(handle comm, const char *function, int error_class, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	raise(NULL, comm, function, error_class, format, arguments);
	va_end(arguments);
	return error_class;
}
