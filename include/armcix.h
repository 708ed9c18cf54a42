/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armcix.h: extensions of libarmci that ARMCI-MPI introduced: splitting groups and batches of mutexes. It must hold
 * declarations only. Words as defined at the top of armci.h, which it includes.
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
 * @param parent [in]. @param color [in] >= 0; negative: the caller joins none. @param key [in] order of group ranks;
 *        among equal keys the order in parent. @param new_group [out] the caller's group; for a negative color one
 *        without members.
 * Done: usable on return. Scope: collective(parent). Threads: one. Returns: code, the same on every member.
 */
int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *new_group);

/** A new group with the same members. @param parent [in]. @param new_group [out]. Done: usable on return.
 *  Scope: collective(parent). Threads: one. Returns: code. */
int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *new_group);

/**
 * Create a batch of mutexes, independent of ARMCI_Create_mutexes and of other batches.
 * @param count [in] how many the caller hosts, numbered from 0; >= 0, may differ per member. @param pgroup [in] group.
 * Done: all are usable and unlocked. Scope: collective(group). Threads: one.
 * Returns: the batch; null on every member if it failed on any.
 */
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *pgroup);

/** Destroy a batch, all its mutexes unlocked. @param hdl [in]. Scope: collective(its group). Threads: one.
 *  Returns: code. */
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);

/**
 * Lock, try to lock, and unlock; waiting, holders and ordering as ARMCI_Lock and ARMCI_Unlock.
 * @param hdl [in] the batch. @param mutex [in] number. @param proc [in] rank of the world that hosts it.
 * Done: on return. Scope: one-sided. Threads: any. Errors end the job.
 * ARMCIX_Trylock_hdl never waits for a holder. Returns: 0 if the mutex is now held, 1 if another process holds it.
 */
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/** Let the library work; operations complete without it, so it is never needed. Scope: local. Threads: any. */
void ARMCIX_Progress(void);

#ifdef ARMCI_MPI_COMM_
/** The communicator of ARMCI's world, as ARMCI_COMM_WORLD. @param comm [out]. Scope: local. Threads: any. */
void ARMCIX_Get_world_comm(ARMCI_MPI_COMM_ *comm);
#endif

#ifdef __cplusplus
}
#endif

#endif
