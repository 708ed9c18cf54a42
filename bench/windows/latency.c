// SPDX-License-Identifier: BSD-3-Clause
// How long one operation takes with all the synchronisation it needs: ping-pong by put, in epochs
// of both sides and by locks, and both sides putting at a time, between fences.
#include "windows.h"

#include <string.h>

static const size_t sizes[] = {8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static int size;

static void put(void) { MPI_Put(area.mine, size, MPI_BYTE, peer, 0, size, MPI_BYTE, area.win); }

static void ping(void)
{
	MPI_Win_start(area.others, 0, area.win);
	put();
	MPI_Win_complete(area.win);
}

static void pong(void)
{
	MPI_Win_post(area.others, 0, area.win);
	MPI_Win_wait(area.win);
}

// One turn is one epoch, of the one or the other.
TIMING_LOOP(epochs, true, (i % 2 == me ? ping : pong)())

static long last; // word that was put

// see waits until the data's last word has arrived. It asks the MPI for progress meanwhile, which
// some MPIs need.
static void see(long word)
{
	const long *at = (const long *)(area.base + size - (int)sizeof word);
	while (__atomic_load_n(at, __ATOMIC_ACQUIRE) != word) {
		int there;
		MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
	}
}

static void locked_put(void)
{
	memcpy(area.mine + size - (int)sizeof last, &last, sizeof last);
	MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, area.win);
	put();
	MPI_Win_unlock(peer, area.win);
}

TIMING_LOOP(locked, true, last++; if (i % 2 == me) locked_put(); else see(last))
TIMING_LOOP(fences, true, put(); MPI_Win_fence(0, area.win))

void latency(void)
{
	if (!area_open(1 << 20))
		return;
	for (int i = 0; i < SIZES; i += quick ? 3 : 1) {
		struct figure f = {.op = "pingpong-pscw",
			.x = "-",
			.bytes = (double)sizes[i],
			.unit = TIMING_NS,
			.ours = epochs,
			.raw = message_half_trips};
		size = (int)sizes[i];
		message_sizes(sizes[i]);
		measure(&f);
		f.op = "pingpong-lock";
		f.ours = locked;
		memset(area.base, 0, 1 << 20);
		measure(&f);
		if (sockets) {
			socket_sizes(sizes[i], sizes[i], 1);
			f.op = "pingpong-lock/socket";
			f.raw = socket_half_trips;
			measure(&f);
		}
	}
	area_close();
}

void bidirectional(void)
{
	if (!area_open(1 << 20))
		return;
	for (int i = 0; i < SIZES; i += quick ? 3 : 1) {
		struct figure f = {.op = "bidirectional",
			.x = "-",
			.bytes = (double)sizes[i],
			.unit = TIMING_NS,
			.ours = fences,
			.raw = message_exchanges};
		size = (int)sizes[i];
		message_sizes(sizes[i]);
		MPI_Win_fence(0, area.win);
		measure(&f);
		MPI_Win_fence(MPI_MODE_NOSUCCEED, area.win);
	}
	area_close();
}

// Rank 0 gets between two fences, as the active target model of MPI-2 has it.
static void fenced_get(void)
{
	MPI_Win_fence(0, area.win);
	if (me == 0)
		MPI_Get(area.mine, size, MPI_BYTE, peer, 0, size, MPI_BYTE, area.win);
	MPI_Win_fence(0, area.win);
}
TIMING_LOOP(fenced_gets, true, fenced_get())

void get_fence(void)
{
	static const int bytes[] = {1024, 131072};
	if (!area_open(1 << 20))
		return;
	for (int i = 0; i < 2; i++) {
		struct figure f = {.op = "get-fence",
			.x = "-",
			.bytes = bytes[i],
			.unit = TIMING_NS,
			.ours = fenced_gets};
		size = bytes[i];
		measure(&f);
	}
	area_close();
}
