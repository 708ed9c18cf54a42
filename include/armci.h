/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci.h: the promise of libarmci to C and C++ programs: types, constants and every ARMCI_*
 * function with its units, completion rule, scope, thread rule and errors. It must hold
 * declarations only, never code of the library, and must never change a layout or a value: compiled
 * programs depend on them. It is long because it is the reference; each section stands alone.
 *
 * Including it also brings message.h (armci_msg_*) and parmci.h (PARMCI_*, the profiling names).
 * <mpi.h> is used when the compiler finds it and not needed otherwise; -DARMCI_NO_MPI leaves it
 * out. Functions that take or return an MPI_Comm exist only with it. -DARMCI_ABI_MPI selects
 * ARMCI-MPI's layouts; do not set it by hand, compile with -I<prefix>/include/armci-mpi and link
 * that directory's library instead.
 *
 * WORDS USED BELOW
 *   rank        number of a process in ARMCI's world, 0 <= rank < armci_msg_nproc(). `proc` is
 *               always such a rank, also when groups are in use; a group rank is called so.
 *   [in] [out]  data flows to / from the function; [remote] an address in the memory of rank
 *               `proc`, which must lie in memory from ARMCI_Malloc*, or ARMCI_Memget of that rank.
 *   Done        when a call is "locally done" its local buffers may be reused (stores) or hold the
 *               data (loads); it is "remotely done" when every rank can see its effect. Calls by
 *               one rank to one target take effect in the order of issue when they are blocking;
 *               nonblocking ones have no order until waited for.
 *   Block       what a transfer moves in one piece: the bytes of a contiguous call or of a value, a
 *               row (count[0] bytes) of a strided call, a segment of a vector call; blocks that
 *               touch on both sides may be moved as one larger block. A block of 1, 2, 4 or 8 bytes
 *               with both addresses multiples of its size is one load and one store: no thread
 *               on either side, of whatever rank, sees a part of it, and one that takes it by an
 *               atomic exchange does not see it again. Put it by itself if it is a flag. Where an
 *               RDMA device moves it, that rests on the device: hardware does so, the kernel's
 *               Soft-RoCE not always. The bytes of other blocks are moved in any order and may be
 *               stored more than once.
 *   Scope       local: no communication. one-sided: the target need not take part, poll or call
 *               anything. collective(world) or (group): every member calls it, in the same order
 *               relative to other collectives.
 *   Threads     any: callable from every thread at any time between init and finalize, concurrently
 *               with any call. one: one thread of the process at a time (always so for collectives
 *               of one group).
 *   Nothing may be called from a signal handler. No call fails because another thread is inside the
 *   library.
 *
 * ERRORS
 *   Functions of type int return 0 for success unless stated. A failed call changes nothing, prints
 *   one line naming function, argument and rank, and returns
 *     FAIL  (-1)  used before init or after finalize; a null pointer; any other bad argument
 *     FAIL2 (-2)  a null stride, count or pointer array
 *     FAIL3 (-3)  a negative size (bytes, count[0]); an accumulate size that is not whole elements
 *     FAIL4 (-4)  stride levels outside 0..8; a negative count[1..], segment count or descriptor
 *                 count; more than 2^46 bytes in one transfer
 *     FAIL5 (-5)  a rank out of range
 *     FAIL6 (-6)  no memory left, or a failure inside the library or its transport
 *     FAIL7 (-7)  an unknown operation or type; a misaligned rmw address
 *     FAIL8 (-8)  an address range not inside one live allocation of rank `proc`
 *   "Returns: code" below means 0 or one of these. Functions without a way to return an error print
 *   the line and end the job, as ARMCI_Error does. The setting ARMCI_ERRORS=abort makes every error
 *   end the job (the default of the ARMCI-MPI flavour), ARMCI_ERRORS=return returns it where there
 *   is a way.
 */
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
/* Without <mpi.h> the library itself is built with the plain type that MPI_Comm is in the named
 * implementation. */
#if !defined(ARMCI_MPI_COMM_) && defined(ARMCI_MPI_OPENMPI)
#define ARMCI_MPI_COMM_ void *
#define ARMCI_MPI_REQUEST_ void *
#elif !defined(ARMCI_MPI_COMM_) && defined(ARMCI_MPI_MPICH)
#define ARMCI_MPI_COMM_ int
#define ARMCI_MPI_REQUEST_ int
#endif
#if defined(ARMCI_ABI_MPI) && !defined(ARMCI_MPI_COMM_)
#error "the ARMCI-MPI flavour needs <mpi.h>: compile with the MPI compiler wrapper"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constants ------------------------------------------------------------------------------- */

/* Version of this header. */
#define ARMCI_VERSION_MAJOR 0
#define ARMCI_VERSION_MINOR 1
#define ARMCI_VERSION_PATCH 0

/* The library also accepts the numbering of ARMCI-MPI (0..5, 0..3) for the two sets below: the
 * ranges are disjoint. */

/* Operations of ARMCI_Rmw. The plain ones work on int, the _LONG ones on long. */
#define ARMCI_SWAP 10
#define ARMCI_SWAP_LONG 11
#define ARMCI_FETCH_AND_ADD 12
#define ARMCI_FETCH_AND_ADD_LONG 13

/* Element types of accumulate: int, double, float, {float re, im}, {double re, im}, long. */
#define ARMCI_ACC_OFF 36
#define ARMCI_ACC_INT (ARMCI_ACC_OFF + 1)
#define ARMCI_ACC_DBL (ARMCI_ACC_OFF + 2)
#define ARMCI_ACC_FLT (ARMCI_ACC_OFF + 3)
#define ARMCI_ACC_CPL (ARMCI_ACC_OFF + 4)
#define ARMCI_ACC_DCP (ARMCI_ACC_OFF + 5)
#define ARMCI_ACC_LNG (ARMCI_ACC_OFF + 6)

/* Most stride levels of a strided call: levels 0..8, that is patches of 1 to 9 dimensions. */
#define ARMCI_MAX_STRIDE_LEVEL 8

/* The only locality domain: ranks that share memory (a node). */
#define ARMCI_DOMAIN_SMP 0

