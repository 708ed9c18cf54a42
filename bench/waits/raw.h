// SPDX-License-Identifier: BSD-3-Clause
// Round trips over a raw socket between rank 0 and the last rank, for what a get is held against.
// The three ways to wait are those of bench/worker/wire.h, the same on both sides.
#ifndef WAITS_RAW_H
#define WAITS_RAW_H

double trip_mixed(long n);
double trip_spinning(long n);
double trip_asleep(long n);
void raw_end(void); // closes the connection, if there was one

#endif
