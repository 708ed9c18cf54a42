// SPDX-License-Identifier: BSD-3-Clause
// The constants of both MPI ABIs, as tables: what the public headers mpi.h of Open MPI (libmpi.so.40) and of the MPICH family
// (libmpich.so.12) promise to every compiled program. Only data; a test compiles it against both headers.
#ifndef MPIRMA_ABI_VALUES_H
#define MPIRMA_ABI_VALUES_H

// X(member of struct abi, name in mpi.h, Open MPI, MPICH)
#define ABI_INTS(X) \
	X(proc_null, MPI_PROC_NULL, -2, -1) \
	X(undefined, MPI_UNDEFINED, -32766, -32766) \
	X(root, MPI_ROOT, -4, -3) \
	X(lock_exclusive, MPI_LOCK_EXCLUSIVE, 1, 234) \
	X(lock_shared, MPI_LOCK_SHARED, 2, 235) \
	X(mode_nocheck, MPI_MODE_NOCHECK, 1, 1024) \
	X(mode_nostore, MPI_MODE_NOSTORE, 8, 2048) \
	X(mode_noput, MPI_MODE_NOPUT, 4, 4096) \
	X(mode_noprecede, MPI_MODE_NOPRECEDE, 2, 8192) \
	X(mode_nosucceed, MPI_MODE_NOSUCCEED, 16, 16384) \
	X(err_count, MPI_ERR_COUNT, 2, 2) \
	X(err_type, MPI_ERR_TYPE, 3, 3) \
	X(err_comm, MPI_ERR_COMM, 5, 5) \
	X(err_rank, MPI_ERR_RANK, 6, 6) \
	X(err_request, MPI_ERR_REQUEST, 7, 19) \
	X(err_group, MPI_ERR_GROUP, 9, 8) \
	X(err_op, MPI_ERR_OP, 10, 9) \
	X(err_arg, MPI_ERR_ARG, 13, 12) \
	X(err_other, MPI_ERR_OTHER, 16, 15) \
	X(err_intern, MPI_ERR_INTERN, 17, 16) \
	X(err_assert, MPI_ERR_ASSERT, 22, 53) \
	X(err_base, MPI_ERR_BASE, 24, 46) \
	X(err_disp, MPI_ERR_DISP, 26, 52) \
	X(err_info_nokey, MPI_ERR_INFO_NOKEY, 32, 31) \
	X(err_info, MPI_ERR_INFO, 34, 28) \
	X(err_locktype, MPI_ERR_LOCKTYPE, 37, 47) \
	X(err_no_mem, MPI_ERR_NO_MEM, 39, 34) \
	X(err_rma_conflict, MPI_ERR_RMA_CONFLICT, 46, 49) \
	X(err_rma_sync, MPI_ERR_RMA_SYNC, 47, 50) \
	X(err_size, MPI_ERR_SIZE, 49, 51) \
	X(err_win, MPI_ERR_WIN, 53, 45) \
	X(err_rma_range, MPI_ERR_RMA_RANGE, 68, 55) \
	X(err_rma_attach, MPI_ERR_RMA_ATTACH, 69, 56) \
	X(err_rma_flavor, MPI_ERR_RMA_FLAVOR, 70, 58) \
	X(err_rma_shared, MPI_ERR_RMA_SHARED, 71, 57) \
	X(win_base, MPI_WIN_BASE, 7, 0x66000001) \
	X(win_size, MPI_WIN_SIZE, 8, 0x66000003) \
	X(win_disp_unit, MPI_WIN_DISP_UNIT, 9, 0x66000005) \
	X(win_create_flavor, MPI_WIN_CREATE_FLAVOR, 10, 0x66000007) \
	X(win_model, MPI_WIN_MODEL, 11, 0x66000009) \
	X(keyval_invalid, MPI_KEYVAL_INVALID, -1, 0x24000000) \
	X(flavor[FLAVOR_CREATE], MPI_WIN_FLAVOR_CREATE, 1, 1) \
	X(flavor[FLAVOR_ALLOCATE], MPI_WIN_FLAVOR_ALLOCATE, 2, 2) \
	X(flavor[FLAVOR_DYNAMIC], MPI_WIN_FLAVOR_DYNAMIC, 3, 3) \
	X(flavor[FLAVOR_SHARED], MPI_WIN_FLAVOR_SHARED, 4, 4) \
	X(model_unified, MPI_WIN_UNIFIED, 0, 2) \
	X(thread_multiple, MPI_THREAD_MULTIPLE, 3, 3) \
	X(comm_type_shared, MPI_COMM_TYPE_SHARED, 0, 1) \
	X(comm_identical, MPI_IDENT, 0, 0) \
	X(comm_congruent, MPI_CONGRUENT, 1, 1) \
	X(max_info_key, MPI_MAX_INFO_KEY, 36, 255) \
	X(max_info_val, MPI_MAX_INFO_VAL, 256, 1024) \
	X(max_object_name, MPI_MAX_OBJECT_NAME, 64, 128) \
	X(combiner_named, MPI_COMBINER_NAMED, 0, 1) \
	X(order_c, MPI_ORDER_C, 0, 56) \
	X(distribute_none, MPI_DISTRIBUTE_NONE, 2, 123) \
	X(distribute_block, MPI_DISTRIBUTE_BLOCK, 0, 121) \
	X(distribute_default, MPI_DISTRIBUTE_DFLT_DARG, -1, -49767)

