// SPDX-License-Identifier: BSD-3-Clause
// What a member needs of the others to make a window, and the memory for that. A member without
// memory must take part in the exchange all the same, or the others wait for it; so the library
// has kept some from its start.
#ifndef MPIRMA_PLAN_H
#define MPIRMA_PLAN_H

#include "create.h"

// What members tell each other.
struct card {
	uint64_t addr, size, block, word;
	int64_t unit;
	int32_t world, failed; // failed: an error class
	int32_t arena;         // the memory is in the node's arena
	int32_t lent;          // devices may access it, with the key
	uint64_t key;
};

struct plan {
	handle group;
	int n;
	bool reserved; // the memory is what the library has kept: there is no other
	// of the members: ranks of the job, bytes of shared windows, and what they tell
	int *world;
	int64_t *sizes;
	struct card *cards;
};

// Bytes of a plan for so many members.
size_t plan_bytes(int n);

// Finds the members. RMA_PASS: the MPI shall serve the communicator, since a member is not of the
// job, or not of this node, where it must be. Any other value but RMA_OK is an error of the MPI.
// The caller frees the group.
int plan_open(struct plan *p, handle comm, bool on_node);
void plan_close(struct plan *p);

#endif
