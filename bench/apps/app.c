// SPDX-License-Identifier: BSD-3-Clause
// The start and end of an application, memory, the grid of ranks, and random numbers. What is
// measured is in contest.c.
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contest.h"

int app_me, app_n, app_reps = 3;
bool app_quick;

static void usage(const char *name, const char *arguments)
{
	if (app_me == 0)
		fprintf(stderr, "usage: %s [-q] [-r REPS] [-v VERSION,...] %s\n", name, arguments);
	ARMCI_Finalize();
	MPI_Finalize();
	exit(2);
}

// -1: it is none.
static int number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);
	return end > text && *end == 0 && value == (int)value ? (int)value : -1;
}

int app_start(int argc, char **argv, const char *arguments, int most)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &app_me);
	MPI_Comm_size(MPI_COMM_WORLD, &app_n);
	app_need(ARMCI_Init() == 0, "ARMCI_Init");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int option; (option = getopt(argc, argv, "+qr:v:")) != -1;)
		switch (option) {
		case 'q': app_quick = true; break;
		case 'r': app_reps = number(optarg); break;
		case 'v': app_chosen = optarg; break;
		default: usage(argv[0], arguments);
		}
	if (app_reps < 1 || app_reps > TIMING_REPS_MAX || argc - optind > most)
		usage(argv[0], arguments);
	if (app_quick)
		app_reps = 1;
	return optind;
}

int app_argument(int argc, char **argv, int index, int usual)
{
	return index < argc ? number(argv[index]) : usual;
}

int app_end(void)
{
	int status = app_wrong();
	ARMCI_Finalize();
	MPI_Finalize();
	return status;
}

void app_need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "rank %d: %s\n", app_me, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

void **app_malloc(size_t bytes)
{
	void **all = calloc((size_t)app_n, sizeof *all);
	app_need(all && ARMCI_Malloc(all, (armci_size_t)bytes) == 0, "ARMCI_Malloc");
	if (bytes > 0)
		memset(all[app_me], 0, bytes);
	ARMCI_Barrier();
	return all;
}

void app_free(void **all)
{
	ARMCI_Barrier();
	app_need(ARMCI_Free(all[app_me]) == 0, "ARMCI_Free");
	free(all);
}

void *app_private(size_t bytes)
{
	void *p = aligned_alloc(4096, (bytes + 4096) / 4096 * 4096);
	app_need(p != NULL, "no memory");
	return memset(p, 0, bytes);
}

void *app_local(size_t bytes)
{
	void *p = ARMCI_Malloc_local((armci_size_t)(bytes > 0 ? bytes : 1));
	app_need(p != NULL, "ARMCI_Malloc_local");
	return p;
}

double app_greatest(double x)
{
	MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return x;
}

void app_grid(int *rows, int *columns, int *row, int *column)
{
	for (int i = 1; i * i <= app_n; i++)
		if (app_n % i == 0)
			*rows = i;
	*columns = app_n / *rows;
	*row = app_me / *columns;
	*column = app_me % *columns;
}

uint64_t app_random(uint64_t key)
{
	key += 0x9e3779b97f4a7c15u;
	key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
	key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
	return key ^ (key >> 31);
}

double app_random_double(uint64_t key) { return (double)(app_random(key) >> 11) * 0x1p-53 - 0.5; }
