// SPDX-License-Identifier: BSD-3-Clause
// Finished blocks that other ranks need in step k of the factorization, and the ways to bring them
// (panels.c); only these differ between versions.
#ifndef PANELS_H
#define PANELS_H

#include "lu.h"

enum {
	PANEL_PIECE = 16, // blocks of one nonblocking get
	PANEL_BLOCKS_MAX = LU_ORDER_MAX / LU_STEP,
};

// Block (k, k); or the part of the column below it that is in my row of the grid; or the part of
// the row right of it that is in my column. It is where its owner has it, until it has been
// brought.
struct panel {
	const double *at; // the first block
	size_t stride;    // elements from one block to the next
	size_t area;      // of a block
	int count;        // of blocks
	int owner;
	bool needed;      // I am not the owner, and need it
	int *reader;      // if I am: the other ranks that need it
	int readers;
	double *copy;     // where it may be brought
	int come, open;   // pieces that have been waited for, and that have been asked for
	armci_hdl_t handle[PANEL_BLOCKS_MAX / PANEL_PIECE];
};

void panel_make(struct panel *p, const struct lu *m, int most); // most: blocks that it may have
void panel_free(struct panel *p);
void panel_diagonal(struct panel *p, const struct lu *m, int k);
void panel_lower(struct panel *p, const struct lu *m, int k);
void panel_upper(struct panel *p, const struct lu *m, int k);

struct transport {
	// brings panels that their owners have finished to their readers; both sides call it
	void (*bring)(struct panel **p, int panels);
	// called now and then during computation, if it needs the owner's help
	void (*poll)(void);
	void (*end)(void);                           // called behind the last step
};

extern const struct transport messages, gets;
extern const struct transport nonblocking_gets; // panel_wait says when a block is there

// Whether it has to be waited for a block, and the wait.
static inline bool panel_missing(const struct panel *p, int block)
{
	return p->come < p->open && block / PANEL_PIECE >= p->come;
}
void panel_wait(struct panel *p, int block);

#endif
