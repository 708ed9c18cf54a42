/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem_generic.h: the type-generic names of OpenSHMEM 1.5 for C11: macros that choose a function
 * by the type of the first pointer, and by the number of arguments whether it takes a context. It
 * must hold macros only. Part of shmem.h.
 */
#ifndef SHMEM_GENERIC_H_
#define SHMEM_GENERIC_H_

/* Associations of _Generic: distinct types only, P and S are put around the name of the type. */
#define SHMEM_CASE_(NAME, TYPE, P, S) TYPE: P##NAME##S
#define SHMEM_INT_CASES_(P, S) \
	SHMEM_CASE_(int, int, P, S), \
	SHMEM_CASE_(long, long, P, S), \
	SHMEM_CASE_(longlong, long long, P, S)
#define SHMEM_UINT_CASES_(P, S) \
	SHMEM_CASE_(uint, unsigned int, P, S), \
	SHMEM_CASE_(ulong, unsigned long, P, S), \
	SHMEM_CASE_(ulonglong, unsigned long long, P, S)
#define SHMEM_REAL_CASES_(P, S) SHMEM_CASE_(float, float, P, S), SHMEM_CASE_(double, double, P, S)
#define SHMEM_SMALL_CASES_(P, S) \
	SHMEM_CASE_(char, char, P, S), \
	SHMEM_CASE_(schar, signed char, P, S), \
	SHMEM_CASE_(uchar, unsigned char, P, S), \
	SHMEM_SHORT_CASES_(P, S)
#define SHMEM_SHORT_CASES_(P, S) \
	SHMEM_CASE_(short, short, P, S), SHMEM_CASE_(ushort, unsigned short, P, S)
#define SHMEM_AMO_CASES_(P, S) SHMEM_INT_CASES_(P, S), SHMEM_UINT_CASES_(P, S)
#define SHMEM_RMA_CASES_(P, S) \
	SHMEM_AMO_CASES_(P, S), SHMEM_REAL_CASES_(P, S), SHMEM_SMALL_CASES_(P, S), \
	SHMEM_CASE_(longdouble, long double, P, S)
#define SHMEM_EXT_CASES_(P, S) SHMEM_AMO_CASES_(P, S), SHMEM_REAL_CASES_(P, S)
#define SHMEM_BIT_CASES_(P, S) \
	SHMEM_UINT_CASES_(P, S), \
	int32_t: P##int32##S, \
	int64_t: P##int64##S
#define SHMEM_SYNC_CASES_(P, S) SHMEM_AMO_CASES_(P, S), SHMEM_SHORT_CASES_(P, S)
#define SHMEM_SUM_CASES_(P, S) \
	SHMEM_RMA_CASES_(P, S), \
	SHMEM_CASE_(complexd, shmem_complexd_, P, S), \
	SHMEM_CASE_(complexf, shmem_complexf_, P, S)
#define SHMEM_BITRED_CASES_(P, S) \
	SHMEM_BIT_CASES_(P, S), \
	unsigned char: P##uchar##S, \
	unsigned short: P##ushort##S, \
	signed char: P##int8##S, \
	short: P##int16##S

/* Calls that may begin with a context: KIND is a list of types, S the end of the name. */
#define SHMEM_CALL_(KIND, P, S, ptr) _Generic(*(ptr), SHMEM_##KIND##_CASES_(P, S))
#define SHMEM_PLAIN_(KIND, S, first, ...) \
	SHMEM_CALL_(KIND, shmem_, S, first)(first, __VA_ARGS__)
#define SHMEM_WITHCTX_(KIND, S, ctx, first, ...) \
	SHMEM_CALL_(KIND, shmem_ctx_, S, first)(ctx, first, __VA_ARGS__)
#define SHMEM_TEAM_(KIND, S, team, first, ...) \
	SHMEM_CALL_(KIND, shmem_, S, first)(team, first, __VA_ARGS__)

/* With FULL arguments there is a context among them, with one less there is none. */
#define SHMEM_COUNT_(...) SHMEM_NINTH_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SHMEM_NINTH_(a, b, c, d, e, f, g, h, n, ...) n
#define SHMEM_BY_(FULL, KIND, S, ...) \
	SHMEM_BY_COUNT_(SHMEM_COUNT_(__VA_ARGS__), FULL, KIND, S, __VA_ARGS__)
#define SHMEM_BY_COUNT_(n, FULL, KIND, S, ...) SHMEM_BY_NAME_(n, FULL, KIND, S, __VA_ARGS__)
#define SHMEM_BY_NAME_(n, FULL, KIND, S, ...) SHMEM_HAS_##n##_OF_##FULL##_(KIND, S, __VA_ARGS__)
#define SHMEM_HAS_2_OF_3_ SHMEM_PLAIN_
#define SHMEM_HAS_3_OF_3_ SHMEM_WITHCTX_
#define SHMEM_HAS_3_OF_4_ SHMEM_PLAIN_
#define SHMEM_HAS_4_OF_4_ SHMEM_WITHCTX_
#define SHMEM_HAS_4_OF_5_ SHMEM_PLAIN_
#define SHMEM_HAS_5_OF_5_ SHMEM_WITHCTX_
#define SHMEM_HAS_5_OF_6_ SHMEM_PLAIN_
#define SHMEM_HAS_6_OF_6_ SHMEM_WITHCTX_
#define SHMEM_HAS_6_OF_7_ SHMEM_PLAIN_
#define SHMEM_HAS_7_OF_7_ SHMEM_WITHCTX_
#define SHMEM_HAS_7_OF_8_ SHMEM_PLAIN_
#define SHMEM_HAS_8_OF_8_ SHMEM_WITHCTX_

