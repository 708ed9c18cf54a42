/* SPDX-License-Identifier: BSD-3-Clause */
/* How errors reach the program: through STAT= and ERRMSG= where the statement has them, else by
 * ending the job with a line. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "caf.h"

/* gfortran (up to 16 at least) passes a fixed-length ERRMSG= of a collective subroutine by value:
 * then the next argument, a length, or the characters themselves are where its address should be.
 */
bool caf_is_address(const void *p)
{
	return (uintptr_t)p >= 4096 && (uintptr_t)p < (uintptr_t)1 << 47;
}

/* gfortran up to 15 passes the address of the address of ERRMSG= of a SYNC statement. */
char *caf_sync_message(char *errmsg)
{
	if (!errmsg || caf_gfortran_16())
		return errmsg;
	char *message;
	memcpy(&message, errmsg, sizeof message);
	return caf_is_address(message) ? message : errmsg;
}

/* Fortran strings are padded with blanks. */
static void set_message(char *errmsg, size_t length, const char *format, va_list args)
{
	char text[400];
	int n = vsnprintf(text, sizeof text, format, args);
	size_t used = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
	if (used > length)
		used = length;
	memcpy(errmsg, text, used);
	memset(errmsg + used, ' ', length - used);
}

static void print(const char *format, va_list args)
{
	char text[500];
	int n = snprintf(text, sizeof text, "libcaf_armci: image %d: ", caf.me + 1);
	vsnprintf(text + n, sizeof text - (size_t)n, format, args);
	caf_flush();
	fprintf(stderr, "%s\n", text);
}

void caf_error(int code, int *stat, char *errmsg, size_t length, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (stat) {
		*stat = code;
		if (caf_is_address(errmsg) && length)
			set_message(errmsg, length, format, args);
		va_end(args);
		return;
	}
	print(format, args);
	va_end(args);
	caf_abort(1);
}

void caf_warn(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print(format, args);
	va_end(args);
}

void caf_fatal(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print(format, args);
	va_end(args);
	caf_abort(1);
}

void caf_report(int code, int *stat, char *errmsg, size_t length, const char *what)
{
	switch (code) {
	case CAF_OK:
		caf_success(stat);
		break;
	case CAF_STOPPED_IMAGE:
		caf_error(code, stat, errmsg, length, "%s: an image of the team has stopped", what);
		break;
	case CAF_FAILED_IMAGE:
		caf_error(code, stat, errmsg, length, "%s: an image of the team has failed", what);
		break;
	default:
		caf_error(code, stat, errmsg, length, "%s failed", what);
	}
}
