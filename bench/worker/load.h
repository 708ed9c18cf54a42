// SPDX-License-Identifier: BSD-3-Clause
// Threads that keep cores busy by computation that calls nothing.
#ifndef PERF_LOAD_H
#define PERF_LOAD_H

#include <stdbool.h>

int perf_cores(void);                    // of this machine, for this process
// all ranks are on the same machine, pretended hosts or not. Collective
bool perf_one_machine(void);
void perf_load_start(int cores);         // one thread computes on each of the first so many cores
void perf_load_stop(void);

#endif