/* Return codes; see ERRORS above. */
#define FAIL (-1)
#define FAIL2 (-2)
#define FAIL3 (-3)
#define FAIL4 (-4)
#define FAIL5 (-5)
#define FAIL6 (-6)
#define FAIL7 (-7)
#define FAIL8 (-8)

/* ---- Types ----------------------------------------------------------------------------------- */

/* Sizes of allocations, in bytes. */
typedef long armci_size_t;

/* A locality domain; only ARMCI_DOMAIN_SMP exists. */
typedef int armci_domain_t;

#ifndef ARMCI_ABI_MPI

/* One descriptor of a vector call: ptr_array_len segments of `bytes` bytes each; segment i goes
 * from src_ptr_array[i] to dst_ptr_array[i]. Always name the fields: their order differs between
 * ARMCI libraries. */
typedef struct {
	void **src_ptr_array;
	void **dst_ptr_array;
	int ptr_array_len;
	int bytes;
} armci_giov_t;

/* Handle of nonblocking calls, opaque. The library writes the first int of whatever it is given and
 * nothing else, so that programs compiled with a larger handle work too. */
typedef int armci_hdl_t;

/* A process group, opaque; may be copied. 0 is the world. */
typedef int ARMCI_Group;

#else

/* The same descriptor in ARMCI-MPI's field order. */
typedef struct {
	void **src_ptr_array;
	void **dst_ptr_array;
	int bytes;
	int ptr_array_len;
} armci_giov_t;

/* The same handle with ARMCI-MPI's size; only batch_size is used, by the library. */
typedef struct armci_hdl_s {
	int batch_size;
	ARMCI_MPI_REQUEST_ single_request;
	ARMCI_MPI_REQUEST_ *request_array;
} armci_hdl_t;

/* A process group in ARMCI-MPI's layout; may be copied. comm, rank (-1: not a member) and size may
 * be read; the other fields belong to the library. */
typedef struct {
	ARMCI_MPI_COMM_ comm;
	ARMCI_MPI_COMM_ noncoll_pgroup_comm;
	int *grp_to_abs;
	int *abs_to_grp;
	int rank;
	int size;
} ARMCI_Group;

#endif

/* Older name of the handle. */
#define armci_req_t armci_hdl_t

/* What ARMCI_Memget tells about its memory; may be sent to other ranks as bytes. */
typedef struct armci_meminfo_ds {
	char *armci_addr; /* address to use in calls with proc = cpid */
	char *addr;       /* the same memory as the creator addresses it */
	size_t size;      /* bytes */
	int cpid;         /* rank of the creator */
	long idlist[128]; /* belongs to the library */
} armci_meminfo_t;

/* ---- Start and end --------------------------------------------------------------------------- */

/**
 * Start ARMCI over all ranks of the job. In an MPI program call it after MPI_Init; started by
 * armcirun, or alone, no MPI is needed. Calls are counted: a second one returns at once, and as
 * many ARMCI_Finalize calls are needed. Done: when it returns every rank has joined. Scope:
 * collective(world). Threads: one. Returns: 0, or FAIL after a line saying what is wrong and which
 * setting helps.
 */
int ARMCI_Init(void);

/**
 * ARMCI_Init that may also start MPI, if MPI is part of the program and not yet started.
 * @param argc [in,out] as of main, or null; @param argv [in,out] as of main, or null: handed to
 * MPI_Init only. Done, Scope, Threads, Returns: as ARMCI_Init.
 */
int ARMCI_Init_args(int *argc, char ***argv);

/**
 * ARMCI_Init that states the thread level of MPI the program wants.
 * @param armci_requested [in] MPI_THREAD_SINGLE .. MPI_THREAD_MULTIPLE. Any level allows every
 *        thread rule of this header, since the library's own traffic does not use MPI; if MPI gave
 *        less than requested the call fails.
 * Done, Scope, Threads, Returns: as ARMCI_Init.
 */
int ARMCI_Init_thread(int armci_requested);

/**
 * Whether ARMCI is running.
 * Scope: local; may be called before init and after finalize. Threads: any.
 * Returns: 1 between the first successful init and the last finalize, else 0. No errors.
 */
int ARMCI_Initialized(void);

/**
 * End ARMCI: completes all of the caller's operations, waits for the other ranks, frees everything.
 * Only the call that matches the first init acts; earlier and surplus ones return 0. Does not
 * finalize MPI, and may be followed by another ARMCI_Init. Done: on return no rank is inside ARMCI.
 * Scope: collective(world). Threads: one. Returns: 0.
 */
int ARMCI_Finalize(void);

/**
 * Release system resources in an emergency, before the program ends itself. Safe at any time, also
 * before init, after finalize and twice. No other ARMCI call may follow. Scope: local. Threads:
 * any. No errors.
 */
void ARMCI_Cleanup(void);

/**
 * Print one line with rank, host, message and code on standard error and end every rank of the job.
 * Never returns.
 * @param msg [in] text, or null; @param code [in] exit status of the job, low 8 bits; 0 counts as
 * -1. Scope: one-sided; may be called at any time. Threads: any.
 */
void ARMCI_Error(const char *msg, int code);

#ifdef ARMCI_MPI_COMM_
/**
 * Start ARMCI over the ranks of a communicator, which becomes ARMCI's world: `proc` is a rank in
 * it. Not to be mixed with a running ARMCI of another world.
 * @param comm [in] an intracommunicator; duplicated, may be freed afterwards.
 * Done: every rank of comm has joined. Scope: collective over comm. Threads: one.
 * Returns: 1 for success and 0 for failure: the reverse of ARMCI_Init, as Global Arrays expects.
 */
int ARMCI_Init_mpi_comm(ARMCI_MPI_COMM_ comm);

/**
 * ARMCI_Init_thread over the ranks of a communicator.
 * @param armci_requested [in] see ARMCI_Init_thread; @param comm [in] see ARMCI_Init_mpi_comm.
 * Done, Scope, Threads: as ARMCI_Init_mpi_comm. Returns: 0, or FAIL, as ARMCI_Init.
 */
int ARMCI_Init_thread_comm(int armci_requested, ARMCI_MPI_COMM_ comm);

