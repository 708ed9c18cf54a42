// SPDX-License-Identifier: BSD-3-Clause
// group_use.c - what groups are for: memory, transfers, reductions, broadcasts and barriers of a
// group, two groups at work at the same time, the MPI communicator of a group. Making groups is in
// group.c.
#include "group.h"

static void memory(ARMCI_Group *g, const struct members *m)
{
	void *base[GROUP_MAX];
	int n = 100 + 10 * m->mine, right = (m->mine + 1) % m->n;
	for (int round = 0; round < 10; round++) {
		CHECK_OK(round % 2 ? ARMCI_Malloc_group_memdev(base, n * 8, g, "dram")
			: ARMCI_Malloc_group(base, n * 8, g));
		for (int i = 0; i < n; i++)
			((long *)base[m->mine])[i] = 0;
		armci_msg_group_barrier(g);
		long value = 1000L * round + m->mine, one = 1, scale = 5;
		int world = ARMCI_Absolute_id(g, right);
		CHECK_OK(ARMCI_Put(&value, (long *)base[right] + 3, sizeof value, world));
		CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, &scale, &one, base[0], sizeof one, m->rank[0]));
		ARMCI_GroupFence(g);
		armci_msg_group_barrier(g);
		CHECK_INT(((long *)base[m->mine])[3], 1000L * round + (m->mine + m->n - 1) % m->n);
		CHECK_INT(ARMCI_GetValueLong(base[0], m->rank[0]), 5L * m->n);
		armci_msg_group_barrier(g);
		CHECK_OK(ARMCI_Free_group(base[m->mine], g));
	}
	CHECK_OK(ARMCI_Malloc_group(base, m->mine ? 64 : 0, g)); // the first member has none
	CHECK((base[0] == NULL) && (m->n == 1 || base[1] != NULL));
	CHECK_OK(ARMCI_Free_group(base[m->mine], g));
}

static void reductions(ARMCI_Group *g, const struct members *m)
{
	int sum = 0, i = me + 1, two[2] = {me, -me};
	long l = 1L << m->mine % 40;
	long long ll = me;
	float f = (float)m->mine;
	double d[1000];
	for (int k = 0; k < m->n; k++)
		sum += m->rank[k] + 1;
	armci_msg_group_igop(&i, 1, "+", g);
	CHECK_INT(i, sum);
	armci_msg_group_igop(two, 2, "max", g);
	CHECK_INT(two[0], m->rank[m->n - 1]);
	CHECK_INT(two[1], -m->rank[0]);
	armci_msg_group_lgop(&l, 1, "or", g);
	CHECK_INT(l, (1L << m->n) - 1);
	armci_msg_group_llgop(&ll, 1, "min", g);
	CHECK_INT(ll, m->rank[0]);
	armci_msg_group_fgop(&f, 1, "+", g);
	CHECK_DBL(f, m->n * (m->n - 1) / 2);
	for (int k = 0; k < 1000; k++)
		d[k] = k + me;
	armci_msg_group_dgop(d, 1000, "+", g);
	for (int k = 0; k < 1000; k++)
		CHECK_DBL(d[k], (double)k * m->n + sum - m->n);
	d[0] = me;
	armci_msg_group_gop_scope(SCOPE_ALL, d, 1, "absmax", ARMCI_DOUBLE, g);
	CHECK_DBL(d[0], m->rank[m->n - 1]);
}

// The root is told by its world rank.
static void broadcasts(ARMCI_Group *g, const struct members *m)
{
	static unsigned char buffer[200000], want[200000];
	for (int k = 0; k < m->n; k++)
		for (int n = 0; n <= 200000; n = n * 9 + 1) {
			check_fill(want, (size_t)n, (uint64_t)(n + k));
			if (k == m->mine)
				memcpy(buffer, want, (size_t)n);
			else
				memset(buffer, 0, (size_t)n);
			armci_msg_group_bcast_scope(SCOPE_ALL, buffer, n, m->rank[k], g);
			CHECK_MEM(buffer, want, (size_t)n);
		}
}

static void communicator(ARMCI_Group *g, const struct members *m)
{
#if defined(MPI_VERSION) && !defined(ARMCI_ABI_MPI)
	MPI_Comm comm = armci_group_comm(g);
	int size, rank, token = m->mine;
	MPI_Comm_size(comm, &size);
	MPI_Comm_rank(comm, &rank);
	CHECK_INT(size, m->n);
	CHECK_INT(rank, m->mine);
	MPI_Bcast(&token, 1, MPI_INT, size - 1, comm);
	CHECK_INT(token, size - 1);
#else
	(void)g;
	(void)m;
#endif
}

static void use(ARMCI_Group *g, const struct members *m)
{
	memory(g, m);
	reductions(g, m);
	broadcasts(g, m);
	communicator(g, m);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(np <= GROUP_MAX);
	struct members all = members_step(0, 1), even = members_step(0, 2),
		       odd = members_step(1, 2), two = members_none();
	for (int r = 0; r < np && r < 2; r++)
		members_add(&two, r);
	ARMCI_Group w, e = group_make(&even), o, t = group_make(&two);
	ARMCI_Group_get_world(&w);
	use(&w, &all);
	if (odd.n)
		o = group_make(&odd);
	for (int round = 0; round < 3; round++) { // two disjoint groups work at the same time
		if (even.mine >= 0)
			use(&e, &even);
		else
			use(&o, &odd);
		if (two.mine >= 0)
			use(&t, &two);
	}
	if (even.mine >= 0)
		ARMCI_Group_free(&e);
	if (odd.mine >= 0)
		ARMCI_Group_free(&o);
	if (two.mine >= 0)
		ARMCI_Group_free(&t);
	return check_end("group_use");
}
