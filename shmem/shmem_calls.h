/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem_calls.h: the functions of OpenSHMEM 1.5. It must hold declarations only. Part of shmem.h,
 * which includes it with SHMEM_(name) = shmem_name and again with pshmem_name, so it has no guard.
 *
 * Arguments: dest and source are where data go and come from; the remote one is a symmetric
 * address. nelems is a number of elements. pe is a number in the team of the context. Threads: any,
 * if the program asked for SHMEM_THREAD_MULTIPLE; collective calls of a team one at a time. Wrong
 * arguments end the job with a line.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* Start, end, numbers of PEs. */
void SHMEM_(init)(void);
int SHMEM_(init_thread)(int requested, int *provided);
void SHMEM_(query_thread)(int *provided);
void SHMEM_(finalize)(void);
void SHMEM_(global_exit)(int status) __attribute__((noreturn));
int SHMEM_(my_pe)(void);
int SHMEM_(n_pes)(void);
int SHMEM_(pe_accessible)(int pe);
int SHMEM_(addr_accessible)(const void *addr, int pe);
void *SHMEM_(ptr)(const void *dest, int pe);
void SHMEM_(info_get_version)(int *major, int *minor);
void SHMEM_(info_get_name)(char *name);
void SHMEM_(pcontrol)(int level, ...);

/* Symmetric heap. */
void *SHMEM_(malloc)(size_t size);
void *SHMEM_(malloc_with_hints)(size_t size, long hints);
void *SHMEM_(calloc)(size_t count, size_t size);
void *SHMEM_(align)(size_t alignment, size_t size);
void *SHMEM_(realloc)(void *ptr, size_t size);
void SHMEM_(free)(void *ptr);

/* Teams and contexts. */
int SHMEM_(team_my_pe)(shmem_team_t team);
int SHMEM_(team_n_pes)(shmem_team_t team);
int SHMEM_(team_get_config)(shmem_team_t team, long config_mask, shmem_team_config_t *config);
int SHMEM_(team_translate_pe)(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);
int SHMEM_(team_split_strided)(shmem_team_t parent_team, int start, int stride, int size,
	const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team);
int SHMEM_(team_split_2d)(shmem_team_t parent_team, int xrange,
	const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team,
	const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team);
void SHMEM_(team_destroy)(shmem_team_t team);
int SHMEM_(ctx_create)(long options, shmem_ctx_t *ctx);
int SHMEM_(team_create_ctx)(shmem_team_t team, long options, shmem_ctx_t *ctx);
int SHMEM_(ctx_get_team)(shmem_ctx_t ctx, shmem_team_t *team);
void SHMEM_(ctx_destroy)(shmem_ctx_t ctx);

/* Order, completion, synchronisation, locks. */
void SHMEM_(fence)(void);
void SHMEM_(ctx_fence)(shmem_ctx_t ctx);
void SHMEM_(quiet)(void);
void SHMEM_(ctx_quiet)(shmem_ctx_t ctx);
void SHMEM_(barrier_all)(void);
void SHMEM_(sync_all)(void);
int SHMEM_(team_sync)(shmem_team_t team);
void SHMEM_(set_lock)(long *lock);
int SHMEM_(test_lock)(long *lock);
void SHMEM_(clear_lock)(long *lock);

