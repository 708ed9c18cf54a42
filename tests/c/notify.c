// SPDX-License-Identifier: BSD-3-Clause
// notify.c - armci_notify and armci_notify_wait: counted per pair of ranks, ordered after the puts
// before them.
#define _GNU_SOURCE
#include <unistd.h>

#include "check.h"

enum { N = 1000, ROUNDS = 200, MIXED = 400, PLACES = 10000, SIDE = 100, LATE = 150 };

// Data flows around the ring; each wait makes the data of that round visible.
static void ring(void **base)
{
	int to = (me + 1) % np, from = (me + np - 1) % np, waited;
	double data[N], *mine = base[me];
	for (int round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < N; i++)
			data[i] = round * 1e6 + me * 1e4 + i;
		CHECK_OK(ARMCI_Put(data, base[to], sizeof data, to));
		CHECK_INT(armci_notify(to), round);
		int received = armci_notify_wait(from, &waited);
		CHECK_INT(waited, round);
		CHECK(received >= round);
		for (int i = 0; i < N; i++)
			CHECK_DBL(mine[i], round * 1e6 + from * 1e4 + i);
		armci_msg_barrier();
	}
}

// Notifications may come many at a time; each wait takes one.
static void ahead(void)
{
	int waited, base = ROUNDS;
	if (np < 3) { // the ring used the same pair
		for (int i = 1; i <= 5; i++)
			CHECK_INT(armci_notify((me + 1) % np), base + i);
		// with its fence: between nodes a message may come after a bare barrier
		ARMCI_Barrier();
		for (int i = 1; i <= 5; i++) {
			CHECK_INT(armci_notify_wait((me + np - 1) % np, &waited), base + 5);
			CHECK_INT(waited, base + i);
		}
		return;
	}
	for (int r = 0; r < np; r++)
		for (int i = 0; i <= r; i++)
			CHECK_INT(armci_notify(r), (r == (me + 1) % np ? base : 0) + i + 1);
	ARMCI_Barrier();
	for (int r = np - 1; r >= 0; r--)
		for (int i = 0; i <= me; i++) {
			int before = me == (r + 1) % np ? base : 0;
			CHECK_INT(armci_notify_wait(r, &waited), before + me + 1);
			CHECK_INT(waited, before + i + 1);
		}
}

// Stores something of another kind and size each round at a rank, and in the model of what lies
// there.
static void store(int round, double *model, double *there, int to)
{
	static double out[PLACES];
	int n = (int[]){1, 30, 500, 9000}[round / 5 % 4], stride = SIDE * sizeof(double);
	int rows = n / SIDE + 1, count[2] = {SIDE / 2 * sizeof(double), rows};
	double one = 1.0;
	for (int i = 0; i < PLACES; i++)
		out[i] = round * 1e5 + i;
	switch (round % 5) {
	case 0:
		CHECK_OK(ARMCI_PutS(out, &stride, there, &stride, count, 1, to));
		for (int r = 0; r < rows; r++)
			memcpy(model + r * SIDE, out + r * SIDE, count[0]);
		return;
	case 1: // by the data server, usually
		CHECK_OK(ARMCI_Acc(ARMCI_ACC_DBL, &one, out, there, n * (int)sizeof(double), to));
		for (int i = 0; i < n; i++)
			model[i] += out[i];
		return;
	case 2:
		CHECK_OK(ARMCI_NbPut(out, there, n * (int)sizeof(double), to, NULL));
		break;
	case 3:
		n = 1;
		CHECK_OK(ARMCI_PutValueDouble(out[0], there, to));
		break;
	default:
		CHECK_OK(ARMCI_Put(out, there, n * (int)sizeof(double), to));
	}
	memcpy(model, out, n * sizeof(double));
}

// Whatever was stored before a notification is there when that has come, and the counters go on by
// one. All ranks store the same.
static void mixed(void **base)
{
	int to = (me + 1) % np, from = (me + np - 1) % np, waited;
	static double model[PLACES];
	memset(base[me], 0, sizeof model);
	ARMCI_Barrier();
	int sent = armci_notify(to), first = sent, before;
	armci_notify_wait(from, &before);
	for (int round = 0; round < MIXED; round++) {
		int times = 1 + (round % 3 == 2);
		store(round, model, base[to], to);
		for (int i = 0; i < times; i++)
			CHECK_INT(armci_notify(to), ++sent);
		for (int i = 0; i < times; i++)
			armci_notify_wait(from, &waited);
		CHECK(memcmp(base[me], model, sizeof model) == 0);
		armci_msg_barrier();
	}
	CHECK_INT(waited - before, sent - first); // as often as this rank has notified another
}

// A token goes round the ring. Each rank keeps it for a time of another order, so that the next one
// looks, is about to sleep, or sleeps when it is notified.
static void late(void **base)
{
	static const int pauses[] = {0, 20, 120, 200, 260, 400, 3000}; // microseconds
	int to = (me + 1) % np, from = (me + np - 1) % np, waited;
	volatile long *mine = base[me];
	memset(base[me], 0, sizeof *mine);
	ARMCI_Barrier();
	for (long round = 1; round <= LATE; round++) {
		if (me != 0 || round > 1) {
			CHECK(armci_notify_wait(from, &waited) >= waited);
			CHECK(*mine == (me == 0 ? round - 1 : round));
		}
		usleep((useconds_t)pauses[(round * 5 + me) % 7] +
			(useconds_t)(round * 7919 + me * 104729) % 40);
		CHECK_OK(ARMCI_PutValueLong(round, base[to], to));
		CHECK(armci_notify(to) > 0);
	}
	if (me == 0)
		CHECK(armci_notify_wait(from, &waited) >= waited);
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(PLACES * sizeof(double));
	ring(base);
	ahead();
	mixed(base);
	late(base);
	check_free(base);
	return check_end("notify");
}
