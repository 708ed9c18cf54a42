/* SPDX-License-Identifier: BSD-3-Clause */
/* armci.h: the public promise of libarmci. It declares types, constants and functions only; no code lives here. */
#ifndef ARMCI_H_
#define ARMCI_H_

#include <stdlib.h>
#include <string.h>

#if defined(__has_include) && !defined(ARMCI_NO_MPI)
#if __has_include(<mpi.h>)
#include <mpi.h>
#define ARMCI_MPI_COMM_ MPI_Comm
#define ARMCI_MPI_REQUEST_ MPI_Request
#endif
#endif
#if !defined(ARMCI_MPI_COMM_) && defined(ARMCI_MPI_OPENMPI)
#define ARMCI_MPI_COMM_ void *
#define ARMCI_MPI_REQUEST_ void *
#elif !defined(ARMCI_MPI_COMM_) && defined(ARMCI_MPI_MPICH)
#define ARMCI_MPI_COMM_ int
#define ARMCI_MPI_REQUEST_ int
#endif
#if defined(ARMCI_ABI_MPI) && !defined(ARMCI_MPI_COMM_)
#error "ARMCI_ABI_MPI needs <mpi.h>: compile with the MPI compiler wrapper"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ARMCI_VERSION_MAJOR 0
#define ARMCI_VERSION_MINOR 1
#define ARMCI_VERSION_PATCH 0

#define ARMCI_SWAP 10
#define ARMCI_SWAP_LONG 11
#define ARMCI_FETCH_AND_ADD 12
#define ARMCI_FETCH_AND_ADD_LONG 13

#define ARMCI_ACC_OFF 36
#define ARMCI_ACC_INT (ARMCI_ACC_OFF + 1)
#define ARMCI_ACC_DBL (ARMCI_ACC_OFF + 2)
#define ARMCI_ACC_FLT (ARMCI_ACC_OFF + 3)
#define ARMCI_ACC_CPL (ARMCI_ACC_OFF + 4)
#define ARMCI_ACC_DCP (ARMCI_ACC_OFF + 5)
#define ARMCI_ACC_LNG (ARMCI_ACC_OFF + 6)

#define ARMCI_MAX_STRIDE_LEVEL 8
#define ARMCI_DOMAIN_SMP 0

#define FAIL (-1)
#define FAIL2 (-2)
#define FAIL3 (-3)
#define FAIL4 (-4)
#define FAIL5 (-5)
#define FAIL6 (-6)
#define FAIL7 (-7)
#define FAIL8 (-8)

typedef long armci_size_t;
typedef int armci_domain_t;

#ifdef ARMCI_ABI_MPI
typedef struct {
	void **src_ptr_array;
	void **dst_ptr_array;
	int bytes;
	int ptr_array_len;
} armci_giov_t;

typedef struct armci_hdl_s {
	int batch_size;
	ARMCI_MPI_REQUEST_ single_request;
	ARMCI_MPI_REQUEST_ *request_array;
} armci_hdl_t;

typedef struct {
	ARMCI_MPI_COMM_ comm;
	ARMCI_MPI_COMM_ noncoll_pgroup_comm;
	int *grp_to_abs;
	int *abs_to_grp;
	int rank;
	int size;
} ARMCI_Group;
#else
typedef struct {
	void **src_ptr_array;
	void **dst_ptr_array;
	int ptr_array_len;
	int bytes;
} armci_giov_t;

typedef int armci_hdl_t;
typedef int ARMCI_Group;
#endif

#define armci_req_t armci_hdl_t

typedef struct armci_meminfo_ds {
	char *armci_addr;
	char *addr;
	size_t size;
	int cpid;
	long idlist[128];
} armci_meminfo_t;

int ARMCI_Init(void);
int ARMCI_Init_args(int *argc, char ***argv);
int ARMCI_Init_thread(int armci_requested);
int ARMCI_Initialized(void);
int ARMCI_Finalize(void);
void ARMCI_Cleanup(void);
void ARMCI_Error(const char *msg, int code);

#ifdef ARMCI_MPI_COMM_
int ARMCI_Init_mpi_comm(ARMCI_MPI_COMM_ comm);
int ARMCI_Init_thread_comm(int armci_requested, ARMCI_MPI_COMM_ comm);
ARMCI_MPI_COMM_ armci_group_comm(ARMCI_Group *group);
extern ARMCI_MPI_COMM_ ARMCI_COMM_WORLD;
#endif

