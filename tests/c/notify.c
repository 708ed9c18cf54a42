// SPDX-License-Identifier: BSD-3-Clause
// notify.c - armci_notify and armci_notify_wait: counted per pair of ranks, ordered after the puts before them.
#include "check.h"

enum { N = 1000, ROUNDS = 200 };

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
		ARMCI_Barrier(); // with its fence: between nodes a message may come after a bare barrier
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

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(N * sizeof(double));
	ring(base);
	ahead();
	check_free(base);
	return check_end("notify");
}
