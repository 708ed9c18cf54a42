// SPDX-License-Identifier: BSD-3-Clause
// Brings the elements of x that a rank needs of others: by messages, by one-sided gets in three
// ways, or by puts of their owners. A product's x is in the buffer that the product before did not
// read, so one barrier is enough for gets: a rank that has passed it finds all of x, and the buffer
// is not written again before the next barrier. An owner's runs are in order of their length, so
// that calls of one size follow each other, which an aggregate handle collects fastest.
#include "fetch.h"

#include <stdlib.h>

void fetch_messages(struct fetch *f, int buffer)
{
	const struct part *p = f->part;
	double *x = part_x(p, app_me, buffer), *ghosts = x + p->mine;
	int open = 0;
	for (int r = 0; r < app_n; r++) {
		int from = p->ghost_from[r], count = p->ghost_from[r + 1] - from;
		if (count > 0)
			MPI_Irecv(ghosts + from, count, MPI_DOUBLE, r, 0, MPI_COMM_WORLD,
				&f->requests[open++]);
	}
	for (int r = 0; r < app_n; r++) {
		int from = p->wanted_from[r], count = p->wanted_from[r + 1] - from;
		for (int i = from; i < from + count; i++) f->packed[i] = x[p->wanted[i]];
		if (count > 0)
			MPI_Isend(f->packed + from, count, MPI_DOUBLE, r, 0, MPI_COMM_WORLD,
				&f->requests[open++]);
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

// A get for each run of an owner's elements, on an aggregate handle, or on the implicit one (null).
static void get_runs(struct fetch *f, int buffer, int r, armci_hdl_t *handle)
{
	const struct part *p = f->part;
	double *theirs = part_x(p, r, buffer), *ghosts = part_x(p, app_me, buffer) + p->mine;
	for (int i = p->run_from[r]; i < p->run_from[r + 1]; i++) {
		const struct run *run = &p->run[i];
		int bytes = run->length * (int)sizeof(double);
		app_need(ARMCI_NbGet(theirs + run->at, ghosts + run->ghost, bytes, r, handle) == 0,
			"ARMCI_NbGet");
	}
}

void fetch_gets(struct fetch *f, int buffer)
{
	armci_msg_barrier();
	for (int turn = 1; turn < app_n; turn++) get_runs(f, buffer, owner(turn), NULL);
	app_need(ARMCI_WaitAll() == 0, "ARMCI_WaitAll");
}

void fetch_aggregate(struct fetch *f, int buffer)
{
	armci_msg_barrier();
	for (int turn = 1; turn < app_n; turn++) {
		armci_hdl_t *handle = &f->handles[owner(turn)];
		ARMCI_INIT_HANDLE(handle);
		ARMCI_SET_AGGREGATE_HANDLE(handle);
		get_runs(f, buffer, owner(turn), handle);
		ARMCI_Test(handle); // sends what was collected, so that all owners work at once
	}
	wait_all(f);
	for (int turn = 1; turn < app_n; turn++)
		ARMCI_UNSET_AGGREGATE_HANDLE(&f->handles[owner(turn)]);
}

void fetch_vectors(struct fetch *f, int buffer)
{
	armci_msg_barrier();
	armci_giov_t *vectors = f->vectors + buffer * f->vector_from[app_n];
	for (int turn = 1; turn < app_n; turn++) {
		int r = owner(turn), from = f->vector_from[r];
		ARMCI_INIT_HANDLE(&f->handles[r]);
		app_need(ARMCI_NbGetV(vectors + from, f->vector_from[r + 1] - from, r,
				 &f->handles[r]) == 0,
			"ARMCI_NbGetV");
	}
	wait_all(f);
}

// Whether one of the two needs something of the other.
static bool neighbour(const struct part *p, int r)
{
	return p->ghost_from[r] < p->ghost_from[r + 1] || p->wanted_from[r] < p->wanted_from[r + 1];
}

// A neighbour's notification says that its elements are here, and that it has done with the product
// before: its ghosts of the next may be written.
void fetch_puts(struct fetch *f, int buffer)
{
	const struct part *p = f->part;
	const double *x = part_x(p, app_me, buffer);
	for (int turn = 1; turn < app_n; turn++) {
		int r = owner(turn), from = p->wanted_from[r], count = p->wanted_from[r + 1] - from;
		if (!neighbour(p, r))
			continue;
		double *there = part_x(p, r, buffer) + (p->starts[r + 1] - p->starts[r]) +
			p->place[r];
		double *to = ARMCI_Same_node(r) ? there : f->packed + from;
		for (int i = 0; i < count; i++) to[i] = x[p->wanted[from + i]];
		if (to != there && count > 0)
			app_need(ARMCI_Put(to, there, count * (int)sizeof *to, r) == 0,
				"ARMCI_Put");
		armci_notify(r);
	}
	for (int turn = 1, count; turn < app_n; turn++)
		if (neighbour(p, owner(turn)))
			armci_notify_wait(owner(turn), &count);
}

// Whether a run is the first of its owner, or longer than the one before.
static bool opens(const struct part *p, int r, int run)
{
	return run == p->run_from[r] || p->run[run].length != p->run[run - 1].length;
}

// Describes the runs as vectors of a buffer: addresses from place `at` on, and the descriptors.
// Returns where the next addresses go.
static int describe(struct fetch *f, int buffer, int at)
{
	const struct part *p = f->part;
	const struct run *run = p->run;
	double *ghosts = part_x(p, app_me, buffer) + p->mine;
	armci_giov_t *v = f->vectors + buffer * f->vector_from[app_n];
	for (int r = 0; r < app_n; r++)
		for (int i = p->run_from[r]; i < p->run_from[r + 1]; i++, at++) {
			if (opens(p, r, i))
				*v++ = (armci_giov_t){.src_ptr_array = f->sources + at,
					.dst_ptr_array = f->destinations + at,
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
	f->vector_from = app_private(((size_t)app_n + 1) * sizeof(int));
	for (int r = 0; r < app_n; r++) {
		f->vector_from[r] = count;
		for (int i = p->run_from[r]; i < p->run_from[r + 1]; i++) count += opens(p, r, i);
	}
	f->vector_from[app_n] = count;
	f->vectors = app_private(2 * (size_t)count * sizeof *f->vectors);
	f->sources = app_private(2 * (size_t)runs * sizeof(void *));
	f->destinations = app_private(2 * (size_t)runs * sizeof(void *));
	describe(f, 1, describe(f, 0, 0));
}

void fetch_make(struct fetch *f, const struct part *p)
{
	*f = (struct fetch){.part = p};
	f->packed = app_local((size_t)p->wanted_from[app_n] * sizeof(double));
	f->requests = app_private(2 * (size_t)app_n * sizeof *f->requests);
	f->handles = app_private((size_t)app_n * sizeof *f->handles);
	make_vectors(f, p);
}

void fetch_free(struct fetch *f)
{
	ARMCI_Free_local(f->packed);
	void *all[] = {f->requests, f->handles, f->vectors, f->vector_from, f->sources,
		f->destinations};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}
