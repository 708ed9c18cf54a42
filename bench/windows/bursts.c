// SPDX-License-Identifier: BSD-3-Clause
// Bursts of operations in an epoch of start and complete, as in the paper that the figures are of:
// bandwidth; the same with work after each operation; with a target that is late; from several
// origins to one target.
#include "windows.h"

#include <stdio.h>

enum { MIDDLE = 64 << 10 };

static const size_t sizes[] = {8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};

static int size;
static bool get;
static long work; // rounds after each operation; of the late target

static void burst(int target)
{
	for (int k = 0; k < BURST; k++) {
		char *from = area.mine + (size_t)k * (size_t)size;
		MPI_Aint at = (MPI_Aint)k * size;
		if (get)
			MPI_Get(from, size, MPI_BYTE, target, at, size, MPI_BYTE, area.win);
		else
			MPI_Put(from, size, MPI_BYTE, target, at, size, MPI_BYTE, area.win);
		if (work > 0)
			timing_compute(work);
	}
}

// From the others, or the only one, to the target. Rank 0's time counts.
static void epoch(int target)
{
	if (me == target) {
		MPI_Win_post(area.others, 0, area.win);
		MPI_Win_wait(area.win);
	} else {
		MPI_Win_start(area.others, 0, area.win);
		burst(target);
		MPI_Win_complete(area.win);
	}
}
TIMING_LOOP(epochs, me == 0, epoch(1))
TIMING_LOOP(from_all, me == 0, epoch(0))

static void bandwidth_of(size_t bytes, bool gets)
{
	struct figure f = {.op = gets ? "bandwidth-get" : "bandwidth-put",
		.x = "-",
		.bytes = (double)bytes,
		.ops = BURST,
		.unit = TIMING_MBS,
		.ours = epochs,
		.raw = gets ? message_stream_in : message_stream_out};
	size = (int)bytes;
	get = gets;
	message_sizes(bytes);
	measure(&f);
	if (!sockets)
		return;
	socket_sizes(gets ? 0 : bytes, gets ? bytes : 8, BURST);
	f.op = gets ? "bandwidth-get/socket" : "bandwidth-put/socket";
	f.raw = socket_trips;
	measure(&f);
}

void bandwidth(void)
{
	if (!area_open((size_t)BURST << 20))
		return;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i += quick ? 3 : 1) {
		bandwidth_of(sizes[i], false);
		bandwidth_of(sizes[i], true);
	}
	area_close();
}

static void work_burst(void)
{
	for (int k = 0; me == 0 && k < BURST; k++) timing_compute(work);
}
TIMING_LOOP(work_alone, me == 0, work_burst())

// How much of the shorter of the two, transfer and work, goes on beside the other.
static double hidden(double transfer, double alone, double both)
{
	double shorter = transfer < alone ? transfer : alone,
	       part = 100 * (transfer + alone - both) / shorter;
	return part > 100 ? 100 : part;
}

void overlap(void)
{
	static const int us[] = {0, 2, 5, 10, 20, 50, 100};
	double transfer = 0, part[TIMING_REPS_MAX];
	size = MIDDLE;
	get = false;
	if (!area_open((size_t)BURST * MIDDLE))
		return;
	for (size_t i = 0; i < sizeof us / sizeof us[0]; i += quick ? 6 : 1) {
		char x[16];
		snprintf(x, sizeof x, "%d", us[i]);
		struct figure f = {.op = "overlap-time",
			.x = x,
			.bytes = MIDDLE,
			.ops = BURST,
			.unit = TIMING_NS,
			.ours = epochs,
			.raw = us[i] > 0 ? work_alone : NULL};
		work = us[i] > 0 ? timing_rounds(us[i] * 1e-6) : 0;
		struct samples s = measure(&f);
		if (us[i] == 0) {
			transfer = timing_median(s.ours, s.count);
			continue;
		}
		for (int k = 0; k < s.count; k++)
			part[k] = hidden(transfer, s.raw[k], s.ours[k]);
		f.op = "overlap-part";
		f.unit = TIMING_PERCENT;
		print_figure(&f, part, NULL, s.count);
	}
	work = 0;
	area_close();
}

static long late, early;

// The target has posted before the clock starts. It computes before it waits: an implementation
// that needs its help has to wait for it. In all it always computes as long, so that the caches are
// always as cold.
static double skewed(long n)
{
	double t = 0;
	for (long i = 0; i < n; i++) {
		if (me == 1) {
			timing_compute(early);
			MPI_Win_post(area.others, 0, area.win);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		if (me == 1) {
			timing_compute(late);
			MPI_Win_wait(area.win);
			continue;
		}
		double begin = timing_now();
		MPI_Win_start(area.others, 0, area.win);
		burst(1);
		MPI_Win_complete(area.win);
		t += timing_now() - begin;
	}
	return t;
}

void skew(void)
{
	enum { LATES = 5 };
	static const int ms[LATES] = {0, 1, 2, 5, 10};
	size = MIDDLE;
	if (!area_open((size_t)BURST * MIDDLE))
		return;
	for (int i = 0; i < 2 * LATES; i += quick ? 3 : 1) {
		char x[16];
		snprintf(x, sizeof x, "%d", ms[i / 2]);
		struct figure f = {.op = i % 2 ? "skew-get" : "skew-put",
			.x = x,
			.bytes = MIDDLE,
			.ops = BURST,
			.unit = TIMING_MBS,
			.ours = skewed,
			.turns = quick ? 2 : 12};
		get = i % 2;
		late = timing_rounds(ms[i / 2] * 1e-3);
		early = timing_rounds((ms[LATES - 1] - ms[i / 2]) * 1e-3);
		measure(&f);
	}
	area_close();
}

void origins(void)
{
	char x[16];
	size = MIDDLE;
	get = false;
	if (!area_open((size_t)BURST * MIDDLE))
		return;
	snprintf(x, sizeof x, "%d", ranks - 1);
	struct figure f = {.op = "origins",
		.x = x,
		.bytes = MIDDLE,
		.ops = (ranks - 1) * BURST,
		.unit = TIMING_MBS,
		.ours = from_all};
	measure(&f);
	area_close();
}
