// SPDX-License-Identifier: BSD-3-Clause
// The lines a worker prints for armci_perf, tab-separated, one figure (row.h) or check a line:
//   CHECK name got want ok|WRONG
#include "perf.h"

#include <stdio.h>

#include "row.h"

static bool wrong;

static const char *const unit_name[] = {"ns", "MB/s", "Mop/s", "%", "MiB", "share"};

void perf_figures(const struct perf_case *c, const double *ours, const double *raw, int reps)
{
	double ratio[PERF_REPS_MAX] = {0};
	if (perf_me != 0)
		return;
	for (int i = 0; raw && i < reps; i++)
		ratio[i] = raw[i] != 0 ? ours[i] / raw[i] : 0;
	struct row r = {c->op, perf_label, c->shape, c->bytes, perf_n, unit_name[c->unit]};
	row_print(&r, ours, raw, reps, row_median(ratio, reps));
}

void perf_check(const char *name, double got, double want)
{
	bool ok = got == want;
	wrong = wrong || !ok;
	if (perf_me == 0)
		printf("CHECK\t%s\t%.17g\t%.17g\t%s\n", name, got, want, ok ? "ok" : "WRONG");
}

bool perf_failed(void) { return wrong; }
