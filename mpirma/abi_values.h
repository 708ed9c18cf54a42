// SPDX-License-Identifier: BSD-3-Clause
// The constants of the three MPI ABIs, as tables: what the public headers mpi.h of Open MPI
// (libmpi.so.40), of the MPICH family (libmpich.so.12) and of MPI 5's standard ABI
// (libmpi_abi.so.1) promise to every compiled program. Only data; the test abi/standard/values
// compiles it against these headers.
#ifndef MPIRMA_ABI_VALUES_H
#define MPIRMA_ABI_VALUES_H

#include "../internal/bootstrap/mpi_flavour.h"

// X(member of struct abi, name in mpi.h, Open MPI, MPICH, standard)
#define ABI_INTS(X) \
	X(proc_null, MPI_PROC_NULL, -2, -1, -3) \
	X(undefined, MPI_UNDEFINED, -32766, -32766, -32766) \
	X(root, MPI_ROOT, -4, -3, -4) \
	X(lock_exclusive, MPI_LOCK_EXCLUSIVE, 1, 234, 301) \
	X(lock_shared, MPI_LOCK_SHARED, 2, 235, 302) \
	X(mode_nocheck, MPI_MODE_NOCHECK, 1, 1024, 1024) \
	X(mode_nostore, MPI_MODE_NOSTORE, 8, 2048, 8192) \
	X(mode_noput, MPI_MODE_NOPUT, 4, 4096, 4096) \
	X(mode_noprecede, MPI_MODE_NOPRECEDE, 2, 8192, 2048) \
	X(mode_nosucceed, MPI_MODE_NOSUCCEED, 16, 16384, 16384) \
	X(err_count, MPI_ERR_COUNT, 2, 2, 2) \
	X(err_type, MPI_ERR_TYPE, 3, 3, 3) \
	X(err_comm, MPI_ERR_COMM, 5, 5, 5) \
	X(err_rank, MPI_ERR_RANK, 6, 6, 6) \
	X(err_request, MPI_ERR_REQUEST, 7, 19, 7) \
	X(err_group, MPI_ERR_GROUP, 9, 8, 9) \
	X(err_op, MPI_ERR_OP, 10, 9, 10) \
	X(err_arg, MPI_ERR_ARG, 13, 12, 13) \
	X(err_other, MPI_ERR_OTHER, 16, 15, 16) \
	X(err_intern, MPI_ERR_INTERN, 17, 16, 17) \
	X(err_assert, MPI_ERR_ASSERT, 22, 53, 22) \
	X(err_base, MPI_ERR_BASE, 24, 46, 24) \
	X(err_disp, MPI_ERR_DISP, 26, 52, 26) \
	X(err_info_nokey, MPI_ERR_INFO_NOKEY, 32, 31, 32) \
	X(err_info, MPI_ERR_INFO, 34, 28, 34) \
	X(err_locktype, MPI_ERR_LOCKTYPE, 37, 47, 37) \
	X(err_no_mem, MPI_ERR_NO_MEM, 39, 34, 39) \
	X(err_rma_conflict, MPI_ERR_RMA_CONFLICT, 46, 49, 47) \
	X(err_rma_sync, MPI_ERR_RMA_SYNC, 47, 50, 50) \
	X(err_size, MPI_ERR_SIZE, 49, 51, 52) \
	X(err_win, MPI_ERR_WIN, 53, 45, 56) \
	X(err_rma_range, MPI_ERR_RMA_RANGE, 68, 55, 48) \
	X(err_rma_attach, MPI_ERR_RMA_ATTACH, 69, 56, 46) \
	X(err_rma_flavor, MPI_ERR_RMA_FLAVOR, 70, 58, 57) \
	X(err_rma_shared, MPI_ERR_RMA_SHARED, 71, 57, 49) \
	X(win_base, MPI_WIN_BASE, 7, 0x66000001, 601) \
	X(win_size, MPI_WIN_SIZE, 8, 0x66000003, 603) \
	X(win_disp_unit, MPI_WIN_DISP_UNIT, 9, 0x66000005, 602) \
	X(win_create_flavor, MPI_WIN_CREATE_FLAVOR, 10, 0x66000007, 604) \
	X(win_model, MPI_WIN_MODEL, 11, 0x66000009, 605) \
	X(keyval_invalid, MPI_KEYVAL_INVALID, -1, 0x24000000, 0) \
	X(flavor[FLAVOR_CREATE], MPI_WIN_FLAVOR_CREATE, 1, 1, 311) \
	X(flavor[FLAVOR_ALLOCATE], MPI_WIN_FLAVOR_ALLOCATE, 2, 2, 312) \
	X(flavor[FLAVOR_DYNAMIC], MPI_WIN_FLAVOR_DYNAMIC, 3, 3, 313) \
	X(flavor[FLAVOR_SHARED], MPI_WIN_FLAVOR_SHARED, 4, 4, 314) \
	X(model_unified, MPI_WIN_UNIFIED, 0, 2, 321) \
	X(thread_multiple, MPI_THREAD_MULTIPLE, 3, 3, STANDARD_THREAD_MULTIPLE) \
	X(comm_type_shared, MPI_COMM_TYPE_SHARED, 0, 1, 221) \
	X(comm_identical, MPI_IDENT, 0, 0, 201) \
	X(comm_congruent, MPI_CONGRUENT, 1, 1, 202) \
	X(max_info_key, MPI_MAX_INFO_KEY, 36, 255, 256) \
	X(max_info_val, MPI_MAX_INFO_VAL, 256, 1024, 1024) \
	X(max_object_name, MPI_MAX_OBJECT_NAME, 64, 128, 128) \
	X(order_c, MPI_ORDER_C, 0, 56, 12) \
	X(distribute_none, MPI_DISTRIBUTE_NONE, 2, 123, 16) \
	X(distribute_block, MPI_DISTRIBUTE_BLOCK, 0, 121, 17) \
	X(distribute_default, MPI_DISTRIBUTE_DFLT_DARG, -1, -49767, 19)

