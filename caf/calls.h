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
	uint64_t last, final;   /* of an image that has ended: its last call, and the last that it takes part in */
	_Atomic int published;  /* whether these are valid */
	struct caf_record call[CAF_LEDGER_CALLS]; /* by number, modulo */
};

/* A member that has ended. */
struct caf_gone {
	int member, state;
	uint64_t last, final;
};

struct caf_calls {
	struct caf_ledger **at;  /* by member */
	struct caf_members members, all, some; /* chosen last; the team; those of the youngest smaller group */
	struct caf_gone *gone;
	int gones;
	int seen;                /* *caf.ended when `gone` was made */
	int unsynced;            /* broadcasts since a call that all have to enter before one can leave */
};

void caf_nap(unsigned tries); /* sleeps, the longer the more tries */

#endif
