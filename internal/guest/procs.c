// SPDX-License-Identifier: BSD-3-Clause
// Counts the threads of the application that call the library. Go is told when it needs more
// processors for them (procs.go).
#include "procs.h"

#include <pthread.h>
#include <stdatomic.h>

int armcigo_threads(int n); // procs.go: for how many threads there are processors now

static pthread_key_t key;   // its value is not NULL in threads that are counted
static _Atomic int threads; // how many there are

static void leave(void *value)
{
	(void)value;
	atomic_fetch_sub(&threads, 1);
}

void procs_begin(void) { pthread_key_create(&key, leave); }

void procs_enter(void)
{
	static _Atomic int enough; // there are processors for so many threads
	if (pthread_setspecific(key, &threads) != 0)
		return;
	int n = atomic_fetch_add(&threads, 1) + 1;
	if (n > atomic_load(&enough))
		atomic_store(&enough, armcigo_threads(n));
}
