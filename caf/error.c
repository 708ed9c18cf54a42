/* SPDX-License-Identifier: BSD-3-Clause */
/* How errors reach the program: through STAT= and ERRMSG= where the statement has them, else by ending the job with a line. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "caf.h"

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
		if (errmsg && length)
			set_message(errmsg, length, format, args);
		va_end(args);
		return;
	}
	print(format, args);
	va_end(args);
	caf_abort(code);
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
