// SPDX-License-Identifier: BSD-3-Clause
// Operations of windows of MPI. Each rank's word in the target's window counts its puts: an epoch
// that ends before its data is there is wrong.
#include "epochs.h"

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "waits.h"

static struct {
	MPI_Win win;
	long *words;      // of the window at this rank: one for each rank
	MPI_Group others; // rank 0: all the others; the others: rank 0
	long number;      // of this rank's puts, or of the epochs that it has waited for
	bool made;
} w;

// Collective.
static void make(void)
{
	MPI_Group world;
	int list[64] = {0}, count = me == 0 ? ranks - 1 : 1;
	if (w.made)
		return;
	need(ranks <= 64, "windows of 64 ranks at most");
	for (int i = 0; me == 0 && i < count; i++) list[i] = i + 1;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, count, list, &w.others);
	MPI_Group_free(&world);
	MPI_Win_allocate((MPI_Aint)(ranks * (int)sizeof(long)), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &w.words, &w.win);
	memset(w.words, 0, (size_t)ranks * sizeof(long));
	MPI_Barrier(MPI_COMM_WORLD);
	w.made = true;
}

static void put_epoch(int target)
{
	w.number++;
	MPI_Win_start(w.others, 0, w.win);
	MPI_Put(&w.number, 1, MPI_LONG, target, me, 1, MPI_LONG, w.win);
	MPI_Win_complete(w.win);
}

static void exposure(void)
{
	MPI_Win_post(w.others, 0, w.win);
	MPI_Win_wait(w.win);
}

static void ping(void) { put_epoch(peer()); }

static void pong(void)
{
	w.number++;
	exposure();
	check(w.words[peer()] == w.number);
}

double epochs(long n)
{
	make();
	need(ranks == 2, "epochs by turns are of two ranks");
	return pair_turns(&(struct operation){.pairs = true, .send = ping, .receive = pong}, n);
}

double origins(long n)
{
	make();
	double begin = timing_now();
	for (long i = 0; i < n; i++) {
		if (me != 0) {
			put_epoch(0);
			continue;
		}
		w.number++;
		exposure();
		for (int r = 1; r < ranks; r++) check(w.words[r] == w.number);
	}
	return me == 0 ? timing_now() - begin : 0;
}

void window_lock(void)
{
	make();
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
}

void window_unlock(void) { MPI_Win_unlock(0, w.win); }

void epochs_end(void)
{
	if (!w.made)
		return;
	MPI_Win_free(&w.win);
	MPI_Group_free(&w.others);
}