// X(member of struct abi, name in mpi.h, object of Open MPI, MPICH)
#define ABI_HANDLES(X) \
	X(win_null, MPI_WIN_NULL, ompi_mpi_win_null, 0x20000000) \
	X(comm_null, MPI_COMM_NULL, ompi_mpi_comm_null, 0x04000000) \
	X(comm_world, MPI_COMM_WORLD, ompi_mpi_comm_world, 0x44000000) \
	X(comm_self, MPI_COMM_SELF, ompi_mpi_comm_self, 0x44000001) \
	X(info_null, MPI_INFO_NULL, ompi_mpi_info_null, 0x1c000000) \
	X(datatype_null, MPI_DATATYPE_NULL, ompi_mpi_datatype_null, 0x0c000000) \
	X(request_null, MPI_REQUEST_NULL, ompi_request_null, 0x2c000000) \
	X(group_null, MPI_GROUP_NULL, ompi_mpi_group_null, 0x08000000) \
	X(group_empty, MPI_GROUP_EMPTY, ompi_mpi_group_empty, 0x48000000) \
	X(op_null, MPI_OP_NULL, ompi_mpi_op_null, 0x18000000) \
	X(op_replace, MPI_REPLACE, ompi_mpi_op_replace, 0x5800000d) \
	X(op_no_op, MPI_NO_OP, ompi_mpi_op_no_op, 0x5800000e) \
	X(op_sum, MPI_SUM, ompi_mpi_op_sum, 0x58000003) \
	X(op_max, MPI_MAX, ompi_mpi_op_max, 0x58000001) \
	X(op_min, MPI_MIN, ompi_mpi_op_min, 0x58000002) \
	X(byte, MPI_BYTE, ompi_mpi_byte, 0x4c00010d) \
	X(int_type, MPI_INT, ompi_mpi_int, 0x4c000405) \
	X(int64_type, MPI_INT64_T, ompi_mpi_int64_t, 0x4c00083a) \
	X(errors_are_fatal, MPI_ERRORS_ARE_FATAL, ompi_mpi_errors_are_fatal, 0x54000000) \
	X(errors_return, MPI_ERRORS_RETURN, ompi_mpi_errors_return, 0x54000001)

// X(operator of kernel/update.h, name in mpi.h, object of Open MPI, MPICH)
#define ABI_OPS(X) \
	X(K_U_MAX, MPI_MAX, ompi_mpi_op_max, 0x58000001) \
	X(K_U_MIN, MPI_MIN, ompi_mpi_op_min, 0x58000002) \
	X(K_U_SUM, MPI_SUM, ompi_mpi_op_sum, 0x58000003) \
	X(K_U_PROD, MPI_PROD, ompi_mpi_op_prod, 0x58000004) \
	X(K_U_LAND, MPI_LAND, ompi_mpi_op_land, 0x58000005) \
	X(K_U_BAND, MPI_BAND, ompi_mpi_op_band, 0x58000006) \
	X(K_U_LOR, MPI_LOR, ompi_mpi_op_lor, 0x58000007) \
	X(K_U_BOR, MPI_BOR, ompi_mpi_op_bor, 0x58000008) \
	X(K_U_LXOR, MPI_LXOR, ompi_mpi_op_lxor, 0x58000009) \
	X(K_U_BXOR, MPI_BXOR, ompi_mpi_op_bxor, 0x5800000a) \
	X(K_U_MINLOC, MPI_MINLOC, ompi_mpi_op_minloc, 0x5800000b) \
	X(K_U_MAXLOC, MPI_MAXLOC, ompi_mpi_op_maxloc, 0x5800000c) \
	X(K_U_REPLACE, MPI_REPLACE, ompi_mpi_op_replace, 0x5800000d) \
	X(K_U_NOOP, MPI_NO_OP, ompi_mpi_op_no_op, 0x5800000e)

#endif
