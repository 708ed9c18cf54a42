// SPDX-License-Identifier: BSD-3-Clause
// calls.cc - what armci.hpp adds to a call: the same operations in C and in C++, in batches by
// turns, from rank 0 to the last rank. Prints nanoseconds per call, the median of all batches. It
// does not judge.
//   armcirun -n 2 build/bench/cxx-calls; between nodes: -nodes 2
#include <armci.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

static int calls = 5000;
enum { BATCHES = 101 };

template <class F> double batch(F &call)
{
	const auto begin = std::chrono::steady_clock::now();
	for (int i = 0; i < calls; i++)
		call(i);
	return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin)
		       .count() /
		calls;
}

template <class C, class Cxx> void compare(const char *what, C in_c, Cxx in_cxx)
{
	std::array<double, BATCHES> c, cxx;
	batch(in_c), batch(in_cxx);
	for (std::size_t i = 0; i < BATCHES; i++) {
		c[i] = batch(in_c);
		cxx[i] = batch(in_cxx);
	}
	std::sort(c.begin(), c.end());
	std::sort(cxx.begin(), cxx.end());
	std::printf("| %-28s | %8.1f | %8.1f |\n", what, c[BATCHES / 2], cxx[BATCHES / 2]);
}

// So that a value that was read counts as used.
template <class T> void keep(const T &value) { asm volatile("" : : "m"(value)); }

static void elements(armci::global_ptr<double> at, int proc)
{
	double *const a = at.address();
	compare(
		"put, 8 bytes",
		[=](int i) {
			double x = i;
			ARMCI_Put(&x, a, 8, proc);
		},
		[=](int i) { at.put(i); });
	compare(
		"get, 8 bytes",
		[=](int) {
			double x;
			ARMCI_Get(a, &x, 8, proc);
			keep(x);
		},
		[=](int) { keep(at.get()); });
	const auto counter = at.cast<long>();
	compare(
		"fetch-and-add, long",
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
		"put, 512 bytes", [=](int) { ARMCI_Put(v.data(), a, sizeof v, proc); },
		[=](int) { put(v, at); });
	compare(
		"accumulate, 64 doubles",
		[=](int) {
			double one = 1;
			ARMCI_Acc(ARMCI_ACC_DBL, &one, v.data(), a, sizeof v, proc);
		},
		[=](int) { acc(v, at); });
	compare(
		"nonblocking put and wait",
		[=](int) {
			armci_hdl_t h;
			ARMCI_NbPut(v.data(), a, sizeof v, proc, &h);
			ARMCI_Wait(&h);
		},
		[=](int) { nb_put(v, at).wait(); });
	static constexpr armci::patch<double, 2> tile({8, 8}, {8, 1}, {32, 1});
	compare(
		"strided put, 8 x 8 doubles",
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
	if (!armci::same_node(last))
		calls = 200;
	if (armci::rank() == 0) {
		std::printf(
			"| operation                    |   C [ns] | C++ [ns] |\n|---|---|---|\n");
		elements(a.on(last), last);
		arrays(a.on(last), last);
	}
	armci::barrier();
}
