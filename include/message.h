/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.h: the messages of libarmci, armci_msg_*: own rank, point to point, broadcast,
 * reductions, barriers. It may be included alone (it brings armci.h, whose opening comment defines
 * the words Done, Scope, Threads and rank used here) and must hold declarations only. These
 * messages do not use MPI and cannot be confused with the program's.
 *
 * COMMON RULES
 *   All sizes called len, buflen and msglen are in bytes; n is a number of elements unless said
 *   otherwise. Functions here have no return code: errors (null buffer, negative size, rank or
 *   group out of range, unknown scope, type or operation, message longer than the buffer) print one
 *   line and end the job. scope: SCOPE_ALL = every rank; SCOPE_NODE = the ranks of the caller's
 *   node; SCOPE_MASTERS = the lowest rank of every node, other ranks return at once. A call is
 *   collective over its scope: "collective(scope)". op, compared by prefix: "+" "*" "max" "min"
 *   "absmax" "absmin"; for the integer types also "or" "|" "bor" (bitwise or), "&" "band", "||"
 *   "lor", "&&" "land" (the logical ones give 0 or 1). A collective call of messages is no fence:
 *   stores of ARMCI_Put and the like may still be under way.
 */
#ifndef ARMCI_MESSAGE_H_
#define ARMCI_MESSAGE_H_

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constants: ARMCI-MPI's 0..4 and 0..2 are accepted as well ------------------------------- */

/* Element types of gop, reduce and sel. */
#define ARMCI_INT (-99)
#define ARMCI_LONG (-101)
#define ARMCI_LONG_LONG (-102)
#define ARMCI_FLOAT (-306)
#define ARMCI_DOUBLE (-307)

/* Scopes. */
#define SCOPE_ALL 333
#define SCOPE_NODE 337
#define SCOPE_MASTERS 339

/* ---- Start, end, own rank ------------------------------------------------------------------- */

/**
 * Make ranks known before ARMCI_Init: starts MPI if it is part of the program and not started yet.
 * Optional; calling it again does nothing.
 * @param argc [in,out] as of main, or null.
 *        @param argv [in,out] as of main, or null. Done: armci_msg_me and armci_msg_nproc answer.
 * Scope: collective(world). Threads: one.
 */
void armci_msg_init(int *argc, char ***argv);

#ifdef ARMCI_MPI_COMM_
/** armci_msg_init over the ranks of a communicator, which becomes ARMCI's world. @param comm [in]
 *  duplicated; may be freed afterwards. Scope: collective over comm. Threads: one. */
void armci_msg_init_comm(ARMCI_MPI_COMM_ comm);
#endif

/** The last call of a program that began with armci_msg_init: finalizes MPI if MPI is in use and
 *  not finalized yet. Call ARMCI_Finalize first. Scope: collective(world). Threads: one. */
void armci_msg_finalize(void);

/** Rank of the caller. Valid after armci_msg_init or ARMCI_Init. Scope: local. Threads: any.
 * Returns: the rank. */
int armci_msg_me(void);

/** Number of ranks. Valid after armci_msg_init or ARMCI_Init. Scope: local. Threads: any. Returns:
 * the number, >= 1. */
int armci_msg_nproc(void);

/** End every rank of the job. Never returns. @param code [in] exit status, low 8 bits; 0 counts as
 *  -1. Scope: one-sided, at any time. Threads: any. */
void armci_msg_abort(int code);

/** Wall clock. Scope: local, at any time. Threads: any. Returns: seconds since some moment; only
 * differences matter. */
double armci_timer(void);

/** Wait for all ranks; no fence, see ARMCI_Barrier. Scope: collective(world). Threads: one. */
void armci_msg_barrier(void);

/** Wait for all members; no fence. @param group [in]. Scope: collective(group). Threads: one. */
void armci_msg_group_barrier(ARMCI_Group *group);

/* ---- Point to point -------------------------------------------------------------------------- */

