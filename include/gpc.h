/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpc.h: global procedure calls of libarmci: run a registered function in the process of another
 * rank. It must hold declarations only. Words as defined at the top of armci.h, which it includes.
 */
#ifndef ARMCI_GPC_H_
#define ARMCI_GPC_H_

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a handler is called (rtype): first call, later question, later call that must finish. */
#define GPC_INIT 1
#define GPC_PROBE 2
#define GPC_WAIT 3
/* What a handler returns: reply complete, or not yet (it is called again with GPC_PROBE or
 * GPC_WAIT). */
#define GPC_DONE 4
#define GPC_PENDING 5

/* Handle of a nonblocking procedure call, opaque; 600 bytes, as in classic ARMCI. */
typedef struct {
	int proc;
	int reserved_;
	armci_hdl_t ahdl;
	char room_[592 - sizeof(armci_hdl_t)];
} gpc_hdl_t;

/**
 * The shape of a handler. It runs in the target process, on a thread of the library and
 * concurrently with the program's own threads; it may call ARMCI_Gpc_lock, _trylock, _unlock,
 * _translate and nothing else of ARMCI.
 * @param to [in] the target: own rank. @param from [in] the caller's rank.
 * @param hdr [in] header. @param hlen [in] its bytes. @param data [in] data. @param dlen [in] its
 * bytes.
 * @param rhdr [out] reply header. @param rhlen [in] room for it in bytes. @param rhsize [out] bytes
 * of it used.
 * @param rdata [out] reply data. @param rdlen [in] room for it in bytes. @param rdsize [out] bytes
 * of it used.
 * @param rtype [in] GPC_INIT, GPC_PROBE or GPC_WAIT. Scope: local. Threads: any, concurrently with
 * handlers of other calls. Returns: GPC_DONE or GPC_PENDING.
 */
typedef int (*armci_gpc_handler_t)(int to, int from, void *hdr, int hlen, void *data, int dlen,
	void *rhdr, int rhlen, int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype);

/**
 * Register a handler. Every rank registers the same handlers in the same order, so that the numbers
 * agree.
 * @param func [in] the handler, of type armci_gpc_handler_t; C++ programs cast it to int (*)().
 * Done: callable on every rank on return. Scope: collective(world). Threads: one. Returns: the
 * handler's number, never 0; 0 when func is null or there is no room left (at least 32 fit).
 */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
int ARMCI_Gpc_register(armci_gpc_handler_t func);
#else
int ARMCI_Gpc_register(int (*func)());
#endif

/** Forget a handler. @param handle [in] its number. Done: no call of it is running. Scope:
 *  collective(world). Threads: one. Errors end the job. */
void ARMCI_Gpc_release(int handle);

/** Turn an address sent by a caller into one the handler can dereference. @param ptr [in] address
 *  in an allocation of `proc`. @param proc [in] owner of the memory. @param from [in] rank that
 *  sent it. Scope: local. Threads: any. Returns: the address, or null if it is in no allocation of
 *  proc. */
void *ARMCI_Gpc_translate(void *ptr, int proc, int from);

/** Lock and unlock the handlers' mutex of a rank; only that rank's handlers and threads may use it.
 *  Not recursive.
 *  @param proc [in] own rank. Scope: local. Threads: any. Errors end the job. */
void ARMCI_Gpc_lock(int proc);
void ARMCI_Gpc_unlock(int proc);

/** ARMCI_Gpc_lock without waiting. @param proc [in] own rank. Scope: local. Threads: any. Returns:
 *  1 if it is now held by the caller, 0 if not. */
int ARMCI_Gpc_trylock(int proc);

/**
 * Call a handler in the process of a rank. It runs once, after the caller's earlier stores to that
 * rank.
 * @param h [in] handler's number. @param p [in] target rank, may be the caller.
 * @param hdr [in] header; null only with 0 bytes. @param hlen [in] its bytes, <
 * ARMCI_Get_gpc_hlen().
 * @param data [in] data; null only with 0 bytes. @param dlen [in] its bytes, <
 * ARMCI_Get_gpc_dlen().
 * @param rhdr [out] reply header. @param rhlen [in] room for it in bytes, < ARMCI_Get_gpc_hlen().
 * @param rdata [out] reply data. @param rdlen [in] room for it in bytes, < ARMCI_Get_gpc_dlen().
 * @param nbh [in,out] null: blocking. Else an initialised handle: the reply is there after
 * ARMCI_Gpc_wait. Done: blocking: the handler has finished and the reply is there on return.
 * Nonblocking: header and data may be reused, and the reply read, after ARMCI_Gpc_wait. Scope:
 * one-sided. Threads: any, one per handle at a time. Returns: code (FAIL7 no such handler, FAIL3 a
 * size out of limits).
 */
int ARMCI_Gpc_exec(int h, int p, void *hdr, int hlen, void *data, int dlen, void *rhdr, int rhlen,
	void *rdata, int rdlen, gpc_hdl_t *nbh);

/** Limits of header and data sizes. Scope: local. Threads: any. Returns: bytes; sizes must be
 * below. */
int ARMCI_Get_gpc_hlen(void);
int ARMCI_Get_gpc_dlen(void);

/** Make a handle ready; needed before its first use. @param nbh [out] the handle. Scope: local.
 * Threads: any. */
void ARMCI_Gpc_init_handle(gpc_hdl_t *nbh);

/** Wait for the reply of a nonblocking call; a handle without an open call returns at once.
 *  @param nbh [in,out] reusable afterwards. Scope: one-sided. Threads: any, one per handle at a
 *  time. Errors end the job. */
void ARMCI_Gpc_wait(gpc_hdl_t *nbh);

#ifdef __cplusplus
}
#endif

#endif
