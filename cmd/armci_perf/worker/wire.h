// SPDX-License-Identifier: BSD-3-Clause
// The raw baseline of transfers between nodes: one TCP connection from rank 0 to a thread of its peer that takes
// requests of any size and answers with as many bytes as it is asked for. It knows nothing of ARMCI's protocols.
#ifndef PERF_WIRE_H
#define PERF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_wire {
	int fd;      // of rank 0
	bool spin;   // both sides look at their socket all the time instead of sleeping in it
	char *space; // what is sent and received, the larger of the two
	size_t most;
};

// Collective over rank 0 and its peer; both may move up to `most` bytes at a time. The others get an unused wire.
struct perf_wire perf_wire_open(size_t most);
void perf_wire_close(struct perf_wire *w);

// By rank 0: sends `out` bytes, and waits for `back` bytes if that is not 0.
void perf_wire_ask(struct perf_wire *w, size_t out, size_t back);
// By rank 0, before and after a sample: whether the far side spins. While it does it burns a core.
void perf_wire_style(struct perf_wire *w, bool spin);

#endif
