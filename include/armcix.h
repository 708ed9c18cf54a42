/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armcix.h: extensions: those that ARMCI-MPI introduced, splitting groups and batches of mutexes;
 * atomic operations, events and waits for memory, which run-time libraries of languages need; and
 * what restarts with other numbers of ranks need. It must hold declarations only. Words as defined
 * at the top of armci.h, which it includes.
 */
#ifndef ARMCIX_H_
#define ARMCIX_H_

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A batch of mutexes, opaque. */
typedef struct armcix_mutex_hdl_s *armcix_mutex_hdl_t;

/**
 * Split a group into groups of equal color.
 * @param parent [in] a group of the caller. @param color [in] >= 0; negative: the caller joins
 * none.
 *        @param key [in] order of group ranks; among equal keys the order in parent.
 *        @param new_group [out] the caller's group; for a negative color one without members.
 * Done: usable on return. Scope: collective(parent). Threads: one. Returns: code, the same on every
 * member.
 */
int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *new_group);

/** A new group with the same members. @param parent [in] a group of the caller.
 *        @param new_group [out] the group. Done: usable on return.
 *  Scope: collective(parent). Threads: one. Returns: code. */
int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *new_group);

/**
 * Create a batch of mutexes, independent of ARMCI_Create_mutexes and of other batches.
 * @param count [in] how many the caller hosts, numbered from 0; >= 0, may differ per member.
 * @param pgroup [in] group. Done: all are usable and unlocked. Scope: collective(group). Threads:
 * one. Returns: the batch; null on every member if it failed on any.
 */
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *pgroup);

/** Destroy a batch, all its mutexes unlocked. @param hdl [in] the batch. Scope: collective(its
 *  group). Threads: one. Returns: code. */
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);

/**
 * Lock, try to lock, and unlock; waiting, holders and ordering as ARMCI_Lock and ARMCI_Unlock.
 * @param hdl [in] the batch. @param mutex [in] number. @param proc [in] rank of the world that
 * hosts it. Done: on return. Scope: one-sided. Threads: any. Errors end the job. ARMCIX_Trylock_hdl
 * never waits for a holder. Returns: 0 if the mutex is now held, 1 if another process holds it.
 */
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/* Operations of ARMCIX_Atomic: what the word becomes. ARMCIX_CAS stores *operand if the word equals
 * *compare. */
#define ARMCIX_ADD 1
#define ARMCIX_AND 2
#define ARMCIX_OR 3
#define ARMCIX_XOR 4
#define ARMCIX_SWAP 5
#define ARMCIX_CAS 6

/**
 * Atomic operation on an integer, atomic with respect to every other one and to ARMCI_Rmw from any
 * rank (not to accumulate, put and get, though a get sees the word before or after it). Sums wrap.
 * @param op [in] ARMCIX_*. @param bytes [in] size of the integer in bytes: 4 or 8.
 *        @param old [out] local, of that size: the value before; or null. @param prem [remote] the
 *        naturally aligned integer. @param operand [in] local, of that size.
 * @param compare [in] local, of that size; only for ARMCIX_CAS, else ignored. old, operand and
 * compare may be the same.
 * @param proc [in] target rank, may be the caller. Done: with old, on return, on both sides.
 * Without, locally on return, and remotely as a store: on the caller's node at once, elsewhere
 * after a fence, and in the order of the caller's calls that are about memory of that rank. Where
 * network devices have atomics, 8 bytes are done on both sides on return. Scope: one-sided.
 * Threads: any. Returns: code (FAIL7 an unknown op, another size, misaligned prem). A wrong address
 * on another node, without old, is an error of the next fence. In "rdma-atomics" memory
 * (ARMCI_Malloc_memdev) 8 bytes are changed by the devices, as by ARMCI_Rmw; 4 bytes must not be
 * changed where 8 are.
 */
int ARMCIX_Atomic(int op, int bytes, void *old, void *prem, const void *operand,
	const void *compare, int proc);

/* A counter that ranks of any node raise and ranks of its own node wait for: in memory of
 * ARMCI_Malloc* or ARMCI_Memget, aligned to 4 bytes, and zero before its first use. Its node may
 * read count by an atomic load, and lower it by an atomic subtraction. sleepers is the library's.
 */
typedef struct {
	unsigned count, sleepers;
} armcix_event_t;

/**
 * Raise an event behind all earlier stores of the caller at its rank, atomic ones included: a
 * thread that sees the count sees them.
 * @param event [remote] the event. @param n [in] by how much; the count wraps. @param proc [in]
 * rank, may be the caller. Done: as a store: locally on return; remotely at once on the caller's
 * node, elsewhere after a fence. Scope: one-sided. Threads: any. Returns: code (FAIL8 no aligned
 * ARMCI memory of the rank). Memory of another node that only its owner knows (ARMCI_Memget) is
 * checked there: a wrong address then changes nothing, and that node prints a line.
 */
int ARMCIX_Event_add(armcix_event_t *event, unsigned n, int proc);

/**
 * Wait until the count of an event differs from what was seen. The caller polls briefly, then
 * sleeps. If every other rank of the job has left, so that it cannot be raised, a wait without
 * limit ends the job.
 * @param event [in,out] in memory of any rank of the caller's node. @param seen [in] count.
 *        @param millis [in] limit of time in
 *        milliseconds; 0 does not wait; negative: none.
 * Scope: local. Threads: any. Returns: 0 if the count differs, 1 if the time is over, or a FAIL
 * code (FAIL8 no aligned ARMCI memory of the node).
 */
int ARMCIX_Event_wait(armcix_event_t *event, unsigned seen, int millis);

