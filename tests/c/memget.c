// SPDX-License-Identifier: BSD-3-Clause
// memget.c - memory of one rank alone (Memget), its description shipped to the others as bytes,
// used by them by Memat and by calls, and freed by its owner (Memctl).
#include "check.h"

enum { N = 1000 };

// Rank owner allocates; every rank writes its part; the owner looks.
static void one(int owner, int round)
{
	armci_meminfo_t info;
	memset(&info, 0, sizeof info);
	if (me == owner) {
		ARMCI_Memget((size_t)(N * np) * sizeof(long), &info, 0);
		CHECK_INT(info.cpid, owner);
		CHECK(info.size >= (size_t)(N * np) * sizeof(long));
		memset(ARMCI_Memat(&info, 0), 0, (size_t)(N * np) * sizeof(long));
	}
	armci_msg_bcast(&info, sizeof info, owner);
	CHECK_INT(info.cpid, owner);
	long *there = ARMCI_Memat(&info, 0), values[N], back[N];
	CHECK(there != NULL);
	for (int i = 0; i < N; i++)
		values[i] = round * 100000L + me * 10000L + i;
	CHECK_OK(ARMCI_Put(values, there + me * N, sizeof values, owner));
	CHECK_OK(ARMCI_Get(there + me * N, back, sizeof back, owner));
	CHECK_MEM(back, values, sizeof back);
	ARMCI_Barrier();
	if (me == owner)
		for (int r = 0; r < np; r++)
			for (int i = 0; i < N; i++)
				CHECK_INT(there[r * N + i], round * 100000L + r * 10000L + i);
	ARMCI_Barrier();
	ARMCI_Memdt(&info, 0);
	ARMCI_Memctl(&info);
	CHECK_PTR(info.addr, NULL);
	CHECK_PTR(info.armci_addr, NULL);
	armci_msg_barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	for (int round = 0; round < 20; round++)
		one(round % np, round);
	return check_end("memget");
}
