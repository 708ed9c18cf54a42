// SPDX-License-Identifier: BSD-3-Clause
// Divides the matrix among the ranks and finds out which elements of x each needs of which other:
// once, before any product.
#include <stdlib.h>
#include <string.h>

#include "sparse.h"

static int *numbers(int count)
{
	return app_private((size_t)count * sizeof(int));
}

// Contiguous rows for each rank, about as many entries for each.
static void divide(struct part *p, const struct rows *whole)
{
	p->starts = numbers(app_n + 1);
	if (whole) {
		long total = whole->start[whole->count];
		for (int r = 0, i = 0; r < app_n; r++) {
			while (i < whole->count && whole->start[i] < total * r / app_n) i++;
			p->starts[r] = i;
		}
		p->starts[app_n] = whole->count;
	}
	MPI_Bcast(p->starts, app_n + 1, MPI_INT, 0, MPI_COMM_WORLD);
	p->n = p->starts[app_n];
	p->first = p->starts[app_me];
	p->mine = p->starts[app_me + 1] - p->first;
}

static void scatter(struct part *p, const struct rows *whole)
{
	int *lengths = NULL, count[app_n], from[app_n], mine = 0;
	for (int r = 0; r < app_n; r++) count[r] = p->starts[r + 1] - p->starts[r];
	if (whole) {
		lengths = numbers(p->n);
		for (int i = 0; i < p->n; i++) lengths[i] = whole->start[i + 1] - whole->start[i];
	}
	struct rows *a = &p->a;
	a->count = p->mine;
	a->start = numbers(p->mine + 1);
	MPI_Scatterv(lengths, count, p->starts, MPI_INT, a->start + 1, p->mine, MPI_INT, 0,
		MPI_COMM_WORLD);
	for (int i = 0; i < p->mine; i++) a->start[i + 1] += a->start[i];
	mine = a->start[p->mine];
	for (int r = 0; whole && r < app_n; r++) {
		from[r] = whole->start[p->starts[r]];
		count[r] = whole->start[p->starts[r + 1]] - from[r];
	}
	a->column = numbers(mine);
	a->value = app_private((size_t)mine * sizeof *a->value);
	MPI_Scatterv(whole ? whole->column : NULL, count, from, MPI_INT, a->column, mine, MPI_INT,
		0, MPI_COMM_WORLD);
	MPI_Scatterv(whole ? whole->value : NULL, count, from, MPI_DOUBLE, a->value, mine,
		MPI_DOUBLE, 0, MPI_COMM_WORLD);
	free(lengths);
}

// No element of y*scale is greater than half the greatest of x.
static double scale_of(const struct rows *a)
{
	double most = 0;
	for (int i = 0; i < a->count; i++) {
		double sum = 0;
		for (int k = a->start[i]; k < a->start[i + 1]; k++)
			sum += a->value[k] < 0 ? -a->value[k] : a->value[k];
		most = sum > most ? sum : most;
	}
	most = app_greatest(most);
	return most > 0 ? 0.5 / most : 1;
}

// Finds the ghosts, makes columns local, and returns the ghosts' columns.
static int *find_ghosts(struct part *p)
{
	int *local = numbers(p->n), *ghost, entries = p->a.start[p->mine];
	for (int k = 0; k < entries; k++) local[p->a.column[k]] = 1;
	p->ghost_from = numbers(app_n + 1);
	ghost = numbers(p->n);
	for (int r = 0; r < app_n; r++) {
		p->ghost_from[r] = p->ghosts;
		for (int c = p->starts[r]; r != app_me && c < p->starts[r + 1]; c++)
			if (local[c]) {
				local[c] = p->mine + p->ghosts;
				ghost[p->ghosts++] = c;
			}
	}
	p->ghost_from[app_n] = p->ghosts;
	for (int i = 0; i < p->mine; i++) local[p->first + i] = i;
	for (int k = 0; k < entries; k++) p->a.column[k] = local[p->a.column[k]];
	free(local);
	return ghost;
}

static int by_length(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	return x->length != y->length ? (x->length > y->length) - (x->length < y->length) :
					x->ghost - y->ghost;
}

// Ghosts that are neighbours at their owner form runs.
static void find_runs(struct part *p, const int *ghost)
{
	int count = 0;
	p->run = app_private((size_t)p->ghosts * sizeof *p->run);
	p->run_from = numbers(app_n + 1);
	for (int r = 0; r < app_n; r++) {
		p->run_from[r] = count;
		for (int g = p->ghost_from[r]; g < p->ghost_from[r + 1]; g++) {
			if (g > p->ghost_from[r] && ghost[g] == ghost[g - 1] + 1)
				p->run[count - 1].length++;
			else
				p->run[count++] = (struct run){.at = ghost[g] - p->starts[r],
					.ghost = g,
					.length = 1};
		}
		qsort(p->run + p->run_from[r], (size_t)(count - p->run_from[r]), sizeof *p->run,
			by_length);
	}
	p->run_from[app_n] = count;
}

// Tells every owner which of its elements are needed here: the lists that messages are packed by.
static void exchange_lists(struct part *p, const int *ghost)
{
	int give[app_n], take[app_n];
	for (int r = 0; r < app_n; r++) take[r] = p->ghost_from[r + 1] - p->ghost_from[r];
	MPI_Alltoall(take, 1, MPI_INT, give, 1, MPI_INT, MPI_COMM_WORLD);
	p->place = numbers(app_n);
	MPI_Alltoall(p->ghost_from, 1, MPI_INT, p->place, 1, MPI_INT, MPI_COMM_WORLD);
	p->wanted_from = numbers(app_n + 1);
	for (int r = 0; r < app_n; r++) p->wanted_from[r + 1] = p->wanted_from[r] + give[r];
	p->wanted = numbers(p->wanted_from[app_n]);
	MPI_Alltoallv(ghost, take, p->ghost_from, MPI_INT, p->wanted, give, p->wanted_from, MPI_INT,
		MPI_COMM_WORLD);
	for (int i = 0; i < p->wanted_from[app_n]; i++) p->wanted[i] -= p->first;
}

void part_make(struct part *p, const struct rows *whole)
{
	*p = (struct part){0};
	divide(p, whole);
	scatter(p, whole);
	p->scale = scale_of(&p->a);
	int *ghost = find_ghosts(p), size = p->mine + p->ghosts;
	find_runs(p, ghost);
	exchange_lists(p, ghost);
	free(ghost);
	p->sizes = numbers(app_n);
	MPI_Allgather(&size, 1, MPI_INT, p->sizes, 1, MPI_INT, MPI_COMM_WORLD);
	p->memory = app_malloc(2 * (size_t)size * sizeof(double));
	p->y = app_private((size_t)p->mine * sizeof(double));
	p->sum = app_private((size_t)p->mine * sizeof(double));
}

void part_free(struct part *p)
{
	app_free(p->memory);
	rows_free(&p->a);
	void *all[] = {p->starts, p->sizes, p->ghost_from, p->run, p->run_from, p->wanted,
		p->wanted_from, p->place, p->y, p->sum};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
	memset(p, 0, sizeof *p);
}

double *part_x(const struct part *p, int rank, int buffer)
{
	return (double *)p->memory[rank] + (size_t)buffer * (size_t)p->sizes[rank];
}