/**
 * The MPI communicator of a group, for the program's own messages: the library never uses it. It
 * belongs to the group; do not free it. Group rank and rank in the communicator are equal.
 * @param group [in] a group the caller is a member of.
 * Scope: collective(group) on the first call for a group, local afterwards. Threads: one.
 * Returns: the communicator; MPI_COMM_NULL for a non-member or in a job without MPI.
 */
ARMCI_MPI_COMM_ armci_group_comm(ARMCI_Group *group);

/* The communicator of ARMCI's world, the same as armci_group_comm of the world group; valid after
 * init. Read only. */
extern ARMCI_MPI_COMM_ ARMCI_COMM_WORLD;
#endif

/* Name of a PVM group in classic ARMCI; always null here. */
extern char *mp_group_name;

/* ---- Memory ---------------------------------------------------------------------------------- */

/**
 * Allocate memory that every rank can access. Sizes may differ and may be 0. The memory is not
 * cleared and is aligned to 64 bytes or better.
 * @param ptr_arr [out] armci_msg_nproc() addresses: entry r is the memory of rank r, null if r
 *        asked for 0 bytes. Entries of ranks on the caller's node can be dereferenced; all entries
 *        are valid as remote addresses.
 * @param bytes [in] size of the caller's own memory in bytes.
 * Done: all memory is accessible when the call returns. Scope: collective(world). Threads: one.
 * Returns: code, nonzero on every rank if it failed on any (FAIL3 negative size, FAIL6 no memory).
 */
int ARMCI_Malloc(void *ptr_arr[], armci_size_t bytes);

/**
 * Free memory of ARMCI_Malloc. Implies ARMCI_AllFence and a barrier first; no rank may access it
 * afterwards.
 * @param ptr [in] the caller's own entry of ptr_arr, exactly; null where 0 bytes were asked for.
 * Done: the memory is gone on every rank. Scope: collective(world). Threads: one.
 * Returns: code (FAIL8 not a live allocation of the caller).
 */
int ARMCI_Free(void *ptr);

/**
 * ARMCI_Malloc among the members of a group.
 * @param ptr_arr [out] one entry per member, indexed by group rank. Communication still names ranks
 *        of the world: use ARMCI_Absolute_id. @param bytes [in] bytes of the caller's own memory.
 *        @param group [in] a group of the caller.
 * Done: as ARMCI_Malloc. Scope: collective(group). Threads: one. Returns: code; FAIL if the caller
 * is not a member.
 */
int ARMCI_Malloc_group(void *ptr_arr[], armci_size_t bytes, ARMCI_Group *group);

/**
 * ARMCI_Free for memory of ARMCI_Malloc_group.
 * @param ptr [in] the caller's own address, or null. @param group [in] the group it was allocated
 * with. Done: as ARMCI_Free. Scope: collective(group). Threads: one. Returns: code; FAIL for
 * another group.
 */
int ARMCI_Free_group(void *ptr, ARMCI_Group *group);

/**
 * ARMCI_Malloc with the name of a kind of memory.
 * @param ptr_arr [out], bytes [in] in bytes: as ARMCI_Malloc. @param device [in] name: "dram", ""
 * or null is plain memory. "rdma-atomics": in a job with RDMA between its nodes, ARMCI_Rmw of
 * longs there is done by the network devices, also at ranks of the caller's node, and disturbs no
 * processor; an int must not be changed by ARMCI_Rmw where a long is. Done, Scope, Threads: as
 * ARMCI_Malloc. Returns: as ARMCI_Malloc, and FAIL on a member that names another kind, with a line
 * that lists the kinds; all other members fail, too.
 */
int ARMCI_Malloc_memdev(void *ptr_arr[], armci_size_t bytes, const char *device);

/**
 * ARMCI_Malloc_group with the name of a kind of memory.
 * @param ptr_arr [out], bytes [in] in bytes, group [in]: as ARMCI_Malloc_group. @param device [in]
 * as above. Done, Scope, Threads, Returns: as ARMCI_Malloc_group.
 */
int ARMCI_Malloc_group_memdev(void *ptr_arr[], armci_size_t bytes, ARMCI_Group *group,
	const char *device);

/** ARMCI_Free for memory of ARMCI_Malloc_memdev. @param ptr [in] own address, or null. Done, Scope,
 *  Threads, Returns: as ARMCI_Free. */
int ARMCI_Free_memdev(void *ptr);

/**
 * Allocate memory well suited as the local side of transfers. Other ranks cannot access it.
 * @param bytes [in] size in bytes, > 0.
 * Done: on return. Scope: local. Threads: any.
 * Returns: the address, aligned to 64 bytes; null if there is no memory or bytes <= 0.
 */
void *ARMCI_Malloc_local(armci_size_t bytes);

/**
 * Free memory of ARMCI_Malloc_local. No operation may still use it.
 * @param ptr [in] address, or null. Scope: local. Threads: any. Returns: code (FAIL8 not from
 * ARMCI_Malloc_local).
 */
int ARMCI_Free_local(void *ptr);

/**
 * Allocate memory that other ranks can access, without their help. Send *meminfo to them by any
 * means.
 * @param bytes [in] size in bytes, > 0. @param meminfo [out] description of the memory.
 * @param memflg [in] must be 0. Done: accessible on return. Scope: local. Threads: any. Errors end
 * the job.
 */
void ARMCI_Memget(size_t bytes, armci_meminfo_t *meminfo, int memflg);

/**
 * Address of memory of ARMCI_Memget for the calling rank: to dereference on the creator's node, and
 * as remote address with proc = meminfo->cpid anywhere.
 * @param meminfo [in] as ARMCI_Memget filled it in. @param offset [in] bytes to add; pass 0 to the
 * creator. Scope: local. Threads: any. Returns: the address; null for a freed or empty description.
 */
void *ARMCI_Memat(armci_meminfo_t *meminfo, long offset);

/** Detach from memory of ARMCI_Memat: nothing to do here. @param meminfo [in] the description.
 *  @param offset [in] bytes. Scope: local. Threads: any. No errors. */
void ARMCI_Memdt(armci_meminfo_t *meminfo, long offset);

