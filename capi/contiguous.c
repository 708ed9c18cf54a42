// SPDX-License-Identifier: BSD-3-Clause
// Contiguous put, get and accumulate, blocking and nonblocking, and the value operations.
#include "front.h"

#include "far.h"

static int contiguous(const char *name, int kind, void *local, void *remote, int bytes, int proc,
	int nonblocking, void *hdl)
{
	struct front_call c = {.name = name,
		.kind = kind,
		.proc = proc,
		.local = local,
		.remote = remote,
		.count = &bytes,
		.nonblocking = nonblocking,
		.hdl = hdl};
	return armcigo_op(&c);
}

// A put or get whose region is not cached: recorded in a batch, or looked up in the region table,
// else done by Go. It is not SECOND: between nodes this is the usual way, and gcc makes cold code
// small instead of fast.
static __attribute__((noinline)) int move(const char *name, int kind, void *local, void *remote,
	int bytes, int proc, int nonblocking, void *hdl)
{
	bool aggregates = hdl && atomic_load_explicit(&front.aggregates, memory_order_relaxed);
	if (aggregates && front_collect(kind, local, remote, bytes, proc, hdl))
		return 0;
	if (nonblocking == FRONT_NONBLOCKING &&
	    atomic_load_explicit(&front.uncoalesced, memory_order_relaxed) != 0 &&
	    front_coalesce(kind, local, remote, bytes, proc, hdl))
		return 0;
	int code;
	if (bytes > 0 && front_address(local) && front_reach(proc, remote, (uint64_t)bytes)) {
		if (kind == FRONT_PUT)
			k_copy(remote, local, (size_t)bytes);
		else
			k_copy(local, remote, (size_t)bytes);
		front_order();
		front_done(hdl);
		return 0;
	}
	if (bytes > 0 && front_address(local) && !aggregates &&
	    far_contiguous(name, kind, local, remote, (uint64_t)bytes, proc, nonblocking,
		    hdl, &code))
		return code;
	return contiguous(name, kind, local, remote, bytes, proc, nonblocking, hdl);
}

int PARMCI_Put(void *src, void *dst, int bytes, int proc)
{
	if (likely(bytes > 0 && front_address(src) && front_known(proc, dst, (uint64_t)bytes))) {
		k_copy(dst, src, (size_t)bytes);
		return 0;
	}
	PROFILED(Put, src, dst, bytes, proc);
	return move("ARMCI_Put", FRONT_PUT, src, dst, bytes, proc, false, NULL);
}
WEAK(ARMCI_Put);

int PARMCI_Get(void *src, void *dst, int bytes, int proc)
{
	if (likely(bytes > 0 && front_address(dst) && front_known(proc, src, (uint64_t)bytes))) {
		k_copy(dst, src, (size_t)bytes);
		front_order();
		return 0;
	}
	PROFILED(Get, src, dst, bytes, proc);
	return move("ARMCI_Get", FRONT_GET, dst, src, bytes, proc, false, NULL);
}
WEAK(ARMCI_Get);

int PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
	if (likely(bytes > 0 && front_address(src) && front_known(proc, dst, (uint64_t)bytes))) {
		k_copy(dst, src, (size_t)bytes);
		front_done(hdl);
		return 0;
	}
	PROFILED(NbPut, src, dst, bytes, proc, hdl);
	return move("ARMCI_NbPut", FRONT_PUT, src, dst, bytes, proc, true, hdl);
}
WEAK(ARMCI_NbPut);

int PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
	if (likely(bytes > 0 && front_address(dst) && front_known(proc, src, (uint64_t)bytes))) {
		k_copy(dst, src, (size_t)bytes);
		front_done(hdl);
		return 0;
	}
	PROFILED(NbGet, src, dst, bytes, proc, hdl);
	return move("ARMCI_NbGet", FRONT_GET, dst, src, bytes, proc, true, hdl);
}
WEAK(ARMCI_NbGet);

// The element type if the accumulate is plain; -1: Go has to do it.
static inline int plain_acc(int optype, void *scale, int bytes)
{
	int type = k_type_of_acc(optype);
	return type >= 0 && scale && bytes > 0 && (size_t)bytes % k_type_size(type) == 0 ? type :
											   -1;
}

// By the fast path, or by Go. Not SECOND, as move is not.
static __attribute__((noinline)) int accumulate_beyond(const char *name, int optype, void *scale,
	void *src, void *dst, int bytes, int proc, bool nonblocking, void *hdl)
{
	int type = plain_acc(optype, scale, bytes);
	if (type >= 0 && front_address(src) &&
	    far_acc(type, scale, src, NULL, dst, NULL, &bytes, 0, proc)) {
		front_done(hdl);
		return 0;
	}
	struct front_call c = {.name = name, .kind = FRONT_ACC, .proc = proc, .optype = optype,
		.scale = scale, .local = src, .remote = dst, .count = &bytes,
		.nonblocking = nonblocking, .hdl = hdl};
	return armcigo_op(&c);
}

