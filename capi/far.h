// SPDX-License-Identifier: BSD-3-Clause
// far.h - puts and gets to and from other nodes by the fast path (fast.h): contiguous, strided,
// vector. Included by the sources of those calls.
#ifndef ARMCI_FAR_H
#define ARMCI_FAR_H

#include "front.h"

#include "go.h"

// The request of the fast path under which a nonblocking transfer goes on: that of its handle, or a
// new one. False: Go may have operations open under the handle.
static inline bool far_request(const void *hdl, int32_t *request)
{
	*request = hdl ? *(const int32_t *)hdl : FAST_IMPLICIT;
	return !hdl || fast_request(*request) || *request == FRONT_DONE ||
	       atomic_load_explicit(&front.open, memory_order_relaxed) == 0;
}

// A put to or get from another node without Go; false: Go has to do it. *code is the return code of
// the call.
static inline bool far_contiguous(const char *name, int kind, void *local, void *remote,
	uint64_t n, int proc, int when, void *hdl, int *code)
{
	const struct fast_path *fast = front_fast((unsigned)proc);
	if (!fast)
		return false;
	struct fast_transfer t = front_transfer(proc, local, remote, n);
	t.blocking = when != FRONT_NONBLOCKING;
	if (!t.blocking && !far_request(hdl, &t.request))
		return false;
	*code = 0;
	switch (kind == FRONT_PUT ? fast->put(&t) : fast->get(&t)) {
	case FAST_DECLINED: return false;
	case FAST_DONE: front_done(hdl); break;
	case FAST_OPEN:
		if (t.blocking)
			*code = armcigo_wait_request((char *)name, t.request);
		else if (hdl)
			*(int32_t *)hdl = t.request;
	}
	return true;
}

// Waits for a request under which a transfer has begun, if it is open.
static inline int far_wait(const char *name, int32_t request)
{
	const struct fast_path *fast = front_fast(0);
	if (request == FRONT_DONE || (fast && fast->wait(request) == FAST_DONE))
		return 0;
	return armcigo_wait_request((char *)name, request);
}

// far_contiguous for rows; whatever the fast path has posted before it declines is complete then.
static inline bool far_rows(const char *name, int kind, struct fast_rows *r, uint64_t n,
	int proc, int when, void *hdl, int *code)
{
	const struct fast_path *fast = front_fast((unsigned)proc);
	struct fast_transfer t = front_transfer(proc, NULL, NULL, n);
	int32_t request = 0;
	enum fast_result result;
	bool rest;
	t.blocking = when != FRONT_NONBLOCKING;
	if (!fast || (!t.blocking && !far_request(hdl, &request)))
		return false;
	*code = 0;
	do {
		t.request = request;
		result = kind == FRONT_PUT ? fast->put_rows(&t, r) : fast->get_rows(&t, r);
		rest = r->local.left > 0 && !r->is_gos;
		if (result == FAST_OPEN && (t.blocking || rest || r->is_gos))
			*code = armcigo_wait_request((char *)name, t.request);
	} while (*code == 0 && result != FAST_DECLINED && rest);
	if (*code == 0 && r->is_gos)
		return false;
	if (result == FAST_OPEN && !t.blocking && hdl)
		*(int32_t *)hdl = t.request;
	else if (result == FAST_DONE)
		front_done(hdl);
	return result != FAST_DECLINED;
}

// Whether C may post an operation to another node that must not overtake what Go has collected.
static inline const struct fast_path *far_uncollected(int proc)
{
	const struct fast_path *fast = front_fast((unsigned)proc);
	return fast && front.local[proc] < 0 &&
	       atomic_load_explicit(&front.aggregates, memory_order_relaxed) == 0 &&
	       atomic_load_explicit(&front.uncoalesced, memory_order_relaxed) == 0 ? fast : NULL;
}

// A read-modify-write at another node without Go; false: Go has to do it. *code is the return code
// of the call, and *old the value before if that is 0.
static inline bool far_change(const char *name, int op, int bytes, void *word, uint64_t operand,
	uint64_t compare, int proc, uint64_t *old, int *code)
{
	const struct fast_path *fast = far_uncollected(proc);
	if (!fast || !fast->change)
		return false;
	struct fast_change c = {.rank = proc, .op = (uint8_t)op, .bytes = (uint8_t)bytes,
		.word = (uintptr_t)word, .operand = operand, .compare = compare};
	enum fast_result r = fast->change(&c);
	*code = r == FAST_OPEN ? armcigo_wait_request((char *)name, c.request) : 0;
	if (r == FAST_DECLINED || (*code == 0 && c.declined))
		return false;
	*old = c.old;
	return true;
}

// A two-sided message to another node without Go; false: Go has to send it.
static inline bool far_send(int tag, const void *data, int n, int to)
{
	const struct fast_path *fast = front_fast((unsigned)to);
	struct fast_send s = {.rank = to, .from = front.me, .tag = tag, .data = data,
		.bytes = (uint64_t)n};
	return fast && fast->send && n >= 0 && (data || n == 0) && fast->send(&s) == FAST_DONE;
}

