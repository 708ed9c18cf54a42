/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parmci.h: the profiling names of libarmci. PARMCI_x (parmci_x) has the signature, meaning and
 * every rule of ARMCI_x (armci_x), documented in armci.h and message.h; it must never differ. A
 * tool defines ARMCI_x itself (the library's is a weak symbol) and calls PARMCI_x for the real
 * work; the library calls only PARMCI_x or neither.
 */
#ifndef ARMCI_PARMCI_H_
#define ARMCI_PARMCI_H_

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

int PARMCI_Acc(int optype, void *scale, void *src, void *dst, int bytes, int proc);
int PARMCI_AccS(int optype, void *scale, void *src_ptr, int src_stride_arr[], void *dst_ptr,
	int dst_stride_arr[], int count[], int stride_levels, int proc);
int PARMCI_AccV(int op, void *scale, armci_giov_t darr[], int len, int proc);
void PARMCI_Access_begin(void *ptr);
void PARMCI_Access_end(void *ptr);
void PARMCI_AllFence(void);
void PARMCI_Barrier(void);
int PARMCI_Create_mutexes(int num);
int PARMCI_Destroy_mutexes(void);
void PARMCI_Fence(int proc);
int PARMCI_Finalize(void);
int PARMCI_Free(void *ptr);
int PARMCI_Free_local(void *ptr);
int PARMCI_Free_memdev(void *ptr);
int PARMCI_Get(void *src, void *dst, int bytes, int proc);
int PARMCI_GetS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc);
int PARMCI_GetV(armci_giov_t darr[], int len, int proc);
double PARMCI_GetValueDouble(void *src, int proc);
float PARMCI_GetValueFloat(void *src, int proc);
int PARMCI_GetValueInt(void *src, int proc);
long PARMCI_GetValueLong(void *src, int proc);
void PARMCI_GroupFence(ARMCI_Group *group);
int PARMCI_Init(void);
int PARMCI_Init_args(int *argc, char ***argv);
int PARMCI_Init_thread(int armci_requested);
int PARMCI_Initialized(void);
void PARMCI_Lock(int mutex, int proc);
int PARMCI_Malloc(void *ptr_arr[], armci_size_t bytes);
int PARMCI_Malloc_group_memdev(void *ptr_arr[], armci_size_t bytes, ARMCI_Group *group,
	const char *device);
void *PARMCI_Malloc_local(armci_size_t bytes);
int PARMCI_Malloc_memdev(void *ptr_arr[], armci_size_t bytes, const char *device);
void *PARMCI_Memat(armci_meminfo_t *meminfo, long offset);
void PARMCI_Memctl(armci_meminfo_t *meminfo);
void PARMCI_Memget(size_t bytes, armci_meminfo_t *meminfo, int memflg);
int PARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc,
	armci_hdl_t *hdl);
int PARMCI_NbAccS(int optype, void *scale, void *src_ptr, int src_stride_arr[], void *dst_ptr,
	int dst_stride_arr[], int count[], int stride_levels, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbAccV(int op, void *scale, armci_giov_t darr[], int len, int proc,
	armci_hdl_t *nb_handle);
int PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbGetS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbGetV(armci_giov_t darr[], int len, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbPutS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbPutV(armci_giov_t darr[], int len, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *nb_handle);
int PARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *nb_handle);
int PARMCI_Put(void *src, void *dst, int bytes, int proc);
int PARMCI_PutS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc);
int PARMCI_PutS_flag(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int *flag, int val, int proc);
int PARMCI_PutS_flag_dir(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int *flag, int val, int proc);
int PARMCI_PutV(armci_giov_t darr[], int len, int proc);
int PARMCI_PutValueDouble(double src, void *dst, int proc);
int PARMCI_PutValueFloat(float src, void *dst, int proc);
int PARMCI_PutValueInt(int src, void *dst, int proc);
int PARMCI_PutValueLong(long src, void *dst, int proc);
int PARMCI_Put_flag(void *src, void *dst, int bytes, int *f, int v, int proc);
int PARMCI_Rmw(int op, void *ploc, void *prem, int extra, int proc);
int PARMCI_Test(armci_hdl_t *nb_handle);
void PARMCI_Unlock(int mutex, int proc);
int PARMCI_Wait(armci_hdl_t *nb_handle);
int PARMCI_WaitAll(void);
int PARMCI_WaitProc(int proc);
void parmci_msg_barrier(void);
void parmci_msg_group_barrier(ARMCI_Group *group);
int parmci_notify(int proc);
int parmci_notify_wait(int proc, int *pval);

#ifdef ARMCI_MPI_COMM_
int PARMCI_Init_mpi_comm(ARMCI_MPI_COMM_ comm);
int PARMCI_Init_thread_comm(int armci_requested, ARMCI_MPI_COMM_ comm);
#endif

#ifdef __cplusplus
}
#endif

#endif