/**
 * Send a message. Messages of one tag between two ranks arrive in order.
 * @param tag [in] any int. @param buffer [in] the bytes. @param len [in] bytes, 0 allowed.
 *        @param to [in] rank, may be the caller: a message to oneself never waits for its receiver.
 * Done: the buffer may be reused on return; a long message may wait for its receiver. Scope: the
 * receiver calls armci_msg_rcv or armci_msg_rcvany. Threads: any.
 */
void armci_msg_snd(int tag, void *buffer, int len, int to);

/**
 * Receive the next message of one tag from one rank.
 * @param tag [in] any int. @param buffer [out] local. @param buflen [in] room in bytes.
 *        @param msglen [out] bytes received, or null.
 * @param from [in] rank, may be the caller. Done: the data is there on return. Scope: see
 * armci_msg_snd. Threads: any.
 */
void armci_msg_rcv(int tag, void *buffer, int buflen, int *msglen, int from);

/** Receive the next message of one tag from any rank. @param tag, buffer, buflen, msglen: as
 *  armci_msg_rcv. Done, Scope, Threads: as armci_msg_rcv. Returns: rank of the sender. */
int armci_msg_rcvany(int tag, void *buffer, int buflen, int *msglen);

/* ---- Broadcast ------------------------------------------------------------------------------- */

/**
 * Broadcast to all ranks; the two names mean the same.
 * @param buffer [in at the root, out elsewhere] local. @param len [in] bytes, equal everywhere, 0
 *        allowed. @param root [in] rank.
 * Done: the data is there and the buffer may be reused on return. Scope: collective(world).
 * Threads: one.
 */
void armci_msg_bcast(void *buffer, int len, int root);
void armci_msg_brdcst(void *buffer, int len, int root);

/**
 * Broadcast within a scope.
 * @param scope [in] SCOPE_*. @param buffer, len: as armci_msg_bcast. @param root [in] for SCOPE_ALL
 *        and SCOPE_MASTERS a rank; for SCOPE_NODE a place on the node, counted from 0.
 * Done: as armci_msg_bcast. Scope: collective(scope). Threads: one.
 */
void armci_msg_bcast_scope(int scope, void *buffer, int len, int root);

/**
 * Broadcast within a group, or the part of it in a scope.
 * @param scope [in] SCOPE_*. @param buf, len: as armci_msg_bcast. @param root [in] always a rank of
 *        the world, that of a member. @param group [in].
 * Done: as armci_msg_bcast. Scope: collective(group and scope). Threads: one.
 */
void armci_msg_group_bcast_scope(int scope, void *buf, int len, int root, ARMCI_Group *group);

/** Broadcast from the lowest rank of the node to the node. @param buf, len: as armci_msg_bcast.
 *  Scope: collective(SCOPE_NODE). Threads: one. */
void armci_msg_clus_brdcst(void *buf, int len);

/** Broadcast among consecutive members of a group. @param buf, len: as armci_msg_bcast.
 *  @param grp_master [in] group rank of the root. @param grp_clus_nproc [in] how many members from
 *  there on. @param mastergroup [in] the group. Scope: collective over those members. Threads: one.
 *  */
void armci_grp_clus_brdcst(void *buf, int len, int grp_master, int grp_clus_nproc,
	ARMCI_Group *mastergroup);

/* ---- Reductions ------------------------------------------------------------------------------ */

/**
 * All-reduce: x[i] = op over all ranks of x[i], on every rank. The result is the same everywhere,
 * bit by bit. i, l, ll, f, d: int, long, long long, float, double.
 * @param x [in,out] n elements. @param n [in] elements, equal everywhere, 0 allowed. @param op [in]
 * see COMMON RULES. Done: x holds the result on return. Scope: collective(world). Threads: one.
 */
void armci_msg_igop(int *x, int n, char *op);
void armci_msg_lgop(long *x, int n, char *op);
void armci_msg_llgop(long long *x, int n, char *op);
void armci_msg_fgop(float *x, int n, char *op);
void armci_msg_dgop(double *x, int n, char *op);

