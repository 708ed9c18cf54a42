// SPDX-License-Identifier: BSD-3-Clause
// group.h - what the programs about groups share: making a group of the ranks with one property and
// checking that it is right. It must not use a group for anything else.
#ifndef GROUP_H
#define GROUP_H

#include "check.h"
#include <armcix.h>

enum { GROUP_MAX = 64 };

struct members {
	int rank[GROUP_MAX], n; // world ranks, ascending
	int mine;               // my place among them, -1 when I am none
};

static inline struct members members_none(void)
{
	struct members m = {.n = 0, .mine = -1};
	return m;
}

static inline void members_add(struct members *m, int rank)
{
	if (rank == me)
		m->mine = m->n;
	m->rank[m->n++] = rank;
}

// Every step-th rank from first on.
static inline struct members members_step(int first, int step)
{
	struct members m = members_none();
	for (int r = first; r < np; r += step)
		members_add(&m, r);
	return m;
}

// Size, rank and translation of a group must be those of the members.
static inline void group_check(ARMCI_Group *g, const struct members *m)
{
	int size = -7, rank = -7;
	if (m->mine < 0) {
		CHECK_INT(ARMCI_Group_rank(g, &rank), 1);
		CHECK_INT(rank, -1);
		return;
	}
	ARMCI_Group_size(g, &size);
	CHECK_INT(size, m->n);
	CHECK_OK(ARMCI_Group_rank(g, &rank));
	CHECK_INT(rank, m->mine);
	for (int i = 0; i < m->n; i++)
		CHECK_INT(ARMCI_Absolute_id(g, i), m->rank[i]);
}

// All ranks call it; members and others get an answer.
static inline ARMCI_Group group_make(struct members *m)
{
	ARMCI_Group g;
	memset(&g, 0, sizeof g);
	ARMCI_Group_create(m->n, m->rank, &g);
	group_check(&g, m);
	return g;
}

#endif
