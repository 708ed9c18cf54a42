// SPDX-License-Identifier: BSD-3-Clause
// Contiguous put, get, accumulate, blocking and not, and the value operations.
#include "front.h"

#include "_cgo_export.h"

static int contiguous(const char *name, int kind, void *local, void *remote, int bytes, int proc, bool nonblocking, void *hdl)
{
	struct front_call c = {.name = name, .kind = kind, .proc = proc, .local = local, .remote = remote, .count = &bytes,
		.nonblocking = nonblocking, .hdl = hdl};
	return armcigo_op(&c);
}

static int accumulate(const char *name, int optype, void *scale, void *src, void *dst, int bytes, int proc,
	bool nonblocking, void *hdl)
{
	struct front_call c = {.name = name, .kind = FRONT_ACC, .proc = proc, .optype = optype, .scale = scale, .local = src,
		.remote = dst, .count = &bytes, .nonblocking = nonblocking, .hdl = hdl};
	return armcigo_op(&c);
}

int PARMCI_Put(void *src, void *dst, int bytes, int proc)
{
	if (likely(bytes > 0 && src && front_reach(proc, dst, (uint64_t)bytes))) {
		k_copy(dst, src, (size_t)bytes);
		return 0;
	}
	return contiguous("ARMCI_Put", FRONT_PUT, src, dst, bytes, proc, false, NULL);
}
WEAK(ARMCI_Put);

int PARMCI_Get(void *src, void *dst, int bytes, int proc)
{
	if (likely(bytes > 0 && dst && front_reach(proc, src, (uint64_t)bytes))) {
		k_copy(dst, src, (size_t)bytes);
		return 0;
	}
	return contiguous("ARMCI_Get", FRONT_GET, dst, src, bytes, proc, false, NULL);
}
WEAK(ARMCI_Get);

// The element type if the accumulate is plain, else -1.
static inline int plain_acc(int optype, void *scale, int bytes)
{
	int type = k_type_of_acc(optype);
	return type >= 0 && scale && bytes > 0 && (size_t)bytes % k_type_size(type) == 0 ? type : -1;
}

static inline bool acc_here(int optype, void *scale, void *src, void *dst, int bytes, int proc)
{
	int type = plain_acc(optype, scale, bytes);
	if (type < 0 || !src || !front_reach(proc, dst, (uint64_t)bytes))
		return false;
	if (!k_acc_small(&front.stripes, type, scale, dst, src, (size_t)bytes))
		k_acc(&front.stripes, type, scale, dst, src, (size_t)bytes);
	return true;
}

int PARMCI_Acc(int optype, void *scale, void *src, void *dst, int bytes, int proc)
{
	if (likely(acc_here(optype, scale, src, dst, bytes, proc)))
		return 0;
	return accumulate("ARMCI_Acc", optype, scale, src, dst, bytes, proc, false, NULL);
}
WEAK(ARMCI_Acc);

int PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
	if (likely(bytes > 0 && src && front_reach(proc, dst, (uint64_t)bytes))) {
		k_copy(dst, src, (size_t)bytes);
		front_done(hdl);
		return 0;
	}
	return contiguous("ARMCI_NbPut", FRONT_PUT, src, dst, bytes, proc, true, hdl);
}
WEAK(ARMCI_NbPut);

int PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
	if (likely(bytes > 0 && dst && front_reach(proc, src, (uint64_t)bytes))) {
		k_copy(dst, src, (size_t)bytes);
		front_done(hdl);
		return 0;
	}
	return contiguous("ARMCI_NbGet", FRONT_GET, dst, src, bytes, proc, true, hdl);
}
WEAK(ARMCI_NbGet);

int PARMCI_NbAcc(int optype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
	if (likely(acc_here(optype, scale, src, dst, bytes, proc))) {
		front_done(hdl);
		return 0;
	}
	return accumulate("ARMCI_NbAcc", optype, scale, src, dst, bytes, proc, true, hdl);
}
WEAK(ARMCI_NbAcc);

// A scalar is stored and loaded as one access, aligned or not.
#define VALUE_OPS(Type, type)                                                                                    \
	int PARMCI_PutValue##Type(type src, void *dst, int proc)                                                 \
	{                                                                                                        \
		if (likely(front_reach(proc, dst, sizeof src))) {                                                \
			memcpy(dst, &src, sizeof src);                                                           \
			return 0;                                                                                \
		}                                                                                                \
		return contiguous("ARMCI_PutValue" #Type, FRONT_PUT, &src, dst, sizeof src, proc, false, NULL);  \
	}                                                                                                        \
	WEAK(ARMCI_PutValue##Type);                                                                              \
	int PARMCI_NbPutValue##Type(type src, void *dst, int proc, armci_hdl_t *hdl)                             \
	{                                                                                                        \
		if (likely(front_reach(proc, dst, sizeof src))) {                                                \
			memcpy(dst, &src, sizeof src);                                                           \
			front_done(hdl);                                                                         \
			return 0;                                                                                \
		}                                                                                                \
		/* By value: the argument is gone when we return, so this is a blocking put. */                  \
		front_done(hdl);                                                                                 \
		return contiguous("ARMCI_NbPutValue" #Type, FRONT_PUT, &src, dst, sizeof src, proc, false, NULL); \
	}                                                                                                        \
	WEAK(ARMCI_NbPutValue##Type);                                                                            \
	type PARMCI_GetValue##Type(void *src, int proc)                                                          \
	{                                                                                                        \
		type v = 0;                                                                                      \
		if (likely(front_reach(proc, src, sizeof v)))                                                    \
			memcpy(&v, src, sizeof v);                                                               \
		else if (contiguous("ARMCI_GetValue" #Type, FRONT_GET, &v, src, sizeof v, proc, false, NULL))    \
			armcigo_fatal((char *)"ARMCI_GetValue" #Type);                                           \
		return v;                                                                                        \
	}                                                                                                        \
	WEAK(ARMCI_GetValue##Type)

VALUE_OPS(Int, int);
VALUE_OPS(Long, long);
VALUE_OPS(Float, float);
VALUE_OPS(Double, double);
