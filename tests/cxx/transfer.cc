// SPDX-License-Identifier: BSD-3-Clause
// transfer.cc - put, get and accumulate of spans, blocking, with handles, with an aggregate and
// implicit; handles that are moved and thrown away; put with flag. Values are checked at both ends.
#include "check.hpp"

#include <atomic>
#include <numeric>

enum { N = 1000 };

static void blocking()
{
	armci::shared_array<double> a(N);
	std::vector<double> from(N), to(N);
	std::iota(from.begin(), from.end(), armci::rank() * 1e4);
	put(from, a.on(right()));
	armci::barrier();
	for (std::size_t i = 0; i < N; i++)
		CHECK_EQ(a[i], left() * 1e4 + double(i));
	get(a.on(right()), to);
	CHECK(from == to);
	armci::global_ptr<const double> readable = a.on(right()) + 10;
	double three[3];
	get(readable, three);
	CHECK(three[0] == from[10] && three[2] == from[12]);
	armci::barrier();
	put({&from[1], 2}, a.on(right()) + 5);
	put(armci::span<const double>(), a.on(right()));
	armci::barrier();
	CHECK(a[4] == left() * 1e4 + 4 && a[5] == left() * 1e4 + 1 && a[6] == left() * 1e4 + 2 &&
		a[7] == left() * 1e4 + 7);
}

template <class T> static T number(int n)
{
	if constexpr (std::is_arithmetic_v<T>)
		return static_cast<T>(n);
	else
		return static_cast<typename T::value_type>(n);
}

// Every rank adds to every rank, scaled; the sums are exact in every type.
template <class T> void accumulate()
{
	armci::shared_array<T> a(8);
	std::vector<T> ones(8, T(1));
	for (int r = 0; r < armci::size(); r++) {
		acc(ones, a.on(r));
		acc({ones.data(), 4}, a.on(r) + 2, T(3));
		nb_acc({ones.data(), 1}, a.on(r) + 7, number<T>(armci::rank())).wait();
	}
	armci::barrier();
	const T n = number<T>(armci::size()),
		ranks = number<T>(armci::size() * (armci::size() - 1) / 2);
	for (std::size_t i = 0; i < 8; i++)
		CHECK_EQ(a[i], n + (i >= 2 && i < 6 ? n * T(3) : T(0)) + (i == 7 ? ranks : T(0)));
}

static void with_handles()
{
	armci::shared_array<int> a(N);
	std::vector<int> from(N), to(N);
	std::iota(from.begin(), from.end(), armci::rank() * 10000);
	armci::handle first = nb_put(from, a.on(right())), second;
	second = std::move(first);
	CHECK(first.test());
	nb_put({from.data(), 1}, a.on(right()) + 1, second); // two calls on one handle
	second.wait();
	while (!second.test()) {
	}
	armci::fence(right());
	armci::handle h = nb_get(a.on(right()), to);
	h.wait();
	CHECK(to[1] == from[0] && to[2] == from[2] && to[N - 1] == from[N - 1]);
	armci::barrier();
	std::fill(to.begin(), to.end(), -1);
	{
		armci::handle waits = nb_get(a.here() + 0, to);
		waits = nb_get(a.on(right()) + 5, {to.data(), 1}); // waits for the first
		CHECK_EQ(to[N - 1], left() * 10000 + N - 1);
	} // and for the second
	CHECK_EQ(to[0], from[5]);
	armci::barrier();
}

static void collected()
{
	armci::shared_array<long> a(N);
	std::vector<long> from(N), to(N);
	std::iota(from.begin(), from.end(), armci::rank() * 10000L);
	for (int round = 0; round < 3; round++) {
		armci::aggregate together;
		for (std::size_t i = 0; i < N; i += 2)
			nb_put({&from[i], 1}, a.on(right()) + i, together);
		together.wait();
		for (std::size_t i = 1; i < N; i += 2)
			nb_put({&from[i], 1}, a.on(right()) + i, together);
	} // the rest is sent here
	for (std::size_t i = 0; i < N; i++)
		nb_get(a.here() + i, {&to[i], 1}, armci::implicit);
	armci::wait_all();
	armci::barrier();
	for (std::size_t i = 0; i < N; i++)
		nb_get(a.on(right()) + i, {&to[i], 1}, armci::implicit);
	armci::wait_all(right());
	CHECK(from == to);
	armci::barrier();
}

static void flagged()
{
	armci::shared_array<int> a(N + 1);
	std::vector<int> from(N, armci::rank() + 1);
	put_flag(from, a.on(right()), a.on(right()) + N, 77);
	while (__atomic_load_n(&a[N], __ATOMIC_ACQUIRE) != 77) {
	}
	for (std::size_t i = 0; i < N; i++)
		CHECK_EQ(a[i], left() + 1);
	armci::barrier();
}

int main(int argc, char **argv)
{
	armci::job job(argc, argv);
	blocking();
	accumulate<int>();
	accumulate<long>();
	accumulate<float>();
	accumulate<double>();
	accumulate<std::complex<float>>();
	accumulate<std::complex<double>>();
	with_handles();
	collected();
	flagged();
	return check_end("transfer");
}
