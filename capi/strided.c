// SPDX-License-Identifier: BSD-3-Clause
// Strided put, get and accumulate, blocking and nonblocking, and puts with a flag.
#include "front.h"

#include "far.h"

// The arguments of every strided call: the local and the remote side.
#define LOCAL  void *local, int *lstride
#define REMOTE void *remote, int *rstride
#define REST   int *count, int levels, int proc

static int beyond(const char *name, int kind, LOCAL, REMOTE, REST, int nonblocking, void *hdl)
{
	int code;
	if (far_strided(name, kind, local, lstride, remote, rstride, count, levels, proc,
		    nonblocking, hdl, &code))
		return code;
	struct front_call c = {.name = name,
		.kind = kind,
		.shape = FRONT_STRIDED,
		.proc = proc,
		.local = local,
		.remote = remote,
		.local_stride = lstride,
		.remote_stride = rstride,
		.count = count,
		.levels = levels,
		.nonblocking = nonblocking,
		.hdl = hdl};
	return armcigo_op(&c);
}

static inline bool plain(LOCAL, REMOTE, REST)
{
	return front_address(local) && (levels <= 0 || lstride) &&
		front_reach_shape(proc, remote, rstride, count, levels);
}

static inline bool put_here(LOCAL, REMOTE, REST)
{
	if (!plain(local, lstride, remote, rstride, count, levels, proc))
		return false;
	k_copy_strided(local, lstride, remote, rstride, count, levels);
	return true;
}

static inline bool get_here(LOCAL, REMOTE, REST)
{
	if (!plain(local, lstride, remote, rstride, count, levels, proc))
		return false;
	k_copy_strided(remote, rstride, local, lstride, count, levels);
	front_order();
	return true;
}

int PARMCI_PutS(void *src, int sstride[], void *dst, int dstride[], int count[], int levels,
	int proc)
{
	if (likely(put_here(src, sstride, dst, dstride, count, levels, proc)))
		return 0;
	PROFILED(PutS, src, sstride, dst, dstride, count, levels, proc);
	return beyond("ARMCI_PutS", FRONT_PUT, src, sstride, dst, dstride, count, levels, proc,
		FRONT_BLOCKING, NULL);
}
WEAK(ARMCI_PutS);

int PARMCI_GetS(void *src, int sstride[], void *dst, int dstride[], int count[], int levels,
	int proc)
{
	if (likely(get_here(dst, dstride, src, sstride, count, levels, proc)))
		return 0;
	PROFILED(GetS, src, sstride, dst, dstride, count, levels, proc);
	return beyond("ARMCI_GetS", FRONT_GET, dst, dstride, src, sstride, count, levels, proc,
		FRONT_BLOCKING, NULL);
}
WEAK(ARMCI_GetS);

int PARMCI_NbPutS(void *src, int sstride[], void *dst, int dstride[], int count[], int levels,
	int proc, armci_hdl_t *hdl)
{
	if (likely(put_here(src, sstride, dst, dstride, count, levels, proc))) {
		front_done(hdl);
		return 0;
	}
	PROFILED(NbPutS, src, sstride, dst, dstride, count, levels, proc, hdl);
	return beyond("ARMCI_NbPutS", FRONT_PUT, src, sstride, dst, dstride, count, levels, proc,
		FRONT_NONBLOCKING, hdl);
}
WEAK(ARMCI_NbPutS);

int PARMCI_NbGetS(void *src, int sstride[], void *dst, int dstride[], int count[], int levels,
	int proc, armci_hdl_t *hdl)
{
	if (likely(get_here(dst, dstride, src, sstride, count, levels, proc))) {
		front_done(hdl);
		return 0;
	}
	PROFILED(NbGetS, src, sstride, dst, dstride, count, levels, proc, hdl);
	return beyond("ARMCI_NbGetS", FRONT_GET, dst, dstride, src, sstride, count, levels, proc,
		FRONT_NONBLOCKING, hdl);
}
WEAK(ARMCI_NbGetS);

static inline bool acc_here(int optype, void *scale, LOCAL, REMOTE, REST)
{
	int type = k_type_of_acc(optype);
	if (type < 0 || !scale || !plain(local, lstride, remote, rstride, count, levels, proc) ||
	    (size_t)count[0] % k_type_size(type) != 0)
		return false;
	k_acc_strided(&front.stripes, type, scale, local, lstride, remote, rstride, count, levels);
	return true;
}

// At another node, by C; false: Go has to do it.
static bool acc_far(int optype, void *scale, LOCAL, REMOTE, REST)
{
	int type = k_type_of_acc(optype);
	return type >= 0 && scale && front_address(local) && levels >= 0 &&
	       levels <= K_MAX_LEVELS && count && (levels == 0 || (lstride && rstride)) &&
	       count[0] > 0 &&
	       (size_t)count[0] % k_type_size(type) == 0 &&
	       far_acc(type, scale, local, lstride, remote, rstride, count, levels, proc);
}

static int acc_to_go(const char *name, int optype, void *scale, LOCAL, REMOTE, REST,
	int nonblocking, void *hdl)
{
	struct front_call c = {.name = name,
		.kind = FRONT_ACC,
		.shape = FRONT_STRIDED,
		.proc = proc,
		.optype = optype,
		.scale = scale,
		.local = local,
		.remote = remote,
		.local_stride = lstride,
		.remote_stride = rstride,
		.count = count,
		.levels = levels,
		.nonblocking = nonblocking,
		.hdl = hdl};
	return armcigo_op(&c);
}

