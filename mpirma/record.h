// SPDX-License-Identifier: BSD-3-Clause
// What is recorded of windows while ARMCI_STATS or ARMCI_TRACE=FILE is on (record.c): here, of
// calls that are not operations.
#ifndef MPIRMA_RECORD_H
#define MPIRMA_RECORD_H

#include "window.h"

#include "../internal/recorder/profile.h"

extern _Atomic bool rma_recording;

static inline struct profile_span rma_begin(const char *function, uint64_t bytes)
{
	return rma_recording ? profile_begin(function, -1, bytes) : (struct profile_span){0};
}

// A span that began before recording did is not recorded.
static inline void rma_end(const struct profile_span *s, enum profile_op op, uint64_t bytes)
{
	if (s->start)
		profile_end(s, op, -1, bytes);
}

#endif
