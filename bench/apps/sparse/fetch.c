// SPDX-License-Identifier: BSD-3-Clause
// Brings the elements of x that a rank needs of others: by messages, and by one-sided gets in three ways. A product's x is in
// the buffer that the product before did not read, so one barrier is enough: whoever has passed it finds all of x, and nobody
// writes the buffer again before the next.
#include "fetch.h"

#include <stdlib.h>

#include "app.h"

void fetch_messages(struct fetch *f, int buffer)
{
	const struct part *p = f->part;
	double *x = part_x(p, app_me, buffer), *ghosts = x + p->mine;
	int open = 0;
	for (int r = 0; r < app_n; r++) {
		int from = p->ghost_from[r], count = p->ghost_from[r + 1] - from;
		if (count > 0)
			MPI_Irecv(ghosts + from, count, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &f->requests[open++]);
	}
	for (int r = 0; r < app_n; r++) {
		int from = p->wanted_from[r], count = p->wanted_from[r + 1] - from;
		for (int i = from; i < from + count; i++) f->packed[i] = x[p->wanted[i]];
		if (count > 0)
			MPI_Isend(f->packed + from, count, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &f->requests[open++]);
	}
	MPI_Waitall(open, f->requests, MPI_STATUSES_IGNORE);
}

// Owners by turns, so that not all ranks ask the same first.
static int owner(int turn) { return (app_me + turn) % app_n; }

static void wait_all(struct fetch *f)
{
	for (int turn = 1; turn < app_n; turn++)
		app_need(ARMCI_Wait(&f->handles[owner(turn)]) == 0, "ARMCI_Wait");
}

// A get for each run of an owner's elements.
static void get_runs(struct fetch *f, int buffer, int r)
{
	const struct part *p = f->part;
	double *theirs = part_x(p, r, buffer), *ghosts = part_x(p, app_me, buffer) + p->mine;
	for (int i = p->run_from[r]; i < p->run_from[r + 1]; i++) {
		const struct run *run = &p->run[i];
		int bytes = run->length * (int)sizeof(double);
		app_need(ARMCI_NbGet(theirs + run->at, ghosts + run->ghost, bytes, r, &f->handles[r]) == 0, "ARMCI_NbGet");
	}
}

void fetch_gets(struct fetch *f, int buffer)
{
	armci_msg_barrier();
	for (int turn = 1; turn < app_n; turn++) {
		ARMCI_INIT_HANDLE(&f->handles[owner(turn)]);
		get_runs(f, buffer, owner(turn));
	}
	wait_all(f);
}

void fetch_aggregate(struct fetch *f, int buffer)
{
	armci_msg_barrier();
	for (int turn = 1; turn < app_n; turn++) {
		armci_hdl_t *handle = &f->handles[owner(turn)];
		ARMCI_INIT_HANDLE(handle);
		ARMCI_SET_AGGREGATE_HANDLE(handle);
		get_runs(f, buffer, owner(turn));
		ARMCI_Test(handle); // sends what was collected, so that all owners work at once
	}
	wait_all(f);
	for (int turn = 1; turn < app_n; turn++) ARMCI_UNSET_AGGREGATE_HANDLE(&f->handles[owner(turn)]);
}

void fetch_vectors(struct fetch *f, int buffer)
{
	armci_msg_barrier();
	armci_giov_t *vectors = f->vectors + buffer * f->vector_from[app_n];
	for (int turn = 1; turn < app_n; turn++) {
		int r = owner(turn), from = f->vector_from[r];
		ARMCI_INIT_HANDLE(&f->handles[r]);
		app_need(ARMCI_NbGetV(vectors + from, f->vector_from[r + 1] - from, r, &f->handles[r]) == 0, "ARMCI_NbGetV");
	}
	wait_all(f);
}

static int by_length(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	return x->length != y->length ? (x->length > y->length) - (x->length < y->length) : x->ghost - y->ghost;
}

// Describes runs, which are sorted by owner and length, as vectors of a buffer: addresses from place `at` on, and the
// descriptors. Returns where the next addresses go.
static int describe(struct fetch *f, const struct run *run, int buffer, int at)
{
	const struct part *p = f->part;
	double *ghosts = part_x(p, app_me, buffer) + p->mine;
	armci_giov_t *v = f->vectors + buffer * f->vector_from[app_n];
	for (int r = 0; r < app_n; r++)
		for (int i = p->run_from[r]; i < p->run_from[r + 1]; i++, at++) {
			if (i == p->run_from[r] || run[i].length != run[i - 1].length)
				*v++ = (armci_giov_t){.src_ptr_array = f->sources + at, .dst_ptr_array = f->destinations + at,
					.bytes = run[i].length * (int)sizeof(double)};
			v[-1].ptr_array_len++;
			f->sources[at] = part_x(p, r, buffer) + run[i].at;
			f->destinations[at] = ghosts + run[i].ghost;
		}
	return at;
}

static void make_vectors(struct fetch *f, const struct part *p)
{
	int runs = p->run_from[app_n], count = 0;
	struct run *run = app_private((size_t)runs * sizeof *run);
	f->vector_from = app_private(((size_t)app_n + 1) * sizeof(int));
	for (int i = 0; i < runs; i++) run[i] = p->run[i];
	for (int r = 0; r < app_n; r++) {
		int from = p->run_from[r], end = p->run_from[r + 1];
		f->vector_from[r] = count;
		qsort(run + from, (size_t)(end - from), sizeof *run, by_length);
		for (int i = from; i < end; i++) count += i == from || run[i].length != run[i - 1].length;
	}
	f->vector_from[app_n] = count;
	f->vectors = app_private(2 * (size_t)count * sizeof *f->vectors);
	f->sources = app_private(2 * (size_t)runs * sizeof(void *));
	f->destinations = app_private(2 * (size_t)runs * sizeof(void *));
	describe(f, run, 1, describe(f, run, 0, 0));
	free(run);
}

void fetch_make(struct fetch *f, const struct part *p)
{
	*f = (struct fetch){.part = p};
	f->packed = app_private((size_t)p->wanted_from[app_n] * sizeof(double));
	f->requests = app_private(2 * (size_t)app_n * sizeof *f->requests);
	f->handles = app_private((size_t)app_n * sizeof *f->handles);
	make_vectors(f, p);
}

void fetch_free(struct fetch *f)
{
	void *all[] = {f->packed, f->requests, f->handles, f->vectors, f->vector_from, f->sources, f->destinations};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}