/* Transfers. */
#define shmem_put(...) SHMEM_BY_(5, RMA, _put, __VA_ARGS__)
#define shmem_get(...) SHMEM_BY_(5, RMA, _get, __VA_ARGS__)
#define shmem_put_nbi(...) SHMEM_BY_(5, RMA, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) SHMEM_BY_(5, RMA, _get_nbi, __VA_ARGS__)
#define shmem_iput(...) SHMEM_BY_(7, RMA, _iput, __VA_ARGS__)
#define shmem_iget(...) SHMEM_BY_(7, RMA, _iget, __VA_ARGS__)
#define shmem_p(...) SHMEM_BY_(4, RMA, _p, __VA_ARGS__)
#define shmem_g(...) SHMEM_BY_(3, RMA, _g, __VA_ARGS__)
#define shmem_put_signal(...) SHMEM_BY_(8, RMA, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SHMEM_BY_(8, RMA, _put_signal_nbi, __VA_ARGS__)

/* Atomic operations. */
#define shmem_atomic_fetch(...) SHMEM_BY_(3, EXT, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) SHMEM_BY_(4, EXT, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) SHMEM_BY_(4, EXT, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) SHMEM_BY_(4, EXT, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) SHMEM_BY_(5, EXT, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) SHMEM_BY_(5, AMO, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) SHMEM_BY_(6, AMO, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_inc(...) SHMEM_BY_(3, AMO, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) SHMEM_BY_(3, AMO, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) SHMEM_BY_(4, AMO, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_add(...) SHMEM_BY_(4, AMO, _atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) SHMEM_BY_(4, AMO, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) SHMEM_BY_(5, AMO, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_and(...) SHMEM_BY_(4, BIT, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) SHMEM_BY_(4, BIT, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) SHMEM_BY_(5, BIT, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_or(...) SHMEM_BY_(4, BIT, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) SHMEM_BY_(4, BIT, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) SHMEM_BY_(5, BIT, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_xor(...) SHMEM_BY_(4, BIT, _atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) SHMEM_BY_(4, BIT, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) SHMEM_BY_(5, BIT, _atomic_fetch_xor_nbi, __VA_ARGS__)

/* Waits. */
#define shmem_wait_until(...) SHMEM_PLAIN_(SYNC, _wait_until, __VA_ARGS__)
#define shmem_test(...) SHMEM_PLAIN_(SYNC, _test, __VA_ARGS__)
#define shmem_wait_until_all(...) SHMEM_PLAIN_(SYNC, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) SHMEM_PLAIN_(SYNC, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) SHMEM_PLAIN_(SYNC, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) SHMEM_PLAIN_(SYNC, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) SHMEM_PLAIN_(SYNC, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) SHMEM_PLAIN_(SYNC, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test_all(...) SHMEM_PLAIN_(SYNC, _test_all, __VA_ARGS__)
#define shmem_test_any(...) SHMEM_PLAIN_(SYNC, _test_any, __VA_ARGS__)
#define shmem_test_some(...) SHMEM_PLAIN_(SYNC, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) SHMEM_PLAIN_(SYNC, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) SHMEM_PLAIN_(SYNC, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) SHMEM_PLAIN_(SYNC, _test_some_vector, __VA_ARGS__)

/* Collective operations. shmem_sync with one argument is that of a team. */
#define shmem_broadcast(...) SHMEM_TEAM_(RMA, _broadcast, __VA_ARGS__)
#define shmem_collect(...) SHMEM_TEAM_(RMA, _collect, __VA_ARGS__)
#define shmem_fcollect(...) SHMEM_TEAM_(RMA, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) SHMEM_TEAM_(RMA, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SHMEM_TEAM_(RMA, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) SHMEM_TEAM_(BITRED, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) SHMEM_TEAM_(BITRED, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) SHMEM_TEAM_(BITRED, _xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) SHMEM_TEAM_(RMA, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) SHMEM_TEAM_(RMA, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) SHMEM_TEAM_(SUM, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) SHMEM_TEAM_(SUM, _prod_reduce, __VA_ARGS__)
#define SHMEM_SYNC_BY_(n) SHMEM_SYNC_BY_NAME_(n)
#define SHMEM_SYNC_BY_NAME_(n) SHMEM_SYNC_WITH_##n##_
#define SHMEM_SYNC_WITH_1_ shmem_team_sync
#define SHMEM_SYNC_WITH_4_ shmem_sync
#define shmem_sync(...) SHMEM_SYNC_BY_(SHMEM_COUNT_(__VA_ARGS__))(__VA_ARGS__)

/* Deprecated names. */
#define shmem_cswap(...) shmem_atomic_compare_swap(__VA_ARGS__)
#define shmem_finc(...) shmem_atomic_fetch_inc(__VA_ARGS__)
#define shmem_fadd(...) shmem_atomic_fetch_add(__VA_ARGS__)
#define shmem_inc(...) shmem_atomic_inc(__VA_ARGS__)
#define shmem_add(...) shmem_atomic_add(__VA_ARGS__)
#define shmem_swap(...) shmem_atomic_swap(__VA_ARGS__)
#define shmem_fetch(...) shmem_atomic_fetch(__VA_ARGS__)
#define shmem_set(...) shmem_atomic_set(__VA_ARGS__)

#endif
