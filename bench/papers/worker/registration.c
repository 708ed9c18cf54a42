// SPDX-License-Identifier: BSD-3-Clause
// What registering memory with the device costs beside copying it (001 fig. 2, 002 section 4):
// rates by size. The papers pinned memory by mlock, too; what a device in software does when it
// registers may be less.
#ifdef PERF_VERBS
#include <sys/mman.h>

#include "rates.h"

enum { MOST = 4 << 20 };

// Whether so much may be locked.
static bool may_lock(const struct rates *r)
{
	return perf_me == 0 && mlock(r->from, MOST) == 0 && munlock(r->from, MOST) == 0;
}

// Next to nothing with some devices: registrations in between would take all the time that a sample
// is to last.
static void deregister_row(struct rates *r, const struct perf_case *c)
{
	double rate[TIMING_REPS_MAX];
	if (perf_me != 0)
		return;
	for (int i = 0; i < perf_reps; i++)
		rate[i] = c->bytes / rates_deregister(r, perf_pace(0.0005, 0.01)) / 1e6;
	papers_row(c, "deregister", rate, NULL);
}

void papers_registration(void)
{
	struct rates r;
	rates_open(&r, false);
	bool lock = perf_greatest(may_lock(&r)) > 0;
	const struct papers_way ways[] = {{"register", rates_register, PAPERS_ALONE, &r.clock},
		{"register+deregister", rates_both, PAPERS_ALONE, NULL},
		{"mlock+munlock", lock ? rates_lock : NULL, PAPERS_ALONE, NULL},
		{"memcpy", rates_copy, PAPERS_ALONE, NULL}, {.name = NULL}};
	for (int bytes = 1 << 10; bytes <= (int)perf_pace(64 << 10, MOST);
		bytes *= perf_quick ? 16 : 4) {
		struct perf_case c = {.op = "registration",
			.shape = "-",
			.bytes = bytes,
			.unit = TIMING_MBS,
			.arg = &r};
		r.bytes = (size_t)bytes;
		r.next = 0;
		papers_contest(&c, ways, "memcpy");
		deregister_row(&r, &c);
		ARMCI_Barrier();
	}
	rates_close(&r);
}
#endif