int ARMCI_Malloc(void *ptr_arr[], armci_size_t bytes);
int ARMCI_Free(void *ptr);
int ARMCI_Malloc_group(void *ptr_arr[], armci_size_t bytes, ARMCI_Group *group);
int ARMCI_Free_group(void *ptr, ARMCI_Group *group);
int ARMCI_Malloc_memdev(void *ptr_arr[], armci_size_t bytes, const char *device);
int ARMCI_Malloc_group_memdev(void *ptr_arr[], armci_size_t bytes, ARMCI_Group *group, const char *device);
int ARMCI_Free_memdev(void *ptr);
void *ARMCI_Malloc_local(armci_size_t bytes);
int ARMCI_Free_local(void *ptr);
void ARMCI_Memget(size_t bytes, armci_meminfo_t *meminfo, int memflg);
void *ARMCI_Memat(armci_meminfo_t *meminfo, long offset);
void ARMCI_Memdt(armci_meminfo_t *meminfo, long offset);
void ARMCI_Memctl(armci_meminfo_t *meminfo);
void ARMCI_Set_shm_limit(unsigned long shmemlimit);
int ARMCI_Uses_shm(void);
int ARMCI_Uses_shm_grp(ARMCI_Group *group);
void ARMCI_Access_begin(void *ptr);
void ARMCI_Access_end(void *ptr);
void ARMCI_Copy(void *src, void *dst, int n);

int ARMCI_Put(void *src, void *dst, int bytes, int proc);
int ARMCI_Get(void *src, void *dst, int bytes, int proc);
int ARMCI_Acc(int optype, void *scale, void *src, void *dst, int bytes, int proc);
int ARMCI_PutS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[], int count[],
	int stride_levels, int proc);
int ARMCI_GetS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[], int count[],
	int stride_levels, int proc);
int ARMCI_AccS(int optype, void *scale, void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc);
int ARMCI_PutV(armci_giov_t darr[], int len, int proc);
int ARMCI_GetV(armci_giov_t darr[], int len, int proc);
int ARMCI_AccV(int op, void *scale, armci_giov_t darr[], int len, int proc);

int ARMCI_Put_flag(void *src, void *dst, int bytes, int *f, int v, int proc);
int ARMCI_PutS_flag(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[], int count[],
	int stride_levels, int *flag, int val, int proc);
int ARMCI_PutS_flag_dir(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[], int count[],
	int stride_levels, int *flag, int val, int proc);
int armci_notify(int proc);
int armci_notify_wait(int proc, int *pval);

int ARMCI_PutValueInt(int src, void *dst, int proc);
int ARMCI_PutValueLong(long src, void *dst, int proc);
int ARMCI_PutValueFloat(float src, void *dst, int proc);
int ARMCI_PutValueDouble(double src, void *dst, int proc);
int ARMCI_GetValueInt(void *src, int proc);
long ARMCI_GetValueLong(void *src, int proc);
float ARMCI_GetValueFloat(void *src, int proc);
double ARMCI_GetValueDouble(void *src, int proc);

