// SPDX-License-Identifier: BSD-3-Clause
// Runs the versions of an application by turns, keeps the clock of communication, and prints their
// lines.
#include "contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

const char *app_chosen;
static bool wrong;
static double spent, begun; // in communication; when it began

void app_comm_begin(void) { begun = timing_now(); }
void app_comm_end(void) { spent += timing_now() - begun; }
void app_comm_clear(void) { spent = 0; }
bool app_wrong(void) { return wrong; }

static bool chosen(const char *name)
{
	size_t length = strlen(name);
	for (const char *p = app_chosen; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, name, length) == 0 && (p[length] == ',' || p[length] == 0))
			return true;
	}
	return !app_chosen;
}

static void print(const char *app, const char *version, const char *what, const char *shape,
	enum timing_unit unit, const double *v)
{
	char op[80];
	struct timing_figure f = {op, what, shape, 0, app_n, unit};
	snprintf(op, sizeof op, "%s/%s", app, version);
	timing_print(&f, v, NULL, app_reps);
}

// A version as it is measured.
struct measured {
	const struct app_version *version;
	void *arg;
	double *comm; // [rank][repetition], on rank 0: ns that each rank spent in communication
	int rep, wrong; // repetitions that were made, and that gave a wrong result
};

// Seconds of the slowest rank.
static double run(void *arg, long n)
{
	struct measured *m = arg;
	double all[app_n];
	(void)n;
	MPI_Barrier(MPI_COMM_WORLD);
	app_comm_clear();
	double time = app_greatest(m->version->run(m->arg));
	MPI_Gather(&spent, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int r = 0; app_me == 0 && r < app_n; r++)
		m->comm[r * app_reps + m->rep] = all[r] * 1e9;
	m->wrong += !m->version->good(m->arg);
	m->rep++;
	return time;
}

static void report(const char *app, const char *shape, const struct measured *m,
	const double *seconds, double flops)
{
	const char *name = m->version->name;
	double ns[TIMING_REPS_MAX], rate[TIMING_REPS_MAX];
	char text[120];
	for (int i = 0; i < app_reps; i++) {
		ns[i] = timing_in_unit(TIMING_NS, seconds[i], 0);
		rate[i] = timing_in_unit(TIMING_MOPS, seconds[i] / flops, 0);
	}
	print(app, name, "", shape, TIMING_NS, ns);
	if (flops > 0)
		print(app, name, ":rate", shape, TIMING_MOPS, rate);
	for (int r = 0; r < app_n; r++) {
		snprintf(text, sizeof text, "%d", r);
		print(app, name, ":comm", text, TIMING_NS, m->comm + (size_t)r * (size_t)app_reps);
	}
	snprintf(text, sizeof text, "%s/%s %s", app, name, shape);
	timing_check(text, m->wrong, 0);
}

void app_contest(const char *app, const char *shape, const struct app_version *versions, int count,
	void *arg, double flops)
{
	struct measured *all = calloc((size_t)count, sizeof *all);
	struct timing_way *ways = calloc((size_t)count, sizeof *ways);
	int some = 0;
	app_need(all && ways, "no memory");
	for (int i = 0; i < count; i++)
		if (chosen(versions[i].name)) {
			all[i].version = &versions[i];
			all[i].arg = arg;
			all[i].comm = app_private((size_t)(app_n * app_reps) * sizeof(double));
			ways[i] = (struct timing_way){.sample = run, .arg = &all[i], .n = 1};
			some++;
		}
	app_need(some > 0, "-v names no version of this application");
	for (int rep = 0; rep < app_reps; rep++) timing_repeat(ways, count, rep, 1);
	for (int i = 0; i < count; i++) {
		wrong = wrong || all[i].wrong > 0;
		if (app_me == 0 && ways[i].sample)
			report(app, shape, &all[i], ways[i].each, flops);
		free(all[i].comm);
	}
	free(ways);
	free(all);
}