/** All-reduce within a scope. @param scope [in] SCOPE_*. @param x [in,out], n [in], op [in]: as
 *  armci_msg_igop.
 *  @param type [in] ARMCI_INT .. ARMCI_DOUBLE. Scope: collective(scope). Threads: one. */
void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type);

/** All-reduce within a group. @param x, n, op: as armci_msg_igop. @param group [in]. Scope:
 *  collective(group). Threads: one. */
void armci_msg_group_igop(int *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_lgop(long *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_llgop(long long *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_fgop(float *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_dgop(double *x, int n, char *op, ARMCI_Group *group);

/** All-reduce within the part of a group in a scope. @param scope, x, n, op, type: as
 *  armci_msg_gop_scope.
 *  @param group [in]. Scope: collective(group and scope). Threads: one. */
void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type, ARMCI_Group *group);

/** All-reduce within the caller's node. @param x, n, op: as armci_msg_igop. Scope:
 *  collective(SCOPE_NODE). Threads: one. The last two names mean the same. */
void armci_msg_clus_igop(int *x, int n, char *op);
void armci_msg_clus_lgop(long *x, int n, char *op);
void armci_msg_clus_llgop(long long *x, int n, char *op);
void armci_msg_clus_fgop(float *x, int n, char *op);
void armci_msg_clus_dgop(double *x, int n, char *op);
void armci_msg_clus_dgop_scope(double *x, int n, char *op);

/**
 * Reduce to the first rank of the scope; rely on the result only there (other ranks' x is not
 * defined afterwards).
 * @param scope [in] SCOPE_*; armci_msg_reduce means SCOPE_ALL. @param x, n, op, type: as
 * armci_msg_gop_scope. Done: on return x may be reused, and holds the result at the first rank.
 * Scope: collective(scope). Threads: one.
 */
void armci_msg_reduce(void *x, int n, char *op, int type);
void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type);

/**
 * Find the rank whose first element is the largest or smallest, and give all ranks its whole
 * buffer. Among equals the lowest rank wins. If no rank contributes the buffers stay as they are.
 * armci_msg_sel means SCOPE_ALL, and is also a macro of that meaning: #undef it to get the
 * function.
 * @param scope [in] SCOPE_*. @param x [in,out] one element of `type`, followed by any payload.
 *        @param n [in] bytes of the whole, equal everywhere. @param op [in] "max" or "min".
 *        @param type [in] type of the first element.
 * @param contribute [in] 0: the caller only receives.
 * Done: x holds the winner's bytes on return. Scope: collective(scope). Threads: one.
 */
void armci_msg_sel(void *x, int n, char *op, int type, int contribute);
void armci_msg_sel_scope(int scope, void *x, int n, char *op, int type, int contribute);

/**
 * The caller's place in a binary tree over a scope, for collective algorithms of the program's own.
 * @param scope [in] SCOPE_*. @param Root, Up, Left, Right [out] ranks of the root, the parent and
 *        the two children; -1 where there is none, all -1 for a rank outside the scope. Scope:
 *        local. Threads: any.
 */
void armci_msg_bintree(int scope, int *Root, int *Up, int *Left, int *Right);

/* ---- Addresses ------------------------------------------------------------------------------- */

/**
 * All-gather of pointers: every rank fills in its own entry and sets the others to null.
 * @param ptr_ar [in,out] n pointers. @param n [in] entries: number of ranks, or of members.
 * Done: every entry is filled on return. Scope: collective(world). Threads: one.
 */
void armci_exchange_address(void *ptr_ar[], int n);
/** armci_exchange_address in a group, indexed by group rank. @param ptr_arr [in,out] n pointers.
 *  @param n [in] entries: number of members. @param group [in]. Done: as armci_exchange_address.
 *  Scope: collective(group). Threads: one. */
void armci_exchange_address_grp(void *ptr_arr[], int n, ARMCI_Group *group);

#ifdef __cplusplus
}
#endif

#define armci_msg_sel(x, n, op, type, contribute) \
	armci_msg_sel_scope(SCOPE_ALL, (x), (n), (op), (type), (contribute))

#endif
