// SPDX-License-Identifier: BSD-3-Clause
// Runs the versions of an application by turns, keeps the clock of communication, and prints their lines.
#include "contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"

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

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

// A line of a figure whose repetitions are v; they are sorted afterwards.
static void print(const char *app, const char *version, const char *what, const char *shape, const char *unit, double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, by_size);
	double median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	printf("PERF\t%s/%s%s\t%s\t0\t%d\t%s\t%.6g\t%.6g\t%.6g\t0\t0\t0\t0\n", app, version, what, shape, app_n, unit, median, v[0], v[n - 1]);
}

// What a version has measured: seconds of the slowest rank, and on rank 0 each rank's in communication, repetition after repetition.
struct measured {
	double time[APP_REPS_MAX];
	double *comm; // [rank][repetition]
	bool good;
};

static void once(const struct app_version *v, void *arg, struct measured *m, int rep)
{
	double all[app_n];
	MPI_Barrier(MPI_COMM_WORLD);
	spent = 0;
	m->time[rep] = app_greatest(v->run(arg));
	MPI_Gather(&spent, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int r = 0; app_me == 0 && r < app_n; r++) m->comm[r * app_reps + rep] = all[r] * 1e9;
	if (!v->good(arg))
		m->good = false;
}

static void report(const char *app, const char *shape, const struct app_version *v, struct measured *m, double flops)
{
	double rate[APP_REPS_MAX];
	char rank[16];
	for (int i = 0; i < app_reps; i++) {
		rate[i] = flops / m->time[i] / 1e6;
		m->time[i] *= 1e9;
	}
	print(app, v->name, "", shape, "ns", m->time, app_reps);
	if (flops > 0)
		print(app, v->name, ":rate", shape, "Mop/s", rate, app_reps);
	for (int r = 0; r < app_n; r++) {
		snprintf(rank, sizeof rank, "%d", r);
		print(app, v->name, ":comm", rank, "ns", m->comm + (size_t)r * (size_t)app_reps, app_reps);
	}
	printf("CHECK\t%s/%s %s\t%s\n", app, v->name, shape, m->good ? "ok" : "WRONG");
}

void app_contest(const char *app, const char *shape, const struct app_version *versions, int count, void *arg, double flops)
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
			int i = (k + rep) % count; // nobody always comes after the same
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