/**
 * Give memory of ARMCI_Memget up: the creator frees it, every caller's addr and armci_addr become
 * null. The program makes sure that no rank uses it any more.
 * @param meminfo [in,out] the description. Scope: local. Threads: any. Errors end the job.
 */
void ARMCI_Memctl(armci_meminfo_t *meminfo);

/**
 * Limit on shared memory, of historic use; may be called before init. Accepted and recorded only:
 * the limits are the machine's memory and the settings ARMCI_SHM_*.
 * @param shmemlimit [in] bytes. Scope: local. Threads: any. No errors.
 */
void ARMCI_Set_shm_limit(unsigned long shmemlimit);

/** Whether ranks share memory with the caller. Scope: local. Threads: any. Returns: 1 if the
 *  caller's node holds other ranks too, else 0. */
int ARMCI_Uses_shm(void);

/** ARMCI_Uses_shm for a group. @param group [in]. Scope: local. Threads: any. Returns: 1 if another
 *  member is on the caller's node, else 0. */
int ARMCI_Uses_shm_grp(ARMCI_Group *group);

/**
 * Bracket plain loads and stores to own memory: after _begin they see what has arrived, after _end
 * others see them. Costs a memory fence; programs that order their accesses with fence and barrier
 * do not need it.
 * @param ptr [in] an address in an allocation of the caller. Scope: local. Threads: any. Errors end
 * the job.
 */
void ARMCI_Access_begin(void *ptr);
void ARMCI_Access_end(void *ptr);

/**
 * Copy memory of the caller. Mind the order of arguments. The ranges may overlap.
 * @param src [in] from. @param dst [out] to. @param n [in] bytes. Done: on return. Scope: local.
 * Threads: any. Errors (negative n, null pointers) end the job.
 */
void ARMCI_Copy(void *src, void *dst, int n);

/* ---- Blocking transfers ---------------------------------------------------------------------- */

/**
 * Store local bytes at a remote address.
 * @param src [in] local. @param dst [remote] destination. @param bytes [in] bytes; 0 is allowed and
 * does nothing.
 * @param proc [in] target rank. Done: locally on return, remotely after ARMCI_Fence(proc). Scope:
 * one-sided. Threads: any. Returns: code.
 */
int ARMCI_Put(void *src, void *dst, int bytes, int proc);

/**
 * Load remote bytes into local memory. Sees all earlier stores of the caller to proc.
 * @param src [remote] source. @param dst [out] local. @param bytes [in] bytes; 0 is allowed.
 * @param proc [in] target rank.
 * Done: the data has arrived on return. Scope: one-sided. Threads: any. Returns: code.
 */
int ARMCI_Get(void *src, void *dst, int bytes, int proc);

/**
 * Accumulate: dst[i] += *scale * src[i]. Each element is updated atomically with respect to all
 * other accumulates from any rank, though not to puts, gets or rmw. Integers wrap, complex products
 * are full ones.
 * @param optype [in] ARMCI_ACC_*: the element type. @param scale [in] one element. @param src [in]
 * local.
 * @param dst [remote] elements of that type. @param bytes [in] bytes in all, a multiple of the
 * element size.
 *        @param proc [in] target rank.
 * Done: locally on return, remotely after ARMCI_Fence(proc). Scope: one-sided. Threads: any.
 * Returns: code.
 */
int ARMCI_Acc(int optype, void *scale, void *src, void *dst, int bytes, int proc);

/**
 * Strided put, get and accumulate: a patch of up to 9 dimensions.
 * @param src_ptr, dst_ptr first byte on either side: local [in] and [remote] for put and
 *        accumulate, [remote] and local [out] for get.
 * @param src_stride_arr, dst_stride_arr [in] stride_levels entries each, in bytes: entry i is the
 *        distance between neighbours in dimension i+1. The two sides are independent; strides need
 *        not divide each other. May be null when stride_levels is 0.
 * @param count [in] stride_levels+1 entries: count[0] in bytes (for accumulate whole elements),
 *        count[i] in blocks. If any is 0 there is nothing to do.
 * @param stride_levels [in] 0..ARMCI_MAX_STRIDE_LEVEL. @param proc [in] target rank. The total may
 * exceed 2^31 bytes. Overlapping blocks at the destination of a put or get end up in either's
 * state. Done: as ARMCI_Put, ARMCI_Get, ARMCI_Acc. Scope: one-sided. Threads: any. Returns: code.
 */
int ARMCI_PutS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc);
int ARMCI_GetS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc);
/** Strided accumulate. @param optype [in], scale [in]: as ARMCI_Acc; the rest and all rules as
 * ARMCI_PutS. */
int ARMCI_AccS(int optype, void *scale, void *src_ptr, int src_stride_arr[], void *dst_ptr,
	int dst_stride_arr[], int count[], int stride_levels, int proc);

/**
 * Vector put, get and accumulate: many segments of equal size per descriptor.
 * @param darr [in] `len` descriptors, see armci_giov_t; sizes in bytes, for accumulate whole
 *        elements. For put and accumulate the destinations are [remote], for get the sources. Empty
 *        descriptors are allowed.
 * @param len [in] number of descriptors, 0 allowed. @param proc [in] target rank. Segments may
 * repeat or overlap: every accumulate counts; the last of several puts to one place is not defined.
 * Done: as ARMCI_Put, ARMCI_Get, ARMCI_Acc. Scope: one-sided. Threads: any. Returns: code.
 */
int ARMCI_PutV(armci_giov_t darr[], int len, int proc);
int ARMCI_GetV(armci_giov_t darr[], int len, int proc);
/** Vector accumulate. @param op [in] ARMCI_ACC_*: the element type. @param scale [in] one element.
 *  Done: as ARMCI_Acc. The rest, and all rules, as ARMCI_PutV. */
int ARMCI_AccV(int op, void *scale, armci_giov_t darr[], int len, int proc);

/**
 * Put one scalar handed over by value.
 * @param src [in] the value. @param dst [remote] an int, long, float or double. @param proc [in]
 * target rank. Done: locally on return, remotely after ARMCI_Fence(proc). Scope: one-sided.
 * Threads: any. Returns: code.
 */
