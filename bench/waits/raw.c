// SPDX-License-Identifier: BSD-3-Clause
// Raw round trips by the wire of bench/worker. This file defines what that wire takes from
// its program. A thread of the last rank answers, while all ranks but rank 0 wait in the library.
#include "raw.h"

#include <armci.h>
#include <stdbool.h>

#include "dial.h"
#include "perf.h"
#include "waits.h"
#include "wire.h"

enum { TAG = 9, HEAD = 24, FRAME = 32 }; // bytes of the raw head; of the library's

int perf_me, perf_n;
static struct perf_wire wire;
static bool opened;

void perf_need(bool ok, const char *what) { need(ok, what); }
void *perf_private(size_t bytes) { return touched(bytes); }

void perf_tell(int rank, const void *data, int bytes)
{
	armci_msg_snd(TAG, (void *)data, bytes, rank);
}

void perf_hear(int rank, void *data, int bytes)
{
	int got;
	armci_msg_rcv(TAG, data, bytes, &got, rank);
}

// A request and its answer have the lengths of a get's frames.
static double trips(long n, enum perf_style style)
{
	if (!opened) {
		perf_me = me;
		perf_n = ranks;
		wire = perf_wire_open(WAITS_MOST + 4096, ranks - 1);
		opened = true;
	}
	if (me != 0)
		return 0;
	perf_wire_style(&wire, style);
	double begin = timing_now();
	for (long i = 0; i < n; i++) perf_wire_ask(&wire, HEAD - 16, (size_t)size + FRAME);
	double t = timing_now() - begin;
	perf_wire_style(&wire, PERF_ASLEEP);
	return t;
}

double trip_mixed(long n) { return trips(n, PERF_MIXED); }
double trip_spinning(long n) { return trips(n, PERF_SPINNING); }
double trip_asleep(long n) { return trips(n, PERF_ASLEEP); }

void raw_end(void)
{
	if (opened)
		perf_wire_close(&wire);
}