// X(member of struct abi, name in mpi.h, object of Open MPI, MPICH, standard)
#define ABI_HANDLES(X) \
	X(win_null, MPI_WIN_NULL, ompi_mpi_win_null, 0x20000000, 0x110) \
	X(comm_null, MPI_COMM_NULL, ompi_mpi_comm_null, 0x04000000, STANDARD_COMM_NULL) \
	X(comm_world, MPI_COMM_WORLD, ompi_mpi_comm_world, 0x44000000, STANDARD_COMM_WORLD) \
	X(comm_self, MPI_COMM_SELF, ompi_mpi_comm_self, 0x44000001, 0x102) \
	X(info_null, MPI_INFO_NULL, ompi_mpi_info_null, 0x1c000000, 0x130) \
	X(datatype_null, MPI_DATATYPE_NULL, ompi_mpi_datatype_null, 0x0c000000, 0x200) \
	X(request_null, MPI_REQUEST_NULL, ompi_request_null, 0x2c000000, 0x180) \
	X(group_null, MPI_GROUP_NULL, ompi_mpi_group_null, 0x08000000, 0x108) \
	X(group_empty, MPI_GROUP_EMPTY, ompi_mpi_group_empty, 0x48000000, 0x109) \
	X(op_null, MPI_OP_NULL, ompi_mpi_op_null, 0x18000000, 0x20) \
	X(op_replace, MPI_REPLACE, ompi_mpi_op_replace, 0x5800000d, 0x3c) \
	X(op_no_op, MPI_NO_OP, ompi_mpi_op_no_op, 0x5800000e, 0x3d) \
	X(op_sum, MPI_SUM, ompi_mpi_op_sum, 0x58000003, 0x21) \
	X(op_max, MPI_MAX, ompi_mpi_op_max, 0x58000001, 0x23) \
	X(op_min, MPI_MIN, ompi_mpi_op_min, 0x58000002, 0x22) \
	X(byte, MPI_BYTE, ompi_mpi_byte, 0x4c00010d, STANDARD_BYTE) \
	X(int_type, MPI_INT, ompi_mpi_int, 0x4c000405, 0x209) \
	X(int64_type, MPI_INT64_T, ompi_mpi_int64_t, 0x4c00083a, 0x258) \
	X(errors_are_fatal, MPI_ERRORS_ARE_FATAL, ompi_mpi_errors_are_fatal, 0x54000000, 0x141) \
	X(errors_return, MPI_ERRORS_RETURN, ompi_mpi_errors_return, 0x54000001, 0x143)