int PARMCI_AccS(int optype, void *scale, void *src, int sstride[], void *dst, int dstride[],
	int count[], int levels, int proc)
{
	if (likely(acc_here(optype, scale, src, sstride, dst, dstride, count, levels, proc)))
		return 0;
	PROFILED(AccS, optype, scale, src, sstride, dst, dstride, count, levels, proc);
	if (acc_far(optype, scale, src, sstride, dst, dstride, count, levels, proc))
		return 0;
	return acc_to_go("ARMCI_AccS", optype, scale, src, sstride, dst, dstride, count, levels,
		proc, FRONT_BLOCKING, NULL);
}
WEAK(ARMCI_AccS);

int PARMCI_NbAccS(int optype, void *scale, void *src, int sstride[], void *dst, int dstride[],
	int count[], int levels, int proc, armci_hdl_t *hdl)
{
	if (likely(acc_here(optype, scale, src, sstride, dst, dstride, count, levels, proc))) {
		front_done(hdl);
		return 0;
	}
	PROFILED(NbAccS, optype, scale, src, sstride, dst, dstride, count, levels, proc, hdl);
	if (acc_far(optype, scale, src, sstride, dst, dstride, count, levels, proc)) {
		front_done(hdl);
		return 0;
	}
	return acc_to_go("ARMCI_NbAccS", optype, scale, src, sstride, dst, dstride, count, levels,
		proc, FRONT_NONBLOCKING, hdl);
}
WEAK(ARMCI_NbAccS);

// The flag is one aligned int at the target. It is checked before data moves: a call that fails
// changes nothing.
static int check_flag(const char *name, const char *arg, int *flag, int proc)
{
	if (likely((uintptr_t)flag % sizeof *flag == 0)) {
		if (front_reach(proc, flag, sizeof *flag))
			return 0;
		const struct fast_path *fast = front_fast((unsigned)proc);
		if (fast && fast->reaches(proc, (uintptr_t)flag, sizeof *flag))
			return 0;
	}
	return armcigo_check_flag((char *)name, (char *)arg, flag, proc);
}

// A put to where this process does not reach: by the fast path, under a handle, or by Go.
static int put_far(const char *name, void *src, void *dst, int bytes, int proc, int when,
	int32_t *open)
{
	int code;
	if (bytes > 0 && front_address(src) &&
	    far_contiguous(name, FRONT_PUT, src, dst, (uint64_t)bytes, proc, FRONT_NONBLOCKING,
		    open, &code))
		return code;
	struct front_call c = {.name = name, .kind = FRONT_PUT, .proc = proc, .local = src,
		.remote = dst, .count = &bytes, .nonblocking = when};
	return armcigo_op(&c);
}

// Stores the flag after the data: blocking stores of one rank at another take effect in order.
static int store_flag(const char *name, int *flag, int value, int proc)
{
	int32_t open = FRONT_DONE; // and stays so: the put is short
	if (front_reach(proc, flag, sizeof value)) { // its fence orders the data before the store
		atomic_store_explicit((_Atomic int *)flag, value, memory_order_relaxed);
		return 0;
	}
	return put_far(name, &value, flag, sizeof value, proc, FRONT_BLOCKING, &open);
}

int PARMCI_Put_flag(void *src, void *dst, int bytes, int *flag, int value, int proc)
{
	PROFILED(Put_flag, src, dst, bytes, flag, value, proc);
	int32_t open = FRONT_DONE;
	int rc = check_flag("ARMCI_Put_flag", "f", flag, proc);
	if (rc)
		return rc;
	if (bytes > 0 && front_address(src) && front_reach(proc, dst, (uint64_t)bytes))
		k_copy(dst, src, (size_t)bytes);
	else
		rc = put_far("ARMCI_Put_flag", src, dst, bytes, proc, FRONT_FOLLOWED, &open);
	rc = rc ? rc : store_flag("ARMCI_Put_flag", flag, value, proc);
	int late = far_wait("ARMCI_Put_flag", open);
	return rc ? rc : late;
}
WEAK(ARMCI_Put_flag);

static int put_then_flag(const char *name, LOCAL, REMOTE, REST, int *flag, int value)
{
	int rc = check_flag(name, "flag", flag, proc);
	if (rc)
		return rc;
	if (!put_here(local, lstride, remote, rstride, count, levels, proc))
		rc = beyond(name, FRONT_PUT, local, lstride, remote, rstride, count, levels, proc,
			FRONT_FOLLOWED, NULL);
	return rc ? rc : store_flag(name, flag, value, proc);
}

int PARMCI_PutS_flag(void *src, int sstride[], void *dst, int dstride[], int count[], int levels,
	int *flag, int value, int proc)
{
	PROFILED(PutS_flag, src, sstride, dst, dstride, count, levels, flag, value, proc);
	return put_then_flag("ARMCI_PutS_flag", src, sstride, dst, dstride, count, levels, proc,
		flag, value);
}
WEAK(ARMCI_PutS_flag);

int PARMCI_PutS_flag_dir(void *src, int sstride[], void *dst, int dstride[], int count[],
	int levels, int *flag, int value, int proc)
{
	PROFILED(PutS_flag_dir, src, sstride, dst, dstride, count, levels, flag, value, proc);
	return put_then_flag("ARMCI_PutS_flag_dir", src, sstride, dst, dstride, count, levels, proc,
		flag, value);
}
WEAK(ARMCI_PutS_flag_dir);
