/*
 * copy_runs.c - copies between two lists of runs, each repeated: flattened datatypes on both sides.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "runs.h"

/* A place in one side. */
struct at {
	const struct k_runs *side;
	char                *base; /* of the element */
	int64_t              run, left;
	char                *p;
};

static void enter(struct at *a, int64_t run)
{
	if (run == a->side->n) {
		a->base += a->side->extent;
		run = 0;
	}
	a->run = run;
	a->p = a->base + a->side->run[run].offset;
	a->left = a->side->run[run].bytes;
}

static void advance(struct at *a, int64_t n)
{
	a->p += n;
	a->left -= n;
	if (a->left == 0)
		enter(a, a->run + 1);
}

void k_copy_runs(void *dst, const struct k_runs *to, const void *src, const struct k_runs *from,
	int64_t nbytes)
{
	struct at d = {.side = to, .base = dst}, s = {.side = from, .base = (char *)(uintptr_t)src};

	enter(&d, 0);
	enter(&s, 0);
	while (nbytes > 0) {
		int64_t n = d.left < s.left ? d.left : s.left;

		if (n > nbytes)
			n = nbytes;
		k_copy(d.p, s.p, (size_t)n);
		nbytes -= n;
		advance(&d, n);
		advance(&s, n);
	}
}
