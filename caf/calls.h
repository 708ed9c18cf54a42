/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h: what calls.c keeps for each team. */
#ifndef CAF_CALLS_H_
#define CAF_CALLS_H_

#include <stdint.h>

#include "caf.h"

enum { CAF_LEDGER_CALLS = 128 };

struct caf_record {
	int call, root, type, n;
};

/* Of each image in each team, in ARMCI memory: written by it alone. */
struct caf_ledger {
	_Atomic uint64_t begun; /* number of the last call begun; the first is 1 */
	/* of an image that has ended: its last call, and the last that it takes part in */
	uint64_t last, final;
	_Atomic int published;  /* whether these are valid */
	/* of an image that has ended: the call that it is to take part in now */
	_Atomic uint64_t invited;
	struct caf_record call[CAF_LEDGER_CALLS]; /* by number, modulo */
};

/* A member that has ended. */
struct caf_gone {
	int member, state;
	uint64_t last, final;
};

struct caf_calls {
	struct caf_ledger **at;  /* by member */
	/* chosen last; the team; those of the youngest smaller group */
	struct caf_members members, all, some;
	struct caf_gone *gone;
	int gones;
	int seen;                /* *caf.ended when `gone` was made */
	int unsynced;            /* calls since a barrier */
	bool stopped;            /* a member has stopped, so that no more calls are made */
};

/* Of calls.c, for attend.c. */
void caf_calls_look(struct caf_team *t);           /* finds members that have ended */
int caf_calls_stat(struct caf_team *t, uint64_t number); /* of caf_begin */
uint64_t caf_calls_begun(const struct caf_team *t, int member);
/* Whether a member takes no part in a call; really: not before it ended. */
bool caf_calls_absent(const struct caf_calls *c, int member, uint64_t number, bool really);
/* part of a member's ledger */
void caf_calls_read(const struct caf_team *t, int member, const void *from, void *to, int bytes);

void caf_nap(unsigned tries); /* sleeps, the longer the more tries */

#endif
