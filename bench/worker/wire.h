// SPDX-License-Identifier: BSD-3-Clause
// The raw baseline of transfers between nodes: one TCP connection from rank 0 to a thread of
// another rank that takes requests of any size and answers with as many bytes as it is asked for.
// It knows nothing of ARMCI's protocols.
#ifndef PERF_WIRE_H
#define PERF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How both sides wait.
enum perf_style {
	PERF_ASLEEP,   // in the kernel
	PERF_SPINNING, // by looking at the socket all the time
	PERF_MIXED,    // as the library: look for a while, yielding the core to others, then sleep
};

struct perf_wire {
	int fd; // of rank 0; -1 elsewhere
	enum perf_style style;
	char *space; // what is sent and received, the larger of the two
	size_t most;
	size_t step, at; // the place in it that is used, and how much further the next is
};

// Collective over rank 0 and `rank`; both may move up to `most` bytes at a time. The others get an
// unused wire.
struct perf_wire perf_wire_open(size_t most, int rank);
void perf_wire_close(struct perf_wire *w);

// By rank 0: sends a request of `out` bytes that is answered by `back` bytes; takes an answer; or
// both.
void perf_wire_send(struct perf_wire *w, size_t out, size_t back);
void perf_wire_take(struct perf_wire *w, size_t back);
void perf_wire_ask(struct perf_wire *w, size_t out, size_t back);
// By rank 0, before and after a sample: how both sides wait from now on. Spinning burns a core.
void perf_wire_style(struct perf_wire *w, enum perf_style style);

#endif
