/* SPDX-License-Identifier: BSD-3-Clause */
/* armcix.h: extensions first offered by ARMCI-MPI: group split, mutex batches. Declarations only. */
#ifndef ARMCIX_H_
#define ARMCIX_H_

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct armcix_mutex_hdl_s *armcix_mutex_hdl_t;

int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *new_group);
int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *new_group);
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *pgroup);
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
void ARMCIX_Progress(void);
#ifdef ARMCI_MPI_COMM_
void ARMCIX_Get_world_comm(ARMCI_MPI_COMM_ *comm);
#endif

#ifdef __cplusplus
}
#endif

#endif
