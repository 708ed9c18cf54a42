// SPDX-License-Identifier: BSD-3-Clause
// Products of a sparse matrix and a vector that are both divided among the ranks, as in paper 000,
// section 6.2.2: each rank brings the elements of x that its columns need, not all of x, multiplies
// its rows, and makes the next x of them. x has changed with every product, so every product
// communicates. The versions differ in how the elements come: packed messages; a nonblocking get
// for each run of neighbours; the same calls collected by an aggregate handle for each owner; one
// vector get for each owner; packed puts by the owners, with a notification.
//
//   sparse [-q] [-r REPS] [-v VERSION,...] [FILE.mtx] without FILE, the matrix of generate.c; -q: a
//   smaller one
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch.h"

struct sparse {
	struct part part;
	struct fetch fetch;
	double *expected; // on rank 0: the sum of all products, by one process
};

// Nothing of an earlier version's may be taken for this one's.
static void begin(struct part *p)
{
	for (int buffer = 0; buffer < 2; buffer++) {
		double *x = part_x(p, app_me, buffer);
		for (int i = 0; i < p->mine + p->ghosts; i++) x[i] = NAN;
	}
	for (int i = 0; i < p->mine; i++) {
		part_x(p, app_me, 0)[i] = x_first(p->first + i);
		p->sum[i] = 0;
	}
}

static double run(struct sparse *s, void (*fetch)(struct fetch *, int))
{
	struct part *p = &s->part;
	begin(p);
	ARMCI_Barrier();
	double start = timing_now();
	for (int k = 0; k < SPARSE_PRODUCTS; k++) {
		double *x = part_x(p, app_me, k % 2), *next = part_x(p, app_me, (k + 1) % 2);
		APP_COMM(fetch(&s->fetch, k % 2));
		multiply(&p->a, x, p->y);
		for (int i = 0; i < p->mine; i++) {
			p->sum[i] += p->y[i];
			next[i] = x_next(p->first + i, k, p->scale, p->y[i]);
		}
	}
	APP_COMM(ARMCI_Barrier());
	return timing_now() - start;
}

// The same by one process.
static double *expect(const struct rows *a, double scale)
{
	size_t bytes = (size_t)a->count * sizeof(double);
	double *x = app_private(bytes), *y = app_private(bytes), *sum = app_private(bytes);
	for (int i = 0; i < a->count; i++) x[i] = x_first(i);
	for (int k = 0; k < SPARSE_PRODUCTS; k++) {
		multiply(a, x, y);
		for (int i = 0; i < a->count; i++) {
			sum[i] += y[i];
			x[i] = x_next(i, k, scale, y[i]);
		}
	}
	free(x);
	free(y);
	return sum;
}

static bool good(void *arg)
{
	const struct part *p = &((struct sparse *)arg)->part;
	const double *expected = ((struct sparse *)arg)->expected;
	double *sum = app_private((size_t)p->n * sizeof(double)), greatest = 0;
	int count[app_n], wrong = 0;
	for (int r = 0; r < app_n; r++) count[r] = p->starts[r + 1] - p->starts[r];
	MPI_Gatherv(p->sum, p->mine, MPI_DOUBLE, sum, count, p->starts, MPI_DOUBLE, 0,
		MPI_COMM_WORLD);
	for (int i = 0; app_me == 0 && i < p->n; i++) greatest = fmax(greatest, fabs(expected[i]));
	for (int i = 0; app_me == 0 && i < p->n; i++)
		wrong += !(fabs(sum[i] - expected[i]) <= 1e-12 * greatest);
	if (wrong > 0)
		fprintf(stderr, "sparse: %d of %d elements are wrong\n", wrong, p->n);
	MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
	free(sum);
	return wrong == 0;
}

static double messages(void *arg) { return run(arg, fetch_messages); }
static double gets(void *arg) { return run(arg, fetch_gets); }
static double aggregate(void *arg) { return run(arg, fetch_aggregate); }
static double vectors(void *arg) { return run(arg, fetch_vectors); }
static double packed_puts(void *arg) { return run(arg, fetch_puts); }

static const struct app_version versions[] = {
	{"mpi", messages, good},
	{"armci", gets, good},
	{"armci-aggregate", aggregate, good},
	{"armci-vector", vectors, good},
	{"armci-put", packed_puts, good},
};

// Reads or makes the matrix on rank 0, divides it, and computes there what must come out. shape: a
// word for it.
static void start(struct sparse *s, const char *file, char *shape, size_t room)
{
	struct entries e = {0};
	struct rows whole = {0};
	long sizes[2];
	if (app_me == 0) {
		if (file)
			market_read(&e, file);
		else
			generate(&e, app_quick);
		sizes[0] = e.n;
		sizes[1] = e.count;
		whole = rows_of(&e);
		entries_free(&e);
	}
	MPI_Bcast(sizes, 2, MPI_LONG, 0, MPI_COMM_WORLD);
	snprintf(shape, room, "%ld/%ld", sizes[0], sizes[1]);
	part_make(&s->part, app_me == 0 ? &whole : NULL);
	fetch_make(&s->fetch, &s->part);
	if (app_me == 0)
		s->expected = expect(&whole, s->part.scale);
	rows_free(&whole);
}

int main(int argc, char **argv)
{
	struct sparse s = {0};
	char shape[64];
	int argument = app_start(argc, argv, "[FILE.mtx]", 1);
	app_need(argc - argument <= 1, "sparse: only one FILE.mtx");
	start(&s, argument < argc ? argv[argument] : NULL, shape, sizeof shape);
	long entries = 0, mine = s.part.a.start[s.part.mine];
	MPI_Allreduce(&mine, &entries, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	app_contest("sparse", shape, versions, sizeof versions / sizeof *versions, &s,
		2.0 * SPARSE_PRODUCTS * (double)entries);
	fetch_free(&s.fetch);
	part_free(&s.part);
	free(s.expected);
	return app_end();
}