// X(operator of kernel/update.h, name in mpi.h, object of Open MPI, MPICH, standard)
#define ABI_OPS(X) \
	X(K_U_MAX, MPI_MAX, ompi_mpi_op_max, 0x58000001, 0x23) \
	X(K_U_MIN, MPI_MIN, ompi_mpi_op_min, 0x58000002, 0x22) \
	X(K_U_SUM, MPI_SUM, ompi_mpi_op_sum, 0x58000003, 0x21) \
	X(K_U_PROD, MPI_PROD, ompi_mpi_op_prod, 0x58000004, 0x24) \
	X(K_U_LAND, MPI_LAND, ompi_mpi_op_land, 0x58000005, 0x30) \
	X(K_U_BAND, MPI_BAND, ompi_mpi_op_band, 0x58000006, 0x28) \
	X(K_U_LOR, MPI_LOR, ompi_mpi_op_lor, 0x58000007, 0x31) \
	X(K_U_BOR, MPI_BOR, ompi_mpi_op_bor, 0x58000008, 0x29) \
	X(K_U_LXOR, MPI_LXOR, ompi_mpi_op_lxor, 0x58000009, 0x32) \
	X(K_U_BXOR, MPI_BXOR, ompi_mpi_op_bxor, 0x5800000a, 0x2a) \
	X(K_U_MINLOC, MPI_MINLOC, ompi_mpi_op_minloc, 0x5800000b, 0x38) \
	X(K_U_MAXLOC, MPI_MAXLOC, ompi_mpi_op_maxloc, 0x5800000c, 0x39) \
	X(K_U_REPLACE, MPI_REPLACE, ompi_mpi_op_replace, 0x5800000d, 0x3c) \
	X(K_U_NOOP, MPI_NO_OP, ompi_mpi_op_no_op, 0x5800000e, 0x3d)

