// SPDX-License-Identifier: BSD-3-Clause
// A TCP connection between rank 0 and another rank for the raw baseline, whatever interfaces their hosts have.
#ifndef PERF_DIAL_H
#define PERF_DIAL_H

int perf_dial(int rank); // by rank 0
int perf_answer(void);   // by that rank, at the same time

#endif
