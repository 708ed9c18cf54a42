// SPDX-License-Identifier: BSD-3-Clause
// armci_msg_*: collectives of a group in C if all its members are on this node, as those of the
// world are; everything else in Go.
#include "front.h"

#include <time.h>

#include "far.h"
#include "go.h"

void parmci_msg_group_barrier(ARMCI_Group *group)
{
	int id = front_group(group);
	struct shm_team *team = front_team(id);
	if (likely(team != NULL)) {
		shm_barrier(team);
		return;
	}
	PROFILED(group_barrier, group);
	armcigo_group_barrier(id);
}
WEAK_AS(armci_msg_group_barrier, parmci_msg_group_barrier);

// Is the other rank on this node, and the buffer valid?
static inline bool front_message(const void *buf, int bytes, int rank)
{
	return (unsigned)rank < atomic_load_explicit(&front.ranks, memory_order_acquire) &&
		front.local[rank] >= 0 && buf && bytes >= 0;
}

PUBLIC void armci_msg_snd(int tag, void *buf, int len, int to)
{
	if (likely(front_message(buf, len, to))) {
		shm_send(front.local[to], tag, buf, (size_t)len);
		return;
	}
	if (far_send(tag, buf, len, to))
		return;
	PROFILED(snd, tag, buf, len, to);
	armcigo_snd(tag, buf, len, to);
}

PUBLIC void armci_msg_rcv(int tag, void *buf, int cap, int *len, int from)
{
	struct shm_message got = {.from = from, .tag = tag};
	bool done = likely(front_message(buf, cap, from)) ?
		shm_recv(&got, buf, (size_t)cap) == 0 : far_receive(&got, buf, cap);
	if (!done) {
		PROFILED(rcv, tag, buf, cap, len, from);
		// reports a message that is too long, and leaves it unread
		armcigo_rcv((char *)"armci_msg_rcv", tag, buf, cap, len, from);
		return;
	}
	if (len)
		*len = (int)got.nbytes;
}

PUBLIC int armci_msg_rcvany(int tag, void *buf, int cap, int *len)
{
	PROFILED(rcvany, tag, buf, cap, len);
	return armcigo_rcv((char *)"armci_msg_rcvany", tag, buf, cap, len, -1);
}

PUBLIC void armci_msg_bcast(void *buf, int len, int root)
{
	if (likely(front_on() && front.world && buf && len > 0 &&
		    (unsigned)root < (unsigned)front.world->n)) {
		shm_bcast(front.world, buf, (size_t)len, root);
		return;
	}
	PROFILED(bcast, buf, len, root);
	armcigo_bcast((char *)"armci_msg_bcast", SCOPE_ALL, buf, len, root, FRONT_WORLD);
}

PUBLIC void armci_msg_bcast_scope(int scope, void *buf, int len, int root)
{
	PROFILED(bcast_scope, scope, buf, len, root);
	armcigo_bcast((char *)"armci_msg_bcast_scope", scope, buf, len, root, FRONT_WORLD);
}

// Does a scope, in either numbering, have all members of a group that is on one node?
static inline bool all_of_it(int scope)
{
	return scope == SCOPE_ALL || scope == SCOPE_NODE || scope == 0 || scope == 1;
}

// The place of a rank among the members, -1 if it is none.
static int member_of(const struct shm_team *team, int rank)
{
	int i = -1;
	if (front_here(rank))
		for (i = team->n - 1; i >= 0 && team->local[i] != front.local[rank]; i--) {
		}
	return i;
}

PUBLIC void armci_msg_group_bcast_scope(int scope, void *buf, int len, int root, ARMCI_Group *group)
{
	int id = front_group(group), from;
	struct shm_team *team = front_team(id);
	if (likely(team && all_of_it(scope) && buf && len > 0 &&
		    (from = member_of(team, root)) >= 0))
		shm_bcast(team, buf, (size_t)len, from);
	else {
		PROFILED(group_bcast_scope, scope, buf, len, root, group);
		armcigo_bcast((char *)"armci_msg_group_bcast_scope", scope, buf, len, root, id);
	}
}

static void gop_in_go(const char *name, int scope, void *x, int n, char *op, int type, int group)
{
	PROFILED(gop, name, scope, x, n, op, type, group);
	armcigo_gop((char *)name, scope, x, n, op, type, group);
}

