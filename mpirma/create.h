// SPDX-License-Identifier: BSD-3-Clause
// Shared by the files that make windows.
#ifndef MPIRMA_CREATE_H
#define MPIRMA_CREATE_H

#include "window.h"

// What a window shall be.
struct making {
	const char *function;
	enum rma_flavor flavor;
	void *base;
	int64_t size, unit;
	handle info, comm;
	bool apart; // shared memory need not be contiguous across members (alloc_shared_noncontig)
};

enum { RMA_PASS = -1 };

// Makes a window and writes its handle and, if `base` is not NULL, the address of its memory.
// RMA_PASS: this library cannot serve the communicator, and the MPI shall; the same on all members.
// Collective.
int rma_create(const struct making *m, void *win, void *base);

void rma_passed_through(handle comm);    // rank 0 of the communicator says so, once
void rma_detach_all(struct rma_win *w);  // forgets what is attached to a dynamic window

#endif