/* Transfers, with and without a context: C is "" or "ctx_", P() the parameter of a context. */
#define SHMEM_TRANSFERS_(C, P, NAME, TYPE) \
	void SHMEM_(C##NAME##_put)(P() TYPE *dest, const TYPE *source, size_t nelems, int pe); \
	void SHMEM_(C##NAME##_get)(P() TYPE *dest, const TYPE *source, size_t nelems, int pe); \
	void SHMEM_(C##NAME##_put_nbi)(P() TYPE *dest, const TYPE *source, size_t nelems, int pe); \
	void SHMEM_(C##NAME##_get_nbi)(P() TYPE *dest, const TYPE *source, size_t nelems, int pe); \
	void SHMEM_(C##NAME##_put_signal)(P() TYPE *dest, const TYPE *source, size_t nelems, \
		uint64_t *sig_addr, uint64_t signal, int sig_op, int pe); \
	void SHMEM_(C##NAME##_put_signal_nbi)(P() TYPE *dest, const TYPE *source, size_t nelems, \
		uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
#define SHMEM_STRIDED_(C, P, NAME, TYPE) \
	void SHMEM_(C##NAME##_iput)(P() TYPE *dest, const TYPE *source, ptrdiff_t dst, \
		ptrdiff_t sst, size_t nelems, int pe); \
	void SHMEM_(C##NAME##_iget)(P() TYPE *dest, const TYPE *source, ptrdiff_t dst, \
		ptrdiff_t sst, size_t nelems, int pe);
#define SHMEM_SCALARS_(C, P, NAME, TYPE) \
	void SHMEM_(C##NAME##_p)(P() TYPE *dest, TYPE value, int pe); \
	TYPE SHMEM_(C##NAME##_g)(P() const TYPE *source, int pe);
#define SHMEM_CTX_ARG_() shmem_ctx_t ctx,
#define SHMEM_NO_ARG_()
#define SHMEM_RMA_(NAME, TYPE) \
	SHMEM_TRANSFERS_(, SHMEM_NO_ARG_, NAME, TYPE) \
	SHMEM_STRIDED_(, SHMEM_NO_ARG_, NAME, TYPE) \
	SHMEM_SCALARS_(, SHMEM_NO_ARG_, NAME, TYPE) \
	SHMEM_TRANSFERS_(ctx_, SHMEM_CTX_ARG_, NAME, TYPE) \
	SHMEM_STRIDED_(ctx_, SHMEM_CTX_ARG_, NAME, TYPE) \
	SHMEM_SCALARS_(ctx_, SHMEM_CTX_ARG_, NAME, TYPE)
SHMEM_RMA_TYPES_(SHMEM_RMA_)

/* The same by the size of an element: put8, iput8, put8_nbi, putmem, ... */
#define SHMEM_SIZED_(C, P, BITS) \
	void SHMEM_(C##put##BITS)(P() void *dest, const void *source, size_t nelems, int pe); \
	void SHMEM_(C##get##BITS)(P() void *dest, const void *source, size_t nelems, int pe); \
	void SHMEM_(C##put##BITS##_nbi)(P() void *dest, const void *source, size_t nelems, \
		int pe); \
	void SHMEM_(C##get##BITS##_nbi)(P() void *dest, const void *source, size_t nelems, \
		int pe); \
	void SHMEM_(C##put##BITS##_signal)(P() void *dest, const void *source, size_t nelems, \
		uint64_t *sig_addr, uint64_t signal, int sig_op, int pe); \
	void SHMEM_(C##put##BITS##_signal_nbi)(P() void *dest, const void *source, size_t nelems, \
		uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
#define SHMEM_SIZED_STRIDED_(C, P, BITS) \
	void SHMEM_(C##iput##BITS)(P() void *dest, const void *source, ptrdiff_t dst, \
		ptrdiff_t sst, size_t nelems, int pe); \
	void SHMEM_(C##iget##BITS)(P() void *dest, const void *source, ptrdiff_t dst, \
		ptrdiff_t sst, size_t nelems, int pe);
#define SHMEM_SIZES_(X, C, P) X(C, P, 8) X(C, P, 16) X(C, P, 32) X(C, P, 64) X(C, P, 128)
SHMEM_SIZES_(SHMEM_SIZED_, , SHMEM_NO_ARG_)
SHMEM_SIZES_(SHMEM_SIZED_, ctx_, SHMEM_CTX_ARG_)
SHMEM_SIZES_(SHMEM_SIZED_STRIDED_, , SHMEM_NO_ARG_)
SHMEM_SIZES_(SHMEM_SIZED_STRIDED_, ctx_, SHMEM_CTX_ARG_)
SHMEM_SIZED_(, SHMEM_NO_ARG_, mem)
SHMEM_SIZED_(ctx_, SHMEM_CTX_ARG_, mem)

/* Atomic operations. */
#define SHMEM_EXTENDED_(C, P, NAME, TYPE) \
	TYPE SHMEM_(C##NAME##_atomic_fetch)(P() const TYPE *source, int pe); \
	void SHMEM_(C##NAME##_atomic_set)(P() TYPE *dest, TYPE value, int pe); \
	TYPE SHMEM_(C##NAME##_atomic_swap)(P() TYPE *dest, TYPE value, int pe); \
	void SHMEM_(C##NAME##_atomic_fetch_nbi)(P() TYPE *fetch, const TYPE *source, int pe); \
	void SHMEM_(C##NAME##_atomic_swap_nbi)(P() TYPE *fetch, TYPE *dest, TYPE value, int pe);
#define SHMEM_STANDARD_(C, P, NAME, TYPE) \
	TYPE SHMEM_(C##NAME##_atomic_compare_swap)(P() TYPE *dest, TYPE cond, TYPE value, int pe); \
	void SHMEM_(C##NAME##_atomic_compare_swap_nbi)(P() TYPE *fetch, TYPE *dest, TYPE cond, \
		TYPE value, int pe); \
	void SHMEM_(C##NAME##_atomic_inc)(P() TYPE *dest, int pe); \
	TYPE SHMEM_(C##NAME##_atomic_fetch_inc)(P() TYPE *dest, int pe); \
	void SHMEM_(C##NAME##_atomic_fetch_inc_nbi)(P() TYPE *fetch, TYPE *dest, int pe); \
	SHMEM_OPERATION_(C, P, NAME, TYPE, add)
#define SHMEM_OPERATION_(C, P, NAME, TYPE, OP) \
	void SHMEM_(C##NAME##_atomic_##OP)(P() TYPE *dest, TYPE value, int pe); \
	TYPE SHMEM_(C##NAME##_atomic_fetch_##OP)(P() TYPE *dest, TYPE value, int pe); \
	void SHMEM_(C##NAME##_atomic_fetch_##OP##_nbi)(P() TYPE *fetch, TYPE *dest, TYPE value, \
		int pe);
#define SHMEM_BITWISE_(C, P, NAME, TYPE) \
	SHMEM_OPERATION_(C, P, NAME, TYPE, and) \
	SHMEM_OPERATION_(C, P, NAME, TYPE, or) \
	SHMEM_OPERATION_(C, P, NAME, TYPE, xor)
#define SHMEM_BOTH_(FAMILY, NAME, TYPE) \
	FAMILY(, SHMEM_NO_ARG_, NAME, TYPE) FAMILY(ctx_, SHMEM_CTX_ARG_, NAME, TYPE)
#define SHMEM_AMO_1_(NAME, TYPE) SHMEM_BOTH_(SHMEM_EXTENDED_, NAME, TYPE)
#define SHMEM_AMO_2_(NAME, TYPE) SHMEM_BOTH_(SHMEM_STANDARD_, NAME, TYPE)
#define SHMEM_AMO_3_(NAME, TYPE) SHMEM_BOTH_(SHMEM_BITWISE_, NAME, TYPE)
SHMEM_EXTENDED_AMO_TYPES_(SHMEM_AMO_1_)
SHMEM_AMO_TYPES_(SHMEM_AMO_2_)
SHMEM_BITWISE_AMO_TYPES_(SHMEM_AMO_3_)

/* Signals, and waits for own memory. */
uint64_t SHMEM_(signal_fetch)(const uint64_t *sig_addr);
uint64_t SHMEM_(signal_wait_until)(uint64_t *sig_addr, int cmp, uint64_t cmp_value);
#define SHMEM_WAITS_(NAME, TYPE) \
	void SHMEM_(NAME##_wait_until)(TYPE *ivar, int cmp, TYPE cmp_value); \
	int SHMEM_(NAME##_test)(TYPE *ivar, int cmp, TYPE cmp_value); \
	void SHMEM_(NAME##_wait_until_all)(TYPE *ivars, size_t nelems, const int *status, int cmp, \
		TYPE cmp_value); \
	size_t SHMEM_(NAME##_wait_until_any)(TYPE *ivars, size_t nelems, const int *status, \
		int cmp, TYPE cmp_value); \
	size_t SHMEM_(NAME##_wait_until_some)(TYPE *ivars, size_t nelems, size_t *indices, \
		const int *status, int cmp, TYPE cmp_value); \
	void SHMEM_(NAME##_wait_until_all_vector)(TYPE *ivars, size_t nelems, const int *status, \
		int cmp, TYPE *cmp_values); \
	size_t SHMEM_(NAME##_wait_until_any_vector)(TYPE *ivars, size_t nelems, \
		const int *status, int cmp, TYPE *cmp_values); \
	size_t SHMEM_(NAME##_wait_until_some_vector)(TYPE *ivars, size_t nelems, size_t *indices, \
		const int *status, int cmp, TYPE *cmp_values); \
	int SHMEM_(NAME##_test_all)(TYPE *ivars, size_t nelems, const int *status, int cmp, \
		TYPE cmp_value); \
	size_t SHMEM_(NAME##_test_any)(TYPE *ivars, size_t nelems, const int *status, int cmp, \
		TYPE cmp_value); \
	size_t SHMEM_(NAME##_test_some)(TYPE *ivars, size_t nelems, size_t *indices, \
		const int *status, int cmp, TYPE cmp_value); \
	int SHMEM_(NAME##_test_all_vector)(TYPE *ivars, size_t nelems, const int *status, \
		int cmp, TYPE *cmp_values); \
	size_t SHMEM_(NAME##_test_any_vector)(TYPE *ivars, size_t nelems, const int *status, \
		int cmp, TYPE *cmp_values); \
	size_t SHMEM_(NAME##_test_some_vector)(TYPE *ivars, size_t nelems, size_t *indices, \
		const int *status, int cmp, TYPE *cmp_values);
SHMEM_SYNC_TYPES_(SHMEM_WAITS_)

/* Collective operations of teams. */
#define SHMEM_COLLECTIVES_(NAME, TYPE) \
	int SHMEM_(NAME##_broadcast)(shmem_team_t team, TYPE *dest, const TYPE *source, \
		size_t nelems, int PE_root); \
	int SHMEM_(NAME##_collect)(shmem_team_t team, TYPE *dest, const TYPE *source, \
		size_t nelems); \
	int SHMEM_(NAME##_fcollect)(shmem_team_t team, TYPE *dest, const TYPE *source, \
		size_t nelems); \
	int SHMEM_(NAME##_alltoall)(shmem_team_t team, TYPE *dest, const TYPE *source, \
		size_t nelems); \
	int SHMEM_(NAME##_alltoalls)(shmem_team_t team, TYPE *dest, const TYPE *source, \
		ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_RMA_TYPES_(SHMEM_COLLECTIVES_)
int SHMEM_(broadcastmem)(shmem_team_t team, void *dest, const void *source, size_t nelems,
	int PE_root);
int SHMEM_(collectmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);
int SHMEM_(fcollectmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);
int SHMEM_(alltoallmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);
int SHMEM_(alltoallsmem)(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst,
	ptrdiff_t sst, size_t nelems);
#define SHMEM_REDUCE_(NAME, TYPE, OP) \
	int SHMEM_(NAME##_##OP##_reduce)(shmem_team_t team, TYPE *dest, const TYPE *source, \
		size_t nreduce);
#define SHMEM_REDUCE_1_(NAME, TYPE) \
	SHMEM_REDUCE_(NAME, TYPE, and) SHMEM_REDUCE_(NAME, TYPE, or) SHMEM_REDUCE_(NAME, TYPE, xor)
#define SHMEM_REDUCE_2_(NAME, TYPE) SHMEM_REDUCE_(NAME, TYPE, max) SHMEM_REDUCE_(NAME, TYPE, min)
#define SHMEM_REDUCE_3_(NAME, TYPE) SHMEM_REDUCE_(NAME, TYPE, sum) SHMEM_REDUCE_(NAME, TYPE, prod)
SHMEM_BITWISE_REDUCE_TYPES_(SHMEM_REDUCE_1_)
SHMEM_MINMAX_REDUCE_TYPES_(SHMEM_REDUCE_2_)
SHMEM_ARITHMETIC_REDUCE_TYPES_(SHMEM_REDUCE_3_)

/* Deprecated: collective operations of active sets, older names. */
void SHMEM_(barrier)(int PE_start, int logPE_stride, int PE_size, long *pSync);
void SHMEM_(sync)(int PE_start, int logPE_stride, int PE_size, long *pSync);
#define SHMEM_ACTIVE_SET_(BITS) \
	void SHMEM_(broadcast##BITS)(void *dest, const void *source, size_t nelems, int PE_root, \
		int PE_start, int logPE_stride, int PE_size, long *pSync); \
	void SHMEM_(collect##BITS)(void *dest, const void *source, size_t nelems, int PE_start, \
		int logPE_stride, int PE_size, long *pSync); \
	void SHMEM_(fcollect##BITS)(void *dest, const void *source, size_t nelems, int PE_start, \
		int logPE_stride, int PE_size, long *pSync); \
	void SHMEM_(alltoall##BITS)(void *dest, const void *source, size_t nelems, int PE_start, \
		int logPE_stride, int PE_size, long *pSync); \
	void SHMEM_(alltoalls##BITS)(void *dest, const void *source, ptrdiff_t dst, \
		ptrdiff_t sst, size_t nelems, int PE_start, int logPE_stride, int PE_size, \
		long *pSync);
SHMEM_ACTIVE_SET_(32)
SHMEM_ACTIVE_SET_(64)
#define SHMEM_TO_ALL_(NAME, TYPE, OP) \
	void SHMEM_(NAME##_##OP##_to_all)(TYPE *dest, const TYPE *source, int nreduce, \
		int PE_start, int logPE_stride, int PE_size, TYPE *pWrk, long *pSync);
#define SHMEM_TO_ALL_1_(NAME, TYPE) \
	SHMEM_TO_ALL_(NAME, TYPE, and) SHMEM_TO_ALL_(NAME, TYPE, or) SHMEM_TO_ALL_(NAME, TYPE, xor)
#define SHMEM_TO_ALL_2_(NAME, TYPE) SHMEM_TO_ALL_(NAME, TYPE, max) SHMEM_TO_ALL_(NAME, TYPE, min)
#define SHMEM_TO_ALL_3_(NAME, TYPE) SHMEM_TO_ALL_(NAME, TYPE, sum) SHMEM_TO_ALL_(NAME, TYPE, prod)
SHMEM_BITWISE_TO_ALL_TYPES_(SHMEM_TO_ALL_1_)
SHMEM_MINMAX_TO_ALL_TYPES_(SHMEM_TO_ALL_2_)
SHMEM_ARITHMETIC_TO_ALL_TYPES_(SHMEM_TO_ALL_3_)
#define SHMEM_OLD_AMO_(NAME, TYPE) \
	TYPE SHMEM_(NAME##_cswap)(TYPE *dest, TYPE cond, TYPE value, int pe); \
	TYPE SHMEM_(NAME##_finc)(TYPE *dest, int pe); \
	TYPE SHMEM_(NAME##_fadd)(TYPE *dest, TYPE value, int pe); \
	void SHMEM_(NAME##_inc)(TYPE *dest, int pe); \
	void SHMEM_(NAME##_add)(TYPE *dest, TYPE value, int pe); \
	void SHMEM_(NAME##_wait)(TYPE *ivar, TYPE cmp_value);
#define SHMEM_OLD_EXTENDED_AMO_(NAME, TYPE) \
	TYPE SHMEM_(NAME##_swap)(TYPE *dest, TYPE value, int pe); \
	TYPE SHMEM_(NAME##_fetch)(const TYPE *source, int pe); \
	void SHMEM_(NAME##_set)(TYPE *dest, TYPE value, int pe);
SHMEM_OLD_AMO_TYPES_(SHMEM_OLD_AMO_)
SHMEM_OLD_EXTENDED_AMO_TYPES_(SHMEM_OLD_EXTENDED_AMO_)
void SHMEM_(short_wait)(short *ivar, short cmp_value);
void SHMEM_(wait)(long *ivar, long cmp_value);
void SHMEM_(wait_until)(long *ivar, int cmp, long cmp_value);
void SHMEM_(clear_cache_inv)(void);
void SHMEM_(set_cache_inv)(void);
void SHMEM_(clear_cache_line_inv)(void *dest);
void SHMEM_(set_cache_line_inv)(void *dest);
void SHMEM_(udcflush)(void);
void SHMEM_(udcflush_line)(void *dest);

#ifndef SHMEM_CALLS_H_
#define SHMEM_CALLS_H_
void start_pes(int npes);
int _my_pe(void);
int _num_pes(void);
void *shmalloc(size_t size);
void shfree(void *ptr);
void *shrealloc(void *ptr, size_t size);
void *shmemalign(size_t alignment, size_t size);
#endif

#ifdef __cplusplus
}
#endif
