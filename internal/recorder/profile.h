// SPDX-License-Identifier: BSD-3-Clause
// ARMCI_STATS and ARMCI_TRACE=FILE: what is recorded of a call, and where. A library decides how
// its calls get here without a cost while nothing is recorded: capi/front.h, mpirma/record.c. It
// must not know what a call does.
#ifndef ARMCI_PROFILE_H
#define ARMCI_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

// The rows of profile.Operations, and the columns of profile.Classes.
enum profile_op {
	PROFILE_PUT,
	PROFILE_GET,
	PROFILE_ACC,
	PROFILE_PUTS,
	PROFILE_GETS,
	PROFILE_ACCS,
	PROFILE_PUTV,
	PROFILE_GETV,
	PROFILE_ACCV,
	PROFILE_NBPUT,
	PROFILE_NBGET,
	PROFILE_NBACC,
	PROFILE_NBPUTS,
	PROFILE_NBGETS,
	PROFILE_NBACCS,
	PROFILE_NBPUTV,
	PROFILE_NBGETV,
	PROFILE_NBACCV,
	PROFILE_PUT_FLAG,
	PROFILE_RMW,
	PROFILE_ATOMIC,
	PROFILE_EVENT,
	PROFILE_LOCK,
	PROFILE_UNLOCK,
	PROFILE_WAIT,
	PROFILE_TEST,
	PROFILE_FENCE,
	PROFILE_BARRIER,
	PROFILE_NOTIFY,
	PROFILE_NOTIFY_WAIT,
	PROFILE_SEND,
	PROFILE_RECV,
	PROFILE_BCAST,
	PROFILE_GOP,
	PROFILE_ALLOCATE,
	PROFILE_FREE,
	PROFILE_GROUP,
	PROFILE_CALL,
	PROFILE_MPI_PUT,
	PROFILE_MPI_GET,
	PROFILE_MPI_ACCUMULATE,
	PROFILE_MPI_GET_ACCUMULATE,
	PROFILE_MPI_FETCH_AND_OP,
	PROFILE_MPI_COMPARE_AND_SWAP,
	PROFILE_MPI_RPUT,
	PROFILE_MPI_RGET,
	PROFILE_MPI_RACCUMULATE,
	PROFILE_MPI_RGET_ACCUMULATE,
	PROFILE_MPI_FENCE,
	PROFILE_MPI_POST,
	PROFILE_MPI_START,
	PROFILE_MPI_COMPLETE,
	PROFILE_MPI_WAIT,
	PROFILE_MPI_TEST,
	PROFILE_MPI_LOCK,
	PROFILE_MPI_UNLOCK,
	PROFILE_MPI_LOCK_ALL,
	PROFILE_MPI_UNLOCK_ALL,
	PROFILE_MPI_FLUSH,
	PROFILE_MPI_FLUSH_ALL,
	PROFILE_MPI_FLUSH_LOCAL,
	PROFILE_MPI_FLUSH_LOCAL_ALL,
	PROFILE_MPI_SYNC,
	PROFILE_MPI_CREATE,
	PROFILE_MPI_FREE,
	PROFILE_OPS
};
#define PROFILE_CLASSES 8

struct profile_cell {
	_Atomic uint64_t calls, bytes, ns, in_c;
};

// profile.Counters, which other processes read; a cell for each node follows.
struct profile_counters {
	char magic[16];
	uint32_t rank, ranks, node, nodes, pid, fd;
	int64_t started;
	char host[64];
	struct profile_cell table[PROFILE_OPS][PROFILE_CLASSES];
	struct profile_cell by_node[];
};

// Set while a call enters Go: it was not completed by the fast path.
extern _Thread_local bool profile_entered_go __attribute__((tls_model("initial-exec")));

// Where calls are recorded; counters is NULL without ARMCI_STATS. node_of is malloc'ed, by rank.
struct profile {
	struct profile_counters *counters;
	int *node_of, me, ranks;
	bool traced;
};
extern struct profile profile;

// A call that is being recorded.
struct profile_span {
	uint64_t start;
	const char *traced; // its name, if its beginning is in the trace
	bool outer_go;
};
struct profile_span profile_begin(const char *name, int proc, uint64_t bytes);
void profile_end(const struct profile_span *s, enum profile_op op, int proc, uint64_t bytes);

// trace_file.c: the file of ARMCI_TRACE, empty and open as fd, which is closed at the end, or where
// it cannot be written: this gives an errno. host is text within a string of JSON. zero is the
// instant 0 of the trace, by this machine's CLOCK_MONOTONIC in ns.
int trace_open(int fd, int rank, const char *host, int64_t zero, uint64_t limit);
// false: it was left out
bool trace_event(char phase, const char *name, uint64_t ns, int proc, uint64_t bytes);
uint64_t trace_close(void); // how many were left out
int trace_error(void); // errno of what ended the trace early, else 0

#endif