// X(class of predefined.h, name in mpi.h, object of Open MPI, MPICH, standard). Their sizes are
// asked of the MPI.
#define ABI_TYPES(X) \
	X(TYPE_INT, MPI_CHAR, ompi_mpi_char, 0x4c000101, 0x243) \
	X(TYPE_INT, MPI_SIGNED_CHAR, ompi_mpi_signed_char, 0x4c000118, 0x244) \
	X(TYPE_UINT, MPI_UNSIGNED_CHAR, ompi_mpi_unsigned_char, 0x4c000102, 0x245) \
	X(TYPE_BYTES, MPI_BYTE, ompi_mpi_byte, 0x4c00010d, STANDARD_BYTE) \
	X(TYPE_BYTES, MPI_PACKED, ompi_mpi_packed, 0x4c00010f, 0x207) \
	X(TYPE_INT, MPI_WCHAR, ompi_mpi_wchar, 0x4c00040e, 0x23c) \
	X(TYPE_INT, MPI_SHORT, ompi_mpi_short, 0x4c000203, 0x208) \
	X(TYPE_UINT, MPI_UNSIGNED_SHORT, ompi_mpi_unsigned_short, 0x4c000204, 0x20c) \
	X(TYPE_INT, MPI_INT, ompi_mpi_int, 0x4c000405, 0x209) \
	X(TYPE_UINT, MPI_UNSIGNED, ompi_mpi_unsigned, 0x4c000406, 0x20d) \
	X(TYPE_INT, MPI_LONG, ompi_mpi_long, 0x4c000807, 0x20a) \
	X(TYPE_UINT, MPI_UNSIGNED_LONG, ompi_mpi_unsigned_long, 0x4c000808, 0x20e) \
	X(TYPE_INT, MPI_LONG_LONG_INT, ompi_mpi_long_long_int, 0x4c000809, 0x20b) \
	X(TYPE_UINT, MPI_UNSIGNED_LONG_LONG, ompi_mpi_unsigned_long_long, 0x4c000819, 0x20f) \
	X(TYPE_FLOAT, MPI_FLOAT, ompi_mpi_float, 0x4c00040a, 0x210) \
	X(TYPE_FLOAT, MPI_DOUBLE, ompi_mpi_double, 0x4c00080b, 0x214) \
	X(TYPE_LONG_DOUBLE, MPI_LONG_DOUBLE, ompi_mpi_long_double, 0x4c00100c, 0x220) \
	X(TYPE_INT, MPI_INT8_T, ompi_mpi_int8_t, 0x4c000137, 0x240) \
	X(TYPE_INT, MPI_INT16_T, ompi_mpi_int16_t, 0x4c000238, 0x248) \
	X(TYPE_INT, MPI_INT32_T, ompi_mpi_int32_t, 0x4c000439, 0x250) \
	X(TYPE_INT, MPI_INT64_T, ompi_mpi_int64_t, 0x4c00083a, 0x258) \
	X(TYPE_UINT, MPI_UINT8_T, ompi_mpi_uint8_t, 0x4c00013b, 0x241) \
	X(TYPE_UINT, MPI_UINT16_T, ompi_mpi_uint16_t, 0x4c00023c, 0x249) \
	X(TYPE_UINT, MPI_UINT32_T, ompi_mpi_uint32_t, 0x4c00043d, 0x251) \
	X(TYPE_UINT, MPI_UINT64_T, ompi_mpi_uint64_t, 0x4c00083e, 0x259) \
	X(TYPE_INT, MPI_AINT, ompi_mpi_aint, 0x4c000843, 0x201) \
	X(TYPE_INT, MPI_OFFSET, ompi_mpi_offset, 0x4c000844, 0x203) \
	X(TYPE_INT, MPI_COUNT, ompi_mpi_count, 0x4c000845, 0x202) \
	X(TYPE_BOOL, MPI_C_BOOL, ompi_mpi_c_bool, 0x4c00013f, 0x238) \
	X(TYPE_COMPLEX, MPI_C_FLOAT_COMPLEX, ompi_mpi_c_float_complex, 0x4c000840, 0x212) \
	X(TYPE_COMPLEX, MPI_C_DOUBLE_COMPLEX, ompi_mpi_c_double_complex, 0x4c001041, 0x216) \
	X(TYPE_LONG_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, ompi_mpi_c_long_double_complex, \
		0x4c002042, 0x224) \
	X(TYPE_BOOL, MPI_CXX_BOOL, ompi_mpi_cxx_bool, 0x4c000133, 0x239) \
	X(TYPE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, ompi_mpi_cxx_cplex, 0x4c000834, 0x213) \
	X(TYPE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, ompi_mpi_cxx_dblcplex, 0x4c001035, 0x217) \
	X(TYPE_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, ompi_mpi_cxx_ldblcplex, \
		0x4c002036, 0x225) \
	X(TYPE_PAIR_F32, MPI_FLOAT_INT, ompi_mpi_float_int, 0x8c000000, 0x228) \
	X(TYPE_PAIR_F64, MPI_DOUBLE_INT, ompi_mpi_double_int, 0x8c000001, 0x229) \
	X(TYPE_PAIR_LONG, MPI_LONG_INT, ompi_mpi_long_int, 0x8c000002, 0x22a) \
	X(TYPE_PAIR_I16, MPI_SHORT_INT, ompi_mpi_short_int, 0x8c000003, 0x22c) \
	X(TYPE_PAIR_F80, MPI_LONG_DOUBLE_INT, ompi_mpi_longdbl_int, 0x8c000004, 0x22d) \
	X(TYPE_2INT, MPI_2INT, ompi_mpi_2int, 0x4c000816, 0x22b) \
	X(TYPE_LOGICAL, MPI_LOGICAL, ompi_mpi_logical, 0x4c00041d, 0x218) \
	X(TYPE_INT, MPI_CHARACTER, ompi_mpi_character, 0x4c00011a, 0x21e) \
	X(TYPE_INT, MPI_INTEGER, ompi_mpi_integer, 0x4c00041b, 0x219) \
	X(TYPE_INT, MPI_INTEGER1, ompi_mpi_integer1, 0x4c00012d, 0x2c1) \
	X(TYPE_INT, MPI_INTEGER2, ompi_mpi_integer2, 0x4c00022f, 0x2c9) \
	X(TYPE_INT, MPI_INTEGER4, ompi_mpi_integer4, 0x4c000430, 0x2d1) \
	X(TYPE_INT, MPI_INTEGER8, ompi_mpi_integer8, 0x4c000831, 0x2d9) \
	X(TYPE_FLOAT, MPI_REAL, ompi_mpi_real, 0x4c00041c, 0x21a) \
	X(TYPE_FLOAT, MPI_REAL4, ompi_mpi_real4, 0x4c000427, 0x2d2) \
	X(TYPE_FLOAT, MPI_REAL8, ompi_mpi_real8, 0x4c000829, 0x2da) \
	X(TYPE_FLOAT, MPI_REAL16, ompi_mpi_real16, 0x4c00102b, 0x2e2) \
	X(TYPE_FLOAT, MPI_DOUBLE_PRECISION, ompi_mpi_dblprec, 0x4c00081f, 0x21c) \
	X(TYPE_COMPLEX, MPI_COMPLEX, ompi_mpi_cplex, 0x4c00081e, 0x21b) \
	X(TYPE_COMPLEX, MPI_COMPLEX8, ompi_mpi_complex8, 0x4c000828, 0x2db) \
	X(TYPE_COMPLEX, MPI_COMPLEX16, ompi_mpi_complex16, 0x4c00102a, 0x2e3) \
	X(TYPE_COMPLEX, MPI_COMPLEX32, ompi_mpi_complex32, 0x4c00202c, 0x2eb) \
	X(TYPE_COMPLEX, MPI_DOUBLE_COMPLEX, ompi_mpi_dblcplex, 0x4c001022, 0x21d) \
	X(TYPE_2INT, MPI_2INTEGER, ompi_mpi_2integer, 0x4c000820, 0x232) \
	X(TYPE_2FLOAT, MPI_2REAL, ompi_mpi_2real, 0x4c000821, 0x230) \
	X(TYPE_2FLOAT, MPI_2DOUBLE_PRECISION, ompi_mpi_2dblprec, 0x4c001023, 0x231)

