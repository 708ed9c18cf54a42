/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * osh.h: what the files of libshmem_armci share: state, symmetric addresses, contexts, teams. It is
 * a client of ARMCI's public headers and must not include any other header of the project.
 */
#ifndef OSH_H
#define OSH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "armci.h"
#include "armcix.h"
#include "gpc.h"
#define SHMEM_NO_GENERIC_
#include "shmem.h"

#pragma GCC visibility push(hidden)

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Defines a function under its profiling name, and shmem_NAME as a weak second name of it. */
#define API(TYPE, NAME, ARGS) \
	extern __attribute__((visibility("default"))) TYPE pshmem_##NAME ARGS; \
	extern __attribute__((visibility("default"), weak, alias("pshmem_" #NAME))) \
		TYPE shmem_##NAME ARGS; \
	TYPE pshmem_##NAME ARGS

/* Defines functions without a context, and with one: C is the beginning of the name, P() the
 * parameter, X the context. */
#define BOTH(FAMILY, ...) \
	FAMILY(, NO_PARAMETER, &osh.world_ctx, __VA_ARGS__) \
	FAMILY(ctx_, CTX_PARAMETER, osh_ctx(ctx, FN), __VA_ARGS__)
#define CTX_PARAMETER() shmem_ctx_t ctx,
#define NO_PARAMETER()

/* The name that the program called: __func__ without the p of the profiling name. */
#define FN (__func__ + 1)

/* The functions of libarmci, found in that library: a program may have an ARMCI of its own, as
 * Global Arrays may, which the dynamic linker would take instead. ARMCIX_* no other one has. */
#define ENGINE_CALLS_(F) \
	F(ARMCI_AllFence) F(ARMCI_Error) F(ARMCI_Finalize) F(ARMCI_Free) F(ARMCI_Get) \
	F(ARMCI_GetS) F(ARMCI_Gpc_exec) F(ARMCI_Gpc_register) F(ARMCI_GroupFence) \
	F(ARMCI_Group_create_child) F(ARMCI_Group_free) F(ARMCI_Group_get_world) F(ARMCI_Init) \
	F(ARMCI_Malloc) F(ARMCI_NbGet) F(ARMCI_NbPut) F(ARMCI_Put) F(ARMCI_PutS) F(ARMCI_Wait) \
	F(ARMCI_WaitAll) F(armci_msg_abort) F(armci_msg_barrier) F(armci_msg_finalize) \
	F(armci_msg_group_barrier) F(armci_msg_group_bcast_scope) F(armci_msg_group_gop_scope) \
	F(armci_msg_group_lgop) F(armci_msg_lgop) F(armci_msg_me) F(armci_msg_nproc) \
	F(armci_msg_rcv) F(armci_msg_snd)
#define ENGINE_MEMBER_(NAME) __typeof__(NAME) *NAME;
extern struct engine { ENGINE_CALLS_(ENGINE_MEMBER_) } engine;

/* Symmetric memory: the heap, or the program's globals. A byte at base + i of this PE is at
 * at[pe] + i of another, as ARMCI addresses it. */
struct osh_segment {
	uintptr_t base;
	size_t bytes;
	char **at, *allocation;
};

struct osh_team {
	int n, me;           /* members; number of this PE */
	bool near;           /* all members are PEs of this node */
	int *rank;           /* of each member, in the world */
	int *number;         /* of each PE of the world; -1: no member */
	ARMCI_Group group;   /* its order is ascending, the team's need not be */
	shmem_team_config_t config;
	struct osh_ctx *contexts; /* those that threads may share */
};

struct osh_ctx {
	int n;               /* PEs */
	const int *rank;     /* of each; null: the world's numbers */
	bool own;            /* used by one thread at a time: handle is for its nonblocking calls */
	atomic_bool open;    /* nonblocking calls may be open */
	armci_hdl_t handle;
	struct osh_team *team;
	long options;
	struct osh_ctx *next; /* of its team */
};

extern struct osh {
	bool on;
	int me, n, threads;
	struct osh_segment heap, data;
	const atomic_uint **sleepers; /* threads of each PE that wait; null on another node */
	struct osh_ctx world_ctx;   /* the default context */
	struct osh_team *world, *shared;
} osh;

/* error.c: each prints a line and ends the job. */
void osh_die(const char *fn, const char *format, ...)
	__attribute__((noreturn, cold, format(printf, 2, 3)));
void osh_bad_pe(const char *fn, int pe, int n) __attribute__((noreturn, cold));
void osh_bad_address(const char *fn, const void *p, size_t bytes) __attribute__((noreturn, cold));
void osh_failed(const char *fn, int code) __attribute__((noreturn, cold));

/* heap.c, segment.c, order.c, team.c, context.c, init.c */
void osh_heap_start(size_t bytes);
void osh_heap_end(void);
void osh_segment_start(struct osh_segment *s, size_t bytes, size_t alignment, const char *what);
void osh_segment_end(struct osh_segment *s);
/* Has a segment begin at the same address on each PE, as programs expect, if all have room. */
void osh_segment_share(struct osh_segment *s);
void osh_data_start(void);
void osh_data_end(void);
void osh_quiet(struct osh_ctx *ctx);
void osh_barrier(struct osh_team *team);
void osh_teams_start(void);
void osh_teams_end(void);
struct osh_team *osh_team_create(int n, const int *rank);
struct osh_team *osh_active_set(const char *fn, int start, int log_stride, int size);
void osh_contexts_end(struct osh_team *team);
void *osh_alloc(size_t bytes);

/* wait.c: whether something has happened is asked again and again. */
void osh_wait_for(int (*happened)(void *), void *arg);

static inline struct osh_team *osh_team(shmem_team_t team, const char *fn)
{
	if (team == SHMEM_TEAM_WORLD && osh.on)
		return osh.world;
	if (team == SHMEM_TEAM_SHARED && osh.on)
		return osh.shared;
	if (unlikely(team == SHMEM_TEAM_INVALID || !osh.on))
		osh_die(fn, osh.on ? "team: SHMEM_TEAM_INVALID" : "shmem_init was not called");
	return (struct osh_team *)team;
}

static inline struct osh_ctx *osh_ctx(shmem_ctx_t ctx, const char *fn)
{
	if (likely(ctx > SHMEM_CTX_DEFAULT))
		return (struct osh_ctx *)ctx;
	if (unlikely(ctx == SHMEM_CTX_INVALID))
		osh_die(fn, "ctx: SHMEM_CTX_INVALID");
	return &osh.world_ctx;
}

/* The world's number of a PE of a context. */
static inline int osh_rank(const struct osh_ctx *ctx, int pe, const char *fn)
{
	if (unlikely((unsigned)pe >= (unsigned)ctx->n))
		osh_bad_pe(fn, pe, ctx->n);
	return ctx->rank ? ctx->rank[pe] : pe;
}

/* The address of symmetric memory at a PE; null: it is not symmetric. */
static inline char *osh_find(const void *p, size_t bytes, int rank)
{
	size_t i = (uintptr_t)p - osh.heap.base;
	if (likely(i < osh.heap.bytes && bytes <= osh.heap.bytes - i))
		return osh.heap.at[rank] + i;
	i = (uintptr_t)p - osh.data.base;
	if (likely(i < osh.data.bytes && bytes <= osh.data.bytes - i))
		return osh.data.at[rank] + i;
	return NULL;
}

static inline char *osh_at(const void *p, size_t bytes, int rank, const char *fn)
{
	char *at = osh_find(p, bytes, rank);
	if (unlikely(!at))
		osh_bad_address(fn, p, bytes);
	return at;
}

/* A buffer of the caller, for a transfer to or from a PE. Network devices may use symmetric memory
 * at its address in ARMCI, which they know. */
static inline char *osh_local(const void *p, size_t bytes, int rank, const char *fn)
{
	if (unlikely(!p))
		osh_die(fn, "null pointer");
	char *at = osh.sleepers[rank] ? NULL : osh_find(p, bytes, osh.me);
	return at ? at : (char *)(uintptr_t)p;
}

/* A PE has been written to. On another node what arrives wakes its waiters. */
static inline void osh_wrote(int rank)
{
	if (osh.sleepers[rank] &&
		unlikely(atomic_load_explicit(osh.sleepers[rank], memory_order_relaxed)))
		ARMCIX_Wake(rank);
}

/* transfer.c, atomic.c, collect.c: what all functions of a family call. */
typedef void osh_transfer(struct osh_ctx *ctx, void *dest, const void *source, size_t bytes, int pe,
	const char *fn);
osh_transfer osh_put, osh_get, osh_put_nbi, osh_get_nbi;
void osh_atomic(struct osh_ctx *ctx, int op, int bytes, void *old, void *dest, const void *operand,
	const void *compare, int pe, const char *fn);
void osh_signal(struct osh_ctx *ctx, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
	const char *fn);
void osh_broadcast(struct osh_team *t, void *dest, const void *source, size_t bytes, int root,
	bool at_root, const char *fn);
void osh_collect(struct osh_team *t, void *dest, const void *source, size_t bytes, bool equal,
	const char *fn);
void osh_alltoall(struct osh_team *t, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
	size_t nelems, size_t elem, const char *fn);

/* reduce.c */
enum osh_op { OSH_AND, OSH_OR, OSH_XOR, OSH_MAX, OSH_MIN, OSH_SUM, OSH_PROD };
enum osh_kind { OSH_SIGNED, OSH_UNSIGNED, OSH_REAL, OSH_COMPLEX };
void osh_reduce(struct osh_team *t, enum osh_op op, enum osh_kind kind, size_t elem, void *dest,
	const void *source, size_t n, const char *fn);
#define KIND(TYPE) \
	_Generic((TYPE)0, float _Complex: OSH_COMPLEX, double _Complex: OSH_COMPLEX, \
		float: OSH_REAL, double: OSH_REAL, long double: OSH_REAL, \
		char: (char)-1 < 0 ? OSH_SIGNED : OSH_UNSIGNED, \
		unsigned char: OSH_UNSIGNED, unsigned short: OSH_UNSIGNED, \
		unsigned int: OSH_UNSIGNED, unsigned long: OSH_UNSIGNED, \
		unsigned long long: OSH_UNSIGNED, default: OSH_SIGNED)

#pragma GCC visibility pop
#endif
