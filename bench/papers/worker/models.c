// SPDX-License-Identifier: BSD-3-Clause
// The models of paper 002, section 4. What is on the critical path of a large get adds up, 1/b =
// sum of 1/b_i; of what overlaps, the slower counts. The paper has a copy, or a registration, at
// both sides. Here the target's memory is registered once and its device reads it in place, so each
// model has a second form with the caller's side only (-here); and what is pipelined is as fast as
// its slowest stage.
#ifdef PERF_VERBS
#include "models.h"

#include <math.h>
#include <string.h>

#include "papers.h"

// Rates in MB/s.
struct rate {
	double copy, reg, net;
};

static double slower(double a, double b) { return a < b ? a : b; }

static double baseline(struct rate b) { return 1 / (2 / b.copy + 1 / b.net); }
static double baseline_here(struct rate b) { return 1 / (1 / b.copy + 1 / b.net); }
static double registered(struct rate b) { return 1 / (2 / b.reg + 1 / b.net); }
static double registered_here(struct rate b) { return 1 / (1 / b.reg + 1 / b.net); }
static double copied_there(struct rate b) { return 1 / (1 / b.reg + 1 / b.copy + 1 / b.net); }
static double overlapped(struct rate b) { return 1 / (1 / slower(b.reg, b.copy) + 1 / b.net); }
static double overlapped_here(struct rate b) { return slower(b.reg, b.net); }
static double pipelined_here(struct rate b) { return slower(b.copy, b.net); }

static const struct {
	const char *name, *scheme;
	double (*of)(struct rate b);
} models[] = {
	{"model-baseline", "baseline", baseline},
	{"model-baseline-here", "baseline", baseline_here},
	{"model-pipelined-here", "buffered", pipelined_here},
	{"model-register", "register", registered},
	{"model-register-here", "register", registered_here},
	{"model-overlap", "overlap", overlapped},
	{"model-overlap-here", "overlap", overlapped_here},
};

static const double *find(const char *name, const struct rdma_way *way, int n,
	double figure[][TIMING_REPS_MAX])
{
	for (int i = 0; i < n; i++)
		if (strcmp(way[i].name, name) == 0)
			return figure[i];
	return NULL;
}

void models_rows(const struct perf_case *c, const struct rdma_way *way, int n,
	double figure[][TIMING_REPS_MAX])
{
	const double *copy = find("copy", way, n, figure),
		     *reg = find("registration", way, n, figure),
		     *net = find("raw", way, n, figure);
	if (perf_me != 0 || !copy || !reg || !net)
		return;
	for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
		double said[TIMING_REPS_MAX];
		const double *scheme = find(models[k].scheme, way, n, figure);
		for (int i = 0; i < perf_reps; i++)
			said[i] = models[k].of((struct rate){copy[i], reg[i], net[i]});
		if (scheme)
			papers_row(c, models[k].name, said, scheme);
	}
}

// The paper prints 51.68 MB/s below the formula of registration at both sides, which gives 64.36;
// with one side registered and the other one copied, as its shared memory needs, it is 51.57.
void models_of_paper(const char *op)
{
	static const struct {
		const char *name;
		double (*of)(struct rate b);
		double printed;
		bool gives; // what is printed
	} of_paper[] = {
		{"paper-baseline", baseline, 43.01, true},
		{"paper-register", registered, 51.68, false},
		{"paper-register+copy", copied_there, 51.68, true},
		{"paper-overlap", overlapped, 60.48, true},
	};
	const struct rate cluster = {.copy = 149, .reg = 350, .net = 101.8};
	struct perf_case c = {.op = op, .shape = "-", .unit = TIMING_MBS};
	double wrong = 0, said[TIMING_REPS_MAX], printed[TIMING_REPS_MAX];
	for (size_t k = 0; k < sizeof of_paper / sizeof of_paper[0]; k++) {
		for (int i = 0; i < perf_reps; i++)
			said[i] = of_paper[k].of(cluster), printed[i] = of_paper[k].printed;
		papers_row(&c, of_paper[k].name, said, printed);
		wrong += (fabs(said[0] - printed[0]) < 0.2) != of_paper[k].gives;
	}
	perf_check("models of paper 002", wrong, 0);
}
#endif