// Receives a message of another node; false: Go has to, as where the message comes in parts.
static inline bool far_receive(struct shm_message *m, void *buf, int cap)
{
	return (unsigned)m->from < atomic_load_explicit(&front.ranks, memory_order_acquire) &&
	       buf && cap >= 0 &&
	       atomic_load_explicit(&front.uncoalesced, memory_order_relaxed) == 0 &&
	       shm_recv_whole(m, buf, (size_t)cap) == 0;
}

static inline bool far_wanted(int proc, void *hdl)
{
	return front_fast((unsigned)proc) && front.local[proc] < 0 &&
	       !(hdl && atomic_load_explicit(&front.aggregates, memory_order_relaxed));
}

// One side of a strided transfer: false if it is not plain.
static inline bool far_side(struct k_cursor *c, uintptr_t *lo, uintptr_t *hi, void *base,
	int *stride, int *count, int levels)
{
	int64_t first, end, n = k_extent(stride, count, levels, &first, &end);
	if (n <= 0 || n > FAST_MOST || !front_address((char *)base + first))
		return false;
	*lo = (uintptr_t)base + (uintptr_t)first;
	*hi = (uintptr_t)base + (uintptr_t)end;
	k_cursor_strided(c, (uintptr_t)base, stride, count, levels);
	return true;
}

static inline bool far_strided(const char *name, int kind, void *local, int *lstride,
	void *remote, int *rstride, int *count, int levels, int proc, int when, void *hdl,
	int *code)
{
	struct fast_rows r = {0};
	if (!far_wanted(proc, hdl) || levels < 0 || levels > K_MAX_LEVELS || !count ||
	    (levels > 0 && (!lstride || !rstride)) ||
	    !far_side(&r.local, &r.local_lo, &r.local_hi, local, lstride, count, levels) ||
	    !far_side(&r.remote, &r.remote_lo, &r.remote_hi, remote, rstride, count, levels))
		return false;
	int64_t n = r.local.left;
	if (r.local.row == n && r.remote.row == n)
		return far_contiguous(name, kind, (void *)r.local_lo, (void *)r.remote_lo,
			(uint64_t)n, proc, when, hdl, code);
	r.longest = r.local.row < r.remote.row ? r.local.row : r.remote.row;
	r.pieces = r.local.row == r.remote.row ? n / r.longest : n / r.local.row + n / r.remote.row;
	return far_rows(name, kind, &r, (uint64_t)n, proc, when, hdl, code);
}

static inline void far_list(struct k_cursor *c, uintptr_t *lo, uintptr_t *hi,
	void *const *list, int bytes, int n)
{
	int64_t first, last;
	k_span(list, (size_t)n, &first, &last);
	*lo = (uintptr_t)first;
	*hi = (uintptr_t)last + (uintptr_t)bytes;
	*c = (struct k_cursor){.left = (int64_t)bytes * n, .row = bytes, .levels = 1, .count = {n}};
}

// One descriptor.
static inline bool far_vector(const char *name, int kind, const armci_giov_t *v, int proc,
	int when, void *hdl, int *code)
{
	void *const *local = kind == FRONT_PUT ? v->src_ptr_array : v->dst_ptr_array;
	void *const *remote = kind == FRONT_PUT ? v->dst_ptr_array : v->src_ptr_array;
	struct fast_rows r = {.local_list = (const uintptr_t *)local,
		.remote_list = (const uintptr_t *)remote};
	int n = v->ptr_array_len, bytes = v->bytes;
	if (!far_wanted(proc, hdl) || n <= 0 || bytes <= 0 || (int64_t)n * bytes > FAST_MOST ||
	    !local || !remote)
		return false;
	far_list(&r.local, &r.local_lo, &r.local_hi, local, bytes, n);
	far_list(&r.remote, &r.remote_lo, &r.remote_hi, remote, bytes, n);
	if ((intptr_t)r.local_lo <= 0 || (intptr_t)r.remote_lo <= 0)
		return false;
	if (n == 1)
		return far_contiguous(name, kind, local[0], remote[0], (uint64_t)bytes, proc, when,
			hdl, code);
	r.longest = bytes;
	r.pieces = n;
	return far_rows(name, kind, &r, (uint64_t)bytes * (uint64_t)n, proc, when, hdl, code);
}

// An accumulate at another node without Go; false: Go has to do it. Its arguments are valid but for
// the addresses at the rank.
static inline bool far_acc(int type, const void *scale, void *local, const int *lstride,
	void *remote, const int *rstride, const int *count, int levels, int proc)
{
	const struct fast_path *fast = far_uncollected(proc);
	int64_t n = k_volume(count, levels);
	if (!fast || !fast->accumulate || n <= 0 || n > FAST_MOST)
		return false;
	struct fast_acc a = {.rank = proc, .type = type, .scale = scale, .to = (uintptr_t)remote,
		.stride = rstride, .count = count, .levels = levels, .bytes = (uint64_t)n,
		.at = &front.traffic[proc], .all = &front.traffic[front.ranks]};
	k_cursor_strided(&a.from, (uintptr_t)local, lstride, count, levels);
	return fast->accumulate(&a) == FAST_DONE;
}

#endif
