// SPDX-License-Identifier: BSD-3-Clause
// domain.c - nodes and locality: counts add up, translations agree with each other and with
// Same_node. It must hold however many nodes there are.
#include "check.h"

static void totals(void)
{
	int count = armci_domain_count(ARMCI_DOMAIN_SMP), sum = 0;
	CHECK(count >= 1 && count <= np);
	for (int id = 0; id < count; id++) {
		int n = armci_domain_nprocs(ARMCI_DOMAIN_SMP, id);
		CHECK(n >= 1);
		sum += n;
		for (int k = 0; k < n; k++) {
			int r = armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, id, k);
			CHECK(r >= 0 && r < np);
			CHECK_INT(armci_domain_id(ARMCI_DOMAIN_SMP, r), id);
		}
	}
	CHECK_INT(sum, np);
}

// The ranks of a domain follow each other; if those of all nodes do, domains are nodes.
static void neighbours(void)
{
	int count = armci_domain_count(ARMCI_DOMAIN_SMP), nodes = 0;
	for (int id = 0; id < count; id++) {
		int first = armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, id, 0);
		for (int k = 1; k < armci_domain_nprocs(ARMCI_DOMAIN_SMP, id); k++)
			CHECK_INT(armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, id, k), first + k);
	}
	int first = me, last = me, near = 0;
	for (int r = np - 1; r >= 0; r--)
		if (ARMCI_Same_node(r)) {
			near++;
			first = r;
			last = r > last ? r : last;
		}
	int block = last - first + 1 == near;
	armci_msg_igop(&block, 1, "min");
	nodes = me == first;
	armci_msg_igop(&nodes, 1, "+");
	CHECK_INT(count, block ? nodes : np);
}

static void mine(void)
{
	int id = armci_domain_my_id(ARMCI_DOMAIN_SMP), near = 0;
	CHECK_INT(armci_domain_id(ARMCI_DOMAIN_SMP, me), id);
	CHECK_INT(ARMCI_Same_node(me), 1);
	for (int r = 0; r < np; r++) {
		int same = armci_domain_id(ARMCI_DOMAIN_SMP, r) == id;
		CHECK_INT(!!armci_domain_same_id(ARMCI_DOMAIN_SMP, r), same);
		CHECK_INT(!!armci_sameclusnode(r), !!ARMCI_Same_node(r));
		CHECK(ARMCI_Same_node(r) || !same);
		near += same;
	}
	CHECK_INT(armci_domain_nprocs(ARMCI_DOMAIN_SMP, id), near);
	CHECK_INT(armci_domain_nprocs(ARMCI_DOMAIN_SMP, -1), near);
}

// The node of every rank is the same seen from everywhere.
static void agreed(void)
{
	for (int r = 0; r < np; r++) {
		int id = armci_domain_id(ARMCI_DOMAIN_SMP, r), root = id;
		armci_msg_bcast(&root, sizeof root, 0);
		CHECK_INT(id, root);
	}
}

static void shared_memory(void)
{
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	int uses = ARMCI_Uses_shm();
	CHECK(uses == 0 || uses == 1);
	CHECK_INT(ARMCI_Uses_shm_grp(&world), uses);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	totals();
	neighbours();
	mine();
	agreed();
	shared_memory();
	return check_end("domain");
}
