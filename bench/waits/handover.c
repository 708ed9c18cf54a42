// SPDX-License-Identifier: BSD-3-Clause
// How long a lock takes to change its owner. Each rank notes when it got the lock; the notes of all
// ranks, in the order of time, say how often the owner changed. The ranks are of one machine, since
// their clocks are compared. A lock that one rank takes again and again changes its owner seldom.
#include "waits.h"

#include <stdlib.h>

enum { NOTES = 1 << 18 }; // acquisitions of a rank in a sample, at most

struct note {
	double when;
	int rank;
};

static int by_time(const void *a, const void *b)
{
	const struct note *x = a, *y = b;
	return (x->when > y->when) - (x->when < y->when);
}

// Seconds of a hand-over while all ranks from `first` on wanted the lock.
static double each(const double *when, int first, int n)
{
	struct note *all = malloc((size_t)(ranks - first) * (size_t)n * sizeof *all);
	double begin = 0, end = 1e300;
	long changes = 0, count = 0;
	need(all != NULL, "no memory for the notes");
	for (int r = first; r < ranks; r++) {
		const double *mine = when + (size_t)r * (size_t)n;
		begin = mine[0] > begin ? mine[0] : begin;
		end = mine[n - 1] < end ? mine[n - 1] : end;
		for (int i = 0; i < n; i++) all[count++] = (struct note){mine[i], r};
	}
	qsort(all, (size_t)count, sizeof *all, by_time);
	for (long i = 1; i < count; i++)
		if (all[i - 1].when >= begin && all[i].when <= end)
			changes += all[i].rank != all[i - 1].rank;
	if (changes == 0) { // one rank had it until its last turn: one change took all the time
		begin = all[0].when;
		end = all[count - 1].when;
		changes = 1;
	}
	free(all);
	return (end - begin) / (double)changes;
}

double handovers(const struct operation *o, int first, long n)
{
	static double *when, *all;
	int taken = n > NOTES ? NOTES : (int)n;
	if (!when)
		when = touched(NOTES * sizeof *when);
	if (!all && me == 0)
		all = touched((size_t)ranks * NOTES * sizeof *all);
	for (int i = 0; i < taken; i++) {
		if (me < first) {
			when[i] = 0;
			continue;
		}
		o->lock();
		when[i] = timing_now();
		o->unlock();
	}
	flavour_gather(when, taken, all);
	return me == 0 ? each(all, first, taken) * (double)n : 0;
}