int ARMCI_PutValueInt(int src, void *dst, int proc);
int ARMCI_PutValueLong(long src, void *dst, int proc);
int ARMCI_PutValueFloat(float src, void *dst, int proc);
int ARMCI_PutValueDouble(double src, void *dst, int proc);

/**
 * Get one scalar and return it.
 * @param src [remote] an int, long, float or double. @param proc [in] target rank. Done: on return.
 * Scope: one-sided. Threads: any. Returns: the value; errors end the job, having no other way out.
 */
int ARMCI_GetValueInt(void *src, int proc);
long ARMCI_GetValueLong(void *src, int proc);
float ARMCI_GetValueFloat(void *src, int proc);
double ARMCI_GetValueDouble(void *src, int proc);

/* ---- Put with flag, notify ------------------------------------------------------------------- */

/**
 * Put, and then store an int at the target that becomes visible only after all the data. The target
 * may wait for it with plain (volatile or atomic) loads and need not call the library.
 * @param src [in], dst [remote], bytes [in] in bytes, proc [in]: as ARMCI_Put.
 * @param f [remote] the flag, aligned to 4 bytes. @param v [in] the value to store there. Done:
 * locally on return; remotely when the flag shows, or after ARMCI_Fence(proc). Scope: one-sided.
 * Threads: any. Returns: code.
 */
int ARMCI_Put_flag(void *src, void *dst, int bytes, int *f, int v, int proc);

/**
 * Strided put with flag. _dir asked classic ARMCI for a direct transfer and means the same here.
 * @param src_ptr, src_stride_arr, dst_ptr, dst_stride_arr, count, stride_levels, proc: as
 * ARMCI_PutS.
 * @param flag [remote] the flag, aligned to 4 bytes. @param val [in] the value to store there.
 * Done, Scope, Threads, Returns: as ARMCI_Put_flag.
 */
int ARMCI_PutS_flag(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int *flag, int val, int proc);
int ARMCI_PutS_flag_dir(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int *flag, int val, int proc);

/**
 * Tell a rank that everything the caller stored there before has arrived: counts one up, per pair
 * of ranks.
 * @param proc [in] rank to notify. Done: after the caller's earlier stores to proc. Scope:
 * one-sided. Threads: any. Returns: how many notifications the caller has sent to proc so far, or a
 * FAIL code.
 */
int armci_notify(int proc);

/**
 * Wait for one more notification from a rank: the k-th call waits for the k-th one.
 * @param proc [in] rank to wait for. @param pval [out] how often the caller has waited for proc,
 * this call included. Done: the stores made before that notification are visible. Scope: local.
 * Threads: any, one per proc at a time. Returns: how many notifications of proc have arrived so
 * far, or a FAIL code.
 */
int armci_notify_wait(int proc, int *pval);

/* ---- Nonblocking transfers ------------------------------------------------------------------- */

/**
 * Make a handle ready. A handle need not be initialised before it is first given to a nonblocking
 * call, except before ARMCI_SET_AGGREGATE_HANDLE, ARMCI_Wait or ARMCI_Test. Also a macro of the
 * same meaning: #undef it to get the function.
 * @param hdl [out] the handle. Scope: local. Threads: any, one per handle at a time. No errors.
 */
void ARMCI_INIT_HANDLE(armci_hdl_t *hdl);

/**
 * Mark a handle as aggregating: following nonblocking puts (or gets) on it, all of one kind and to
 * one rank, may be collected and sent together by ARMCI_Wait. Sources and descriptors of puts stay
 * untouched until then.
 * @param nb_handle [in,out] an initialised handle without open calls. Scope: local. Threads: any,
 * one per handle at a time. Errors (null, handle in use) end the job.
 */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *nb_handle);

/** Undo ARMCI_SET_AGGREGATE_HANDLE, after ARMCI_Wait. @param nb_handle [in,out] the handle. Scope:
 *  local. Threads: any, one per handle at a time. Errors (null, handle in use) end the job. */
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *nb_handle);

/**
 * Nonblocking put, get and accumulate: contiguous, strided (S) and vector (V). Arguments are those
 * of the blocking call of the same name, with the same units and directions, and a handle.
 * @param nb_handle [in,out] what ARMCI_Wait and ARMCI_Test ask for; may collect several calls, of
 *        any kinds and to any ranks, then both mean all of them. Null: the implicit handle,
 *        completed by ARMCI_WaitProc, ARMCI_WaitAll and the fences.
 * Done: locally after ARMCI_Wait; until then sources must not be changed and destinations of gets
 * not be read. Stores are remotely done after ARMCI_Fence(proc) as well. The scale, stride, count
 * and descriptor arguments (not the buffers) may be reused on return. No order among open calls.
 * Scope: one-sided. Threads: any, one per handle at a time. Returns: code; then nothing was started
 * and the handle is unchanged.
 */
int ARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbGetS(void *src_ptr, int src_stride_arr[], void *dst_ptr, int dst_stride_arr[],
	int count[], int stride_levels, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbAccS(int optype, void *scale, void *src_ptr, int src_stride_arr[], void *dst_ptr,
	int dst_stride_arr[], int count[], int stride_levels, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutV(armci_giov_t darr[], int len, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbGetV(armci_giov_t darr[], int len, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbAccV(int op, void *scale, armci_giov_t darr[], int len, int proc,
	armci_hdl_t *nb_handle);
/** Nonblocking accumulate. @param datatype [in] ARMCI_ACC_*: the element type. @param hdl [in,out]
 *  as ARMCI_NbPut's nb_handle. The rest as ARMCI_Acc, and all rules as ARMCI_NbPut. */
int ARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc,
	armci_hdl_t *hdl);

/**
 * Nonblocking put of one scalar, copied by the call. @param src [in] value.
 * @param dst [remote] an int, long, float or double. @param proc [in] rank.
 * @param nb_handle [in,out] as ARMCI_NbPut. Done: locally on return. Scope, Threads, Returns: as
 * ARMCI_NbPut.
 */
int ARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *nb_handle);
int ARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *nb_handle);

/**
 * Wait until the calls on a handle are locally done; sends what an aggregating handle has
 * collected. A handle without open calls returns at once.
 * @param nb_handle [in,out] the handle; reusable afterwards. Done: locally on return, as
 * ARMCI_NbPut says. Scope: one-sided. Threads: any, one per handle at a time. Returns: code; a FAIL
 * code also reports an error of the
 *        collected calls.
 */
int ARMCI_Wait(armci_hdl_t *nb_handle);

/**
 * Ask whether the calls on a handle are locally done, without waiting; starts what an aggregating
 * handle collected.
 * @param nb_handle [in,out] the handle. Scope: local. Threads: any, one per handle at a time.
 * Returns: 0 when done (also for a handle without open calls), 1 while in progress, or a FAIL code.
 */
int ARMCI_Test(armci_hdl_t *nb_handle);

/** Wait until the caller's calls on the implicit handle to one rank are locally done.
 *  @param proc [in] rank. Done: locally on return. Scope: one-sided. Threads: any (covers the calls
 *  of all threads). Returns: code. */
int ARMCI_WaitProc(int proc);

/** Wait until all of the caller's calls on the implicit handle are locally done. Done: locally on
 *  return. Scope:
 *        one-sided. Threads: any
 *  (covers the calls of all threads). Returns: code. */
int ARMCI_WaitAll(void);

/* ---- Completion and order -------------------------------------------------------------------- */

/** Wait until all stores of the caller to one rank (put, accumulate, value, flag; nonblocking too)
 *  are remotely done.
 *  @param proc [in] rank. Scope: one-sided. Threads: any (covers the calls of all threads). Errors
 *  end the job. */
void ARMCI_Fence(int proc);

/** ARMCI_Fence for every rank. Scope: one-sided. Threads: any. Errors end the job. */
void ARMCI_AllFence(void);

/** ARMCI_Fence for every member of a group; not a barrier. @param group [in]; null means the world.
 *  Scope: one-sided. Threads: any. Errors end the job. */
void ARMCI_GroupFence(ARMCI_Group *group);

/** ARMCI_AllFence and a barrier: afterwards every rank sees all stores of every rank. Scope:
 *  collective(world). Threads: one. Errors end the job. */
void ARMCI_Barrier(void);

/* ---- Atomics and locks ----------------------------------------------------------------------- */

/**
 * Atomic read-modify-write, atomic with respect to every other ARMCI_Rmw from any rank (not to
 * accumulate and put).
 * @param op [in] ARMCI_FETCH_AND_ADD[_LONG]: *ploc = old *prem, *prem += extra. ARMCI_SWAP[_LONG]:
 *        exchange *ploc and *prem. @param ploc [in,out] local int, or long for _LONG.
 *        @param prem [remote] the same, naturally aligned.
 * @param extra [in] summand; unused by swap. @param proc [in] target rank, may be the caller. Done:
 * on return, on both sides. Scope: one-sided. Threads: any. Returns: code (FAIL7 unknown op,
 * misaligned prem).
 */
int ARMCI_Rmw(int op, void *ploc, void *prem, int extra, int proc);

/**
 * Create mutexes. One set exists at a time.
 * @param num [in] how many the caller hosts, numbered from 0; >= 0, may differ per rank.
 * Done: all are usable and unlocked. Scope: collective(world). Threads: one.
 * Returns: code, the same on every rank; FAIL if a set exists, FAIL3 for a negative number.
 */
int ARMCI_Create_mutexes(int num);

/** Destroy the set of mutexes, all of them unlocked. Scope: collective(world). Threads: one.
 *  Returns: code; FAIL if there is none. */
int ARMCI_Destroy_mutexes(void);

/**
 * Lock and unlock a mutex. Waiters are served in order of arrival. Not recursive: a mutex is held
 * by a process until one of its threads unlocks it. The caller's stores to `proc` made before
 * ARMCI_Unlock are seen by the next holder; stores to other ranks need a fence before it.
 * @param mutex [in] number, below what `proc` created. @param proc [in] rank that hosts it. Done:
 * on return. Scope: one-sided. Threads: any. Errors (no such mutex, unlock by a process that does
 * not hold it) end the job.
 */
void ARMCI_Lock(int mutex, int proc);
void ARMCI_Unlock(int mutex, int proc);

/* ---- Groups ---------------------------------------------------------------------------------- */

/**
 * Create a group of members of the default group.
 * @param n [in] members, >= 0. @param pid_list [in] their ranks in the default group, ascending and
 *        distinct; the place in the list is the group rank. @param group_out [out] the group; on a
 *        non-member a handle that ARMCI_Group_rank and ARMCI_Group_free accept.
 * Done: usable on return. Scope: collective over the ranks listed, with the same list; others may
 * call it too and return at once. Threads: one. Errors end the job.
 */
void ARMCI_Group_create(int n, int *pid_list, ARMCI_Group *group_out);

/** ARMCI_Group_create of members of another group. @param pid_list [in] ranks in group_parent,
 *  ascending and distinct.
 *  @param group_parent [in] a group of the caller. The rest, and all rules, as ARMCI_Group_create.
 *  */
void ARMCI_Group_create_child(int n, int *pid_list, ARMCI_Group *group_out,
	ARMCI_Group *group_parent);

/** Free a group; its memory must have been freed. @param group [in,out] not the world. Scope:
 *  collective(group). Threads: one. Errors end the job. */
void ARMCI_Group_free(ARMCI_Group *group);

/** Group rank of the caller. @param group [in]. @param rank [out] group rank, -1 for a non-member.
 *  Scope: local. Threads: any. Returns: 0 for a member, 1 for a non-member, or a FAIL code. */
int ARMCI_Group_rank(ARMCI_Group *group, int *rank);

/** Number of members. @param group [in]. @param size [out] ranks. Scope: local. Threads: any.
 * Errors end the job. */
void ARMCI_Group_size(ARMCI_Group *group, int *size);

/** Set the caller's default group, which ARMCI_Group_create takes ranks of. It changes nothing
 *  else: allocation, barrier and messages without a group argument always mean the world.
 *  @param group [in]. Scope: local. Threads: one. Errors end the job. */
void ARMCI_Group_set_default(ARMCI_Group *group);

/** The caller's default group; the world at first. @param group_out [out] the group. Scope: local.
 * Threads: any. */
void ARMCI_Group_get_default(ARMCI_Group *group_out);

/** The group of all ranks. @param group_out [out] the group. Scope: local. Threads: any. */
void ARMCI_Group_get_world(ARMCI_Group *group_out);

/** World rank of a member. @param group [in]. @param group_rank [in] group rank. Scope: local.
 *  Threads: any. Returns: the rank, or -1 if there is no such member. */
int ARMCI_Absolute_id(ARMCI_Group *group, int group_rank);

/* ---- Locality -------------------------------------------------------------------------------- */

/* A domain is a node whose ranks follow each other (0 to 3 on one, 4 to 7 on the next). Where the
 * ranks of any node do not, each rank is a domain of its own, since Global Arrays takes the ranks
 * of a domain for neighbours; ARMCI_Same_node tells the truth anyway. 0 <= id <
 * armci_domain_count(). The domain argument is ARMCI_DOMAIN_SMP. All of these: Scope: local.
 * Threads: any. Returns: the answer, or a negative FAIL code for a node or rank out of range. */

/** Number of ranks in a domain. @param domain [in]. @param id [in] domain; -1 means the caller's.
 */
int armci_domain_nprocs(armci_domain_t domain, int id);
/** Domain of a rank. @param domain [in]. @param glob_proc_id [in] rank. */
int armci_domain_id(armci_domain_t domain, int glob_proc_id);
/** A rank in a domain. @param domain [in]. @param id [in] domain. @param loc_proc_id [in] place in
 * the domain, from 0. */
int armci_domain_glob_proc_id(armci_domain_t domain, int id, int loc_proc_id);
/** Domain of the caller. @param domain [in]. */
int armci_domain_my_id(armci_domain_t domain);
/** Number of domains. @param domain [in]. */
int armci_domain_count(armci_domain_t domain);
/** Whether a rank is in the caller's domain: 1 or 0; 0 for a rank out of range. @param domain, proc
 * [in] rank. */
int armci_domain_same_id(armci_domain_t domain, int proc);

/** Whether a rank is on the caller's node, so that its memory can be dereferenced. @param proc [in]
 *  rank. Scope: local. Threads: any. Returns: 1 or 0; 0 for a rank out of range. The second name is
 *  the older one. */
int ARMCI_Same_node(int proc);
int armci_sameclusnode(int proc);

/* ---- Strided helpers ------------------------------------------------------------------------- */

/**
 * Pack strided local memory into a contiguous buffer (write) and unpack it again (read). The
 * description is that of ARMCI_PutS, strides and count[0] in bytes.
 * @param ptr [in / out] strided memory. @param stride_levels [in] 0..8. @param stride_arr [in]
 *        bytes. @param count [in] count[0] in bytes, others in blocks.
 * @param buf [out / in] as many bytes as the product of all counts.
 * Done: on return. Scope: local, also before init. Threads: any. Errors end the job.
 */
void armci_write_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);
void armci_read_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);

