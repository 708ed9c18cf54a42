// SPDX-License-Identifier: BSD-3-Clause
// Runs the versions of an application by turns, keeps the clock of communication, and prints their
// lines.
#include "contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "row.h"

const char *app_chosen;
static bool wrong;
static double spent, begun; // in communication; when it began

double app_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void app_comm_begin(void) { begun = app_now(); }
void app_comm_end(void) { spent += app_now() - begun; }
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
	const char *unit, const double *v)
{
	char op[80];
	struct row r = {op, what, shape, 0, app_n, unit};
	snprintf(op, sizeof op, "%s/%s", app, version);
	row_print(&r, v, NULL, app_reps, 0);
}

// What a version has measured: seconds of the slowest rank, and on rank 0 each rank's in
// communication, repetition after repetition.
struct measured {
	double time[APP_REPS_MAX];
	double *comm; // [rank][repetition]
	bool good;
};

static void once(const struct app_version *v, void *arg, struct measured *m, int rep)
{
	double all[app_n];
	MPI_Barrier(MPI_COMM_WORLD);
	app_comm_clear();
	m->time[rep] = app_greatest(v->run(arg));
	MPI_Gather(&spent, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int r = 0; app_me == 0 && r < app_n; r++) m->comm[r * app_reps + rep] = all[r] * 1e9;
	if (!v->good(arg))
		m->good = false;
}

static void report(const char *app, const char *shape, const struct app_version *v,
	struct measured *m, double flops)
{
	double rate[APP_REPS_MAX];
	char rank[16];
	for (int i = 0; i < app_reps; i++) {
		rate[i] = flops / m->time[i] / 1e6;
		m->time[i] *= 1e9;
	}
	print(app, v->name, "", shape, "ns", m->time);
	if (flops > 0)
		print(app, v->name, ":rate", shape, "Mop/s", rate);
	for (int r = 0; r < app_n; r++) {
		snprintf(rank, sizeof rank, "%d", r);
		print(app, v->name, ":comm", rank, "ns", m->comm + (size_t)r * (size_t)app_reps);
	}
	printf("CHECK\t%s/%s %s\t%s\n", app, v->name, shape, m->good ? "ok" : "WRONG");
}

void app_contest(const char *app, const char *shape, const struct app_version *versions, int count,
	void *arg, double flops)
{
	struct measured *all = calloc((size_t)count, sizeof *all);
	app_need(all != NULL, "no memory");
	for (int i = 0; i < count; i++) {
		all[i].good = true;
		all[i].comm = app_private((size_t)app_n * (size_t)app_reps * sizeof(double));
	}
	int some = 0;
	for (int rep = 0; rep < app_reps; rep++)
		for (int k = 0; k < count; k++) {
			int i = (k + rep) % count; // no version always follows the same one
			if (chosen(versions[i].name))
				once(&versions[i], arg, &all[i], rep);
		}
	for (int i = 0; i < count; i++) {
		if (chosen(versions[i].name)) {
			some++;
			wrong = wrong || !all[i].good;
			if (app_me == 0)
				report(app, shape, &versions[i], &all[i], flops);
		}
		free(all[i].comm);
	}
	app_need(some > 0, "-v names no version of this application");
	free(all);
}