// Those that MPICH 4 does not have, and those that only Open MPI has: 0.
#define ABI_TYPES_NOT_MPICH(X) \
	X(TYPE_LOGICAL, MPI_LOGICAL1, ompi_mpi_logical1, 0, 0x2c0) \
	X(TYPE_LOGICAL, MPI_LOGICAL2, ompi_mpi_logical2, 0, 0x2c8) \
	X(TYPE_LOGICAL, MPI_LOGICAL4, ompi_mpi_logical4, 0, 0x2d0) \
	X(TYPE_LOGICAL, MPI_LOGICAL8, ompi_mpi_logical8, 0, 0x2d8)
#define ABI_TYPES_OPEN(X) \
	X(TYPE_BYTES, MPI_2COMPLEX, ompi_mpi_2cplex, 0, 0) \
	X(TYPE_BYTES, MPI_2DOUBLE_COMPLEX, ompi_mpi_2dblcplex, 0, 0)

// X(combiner of datatype.h, name in mpi.h, Open MPI, MPICH, standard).
#define ABI_COMBINERS(X) \
	X(COMBINER_NAMED, MPI_COMBINER_NAMED, 0, 1, 101) \
	X(COMBINER_DUP, MPI_COMBINER_DUP, 1, 2, 102) \
	X(COMBINER_CONTIGUOUS, MPI_COMBINER_CONTIGUOUS, 2, 3, 103) \
	X(COMBINER_VECTOR, MPI_COMBINER_VECTOR, 3, 4, 104) \
	X(COMBINER_HVECTOR, MPI_COMBINER_HVECTOR, 5, 6, 105) \
	X(COMBINER_INDEXED, MPI_COMBINER_INDEXED, 6, 7, 106) \
	X(COMBINER_HINDEXED, MPI_COMBINER_HINDEXED, 8, 9, 107) \
	X(COMBINER_INDEXED_BLOCK, MPI_COMBINER_INDEXED_BLOCK, 9, 10, 108) \
	X(COMBINER_STRUCT, MPI_COMBINER_STRUCT, 11, 12, 110) \
	X(COMBINER_SUBARRAY, MPI_COMBINER_SUBARRAY, 12, 13, 111) \
	X(COMBINER_DARRAY, MPI_COMBINER_DARRAY, 13, 14, 112) \
	X(COMBINER_F90_REAL, MPI_COMBINER_F90_REAL, 14, 15, 113) \
	X(COMBINER_F90_COMPLEX, MPI_COMBINER_F90_COMPLEX, 15, 16, 114) \
	X(COMBINER_F90_INTEGER, MPI_COMBINER_F90_INTEGER, 16, 17, 115) \
	X(COMBINER_RESIZED, MPI_COMBINER_RESIZED, 17, 18, 116) \
	X(COMBINER_HINDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK, 18, 19, 109)

// Those of functions that MPI-3 removed; the standard has none.
#define ABI_COMBINERS_OLD(X) \
	X(COMBINER_HVECTOR_INTEGER, MPI_COMBINER_HVECTOR_INTEGER, 4, 5, -1) \
	X(COMBINER_HINDEXED_INTEGER, MPI_COMBINER_HINDEXED_INTEGER, 7, 8, -1) \
	X(COMBINER_STRUCT_INTEGER, MPI_COMBINER_STRUCT_INTEGER, 10, 11, -1)

#endif