/* Classic ARMCI keeps this iterator in a header of its own, whose guard is respected here: either
 * may come first. */
#ifndef _STRIDE_INFO_H_
#define _STRIDE_INFO_H_

/* Position in a strided description; the fields belong to the library. */
typedef struct {
	char *base_ptr;
	int stride_levels;
	int stride_arr[ARMCI_MAX_STRIDE_LEVEL];
	int seg_count[ARMCI_MAX_STRIDE_LEVEL + 1];
	int size, pos, itr[ARMCI_MAX_STRIDE_LEVEL];
} stride_info_t;

/* The iterator visits the contiguous segments of a strided description, dimension 1 fastest.
 * All of these: Scope: local, also before init. Threads: any, one per iterator at a time. Errors
 * end the job. */

/** Start. @param sinfo [out]. @param base_ptr [in] first byte. @param stride_levels [in] 0..8.
 *  @param stride_arr [in] bytes. @param seg_count [in] [0] in bytes, others in blocks. Copies both
 *  arrays. */
void armci_stride_info_init(stride_info_t *sinfo, void *base_ptr, int stride_levels,
	const int *stride_arr, const int *seg_count);
/** End; the iterator may be started again. @param sinfo [in,out]. */
void armci_stride_info_destroy(stride_info_t *sinfo);
/** Number of segments in all; the same as armci_stride_info_size. @param sinfo [in]. Returns: the
 * number. */
int armci_stride_info_count(stride_info_t *sinfo);
/** Segments passed so far. @param sinfo [in]. Returns: the number. */
int armci_stride_info_pos(stride_info_t *sinfo);
/** Go to the next segment. @param sinfo [in,out] with armci_stride_info_has_more true. */
void armci_stride_info_next(stride_info_t *sinfo);
/** Address of the segment. @param sinfo [in] with armci_stride_info_has_more true. Returns: the
 * address. */
void *armci_stride_info_seg_ptr(stride_info_t *sinfo);
/** Size of the segment. @param sinfo [in]. Returns: bytes. */
int armci_stride_info_seg_size(stride_info_t *sinfo);
/** Distance of the segment from base_ptr. @param sinfo [in] with armci_stride_info_has_more true.
 * Returns: bytes. */
int armci_stride_info_seg_off(stride_info_t *sinfo);
/** Number of segments in all. @param sinfo [in]. Returns: the number. */
int armci_stride_info_size(stride_info_t *sinfo);
/** Whether there is a segment at the position. @param sinfo [in]. Returns: 1 or 0. */
int armci_stride_info_has_more(stride_info_t *sinfo);

#endif

/* ---- Checkpoint ------------------------------------------------------------------------------ */

/* Memory of a group saved to files, and restored in this job or a later one. A record says what is
 * saved. Each member of the group has two files, PREFIX.MEMBER.0 and PREFIX.MEMBER.1, by turns: a
 * checkpoint never overwrites the one before, so a crash while one is written loses nothing. Only
 * memory that has changed since the file was last written is written again. All is checked by
 * checksums when it is restored. Stack and heap are not saved. docs/checkpoint.md has more.
 */

