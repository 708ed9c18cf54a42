// SPDX-License-Identifier: BSD-3-Clause
// The constants of both MPI ABIs, as tables: what the public headers mpi.h of Open MPI
// (libmpi.so.40) and of the MPICH family (libmpich.so.12) promise to every compiled program. Only
// data; a test compiles it against both headers.
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

// X(class of predefined.h, name in mpi.h, object of Open MPI, MPICH). Their sizes are asked of the
// MPI.
#define ABI_TYPES(X) \
	X(TYPE_INT, MPI_CHAR, ompi_mpi_char, 0x4c000101) \
	X(TYPE_INT, MPI_SIGNED_CHAR, ompi_mpi_signed_char, 0x4c000118) \
	X(TYPE_UINT, MPI_UNSIGNED_CHAR, ompi_mpi_unsigned_char, 0x4c000102) \
	X(TYPE_BYTES, MPI_BYTE, ompi_mpi_byte, 0x4c00010d) \
	X(TYPE_BYTES, MPI_PACKED, ompi_mpi_packed, 0x4c00010f) \
	X(TYPE_INT, MPI_WCHAR, ompi_mpi_wchar, 0x4c00040e) \
	X(TYPE_INT, MPI_SHORT, ompi_mpi_short, 0x4c000203) \
	X(TYPE_UINT, MPI_UNSIGNED_SHORT, ompi_mpi_unsigned_short, 0x4c000204) \
	X(TYPE_INT, MPI_INT, ompi_mpi_int, 0x4c000405) \
	X(TYPE_UINT, MPI_UNSIGNED, ompi_mpi_unsigned, 0x4c000406) \
	X(TYPE_INT, MPI_LONG, ompi_mpi_long, 0x4c000807) \
	X(TYPE_UINT, MPI_UNSIGNED_LONG, ompi_mpi_unsigned_long, 0x4c000808) \
	X(TYPE_INT, MPI_LONG_LONG_INT, ompi_mpi_long_long_int, 0x4c000809) \
	X(TYPE_UINT, MPI_UNSIGNED_LONG_LONG, ompi_mpi_unsigned_long_long, 0x4c000819) \
	X(TYPE_FLOAT, MPI_FLOAT, ompi_mpi_float, 0x4c00040a) \
	X(TYPE_FLOAT, MPI_DOUBLE, ompi_mpi_double, 0x4c00080b) \
	X(TYPE_LONG_DOUBLE, MPI_LONG_DOUBLE, ompi_mpi_long_double, 0x4c00100c) \
	X(TYPE_INT, MPI_INT8_T, ompi_mpi_int8_t, 0x4c000137) \
	X(TYPE_INT, MPI_INT16_T, ompi_mpi_int16_t, 0x4c000238) \
	X(TYPE_INT, MPI_INT32_T, ompi_mpi_int32_t, 0x4c000439) \
	X(TYPE_INT, MPI_INT64_T, ompi_mpi_int64_t, 0x4c00083a) \
	X(TYPE_UINT, MPI_UINT8_T, ompi_mpi_uint8_t, 0x4c00013b) \
	X(TYPE_UINT, MPI_UINT16_T, ompi_mpi_uint16_t, 0x4c00023c) \
	X(TYPE_UINT, MPI_UINT32_T, ompi_mpi_uint32_t, 0x4c00043d) \
	X(TYPE_UINT, MPI_UINT64_T, ompi_mpi_uint64_t, 0x4c00083e) \
	X(TYPE_INT, MPI_AINT, ompi_mpi_aint, 0x4c000843) \
	X(TYPE_INT, MPI_OFFSET, ompi_mpi_offset, 0x4c000844) \
	X(TYPE_INT, MPI_COUNT, ompi_mpi_count, 0x4c000845) \
	X(TYPE_BOOL, MPI_C_BOOL, ompi_mpi_c_bool, 0x4c00013f) \
	X(TYPE_COMPLEX, MPI_C_FLOAT_COMPLEX, ompi_mpi_c_float_complex, 0x4c000840) \
	X(TYPE_COMPLEX, MPI_C_DOUBLE_COMPLEX, ompi_mpi_c_double_complex, 0x4c001041) \
	X(TYPE_LONG_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, ompi_mpi_c_long_double_complex, \
		0x4c002042) \
	X(TYPE_BOOL, MPI_CXX_BOOL, ompi_mpi_cxx_bool, 0x4c000133) \
	X(TYPE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, ompi_mpi_cxx_cplex, 0x4c000834) \
	X(TYPE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, ompi_mpi_cxx_dblcplex, 0x4c001035) \
	X(TYPE_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, ompi_mpi_cxx_ldblcplex, \
		0x4c002036) \
	X(TYPE_PAIR_F32, MPI_FLOAT_INT, ompi_mpi_float_int, 0x8c000000) \
	X(TYPE_PAIR_F64, MPI_DOUBLE_INT, ompi_mpi_double_int, 0x8c000001) \
	X(TYPE_PAIR_LONG, MPI_LONG_INT, ompi_mpi_long_int, 0x8c000002) \
	X(TYPE_PAIR_I16, MPI_SHORT_INT, ompi_mpi_short_int, 0x8c000003) \
	X(TYPE_PAIR_F80, MPI_LONG_DOUBLE_INT, ompi_mpi_longdbl_int, 0x8c000004) \
	X(TYPE_2INT, MPI_2INT, ompi_mpi_2int, 0x4c000816) \
	X(TYPE_LOGICAL, MPI_LOGICAL, ompi_mpi_logical, 0x4c00041d) \
	X(TYPE_INT, MPI_CHARACTER, ompi_mpi_character, 0x4c00011a) \
	X(TYPE_INT, MPI_INTEGER, ompi_mpi_integer, 0x4c00041b) \
	X(TYPE_INT, MPI_INTEGER1, ompi_mpi_integer1, 0x4c00012d) \
	X(TYPE_INT, MPI_INTEGER2, ompi_mpi_integer2, 0x4c00022f) \
	X(TYPE_INT, MPI_INTEGER4, ompi_mpi_integer4, 0x4c000430) \
	X(TYPE_INT, MPI_INTEGER8, ompi_mpi_integer8, 0x4c000831) \
	X(TYPE_FLOAT, MPI_REAL, ompi_mpi_real, 0x4c00041c) \
	X(TYPE_FLOAT, MPI_REAL4, ompi_mpi_real4, 0x4c000427) \
	X(TYPE_FLOAT, MPI_REAL8, ompi_mpi_real8, 0x4c000829) \
	X(TYPE_FLOAT, MPI_REAL16, ompi_mpi_real16, 0x4c00102b) \
	X(TYPE_FLOAT, MPI_DOUBLE_PRECISION, ompi_mpi_dblprec, 0x4c00081f) \
	X(TYPE_COMPLEX, MPI_COMPLEX, ompi_mpi_cplex, 0x4c00081e) \
	X(TYPE_COMPLEX, MPI_COMPLEX8, ompi_mpi_complex8, 0x4c000828) \
	X(TYPE_COMPLEX, MPI_COMPLEX16, ompi_mpi_complex16, 0x4c00102a) \
	X(TYPE_COMPLEX, MPI_COMPLEX32, ompi_mpi_complex32, 0x4c00202c) \
	X(TYPE_COMPLEX, MPI_DOUBLE_COMPLEX, ompi_mpi_dblcplex, 0x4c001022) \
	X(TYPE_2INT, MPI_2INTEGER, ompi_mpi_2integer, 0x4c000820) \
	X(TYPE_2FLOAT, MPI_2REAL, ompi_mpi_2real, 0x4c000821) \
	X(TYPE_2FLOAT, MPI_2DOUBLE_PRECISION, ompi_mpi_2dblprec, 0x4c001023)

// X(class, name in mpi.h, object): those that only Open MPI has.
#define ABI_TYPES_OPEN(X) \
	X(TYPE_LOGICAL, MPI_LOGICAL1, ompi_mpi_logical1) \
	X(TYPE_LOGICAL, MPI_LOGICAL2, ompi_mpi_logical2) \
	X(TYPE_LOGICAL, MPI_LOGICAL4, ompi_mpi_logical4) \
	X(TYPE_LOGICAL, MPI_LOGICAL8, ompi_mpi_logical8) \
	X(TYPE_BYTES, MPI_2COMPLEX, ompi_mpi_2cplex) \
	X(TYPE_BYTES, MPI_2DOUBLE_COMPLEX, ompi_mpi_2dblcplex)

#endif