static __attribute__((noinline)) int accumulate_here(const char *name, int optype, void *scale,
	void *src, void *dst, int bytes, int proc, bool nonblocking, void *hdl)
{
	int type = plain_acc(optype, scale, bytes);
	if (type < 0 || !front_address(src) || !front_reach(proc, dst, (uint64_t)bytes))
		return accumulate_beyond(name, optype, scale, src, dst, bytes, proc, nonblocking,
			hdl);
	k_acc(&front.stripes, type, scale, dst, src, (size_t)bytes);
	front_done(hdl);
	return 0;
}

// One element in a cached region whose lock is free.
static inline bool add_one(int optype, void *scale, void *src, void *dst, int bytes, int proc)
{
	int type = plain_acc(optype, scale, bytes);
	return type >= 0 && front_address(src) && front_known(proc, dst, (uint64_t)bytes) &&
	       k_acc_small(&front.stripes, type, scale, dst, src, (size_t)bytes);
}

// What add_one declines; apart, so that PARMCI_Acc has nothing to save for it.
SECOND int acc_unusual(int optype, void *scale, void *src, void *dst, int bytes, int proc)
{
	PROFILED(Acc, optype, scale, src, dst, bytes, proc);
	return accumulate_here("ARMCI_Acc", optype, scale, src, dst, bytes, proc, false, NULL);
}

int PARMCI_Acc(int optype, void *scale, void *src, void *dst, int bytes, int proc)
{
	if (likely(add_one(optype, scale, src, dst, bytes, proc)))
		return 0;
	return acc_unusual(optype, scale, src, dst, bytes, proc);
}
WEAK(ARMCI_Acc);

int PARMCI_NbAcc(int optype, void *scale, void *src, void *dst, int bytes, int proc,
	armci_hdl_t *hdl)
{
	PROFILED(NbAcc, optype, scale, src, dst, bytes, proc, hdl);
	return accumulate_here("ARMCI_NbAcc", optype, scale, src, dst, bytes, proc, true, hdl);
}
WEAK(ARMCI_NbAcc);

// A scalar is stored and loaded as one access, aligned or not. If Go has to put it, a nonblocking
// call is FRONT_TEMPORARY, since the argument is invalid after the call.
#define VALUE_OPS(Type, type) \
	SECOND int put_##type(const char *name, type v, void *dst, int proc, int when) \
	{ \
		return move(name, FRONT_PUT, &v, dst, sizeof v, proc, when, NULL); \
	} \
	SECOND type get_##type(const char *name, void *src, int proc) \
	{ \
		type v = 0; \
		if (move(name, FRONT_GET, &v, src, sizeof v, proc, false, NULL)) \
			armcigo_fatal(); \
		return v; \
	} \
	int PARMCI_PutValue##Type(type src, void *dst, int proc) \
	{ \
		if (likely(front_known(proc, dst, sizeof src))) { \
			memcpy(dst, &src, sizeof src); \
			return 0; \
		} \
		PROFILED(PutValue##Type, src, dst, proc); \
		return put_##type("ARMCI_PutValue" #Type, src, dst, proc, FRONT_BLOCKING); \
	} \
	WEAK(ARMCI_PutValue##Type); \
	int PARMCI_NbPutValue##Type(type src, void *dst, int proc, armci_hdl_t *hdl) \
	{ \
		front_done(hdl); \
		if (likely(front_known(proc, dst, sizeof src))) { \
			memcpy(dst, &src, sizeof src); \
			return 0; \
		} \
		PROFILED(NbPutValue##Type, src, dst, proc, hdl); \
		return put_##type("ARMCI_NbPutValue" #Type, src, dst, proc, FRONT_TEMPORARY); \
	} \
	WEAK(ARMCI_NbPutValue##Type); \
	type PARMCI_GetValue##Type(void *src, int proc) \
	{ \
		type v; \
		if (!likely(front_known(proc, src, sizeof v))) { \
			PROFILED(GetValue##Type, src, proc); \
			return get_##type("ARMCI_GetValue" #Type, src, proc); \
		} \
		memcpy(&v, src, sizeof v); \
		front_order(); \
		return v; \
	} \
	WEAK(ARMCI_GetValue##Type)

VALUE_OPS(Int, int);
VALUE_OPS(Long, long);
VALUE_OPS(Float, float);
VALUE_OPS(Double, double);