/* What ARMCI_Ckpt returns. It never returns ARMCI_RESTART: no stack is restored. */
#define ARMCI_CKPT 0
#define ARMCI_RESTART 1

/* Memory to save: count blocks at ptr_arr[i] of sz[i] bytes; saveonce[i] nonzero: later checkpoints
 * keep what the first one of the record saved. */
typedef struct {
	void **ptr_arr;
	size_t *sz;
	int *saveonce;
	int count;
} armci_ckpt_ds_t;

/** Make room for a list of blocks. @param ckptds [out] three arrays of `count` zeroed entries, the
 *  caller's to free(); all null and count 0 when there is no memory or count < 0. @param count [in]
 *  blocks. Scope: local. Threads: any. */
void ARMCI_Ckpt_create_ds(armci_ckpt_ds_t *ckptds, int count);
/**
 * Begin a record. It makes the files, or finds those of an earlier job, and saves nothing yet.
 * @param filename [in] beginning of the names of files (PREFIX), the same on all members; null:
 * "armci_chkpt_RID_RANK" with the record's number and the rank of the world of the first member, in
 * the current directory.
 * @param grp [in] group. @param savestack, saveheap [in] must be 0 on all members.
 * @param ckptds [in] the caller's memory to save, which it may free afterwards: within an
 * allocation of this rank, or private memory of it; blocks of 0 bytes are allowed. Null: all live
 * allocations of the caller that were made on the group, in the order in which they were made.
 * Done: the files exist and are locked against other jobs. Scope: collective(grp). Threads: one.
 * Returns: the number of the record, at least 1 and the same on all members; or, on all members, a
 * FAIL code (FAIL savestack or saveheap, null pointer; FAIL3 a size that is no size; FAIL6 a file
 * cannot be made or is in use; FAIL8 no memory there).
 */
int ARMCI_Ckpt_init(char *filename, ARMCI_Group *grp, int savestack, int saveheap,
	armci_ckpt_ds_t *ckptds);
/**
 * Save a checkpoint. All earlier operations of the members are completed first, as by
 * ARMCI_WaitAll and ARMCI_AllFence; operations with handles must have been waited for. Memory of
 * the record must not be changed by any rank or thread until it returns.
 * @param rid [in] the record. Done: the file system has it (fdatasync), on all members. Scope:
 * collective(group of the record). Threads: one. Returns: ARMCI_CKPT; or, on all members, a FAIL
 * code (FAIL6 a member could not write, FAIL8 a block has been freed): then the checkpoint before
 * is still there. FAIL on the caller alone if rid is no record.
 */
int ARMCI_Ckpt(int rid);
/**
 * Restore the memory of a record from its newest checkpoint that is complete and undamaged on all
 * members, of this job or an earlier one. Damage is printed, with file and byte, and the checkpoint
 * before is restored. With another number of members each block needs a declared distribution
 * (ARMCIX_Ckpt_distribute). No rank or thread may use the memory until it returns.
 * @param rid [in] the record. @param iamreplacement [in] unused. Done: the memory is restored, on
 * all members. Scope: collective(group of the record). Threads: one. Errors end the job: there is
 * no such record or no such checkpoint, or it is of other memory.
 */
void ARMCI_Ckpt_Recover(int rid, int iamreplacement);
/** End a record. Its files stay. @param rid [in] the record. Done: its files are closed. Scope:
 *  collective(group of the record). Threads: one. A wrong rid prints one line. */
void ARMCI_Ckpt_finalize(int rid);
/** As ARMCI_Ckpt_Recover, but errors are returned; memory is then unchanged, unless the line
 *  printed says otherwise. @param rid [in] the record. @param iamreplacement [in] unused. Scope:
 *  collective(group of the record). Threads: one. Returns: 1; or a FAIL code, on all members (FAIL
 *  on the caller alone if rid is no record). */
int armci_irecover(int rid, int iamreplacement);
/** Would set ranks aside; none is, and a line says so. @param spare [in] ranks. Scope: local.
 *  Threads: any. */
void armci_set_spare_procs(int spare);
/** Group of the ranks not set aside. Returns: the world group, which stays valid until finalize.
 *  Scope: local. Threads: any. */
ARMCI_Group *ARMCI_Get_ft_group(void);
/** Group of all ranks, for programs with checkpoints, as Global Arrays with --enable-checkpoint.
 *  ARMCI_Group_get_world gives the same. Returns: the world group, which stays valid until
 *  finalize. */
ARMCI_Group *ARMCI_Get_world_group(void);

/* ---- Assertions ------------------------------------------------------------------------------ */

/** What the dassert macros call on failure: print the place and end the job. @param cond_string,
 *  file, func [in] text or null. @param line [in] its number. @param code [in] exit status. Scope:
 *  one-sided. Threads: any. Never returns. */
int dassertp_fail(const char *cond_string, const char *file, const char *func, unsigned int line,
	int code);

/** printf to standard error, one write per call. @param format [in] and arguments: as printf.
 *  Scope: local. Threads: any. No errors. */
void derr_printf(const char *format, ...);

#ifdef __cplusplus
}
#endif

#include "message.h"
#include "parmci.h"

/* ---- Macros ---------------------------------------------------------------------------------- */

/* Copy to a rank of the node; kept for old programs, use ARMCI_Put. */
#define ARMCI_Put1(_s, _d, _b, _p) (memcpy((_d), (_s), (_b)), 0)

#ifdef ARMCI_ABI_MPI
#define ARMCI_INIT_HANDLE(hdl) ((void)((hdl)->batch_size = 0))
#else
#define ARMCI_INIT_HANDLE(hdl) ((void)(*(hdl) = 0))
#endif

/* Assertions that print a message and end the job. _enable: 0 turns one off. _plist: arguments of
 * printf in parentheses. armci_die and armci_die2 always end it. */
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
#define armci_die(_msg, _code) \
	dassertc(1, 0, ("%d:%s: %d\n", armci_msg_me(), (_msg), (_code)), (_code))
#define armci_die2(_msg, _code1, _code2) \
	dassertc(1, 0, ("%d:%s: (%d,%d)\n", armci_msg_me(), (_msg), (_code1), (_code2)), (_code1))

#endif
