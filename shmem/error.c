/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that OpenSHMEM leaves undefined: a line names function, argument and PE, the job ends. */
#include <stdarg.h>
#include <stdio.h>

#include "osh.h"

void osh_die(const char *fn, const char *format, ...)
{
	char why[512];
	va_list args;
	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
	char line[640];
	snprintf(line, sizeof line, "%s: PE %d: %s", fn, osh.me, why);
	engine.ARMCI_Error(line, 1);
	abort();
}

void osh_bad_pe(const char *fn, int pe, int n)
{
	if (!osh.on)
		osh_die(fn, "shmem_init was not called");
	osh_die(fn, "pe: there is no PE %d, they are 0 to %d", pe, n - 1);
}

void osh_bad_address(const char *fn, const void *p, size_t bytes)
{
	if (!osh.on)
		osh_die(fn, "shmem_init was not called");
	osh_die(fn, "address %p, %zu bytes: not symmetric: neither in the symmetric heap, "
		"%p to %p, nor in the program's global and static variables, %p to %p", p, bytes,
		(void *)osh.heap.base, (void *)(osh.heap.base + osh.heap.bytes),
		(void *)osh.data.base, (void *)(osh.data.base + osh.data.bytes));
}

void osh_failed(const char *fn, int code)
{
	osh_die(fn, "ARMCI returned %d", code);
}
