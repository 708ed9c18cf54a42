// SPDX-License-Identifier: BSD-3-Clause
// cluster.c - node-scope reductions, the binary tree over a scope, the exchange of addresses,
// broadcasts among consecutive ranks of a group. It must hold however many nodes there are.
#include "group.h"

static void reductions(void)
{
	int near = 0, sum = 0;
	for (int r = 0; r < np; r++)
		if (ARMCI_Same_node(r)) {
			near++;
			sum += r;
		}
	int i[2] = {me, 1};
	long l = me;
	long long ll = 1;
	float f = 1;
	double d[3] = {me, 1, -1}, e = 2;
	armci_msg_clus_igop(i, 2, "+");
	CHECK_INT(i[0], sum);
	CHECK_INT(i[1], near);
	armci_msg_clus_lgop(&l, 1, "+");
	CHECK_INT(l, sum);
	armci_msg_clus_llgop(&ll, 1, "+");
	CHECK_INT(ll, near);
	armci_msg_clus_fgop(&f, 1, "+");
	CHECK_DBL(f, near);
	armci_msg_clus_dgop(d, 3, "+");
	CHECK_DBL(d[0], sum);
	CHECK_DBL(d[2], -near);
	armci_msg_clus_dgop_scope(&e, 1, "+");
	CHECK_DBL(e, 2 * near);
}

// In a tree every rank of the scope but the root is the child of exactly one, and Up leads back.
static void tree(int scope, int member)
{
	int root = -9, up = -9, left = -9, right = -9,
	    *parent = check_alloc(sizeof(int) * (size_t)np);
	memset(parent, 0, sizeof(int) * (size_t)np);
	int *ups = check_alloc(sizeof(int) * (size_t)np);
	memset(ups, 0, sizeof(int) * (size_t)np);
	if (member) {
		armci_msg_bintree(scope, &root, &up, &left, &right);
		CHECK(root >= 0 && root < np);
		CHECK(up == -1 || (up >= 0 && up < np));
		CHECK((up == -1) == (root == me));
		if (left >= 0)
			parent[left] += me + 1;
		if (right >= 0)
			parent[right] += me + 1;
		ups[me] = up + 1;
	}
	armci_msg_igop(parent, np, "+");
	armci_msg_igop(ups, np, "+");
	for (int r = 0; r < np; r++)
		CHECK_INT(parent[r], ups[r]);
	if (member && scope == SCOPE_ALL)
		CHECK_INT(root, 0);
	free(parent);
	free(ups);
}

static void addresses(void)
{
	void *list[GROUP_MAX] = {0};
	list[me] = &list[me];
	armci_exchange_address(list, np);
	CHECK_PTR(list[me], &list[me]);
	for (int r = 0; r < np; r++) {
		void *theirs = &list[r];
		armci_msg_bcast(&theirs, sizeof theirs, r);
		CHECK_PTR(list[r], theirs);
	}
	struct members even = members_step(0, 2);
	ARMCI_Group g = group_make(&even);
	if (even.mine < 0)
		return;
	void *few[GROUP_MAX] = {0};
	few[even.mine] = (void *)(uintptr_t)(0x1000 + me);
	armci_exchange_address_grp(few, even.n, &g);
	for (int k = 0; k < even.n; k++)
		CHECK_PTR(few[k], (void *)(uintptr_t)(0x1000 + even.rank[k]));
	ARMCI_Group_free(&g);
}

// Group ranks 1 .. n-1 receive what group rank 1 has.
static void consecutive(void)
{
	if (np < 3 || armci_domain_count(ARMCI_DOMAIN_SMP) != 1) {
		check_skip("a broadcast among a part of a node needs 3 ranks on one node");
		return;
	}
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	int value = 100 + me;
	if (me >= 1)
		armci_grp_clus_brdcst(&value, sizeof value, 1, np - 1, &world);
	CHECK_INT(value, me ? 101 : 100);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(np <= GROUP_MAX);
	int *master = check_masters();
	reductions();
	tree(SCOPE_ALL, 1);
	tree(SCOPE_NODE, 1);
	tree(SCOPE_MASTERS, master[me] == me);
	free(master);
	addresses();
	consecutive();
	return check_end("cluster");
}
