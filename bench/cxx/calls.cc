// SPDX-License-Identifier: BSD-3-Clause
// calls.cc - what armci.hpp adds to a call: the same operations in C++ and, as their baseline, in
// C, by turns, from rank 0 to the last rank. Prints lines of timing.h. It does not judge.
//   build/bench/bench run build/bin/armcirun -n 2 build/bench/cxx-calls; between nodes: -nodes 2
#include <armci.hpp>
#include <array>

#include "timing.h"

// Seconds of n calls.
template <class F> double sample(void *arg, long n)
{
	F &call = *static_cast<F *>(arg);
	const double begin = timing_now();
	for (long i = 0; i < n; i++)
		call(static_cast<int>(i));
	return timing_now() - begin;
}

template <class F> timing_way way(F &call)
{
	timing_way w{};
	w.sample = sample<F>;
	w.arg = &call;
	w.n = timing_turns(w.sample, w.arg, 0.0002, 1);
	return w;
}

template <class C, class Cxx> void compare(const char *op, const char *shape, double bytes, C in_c,
	Cxx in_cxx)
{
	timing_way ways[] = {way(in_cxx), way(in_c)};
	for (int i = 0; i < TIMING_REPS_MAX; i++) {
		timing_repeat(ways, 2, i, 1);
		for (timing_way &w : ways)
			w.each[i] = timing_in_unit(TIMING_NS, w.each[i], bytes);
	}
	const timing_figure f{op, "", shape, bytes, armci::size(), TIMING_NS};
	timing_print(&f, ways[0].each, ways[1].each, TIMING_REPS_MAX);
}

// So that a value that was read counts as used.
template <class T> void keep(const T &value) { asm volatile("" : : "m"(value)); }

static void elements(armci::global_ptr<double> at, int proc)
{
	double *const a = at.address();
	compare(
		"put", "-", 8,
		[=](int i) {
			double x = i;
			ARMCI_Put(&x, a, 8, proc);
		},
		[=](int i) { at.put(i); });
	compare(
		"get", "-", 8,
		[=](int) {
			double x;
			ARMCI_Get(a, &x, 8, proc);
			keep(x);
		},
		[=](int) { keep(at.get()); });
	const auto counter = at.cast<long>();
	compare(
		"fetch-add", "-", 8,
		[=](int) {
			long one = 1, old;
			ARMCIX_Atomic(ARMCIX_ADD, 8, &old, a, &one, nullptr, proc);
			keep(old);
		},
		[=](int) { keep(fetch_add(counter, 1)); });
}

static void arrays(armci::global_ptr<double> at, int proc)
{
	static std::array<double, 64> v{};
	double *const a = at.address();
	compare(
		"put", "-", 512, [=](int) { ARMCI_Put(v.data(), a, sizeof v, proc); },
		[=](int) { put(v, at); });
	compare(
		"acc", "-", 512,
		[=](int) {
			double one = 1;
			ARMCI_Acc(ARMCI_ACC_DBL, &one, v.data(), a, sizeof v, proc);
		},
		[=](int) { acc(v, at); });
	compare(
		"nbput+wait", "-", 512,
		[=](int) {
			armci_hdl_t h;
			ARMCI_NbPut(v.data(), a, sizeof v, proc, &h);
			ARMCI_Wait(&h);
		},
		[=](int) { nb_put(v, at).wait(); });
	static constexpr armci::patch<double, 2> tile({8, 8}, {8, 1}, {32, 1});
	compare(
		"put-strided", "8x8", 512,
		[=](int) {
			int count[] = {64, 8}, local[] = {64}, remote[] = {256};
			ARMCI_PutS(v.data(), local, a, remote, count, 1, proc);
		},
		[=](int) { put(tile, v.data(), at); });
}

int main(int argc, char **argv)
{
	armci::job job(argc, argv);
	const int last = armci::size() - 1;
	armci::shared_array<double> a(1024);
	if (armci::rank() == 0) {
		elements(a.on(last), last);
		arrays(a.on(last), last);
	}
	armci::barrier();
}