void ARMCI_INIT_HANDLE(armci_hdl_t *hdl);
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *nb_handle);
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *nb_handle);
int ARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[], int count[],
	int stride_levels, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbGetS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[], int count[],
	int stride_levels, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbAccS(int optype, void *scale, void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutV(armci_giov_t darr[], int len, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbGetV(armci_giov_t darr[], int len, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbAccV(int op, void *scale, armci_giov_t darr[], int len, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *nb_handle);
int ARMCI_Wait(armci_hdl_t *nb_handle);
int ARMCI_Test(armci_hdl_t *nb_handle);
int ARMCI_WaitProc(int proc);
int ARMCI_WaitAll(void);

void ARMCI_Fence(int proc);
void ARMCI_AllFence(void);
void ARMCI_GroupFence(ARMCI_Group *group);
void ARMCI_Barrier(void);

int ARMCI_Rmw(int op, void *ploc, void *prem, int extra, int proc);
int ARMCI_Create_mutexes(int num);
int ARMCI_Destroy_mutexes(void);
void ARMCI_Lock(int mutex, int proc);
void ARMCI_Unlock(int mutex, int proc);

void ARMCI_Group_create(int n, int *pid_list, ARMCI_Group *group_out);
void ARMCI_Group_create_child(int n, int *pid_list, ARMCI_Group *group_out, ARMCI_Group *group_parent);
void ARMCI_Group_free(ARMCI_Group *group);
int ARMCI_Group_rank(ARMCI_Group *group, int *rank);
void ARMCI_Group_size(ARMCI_Group *group, int *size);
void ARMCI_Group_set_default(ARMCI_Group *group);
void ARMCI_Group_get_default(ARMCI_Group *group_out);
void ARMCI_Group_get_world(ARMCI_Group *group_out);
int ARMCI_Absolute_id(ARMCI_Group *group, int group_rank);

int armci_domain_nprocs(armci_domain_t domain, int id);
int armci_domain_id(armci_domain_t domain, int glob_proc_id);
int armci_domain_glob_proc_id(armci_domain_t domain, int id, int loc_proc_id);
int armci_domain_my_id(armci_domain_t domain);
int armci_domain_count(armci_domain_t domain);
int armci_domain_same_id(armci_domain_t domain, int proc);
int ARMCI_Same_node(int proc);
int armci_sameclusnode(int proc);

void armci_write_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);
void armci_read_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);

#ifndef _STRIDE_INFO_H_
#define _STRIDE_INFO_H_
typedef struct {
	char *base_ptr;
	int stride_levels;
	int stride_arr[ARMCI_MAX_STRIDE_LEVEL];
	int seg_count[ARMCI_MAX_STRIDE_LEVEL + 1];
	int size, pos, itr[ARMCI_MAX_STRIDE_LEVEL];
} stride_info_t;

void armci_stride_info_init(stride_info_t *sinfo, void *base_ptr, int stride_levels, const int *stride_arr,
	const int *seg_count);
void armci_stride_info_destroy(stride_info_t *sinfo);
int armci_stride_info_count(stride_info_t *sinfo);
int armci_stride_info_pos(stride_info_t *sinfo);
void armci_stride_info_next(stride_info_t *sinfo);
void *armci_stride_info_seg_ptr(stride_info_t *sinfo);
int armci_stride_info_seg_size(stride_info_t *sinfo);
int armci_stride_info_seg_off(stride_info_t *sinfo);
int armci_stride_info_size(stride_info_t *sinfo);
int armci_stride_info_has_more(stride_info_t *sinfo);
#endif

#define ARMCI_CKPT 0
#define ARMCI_RESTART 1
typedef struct {
	void **ptr_arr;
	size_t *sz;
	int *saveonce;
	int count;
} armci_ckpt_ds_t;
void ARMCI_Ckpt_create_ds(armci_ckpt_ds_t *ckptds, int count);
int ARMCI_Ckpt_init(char *filename, ARMCI_Group *grp, int savestack, int saveheap, armci_ckpt_ds_t *ckptds);
int ARMCI_Ckpt(int rid);
void ARMCI_Ckpt_Recover(int rid, int iamreplacement);
void ARMCI_Ckpt_finalize(int rid);
int armci_irecover(int rid, int iamreplacement);
void armci_set_spare_procs(int spare);
ARMCI_Group *ARMCI_Get_ft_group(void);

int dassertp_fail(const char *cond_string, const char *file, const char *func, unsigned int line, int code);
void derr_printf(const char *format, ...);

#ifdef __cplusplus
}
#endif

#include "message.h"
#include "parmci.h"

#define ARMCI_Put1(_s, _d, _b, _p) (memcpy((_d), (_s), (_b)), 0)
#ifdef ARMCI_ABI_MPI
#define ARMCI_INIT_HANDLE(hdl) ((void)((hdl)->batch_size = 0))
#else
#define ARMCI_INIT_HANDLE(hdl) ((void)(*(hdl) = 0))
#endif

#define dassertc(_enable, _cond, _plist, _code) \
	do { \
		if ((_enable) && !(_cond)) { \
			derr_printf _plist; \
			dassertp_fail(#_cond, __FILE__, __func__, __LINE__, (_code)); \
		} \
	} while (0)
#define dassertp(_enable, _cond, _plist) dassertc(_enable, _cond, _plist, 1)
#define dassert(_enable, _cond) dassertp(_enable, _cond, ("%s", ""))
#define dassert1(_enable, _cond, _ival) \
	dassertp(_enable, _cond, ("%d: error ival=%d\n", armci_msg_me(), (int)(_ival)))
#define armci_die(_msg, _code) dassertc(1, 0, ("%d:%s: %d\n", armci_msg_me(), (_msg), (_code)), (_code))
#define armci_die2(_msg, _code1, _code2) \
	dassertc(1, 0, ("%d:%s: (%d,%d)\n", armci_msg_me(), (_msg), (_code1), (_code2)), (_code1))

#endif
