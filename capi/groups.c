// SPDX-License-Identifier: BSD-3-Clause
// Groups and domains.
#include "front.h"

#include "_cgo_export.h"

// Fills a handle in from Go's description of a group.
static void fill(ARMCI_Group *out, int id)
{
	int rank = -1, size = 0;
	if (id < 0) // an error with ARMCI_ERRORS=return: a handle that every function refuses
		front_set_group(out, -1, 0, -1, 0);
	else {
		armcigo_group_facts((char *)"ARMCI_Group", id, &rank, &size);
		front_set_group(out, id, armcigo_group_comm(id), rank, size);
	}
}

// Creating groups, which is recorded.
static int group_create(const char *name, int n, int *pids, int parent)
{
	RECORDED(PROFILE_GROUP, name, -1, 0, int,
		armcigo_group_create((char *)name, n, pids, parent));
}

static int group_split(int parent, int color, int key)
{
	RECORDED(PROFILE_GROUP, "ARMCIX_Group_split", -1, 0, int,
		armcigo_group_split(parent, color, key));
}

static int group_dup(int parent)
{
	RECORDED(PROFILE_GROUP, "ARMCIX_Group_dup", -1, 0, int, armcigo_group_dup(parent));
}

PUBLIC void ARMCI_Group_create(int n, int *pids, ARMCI_Group *out)
{
	fill(out, group_create("ARMCI_Group_create", n, pids, armcigo_default_group()));
}

PUBLIC void ARMCI_Group_create_child(int n, int *pids, ARMCI_Group *out, ARMCI_Group *parent)
{
	fill(out, group_create("ARMCI_Group_create_child", n, pids, front_group(parent)));
}

PUBLIC void ARMCI_Group_free(ARMCI_Group *group) { armcigo_group_free(front_group(group)); }

PUBLIC int ARMCI_Group_rank(ARMCI_Group *group, int *rank)
{
	int size;
	return armcigo_group_facts((char *)"ARMCI_Group_rank", front_group(group), rank, &size);
}

PUBLIC void ARMCI_Group_size(ARMCI_Group *group, int *size)
{
	int rank;
	if (armcigo_group_facts((char *)"ARMCI_Group_size", front_group(group), &rank, size) < 0)
		armcigo_fatal();
}

PUBLIC void ARMCI_Group_set_default(ARMCI_Group *group)
{
	armcigo_set_default_group(front_group(group));
}
PUBLIC void ARMCI_Group_get_default(ARMCI_Group *out) { fill(out, armcigo_default_group()); }
PUBLIC void ARMCI_Group_get_world(ARMCI_Group *out) { fill(out, FRONT_WORLD); }
PUBLIC int ARMCI_Absolute_id(ARMCI_Group *group, int rank)
{
	return armcigo_absolute_id(front_group(group), rank);
}

PUBLIC int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *out)
{
	int id = group_split(front_group(parent), color, key);
	fill(out, id);
	return id < 0 ? FAIL : 0;
}

PUBLIC int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *out)
{
	int id = group_dup(front_group(parent));
	fill(out, id);
	return id < 0 ? FAIL : 0;
}

PUBLIC int armci_domain_nprocs(armci_domain_t domain, int id)
{
	(void)domain;
	return armcigo_domain_ranks(id);
}
PUBLIC int armci_domain_id(armci_domain_t domain, int rank)
{
	(void)domain;
	return armcigo_domain_of(rank);
}
PUBLIC int armci_domain_glob_proc_id(armci_domain_t domain, int id, int local)
{
	(void)domain;
	return armcigo_domain_rank(id, local);
}
PUBLIC int armci_domain_my_id(armci_domain_t domain)
{
	(void)domain;
	return armcigo_domain_of(armci_msg_me());
}
PUBLIC int armci_domain_count(armci_domain_t domain)
{
	(void)domain;
	return armcigo_domain_count();
}
PUBLIC int armci_domain_same_id(armci_domain_t domain, int rank)
{
	(void)domain;
	return armcigo_same_domain(rank);
}
PUBLIC int ARMCI_Same_node(int rank) { return armcigo_same_node((char *)"ARMCI_Same_node", rank); }
PUBLIC int armci_sameclusnode(int rank)
{
	return armcigo_same_node((char *)"armci_sameclusnode", rank);
}

PUBLIC void ARMCIX_Progress(void) {} // polling is not needed

// Variables that old headers declare. They are never set; zero is the world group in the classic
// ABI.
PUBLIC ARMCI_Group ARMCI_Default_Proc_Group, ARMCI_World_Proc_Group;
PUBLIC char *mp_group_name = (char *)"";
