// SPDX-License-Identifier: BSD-3-Clause
// Computation that calls nothing: by the caller, and by threads that keep cores busy meanwhile.
#ifndef PERF_CREW_H
#define PERF_CREW_H

#include <stdbool.h>

void perf_compute(long rounds);          // a round is a few microseconds
long perf_rounds(double seconds);        // how many rounds take that long on a core of one's own

int perf_cores(void);                    // of this machine, for this process
bool perf_one_machine(void);             // all ranks are on the same machine, pretended hosts or not. Collective
void perf_crew_start(int cores);         // one thread computes on each of the first so many cores
void perf_crew_stop(void);

#endif
