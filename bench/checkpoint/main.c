// SPDX-License-Identifier: BSD-3-Clause
// main.c - checkpoints beside dd: all ranks save their memory, and as many dd write as many zeros,
// to the same directory, by turns. Both rewrite two files alternately and end with fdatasync.
// Prints lines of timing.h in MB of all ranks' memory per second. It does not judge.
//   build/bench/bench run build/bin/armcirun -n 2 build/bench/checkpoint DIRECTORY [MIB [REPS]]
#include <armci.h>
#include <message.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

static int me, np, rid, turn;
static size_t bytes; // of a rank
static uint64_t *memory;
static const char *directory;

// Ends the job where a step that is measured did not work.
static void demand(int ok, const char *what)
{
	if (!ok)
		ARMCI_Error((char *)what, 1);
}

// Seconds until all ranks have done it, the same on all.
static double timed(void (*work)(void))
{
	ARMCI_Barrier();
	double begin = timing_now();
	work();
	ARMCI_Barrier();
	double seconds = timing_now() - begin;
	armci_msg_brdcst(&seconds, sizeof seconds, 0);
	return seconds;
}

static void save(void) { demand(ARMCI_Ckpt(rid) == ARMCI_CKPT, "ARMCI_Ckpt failed"); }
static void restore(void) { ARMCI_Ckpt_Recover(rid, 0); }

static void dd(void)
{
	char command[600];
	snprintf(command, sizeof command,
		"dd if=/dev/zero of='%s/dd.%d.%d' bs=1M count=%zu conv=notrunc,fdatasync "
		"2>/dev/null",
		directory, me, turn % 2, bytes >> 20);
	demand(system(command) == 0, "dd failed");
}

// Changes a word of every n-th page. A block has four.
static void change(size_t n)
{
	turn++;
	for (size_t i = 0; i < bytes / 8; i += 512 * n)
		memory[i] += (uint64_t)turn * 0x9e3779b97f4a7c15u;
}

static void print(const char *op, const char *shape, const double *ours, const double *raw, int n)
{
	const struct timing_figure f = {op, "", shape, (double)bytes * np, np, TIMING_MBS};
	double mine[TIMING_REPS_MAX], other[TIMING_REPS_MAX];
	for (int i = 0; i < n; i++) {
		mine[i] = timing_in_unit(TIMING_MBS, ours[i], (double)bytes * np);
		other[i] = raw ? timing_in_unit(TIMING_MBS, raw[i], (double)bytes * np) : 0;
	}
	if (me == 0)
		timing_print(&f, mine, raw ? other : NULL, n);
}

// All pages change between two checkpoints; dd goes first every other time.
static void everything(int reps)
{
	double ours[TIMING_REPS_MAX] = {0}, raw[TIMING_REPS_MAX] = {0};
	for (int i = -2; i < reps; i++) { // the first two make the files
		change(1);
		double first = timed(i % 2 ? save : dd), second = timed(i % 2 ? dd : save);
		if (i >= 0)
			ours[i] = i % 2 ? first : second, raw[i] = i % 2 ? second : first;
	}
	print("checkpoint", "all-changed", ours, raw, reps);
}

// Few pages change, or none.
static void parts(int reps)
{
	double few[TIMING_REPS_MAX] = {0}, none[TIMING_REPS_MAX] = {0}, back[TIMING_REPS_MAX] = {0};
	for (int i = 0; i < reps; i++) {
		save();
		save(); // both files are the memory
		none[i] = timed(save);
		change(400); // one block of 100
		few[i] = timed(save);
		back[i] = timed(restore);
	}
	print("checkpoint", "1%-changed", few, NULL, reps);
	print("checkpoint", "unchanged", none, NULL, reps);
	print("restore", "-", back, NULL, reps);
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	me = armci_msg_me(), np = armci_msg_nproc();
	demand(argc > 1, "usage: checkpoint DIRECTORY [MIB [REPS]]");
	directory = argv[1];
	bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 256) << 20;
	int reps = argc > 3 ? atoi(argv[3]) : 7;
	demand(bytes > 0 && reps > 0 && reps <= TIMING_REPS_MAX, "MIB or REPS is wrong");
	void **base = calloc((size_t)np, sizeof *base);
	demand(ARMCI_Malloc(base, (armci_size_t)bytes) == 0, "no memory");
	memory = base[me];
	for (size_t i = 0; i < bytes / 8; i++)
		memory[i] = i * 0x9e3779b97f4a7c15u;
	char prefix[512];
	snprintf(prefix, sizeof prefix, "%s/checkpoint", directory);
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	rid = ARMCI_Ckpt_init(prefix, &world, 0, 0, NULL);
	demand(rid > 0, "ARMCI_Ckpt_init failed");
	everything(reps);
	parts(reps);
	ARMCI_Ckpt_finalize(rid);
	for (int i = 0; i < 2; i++) {
		char name[600];
		snprintf(name, sizeof name, "%s.%d.%d", prefix, me, i);
		remove(name);
		snprintf(name, sizeof name, "%s/dd.%d.%d", directory, me, i);
		remove(name);
	}
	ARMCI_Free(memory);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
