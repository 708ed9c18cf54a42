/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the constants, and the sizes and offsets of types, that constants.f90 prints from the
 * Fortran module of the same ABI, in the same order. Links with nothing. */
#include <armci.h>
#include <armcix.h>
#include <gpc.h>
#include <stddef.h>
#include <stdio.h>

static const int constants[] = {ARMCI_SWAP, ARMCI_SWAP_LONG, ARMCI_FETCH_AND_ADD,
	ARMCI_FETCH_AND_ADD_LONG, ARMCIX_ADD, ARMCIX_AND, ARMCIX_OR, ARMCIX_XOR, ARMCIX_SWAP,
	ARMCIX_CAS, ARMCI_ACC_INT, ARMCI_ACC_DBL, ARMCI_ACC_FLT, ARMCI_ACC_CPL, ARMCI_ACC_DCP,
	ARMCI_ACC_LNG, ARMCI_INT, ARMCI_LONG, ARMCI_LONG_LONG, ARMCI_FLOAT, ARMCI_DOUBLE, SCOPE_ALL,
	SCOPE_NODE, SCOPE_MASTERS, ARMCI_MAX_STRIDE_LEVEL, ARMCI_DOMAIN_SMP, GPC_INIT, GPC_PROBE,
	GPC_WAIT, GPC_DONE, GPC_PENDING, ARMCI_CKPT, ARMCI_RESTART, FAIL, FAIL2, FAIL3, FAIL4,
	FAIL5, FAIL6, FAIL7, FAIL8};

static const size_t sizes[] = {sizeof(void *), sizeof(ARMCI_MPI_COMM_), sizeof(armci_hdl_t),
	sizeof(ARMCI_Group), sizeof(armci_giov_t), sizeof(armci_meminfo_t), sizeof(armcix_event_t),
	sizeof(stride_info_t), sizeof(gpc_hdl_t), sizeof(armci_ckpt_ds_t)};

static const size_t offsets[] = {offsetof(armci_giov_t, src_ptr_array),
	offsetof(armci_giov_t, dst_ptr_array), offsetof(armci_giov_t, ptr_array_len),
	offsetof(armci_giov_t, bytes), offsetof(armci_meminfo_t, armci_addr),
	offsetof(armci_meminfo_t, addr), offsetof(armci_meminfo_t, size),
	offsetof(armci_meminfo_t, cpid), offsetof(armcix_event_t, count),
	offsetof(armcix_event_t, sleepers), offsetof(gpc_hdl_t, proc),
	offsetof(armci_ckpt_ds_t, ptr_arr), offsetof(armci_ckpt_ds_t, sz),
	offsetof(armci_ckpt_ds_t, saveonce), offsetof(armci_ckpt_ds_t, count)};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

int main(void) {
	size_t i;

	for (i = 0; i < COUNT(constants); i++)
		printf("%d\n", constants[i]);
	for (i = 0; i < COUNT(sizes); i++)
		printf("%d\n", (int)sizes[i]);
	for (i = 0; i < COUNT(offsets); i++)
		printf("%d\n", (int)offsets[i]);
	return 0;
}