// The sum is by far the most frequent: op need not be parsed.
static inline bool reduced_here(struct shm_team *team, void *x, int n, const char *op, int ktype)
{
	int red = K_SUM;
	if (!(team && x && n > 0 && op && ktype >= 0))
		return false;
	if (op[0] != '+' && ((red = k_red_of_word(op)) < 0 || !k_reduce_valid(red, ktype)))
		return false;
	shm_allreduce(team, x, (size_t)n, ktype, red);
	return true;
}

void front_gop(const char *name, int scope, void *x, int n, char *op, int type, int group)
{
	if (!(all_of_it(scope) &&
		    reduced_here(front_team(group), x, n, op, k_type_of_message(type))))
		gop_in_go(name, scope, x, n, op, type, group);
}

#ifndef FRONT_INNER // not recorded, or by what they call
PUBLIC double armci_timer(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

PUBLIC void armci_msg_brdcst(void *buf, int len, int root) { armci_msg_bcast(buf, len, root); }

PUBLIC void armci_msg_clus_brdcst(void *buf, int len) { armcigo_clus_bcast(buf, len); }

PUBLIC void armci_grp_clus_brdcst(void *buf, int len, int master, int n, ARMCI_Group *group)
{
	armcigo_range_bcast(buf, len, master, n, front_group(group));
}

#define GOPS(message, type, code, ktype) \
	PUBLIC void armci_msg_##message##gop(type *x, int n, char *op) \
	{ \
		if (!likely(reduced_here(front_team(FRONT_WORLD), x, n, op, ktype))) \
			gop_in_go("armci_msg_" #message "gop", SCOPE_ALL, x, n, op, code, \
				FRONT_WORLD); \
	} \
	PUBLIC void armci_msg_group_##message##gop(type *x, int n, char *op, ARMCI_Group *group) \
	{ \
		front_gop("armci_msg_group_" #message "gop", SCOPE_ALL, x, n, op, code, \
			front_group(group)); \
	} \
	PUBLIC void armci_msg_clus_##message##gop(type *x, int n, char *op) \
	{ \
		front_gop("armci_msg_clus_" #message "gop", SCOPE_NODE, x, n, op, code, \
			FRONT_WORLD); \
	}

GOPS(i, int, ARMCI_INT, K_INT)
GOPS(l, long, ARMCI_LONG, K_LNG)
GOPS(ll, long long, ARMCI_LONG_LONG, K_LLNG)
GOPS(f, float, ARMCI_FLOAT, K_FLT)
GOPS(d, double, ARMCI_DOUBLE, K_DBL)

PUBLIC void armci_msg_clus_dgop_scope(double *x, int n, char *op)
{
	front_gop("armci_msg_clus_dgop_scope", SCOPE_NODE, x, n, op, ARMCI_DOUBLE, FRONT_WORLD);
}

PUBLIC void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type)
{
	front_gop("armci_msg_gop_scope", scope, x, n, op, type, FRONT_WORLD);
}

PUBLIC void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type,
	ARMCI_Group *group)
{
	front_gop("armci_msg_group_gop_scope", scope, x, n, op, type, front_group(group));
}

PUBLIC void armci_msg_reduce(void *x, int n, char *op, int type)
{
	front_gop("armci_msg_reduce", SCOPE_ALL, x, n, op, type, FRONT_WORLD);
}

PUBLIC void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type)
{
	front_gop("armci_msg_reduce_scope", scope, x, n, op, type, FRONT_WORLD);
}

PUBLIC void armci_msg_sel_scope(int scope, void *x, int n, char *op, int type, int contribute)
{
	armcigo_sel((char *)"armci_msg_sel", scope, x, n, op, type, contribute);
}

PUBLIC void armci_msg_sel(void *x, int n, char *op, int type, int contribute)
{
	armci_msg_sel_scope(SCOPE_ALL, x, n, op, type, contribute);
}

PUBLIC void armci_msg_bintree(int scope, int *root, int *up, int *left, int *right)
{
	armcigo_bintree(scope, root, up, left, right);
}

PUBLIC void armci_exchange_address(void *ptrs[], int n)
{
	front_gop("armci_exchange_address", SCOPE_ALL, ptrs, n, (char *)"+", ARMCI_LONG,
		FRONT_WORLD);
}

PUBLIC void armci_exchange_address_grp(void *ptrs[], int n, ARMCI_Group *group)
{
	front_gop("armci_exchange_address_grp", SCOPE_ALL, ptrs, n, (char *)"+", ARMCI_LONG,
		front_group(group));
}
#endif
