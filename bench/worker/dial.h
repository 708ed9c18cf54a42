// SPDX-License-Identifier: BSD-3-Clause
// A TCP connection between two ranks for the raw baseline, whatever interfaces their hosts have.
#ifndef PERF_DIAL_H
#define PERF_DIAL_H

int perf_dial(int rank);   // to that rank
int perf_answer(int rank); // to the rank that dials, at the same time

// The program's: brings bytes to that rank, which hears them from this one.
void perf_tell(int rank, const void *data, int bytes);
void perf_hear(int rank, void *data, int bytes);

#endif
