// SPDX-License-Identifier: BSD-3-Clause
// collective_mix - broadcasts, reductions, barriers of random kinds, sizes and roots straight after
// each other, with no pause in between: the steps of one must never be mistaken for those of the
// next. All values are known.
#include "check.h"

enum { MOST = 300000, ROUNDS = 300 };

static int *ints;
static double *doubles;

// Sizes around every boundary: a few elements, some hundred bytes, some KiB, many pieces.
static int some_size(uint64_t *state)
{
	static const int limit[] = {4, 40, 600, 10000, MOST};
	return check_between(state, 1, limit[check_between(state, 0, 4)]);
}

static void broadcast(int n, int root, int round)
{
	for (int i = 0; i < n; i++) ints[i] = me == root ? round * 7 + i : -1;
	armci_msg_bcast(ints, n * (int)sizeof(int), root);
	for (int i = 0; i < n; i++)
		if (ints[i] != round * 7 + i)
			CHECK_INT(ints[i], round * 7 + i);
}

static void sum(int n, int round)
{
	for (int i = 0; i < n; i++) doubles[i] = (double)(me + 1) * (i % 1000 + round);
	armci_msg_dgop(doubles, n, (char *)"+");
	double ranks = np * (np + 1) / 2.0;
	for (int i = 0; i < n; i++)
		if (doubles[i] != ranks * (i % 1000 + round))
			CHECK_DBL(doubles[i], ranks * (i % 1000 + round));
}

static void greatest(int n, int round)
{
	for (int i = 0; i < n; i++) ints[i] = (me + i + round) % np * 1000 + i % 7;
	armci_msg_igop(ints, n, (char *)"max");
	for (int i = 0; i < n; i++)
		if (ints[i] != (np - 1) * 1000 + i % 7)
			CHECK_INT(ints[i], (np - 1) * 1000 + i % 7);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	uint64_t state = (uint64_t)check_setting("MIX_SEED", 20261121);
	ints = check_alloc(MOST * sizeof *ints);
	doubles = check_alloc(MOST * sizeof *doubles);
	for (int round = 0; round < check_rounds(ROUNDS); round++) {
		int n = some_size(&state), root = check_between(&state, 0, np - 1);
		switch (check_between(&state, 0, 6)) {
		case 0:
		case 1:
		case 2: broadcast(n, root, round); break;
		case 3:
		case 4: sum(n, round); break;
		case 5: greatest(n, round); break;
		default: armci_msg_barrier();
		}
	}
	free(ints);
	free(doubles);
	return check_end("collective_mix");
}
