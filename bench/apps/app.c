// SPDX-License-Identifier: BSD-3-Clause
// The start and end of an application, and memory. What is measured is in contest.c.
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

int app_start(int argc, char **argv, const char *arguments)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &app_me);
	MPI_Comm_size(MPI_COMM_WORLD, &app_n);
	app_need(ARMCI_Init() == 0, "ARMCI_Init");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int option; (option = getopt(argc, argv, "+qr:v:")) != -1;)
		switch (option) {
		case 'q': app_quick = true; break;
		case 'r': app_reps = atoi(optarg); break;
		case 'v': app_chosen = optarg; break;
		default: usage(argv[0], arguments);
		}
	if (app_reps < 1 || app_reps > APP_REPS_MAX)
		usage(argv[0], arguments);
	if (app_quick)
		app_reps = 1;
	return optind;
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

double app_greatest(double x)
{
	MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return x;
}

void app_grid(int ranks, int *rows, int *columns)
{
	int r = 1;
	for (int i = 1; i * i <= ranks; i++)
		if (ranks % i == 0)
			r = i;
	*rows = r;
	*columns = ranks / r;
}
