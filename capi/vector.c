// SPDX-License-Identifier: BSD-3-Clause
// Vector put, get and accumulate, blocking and nonblocking. All addresses are checked before the
// first byte moves.
#include "front.h"

#include "far.h"

static int beyond(const char *name, int kind, int optype, void *scale, armci_giov_t *v, int n,
	int proc, bool nonblocking, void *hdl)
{
	int code;
	if (kind != FRONT_ACC && n == 1 && v &&
	    far_vector(name, kind, v, proc, nonblocking, hdl, &code))
		return code;
	struct front_call c = {.name = name,
		.kind = kind,
		.proc = proc,
		.optype = optype,
		.scale = scale,
		.vector = v,
		.vectors = n,
		.shape = FRONT_VECTOR,
		.nonblocking = nonblocking,
		.hdl = hdl};
	return armcigo_op(&c);
}

// Is every remote segment of a descriptor in a region, and no local address NULL? One look-up if
// one region holds them all.
static bool plain_segments(void *const *remote, void *const *local, int n, int bytes, int proc)
{
	int64_t lo, hi, local_lo, local_hi;
	k_span(local, (size_t)n, &local_lo, &local_hi);
	k_span(remote, (size_t)n, &lo, &hi);
	if (local_lo <= 0 || lo <= 0)
		return false;
	if (front_reach(proc, (void *)lo, (uint64_t)(hi - lo) + (uint64_t)bytes))
		return true;
	for (int i = 0; i < n; i++)
		if (!front_reach(proc, remote[i], (uint64_t)bytes))
			return false;
	return true;
}

static bool plain(armci_giov_t *v, int n, int proc, bool get, size_t element)
{
	if (n <= 0 || !v || !front_on())
		return false;
	uint64_t all = 0;
	for (int i = 0; i < n; i++) {
		armci_giov_t *d = &v[i];
		if (d->bytes <= 0 || d->ptr_array_len <= 0 || !d->src_ptr_array ||
			!d->dst_ptr_array || (size_t)d->bytes % element != 0 ||
			(all += (uint64_t)d->bytes * (uint64_t)d->ptr_array_len) >
				(uint64_t)K_MOST_BYTES)
			return false;
		void *const *remote = get ? d->src_ptr_array : d->dst_ptr_array;
		void *const *local = get ? d->dst_ptr_array : d->src_ptr_array;
		if (!plain_segments(remote, local, d->ptr_array_len, d->bytes, proc))
			return false;
	}
	return true;
}

// Ends the job if the program has the other layout of descriptors (layout.c).
static void look(const char *name, armci_giov_t *v, int n, int proc, bool get, bool may_overlap)
{
	if (!likely(atomic_load_explicit(&layout_calls_left, memory_order_relaxed) <= 0) &&
	    atomic_load_explicit(&front.ranks, memory_order_acquire) > 0)
		layout_look(name, v, n, proc, get, may_overlap);
}

static bool copy_here(armci_giov_t *v, int n, int proc, bool get)
{
	look(get ? "ARMCI_GetV" : "ARMCI_PutV", v, n, proc, get, false);
	if (!plain(v, n, proc, get, 1))
		return false;
	front_order();
	for (int i = 0; i < n; i++)
		k_copy_vector(v[i].src_ptr_array, v[i].dst_ptr_array, (size_t)v[i].bytes,
			(size_t)v[i].ptr_array_len);
	front_order();
	return true;
}

static bool acc_here(int optype, void *scale, armci_giov_t *v, int n, int proc)
{
	look("ARMCI_AccV", v, n, proc, false, true);
	int type = k_type_of_acc(optype);
	if (type < 0 || !scale || !plain(v, n, proc, false, k_type_size(type)))
		return false;
	for (int i = 0; i < n; i++)
		k_acc_vector(&front.stripes, type, scale, v[i].src_ptr_array, v[i].dst_ptr_array,
			(size_t)v[i].bytes, (size_t)v[i].ptr_array_len);
	return true;
}

int PARMCI_PutV(armci_giov_t v[], int n, int proc)
{
	if (likely(copy_here(v, n, proc, false)))
		return 0;
	PROFILED(PutV, v, n, proc);
	return beyond("ARMCI_PutV", FRONT_PUT, 0, NULL, v, n, proc, false, NULL);
}
WEAK(ARMCI_PutV);

int PARMCI_GetV(armci_giov_t v[], int n, int proc)
{
	if (likely(copy_here(v, n, proc, true)))
		return 0;
	PROFILED(GetV, v, n, proc);
	return beyond("ARMCI_GetV", FRONT_GET, 0, NULL, v, n, proc, false, NULL);
}
WEAK(ARMCI_GetV);

int PARMCI_AccV(int optype, void *scale, armci_giov_t v[], int n, int proc)
{
	if (likely(acc_here(optype, scale, v, n, proc)))
		return 0;
	PROFILED(AccV, optype, scale, v, n, proc);
	return beyond("ARMCI_AccV", FRONT_ACC, optype, scale, v, n, proc, false, NULL);
}
WEAK(ARMCI_AccV);

int PARMCI_NbPutV(armci_giov_t v[], int n, int proc, armci_hdl_t *hdl)
{
	if (likely(copy_here(v, n, proc, false))) {
		front_done(hdl);
		return 0;
	}
	PROFILED(NbPutV, v, n, proc, hdl);
	return beyond("ARMCI_NbPutV", FRONT_PUT, 0, NULL, v, n, proc, true, hdl);
}
WEAK(ARMCI_NbPutV);

int PARMCI_NbGetV(armci_giov_t v[], int n, int proc, armci_hdl_t *hdl)
{
	if (likely(copy_here(v, n, proc, true))) {
		front_done(hdl);
		return 0;
	}
	PROFILED(NbGetV, v, n, proc, hdl);
	return beyond("ARMCI_NbGetV", FRONT_GET, 0, NULL, v, n, proc, true, hdl);
}
WEAK(ARMCI_NbGetV);

int PARMCI_NbAccV(int optype, void *scale, armci_giov_t v[], int n, int proc, armci_hdl_t *hdl)
{
	if (likely(acc_here(optype, scale, v, n, proc))) {
		front_done(hdl);
		return 0;
	}
	PROFILED(NbAccV, optype, scale, v, n, proc, hdl);
	return beyond("ARMCI_NbAccV", FRONT_ACC, optype, scale, v, n, proc, true, hdl);
}
WEAK(ARMCI_NbAccV);
