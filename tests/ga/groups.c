/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups: processor groups: created from lists and by splitting, reductions and broadcasts inside
 * one, arrays that live on one, and one made the default. Must keep the groups disjoint so that
 * both halves work at the same time.
 */
#include "gacheck.h"

/* Members of my half: the even or the odd world ranks. */
static int half(int *count)
{
	int list[64], me = GA_Nodeid(), n = GA_Nnodes(), i, group = 0, mine = 0, side;

	*count = 0;
	for (side = 0; side < 2 && side < n; side++) {
		int members = 0;

		for (i = side; i < n; i += 2)
			list[members++] = i;
		group = GA_Pgroup_create(list, members);
		if (me % 2 == side) {
			mine = group;
			*count = members;
		}
	}
	return mine;
}

static void collectives(int group, int count)
{
	int me = GA_Nodeid(), rank = GA_Pgroup_nodeid(group), sum = me, root[2] = {me, me + 1}, i,
	    want = 0;
	double top = me + 0.5;
	long longs[3] = {1, rank, -me};

	CHECK(GA_Pgroup_nnodes(group) == count, "group has %d members", GA_Pgroup_nnodes(group));
	CHECK(rank == me / 2, "group rank %d", rank);
	for (i = 0; i < count; i++) {
		CHECK(GA_Pgroup_absolute_id(group, i) == 2 * i + me % 2, "member %d", i);
		want += 2 * i + me % 2;
	}
	GA_Pgroup_igop(group, &sum, 1, (char *)"+");
	CHECK(sum == want, "sum in group is %d, not %d", sum, want);
	GA_Pgroup_dgop(group, &top, 1, (char *)"max");
	CHECK(top == 2 * (count - 1) + me % 2 + 0.5, "maximum in group is %g", top);
	GA_Pgroup_lgop(group, longs, 3, (char *)"+");
	CHECK(longs[0] == count && longs[1] == count * (count - 1L) / 2 && longs[2] == -want,
		"long sums differ");
	GA_Pgroup_brdcst(group, root, sizeof root, count - 1);
	CHECK(root[0] == 2 * (count - 1) + me % 2, "broadcast gave %d", root[0]);
	GA_Pgroup_sync(group);
}

/* An array on my half, hidden from the other; both halves write different numbers at one time. */
static void arrays(int group, int count)
{
	int dims[2] = {20, 30}, lo[2], hi[2] = {19, 29}, ld[1] = {30}, a, i, side = GA_Nodeid() % 2;
	static double all[20][30];
	double one = 1;

	a = NGA_Create_config(C_DBL, 2, dims, (char *)"half", NULL, group);
	GA_Zero(a);
	for (i = GA_Pgroup_nodeid(group); i < 20; i += count) {
		double row[30];
		int j;

		for (j = 0; j < 30; j++)
			row[j] = check_value(i, j) * (side ? -1 : 1);
		lo[0] = hi[0] = i;
		lo[1] = 0;
		NGA_Acc(a, lo, hi, row, ld, &one);
	}
	GA_Pgroup_sync(group);
	lo[0] = lo[1] = 0;
	hi[0] = 19;
	NGA_Get(a, lo, hi, all, ld);
	for (i = 0; i < 600; i++)
		CHECK(all[i / 30][i % 30] == check_value(i / 30, i % 30) * (side ? -1 : 1),
			"element %d", i);
	CHECK(GA_Get_pgroup(a) == group, "array reports group %d", GA_Get_pgroup(a));
	GA_Destroy(a);
}

/* With the half as default group every plain call means that half. */
static void default_group(int group, int count)
{
	int n = 40, a, index = 5, world = GA_Pgroup_get_world(), sum = 1;
	long last;

	GA_Pgroup_set_default(group);
	CHECK(GA_Nnodes() == count, "default group of %d", GA_Nnodes());
	a = NGA_Create(C_LONG, 1, &n, (char *)"default", NULL);
	GA_Zero(a);
	NGA_Read_inc(a, &index, 3);
	GA_Sync();
	last = NGA_Read_inc(a, &index, 0);
	CHECK(last == 3L * count, "counter of the half is %ld", last);
	GA_Igop(&sum, 1, (char *)"+");
	CHECK(sum == count, "sum in default group is %d", sum);
	GA_Sync();
	GA_Destroy(a);
	GA_Pgroup_set_default(world);
	GA_Sync();
}

static void splits(void)
{
	int world = GA_Pgroup_get_world(), me = GA_Nodeid(),
	    group = GA_Pgroup_split_irreg(world, me == 0), n = 1;

	GA_Pgroup_igop(group, &n, 1, (char *)"+");
	CHECK(n == (me == 0 ? 1 : GA_Nnodes() - 1), "split group of %d", n);
	GA_Pgroup_sync(group);
	GA_Sync();
}

int main(int argc, char **argv)
{
	int group, count;

	check_start(&argc, &argv);
	group = half(&count);
	collectives(group, count);
	arrays(group, count);
	default_group(group, count);
	GA_Sync();
	GA_Pgroup_destroy(group);
	splits();
	return check_finish("groups");
}