/**
 * Wait until a condition is met, of memory that any rank changes. The caller looks briefly, then
 * sleeps, and receives meanwhile what other nodes send.
 * @param met [in] function that looks at the memory, by atomic loads, and returns nonzero once the
 *        condition is met; called from the waiting thread many times until then, it must not
 *        block or call this library. @param arg [in] its argument; any.
 * @param millis [in] limit of time in milliseconds; 0 looks once; negative: none.
 * What ranks of other nodes store in memory of the caller wakes it, and a rank of its node that
 * changes the memory does so by ARMCIX_Wake. What network devices store, and other threads of the
 * program, wakes no waiter: it looks again after a millisecond, or a 16th of the time that it has
 * waited, 50 ms at most. If every other rank of the job has left, a wait without limit ends the
 * job. Scope: local. Threads: any. Returns: 0 if the condition is met, 1 if the time is over, or
 * FAIL (no function).
 */
int ARMCIX_Wait_until(int (*met)(void *arg), void *arg, int millis);

/**
 * Have threads of a rank that are in ARMCIX_Wait_until look again, behind stores of the caller in
 * memory of its node. For a rank of another
 * node it does nothing: what arrives there wakes them.
 * @param proc [in] rank, may be the caller. Scope: local. Threads: any. Returns: code (FAIL5).
 */
int ARMCIX_Wake(int proc);

/**
 * The number of threads of a rank that sleep in ARMCIX_Wait_until, for callers that call
 * ARMCIX_Wake only if it is not 0. They read it by an atomic load, which needs no fence behind
 * their stores: a thread that has just gone to sleep looks again after a millisecond.
 * @param proc [in] rank, may be the caller. Scope: local. Threads: any. Returns: an address that
 * is valid until ARMCI_Finalize; null for a rank of another node, if there is no such rank, or
 * before ARMCI_Init.
 */
const unsigned *ARMCIX_Sleepers(int proc);

/**
 * Raise an event by one, like ARMCIX_Event_add, where no other rank ever raises it. Over RDMA the
 * caller's device writes the count then, and no thread at the event's rank takes part.
 * @param event [remote] the event. @param record [in,out] an event in memory of the caller that
 *        goes with it: zeroed like it, written by this function only, and kept as long as a rank
 *        may wait for the event.
 * @param proc [in] rank, may be the caller. Done: as a store: locally on return; remotely at once
 * on the caller's node, elsewhere after a fence. Scope: one-sided. Threads: any, one at a time for
 * an event. Returns: code (FAIL8 no aligned ARMCI memory of the rank, or of the caller).
 */
int ARMCIX_Event_raise(armcix_event_t *event, armcix_event_t *record, int proc);

/**
 * Wait like ARMCIX_Event_wait for an event that rank proc alone raises, by ARMCIX_Event_raise. (To
 * wait for it by ARMCIX_Event_wait may take a second longer, since what a device writes wakes no
 * rank.)
 * @param event [in,out] in memory of the caller. @param record [in] the raiser's record of it, in
 * memory of rank proc.
 * @param seen [in] count. @param millis [in] limit of time in milliseconds; 0 does not wait;
 * negative: none.
 * @param proc [in] the rank that raises the event. Scope: local; before the caller sleeps it asks
 * rank proc's node. Threads: any. Returns: 0 if the count differs, 1 if the time is over, or a FAIL
 * code (FAIL8 no aligned ARMCI memory).
 */
int ARMCIX_Event_await(armcix_event_t *event, armcix_event_t *record, unsigned seen, int millis,
	int proc);

/**
 * Declare which part of an array a block of a record holds, so that another number of ranks can
 * restore it: the elements lo[d] <= i[d] < hi[d], without gaps, the last dimension contiguous. The
 * parts of all members make up the array, and do not overlap. A checkpoint keeps the declarations
 * that its members have made before; a restart declares the parts of its own members before
 * ARMCI_Ckpt_Recover.
 * @param rid [in] the record (ARMCI_Ckpt_init). @param index [in] of the block, in the order of
 * ckptds, or of the allocations. @param ndim [in] dimensions, at most 8; 0: all members have the
 * same bytes there, and those of the first one are restored on all. @param elem_bytes [in] size of
 * an element in bytes; ignored if ndim is 0. @param dims [in] elements of the array. @param lo, hi
 * [in] the part; an empty one has lo[d] == hi[d]. Done: on return. Scope: local. Threads: one.
 * Returns: code (FAIL rid, index, or a part that is outside of the array or of another size than
 * the block; FAIL4 ndim).
 */
int ARMCIX_Ckpt_distribute(int rid, int index, int ndim, size_t elem_bytes, const long dims[],
	const long lo[], const long hi[]);

/** The newest checkpoint of a record that is complete on all members, of this job or an earlier
 *  one, as ARMCI_Ckpt_init has found it, ARMCI_Ckpt saved or ARMCI_Ckpt_Recover restored it. Its
 *  blocks have not been checked, unless restored. @param rid [in] the record. Scope: local.
 *  Threads: one. Returns: its number, counted from 1, the same on all members; 0 there is none;
 *  negative: FAIL. */
long ARMCIX_Ckpt_generation(int rid);

/** Let the library work; operations complete without it, so it is never needed. Scope: local.
 * Threads: any. */
void ARMCIX_Progress(void);

#ifdef ARMCI_MPI_COMM_
/** The communicator of ARMCI's world, as ARMCI_COMM_WORLD. @param comm [out] the communicator.
 * Scope: local. Threads: any. */
void ARMCIX_Get_world_comm(ARMCI_MPI_COMM_ *comm);
#endif

#ifdef __cplusplus
}
#endif

#endif
