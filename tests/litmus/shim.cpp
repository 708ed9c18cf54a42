// SPDX-License-Identifier: BSD-3-Clause
// The interface between code that is compiled with -fsanitize=thread and the sanitizer's runtime,
// implemented by Relacy's variables: what was written to find data races on a processor becomes a
// search for orders that C11 allows. It must not know any of the cases. Atomic operations outside
// the arena are carried out as they are.
#include "model.hpp"

#include "litmus.h"

#define FROM __builtin_return_address(0)

namespace {

rl::memory_order relacy(int order)
{
	static const rl::memory_order orders[] = {rl::mo_relaxed, rl::mo_acquire, rl::mo_acquire,
		rl::mo_release, rl::mo_acq_rel, rl::mo_seq_cst};
	return orders[order];
}

template <class T> T load(const volatile T *a, int order, void *from)
{
	model::atom<T> *v = model::atomic_at<T>(a);
	order = model::order(from, "load", order);
	if (!v)
		return __atomic_load_n(a, __ATOMIC_SEQ_CST);
	T got = v->load(relacy(order), $);
	model::resumed();
	return got;
}

template <class T> void store(volatile T *a, T value, int order, void *from)
{
	model::atom<T> *v = model::atomic_at<T>(a);
	order = model::order(from, "store", order);
	if (v)
		v->store(value, relacy(order), $);
	__atomic_store_n(a, value, __ATOMIC_SEQ_CST); // memory has the newest value
	if (v)
		model::resumed();
}

template <class T, rl::rmw_type_e TYPE>
T change(volatile T *a, T value, int order, void *from, const char *what)
{
	rl::rmw_type_t<TYPE> type;
	model::atom<T> *v = model::atomic_at<T>(a);
	order = model::order(from, what, order);
	T was = v ? v->rmw(type, value, relacy(order), $) : __atomic_load_n(a, __ATOMIC_SEQ_CST);
	__atomic_store_n(a, rl::perform_rmw(type, was, value), __ATOMIC_SEQ_CST);
	if (v)
		model::resumed();
	return was;
}

template <class T>
bool swap_if(volatile T *a, T *expected, T value, int order, int failure, void *from)
{
	model::atom<T> *v = model::atomic_at<T>(a);
	order = model::order(from, "compare-and-swap", order);
	if (!v)
		return __atomic_compare_exchange_n(a, expected, value, false, __ATOMIC_SEQ_CST,
			__ATOMIC_SEQ_CST);
	bool done = v->compare_exchange_strong(*expected, value, relacy(order), $,
		relacy(failure < order ? failure : __ATOMIC_RELAXED), $);
	if (done)
		__atomic_store_n(a, value, __ATOMIC_SEQ_CST);
	model::resumed();
	return done;
}

void access(const volatile void *a, size_t n, bool write)
{
	uintptr_t at = reinterpret_cast<uintptr_t>(a), end = at + n;
	if (!litmus_in_arena(at))
		return;
	for (at &= ~uintptr_t(3); at < end; at += 4) {
		model::word *w = model::find(at, model::PLAIN);
		if (!w)
			continue;
		model::plain *v = reinterpret_cast<model::plain *>(w->object);
		if (write)
			(*v)($).store(0);
		else
			(*v)($).load();
		model::resumed();
	}
}

} // namespace

extern "C" {

#define ATOMICS(bits) \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *a, int order) \
	{ \
		return load(a, order, FROM); \
	} \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *a, uint##bits##_t v, int order) \
	{ \
		store(a, v, order, FROM); \
	} \
	CHANGE(bits, exchange, rl::rmw_type_swap) \
	CHANGE(bits, fetch_add, rl::rmw_type_add) \
	CHANGE(bits, fetch_sub, rl::rmw_type_sub) \
	CHANGE(bits, fetch_and, rl::rmw_type_and) \
	CHANGE(bits, fetch_or, rl::rmw_type_or) \
	CHANGE(bits, fetch_xor, rl::rmw_type_xor) \
	bool __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *a, \
		uint##bits##_t *was, uint##bits##_t v, int order, int failure) \
	{ \
		return swap_if(a, was, v, order, failure, FROM); \
	} \
	bool __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t *a, \
		uint##bits##_t *was, uint##bits##_t v, int order, int failure) \
	{ \
		return swap_if(a, was, v, order, failure, FROM); \
	}
#define CHANGE(bits, name, type) \
	uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *a, uint##bits##_t v, \
		int order) \
	{ \
		return change<uint##bits##_t, type>(a, v, order, FROM, #name); \
	}

ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order)
{
	order = model::order(FROM, "fence", order);
	if (!model::running || order == __ATOMIC_RELAXED)
		return;
	rl::atomic_thread_fence(relacy(order), $);
	model::resumed();
}
void __tsan_atomic_signal_fence(int) {}

#define PLAIN(bytes)                                                                     \
	void __tsan_read##bytes(void *a) { access(a, bytes, false); }                    \
	void __tsan_write##bytes(void *a) { access(a, bytes, true); }                    \
	void __tsan_unaligned_read##bytes(void *a) { access(a, bytes, false); }          \
	void __tsan_unaligned_write##bytes(void *a) { access(a, bytes, true); }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *a, size_t n) { access(a, n, false); }
void __tsan_write_range(void *a, size_t n) { access(a, n, true); }
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
void __tsan_init(void) {}

// the sanitizer's runtime intercepts it, too
void *litmus_memcpy(void *to, const void *from, size_t n)
{
	unsigned char *t = static_cast<unsigned char *>(to);
	const unsigned char *f = static_cast<const unsigned char *>(from);
	access(from, n, false);
	access(to, n, true);
	for (size_t i = 0; i < n; i++) t[i] = f[i];
	return to;
}

} // extern "C"
