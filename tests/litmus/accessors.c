/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread registers accessor functions while another looks them up by index, as an image does
 * for which a part of the program is loaded late. Compiled with caf/accessor.c; under the thread
 * sanitizer a missing order is a data race.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "remote.h"

enum { ACCESSORS = 2000 }; /* so many that the table grows several times */

CAF_API void _gfortran_caf_register_accessor(int hash, void (*function)(void));

void caf_fatal(const char *format, ...)
{
	fputs(format, stderr);
	exit(1);
}

static void accessor(void) {}

static void *register_all(void *unused)
{
	for (int i = 0; i < ACCESSORS; i++) _gfortran_caf_register_accessor(i + 1, accessor);
	return unused;
}

int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, register_all, NULL) != 0)
		return 2;
	for (int i = 0; i < ACCESSORS; i++) {
		const struct caf_accessor *a;
		while (!(a = caf_accessor_at(i))) {}
		if (a->hash != i + 1 || a->run.any != accessor) {
			fprintf(stderr, "accessor %d has hash %d\n", i, a->hash);
			return 1;
		}
	}
	pthread_join(thread, NULL);
	puts("ok accessors");
	return 0;
}
