/* SPDX-License-Identifier: BSD-3-Clause */
/* Compile-time proof that every public type has the promised size and field offsets and every
 * constant its value, in the flavour selected on the command line. It compiles or it does not; it
 * must not contain anything to run. */
#include <armci.h>
#include <armcix.h>
#include <gpc.h>
#include <stddef.h>

#ifdef __cplusplus
#define HOLDS(cond) static_assert(cond, #cond)
#elif __STDC_VERSION__ >= 201112L
#define HOLDS(cond) _Static_assert(cond, #cond)
#else
#define HOLDS(cond) extern char holds[(cond) ? 1 : -1]
#endif
#define AT(type, field, offset) HOLDS(offsetof(type, field) == (offset))
#define WIDE(type, field, bytes) HOLDS(sizeof(((type *)0)->field) == (bytes))

HOLDS(sizeof(armci_size_t) == 8 && (armci_size_t)-1 < 0);
HOLDS(sizeof(armci_domain_t) == 4);
HOLDS(sizeof(armci_giov_t) == 24);
AT(armci_giov_t, src_ptr_array, 0);
AT(armci_giov_t, dst_ptr_array, 8);
HOLDS(sizeof(armci_meminfo_t) == 1056);
AT(armci_meminfo_t, armci_addr, 0);
AT(armci_meminfo_t, addr, 8);
AT(armci_meminfo_t, size, 16);
AT(armci_meminfo_t, cpid, 24);
AT(armci_meminfo_t, idlist, 32);
WIDE(armci_meminfo_t, cpid, 4);
WIDE(armci_meminfo_t, idlist, 1024);
WIDE(armci_giov_t, bytes, 4);
WIDE(armci_giov_t, ptr_array_len, 4);
WIDE(gpc_hdl_t, proc, 4);
HOLDS(sizeof(gpc_hdl_t) == 600);
AT(gpc_hdl_t, proc, 0);
AT(gpc_hdl_t, ahdl, 8);
HOLDS(sizeof(stride_info_t) == 120);
AT(stride_info_t, base_ptr, 0);
AT(stride_info_t, stride_levels, 8);
AT(stride_info_t, stride_arr, 12);
AT(stride_info_t, seg_count, 44);
AT(stride_info_t, size, 80);
AT(stride_info_t, pos, 84);
AT(stride_info_t, itr, 88);
HOLDS(sizeof(armcix_mutex_hdl_t) == 8);
HOLDS(sizeof(armcix_event_t) == 8 && offsetof(armcix_event_t, count) == 0 &&
	offsetof(armcix_event_t, sleepers) == 4);
HOLDS(ARMCIX_ADD == 1 && ARMCIX_AND == 2 && ARMCIX_OR == 3 && ARMCIX_XOR == 4 && ARMCIX_SWAP == 5 &&
	ARMCIX_CAS == 6);
HOLDS(sizeof(armci_req_t) == sizeof(armci_hdl_t));
HOLDS(sizeof(armci_ckpt_ds_t) == 32);

#ifdef ARMCI_ABI_MPI
AT(armci_giov_t, bytes, 16);
AT(armci_giov_t, ptr_array_len, 20);
AT(armci_hdl_t, batch_size, 0);
AT(ARMCI_Group, comm, 0);
WIDE(ARMCI_Group, rank, 4);
WIDE(armci_hdl_t, batch_size, 4);
#ifdef OPEN_MPI
HOLDS(sizeof(armci_hdl_t) == 24);
AT(armci_hdl_t, single_request, 8);
AT(armci_hdl_t, request_array, 16);
HOLDS(sizeof(ARMCI_Group) == 40);
AT(ARMCI_Group, noncoll_pgroup_comm, 8);
AT(ARMCI_Group, grp_to_abs, 16);
AT(ARMCI_Group, abs_to_grp, 24);
AT(ARMCI_Group, rank, 32);
AT(ARMCI_Group, size, 36);
#else
HOLDS(sizeof(armci_hdl_t) == 16);
AT(armci_hdl_t, single_request, 4);
AT(armci_hdl_t, request_array, 8);
HOLDS(sizeof(ARMCI_Group) == 32);
AT(ARMCI_Group, noncoll_pgroup_comm, 4);
AT(ARMCI_Group, grp_to_abs, 8);
AT(ARMCI_Group, abs_to_grp, 16);
AT(ARMCI_Group, rank, 24);
AT(ARMCI_Group, size, 28);
#endif
#else
AT(armci_giov_t, ptr_array_len, 16);
AT(armci_giov_t, bytes, 20);
HOLDS(sizeof(armci_hdl_t) == 4);
HOLDS(sizeof(ARMCI_Group) == 4);
#endif

HOLDS(ARMCI_ACC_OFF == 36 && ARMCI_ACC_INT == 37 && ARMCI_ACC_DBL == 38 && ARMCI_ACC_FLT == 39);
HOLDS(ARMCI_ACC_CPL == 40 && ARMCI_ACC_DCP == 41 && ARMCI_ACC_LNG == 42);
HOLDS(ARMCI_SWAP == 10 && ARMCI_SWAP_LONG == 11);
HOLDS(ARMCI_FETCH_AND_ADD == 12 && ARMCI_FETCH_AND_ADD_LONG == 13);
HOLDS(ARMCI_INT == -99 && ARMCI_LONG == -101 && ARMCI_LONG_LONG == -102);
HOLDS(ARMCI_FLOAT == -306 && ARMCI_DOUBLE == -307);
HOLDS(SCOPE_ALL == 333 && SCOPE_NODE == 337 && SCOPE_MASTERS == 339);
HOLDS(ARMCI_DOMAIN_SMP == 0 && ARMCI_MAX_STRIDE_LEVEL == 8);
HOLDS(FAIL == -1 && FAIL2 == -2 && FAIL3 == -3 && FAIL4 == -4);
HOLDS(FAIL5 == -5 && FAIL6 == -6 && FAIL7 == -7 && FAIL8 == -8);
HOLDS(GPC_INIT == 1 && GPC_PROBE == 2 && GPC_WAIT == 3 && GPC_DONE == 4 && GPC_PENDING == 5);
HOLDS(ARMCI_CKPT == 0 && ARMCI_RESTART == 1);

/* What ARMCI-MPI alone defines would make programs believe they run on it. */
#ifdef ARMCI_MPI
#error "ARMCI_MPI must not be defined"
#endif
