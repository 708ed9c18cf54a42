// SPDX-License-Identifier: BSD-3-Clause
// group.c - making and ending groups: create, create_child, split, dup, default group, nested and
// overlapping ones, many of them. What groups are used for is in group_use.c.
#include "group.h"

static void world(void)
{
	ARMCI_Group w, d;
	struct members all = members_step(0, 1);
	ARMCI_Group_get_world(&w);
	group_check(&w, &all);
	ARMCI_Group_get_default(&d);
	group_check(&d, &all);
}

static void create(void)
{
	for (int step = 1; step <= 3; step++)
		for (int first = 0; first < step && first < np; first++) {
			struct members m = members_step(first, step);
			ARMCI_Group g = group_make(&m), copy = g;
			if (m.mine >= 0) {
				group_check(&copy, &m);
				armci_msg_group_barrier(&copy);
				ARMCI_Group_free(&g);
			}
		}
}

// A child names its members by their ranks in the parent.
static void child(void)
{
	struct members odd = members_step(np > 1, 1 + (np > 1)), every = members_none();
	ARMCI_Group parent = group_make(&odd), kid;
	if (odd.mine < 0)
		return;
	int list[GROUP_MAX], n = 0;
	for (int i = odd.n % 2 ? 0 : 1; i < odd.n; i += 2) {
		list[n++] = i;
		members_add(&every, odd.rank[i]);
	}
	ARMCI_Group_create_child(n, list, &kid, &parent);
	group_check(&kid, &every);
	if (every.mine >= 0)
		ARMCI_Group_free(&kid);
	ARMCI_Group_free(&parent);
}

// The default group changes what the list of ARMCI_Group_create means.
static void default_group(void)
{
	struct members all = members_step(0, 1), high = members_none(), last = members_none();
	ARMCI_Group w, d, g;
	for (int r = np / 2; r < np; r++)
		members_add(&high, r);
	ARMCI_Group half = group_make(&high);
	if (high.mine >= 0) {
		ARMCI_Group_set_default(&half);
		ARMCI_Group_get_default(&d);
		group_check(&d, &high);
		int place = high.n - 1;
		members_add(&last, np - 1);
		ARMCI_Group_create(1, &place, &g);
		group_check(&g, &last);
		if (last.mine >= 0)
			ARMCI_Group_free(&g);
		ARMCI_Group_get_world(&w);
		group_check(&w, &all);
		ARMCI_Group_set_default(&w);
		ARMCI_Group_free(&half);
	}
	ARMCI_Group_get_default(&d);
	group_check(&d, &all);
}

// Split by colour; the key turns the order around, equal keys keep the parent's.
static void split(void)
{
	ARMCI_Group w, g, back;
	ARMCI_Group_get_world(&w);
	int size, rank, colour = me % 2, others = (np + 1 - colour) / 2;
	CHECK_OK(ARMCIX_Group_split(&w, colour, 0, &g));
	ARMCI_Group_size(&g, &size);
	CHECK_OK(ARMCI_Group_rank(&g, &rank));
	CHECK_INT(size, others);
	CHECK_INT(rank, me / 2);
	CHECK_OK(ARMCIX_Group_split(&g, 5, -me, &back));
	ARMCI_Group_size(&back, &size);
	CHECK_OK(ARMCI_Group_rank(&back, &rank));
	CHECK_INT(size, others);
	CHECK_INT(rank, others - 1 - me / 2);
	for (int i = 0; i < size; i++)
		CHECK_INT(ARMCI_Absolute_id(&back, i), 2 * (others - 1 - i) + colour);
	ARMCI_Group_free(&back);
	ARMCI_Group_free(&g);
}

static void dup(void)
{
	struct members even = members_step(0, 2);
	ARMCI_Group g = group_make(&even), twin;
	if (even.mine < 0)
		return;
	CHECK_OK(ARMCIX_Group_dup(&g, &twin));
	group_check(&twin, &even);
	ARMCI_Group_free(&g);
	group_check(&twin, &even);
	armci_msg_group_barrier(&twin);
	ARMCI_Group_free(&twin);
}

// Overlapping groups live side by side and are freed in another order.
static void overlapping(void)
{
	struct members m[4];
	ARMCI_Group g[4];
	for (int k = 0; k < 4; k++) {
		m[k] = members_none();
		for (int r = 0; r < np; r++)
			if (r % 4 != k || np == 1)
				members_add(&m[k], r);
		if (m[k].n)
			g[k] = group_make(&m[k]);
	}
	for (int k = 0; k < 4; k++)
		if (m[k].mine >= 0)
			armci_msg_group_barrier(&g[k]);
	for (int k = 0; k < 4; k++) {
		int f = (k + 2) % 4;
		if (m[f].mine >= 0) {
			group_check(&g[f], &m[f]);
			ARMCI_Group_free(&g[f]);
		}
	}
}

// Handles and their room must be used again.
static void many(void)
{
	for (int i = 0; i < check_rounds(300); i++) {
		struct members m = members_step(i % np, 1 + i % 3);
		ARMCI_Group g = group_make(&m);
		if (m.mine >= 0)
			ARMCI_Group_free(&g);
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(np <= GROUP_MAX);
	world();
	create();
	child();
	default_group();
	split();
	dup();
	overlapping();
	many();
	return check_end("group");
}
