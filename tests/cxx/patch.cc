// SPDX-License-Identifier: BSD-3-Clause
// patch.cc - strided and vector transfers against plain loops: patches of one to nine dimensions,
// known to the compiler or not, by rows and by single elements; lists of pieces of equal and
// different lengths. What lies between must stay as it was.
#include "check.hpp"

#include <numeric>

enum { ROWS = 40, COLUMNS = 30, PLACES = 300 };

using matrix = std::vector<double>;

static matrix numbered()
{
	matrix m(ROWS * COLUMNS);
	std::iota(m.begin(), m.end(), armci::rank() * 1e5 + 1);
	return m;
}

// The compiler translates this one.
static constexpr armci::patch<double, 2> tile({5, 7}, {COLUMNS, 1}, {COLUMNS, 1});
static_assert(tile.levels() == 1 && tile.bytes() == 5 * 7 * sizeof(double));
static_assert(armci::row_major<3>({3, 4, 5})[0] == 20 && armci::row_major<3>({3, 4, 5})[2] == 1);

static void tiles()
{
	armci::shared_array<double> a(ROWS * COLUMNS);
	const matrix m = numbered();
	put(tile, &m[3 * COLUMNS + 2], a.on(right()) + 10 * COLUMNS + 20);
	armci::barrier();
	for (std::size_t i = 0; i < ROWS; i++)
		for (std::size_t j = 0; j < COLUMNS; j++) {
			const bool in = i >= 10 && i < 15 && j >= 20 && j < 27;
			CHECK_EQ(a[i * COLUMNS + j],
				in ? left() * 1e5 + 1 + double((i - 7) * COLUMNS + j - 18) : 0);
		}
	double back[5][7];
	const armci::patch<double, 2> dense({5, 7}, {7, 1}, {COLUMNS, 1});
	get(dense, a.on(right()) + 10 * COLUMNS + 20, &back[0][0]);
	CHECK(back[0][0] == m[3 * COLUMNS + 2] && back[4][6] == m[7 * COLUMNS + 8]);
	armci::barrier();
	acc(dense, &back[0][0], a.on(right()) + 10 * COLUMNS + 20, 2.0);
	nb_acc(dense, &back[0][0], a.on(right()) + 10 * COLUMNS + 20).wait();
	armci::fence(right());
	double again[5][7];
	nb_get(dense, a.on(right()) + 10 * COLUMNS + 20, &again[0][0]).wait();
	for (int i = 0; i < 35; i++)
		CHECK_EQ(again[i / 7][i % 7], 4 * back[i / 7][i % 7]);
	armci::barrier();
}

// A column of mine becomes a row of theirs, and the whole matrix is transposed, by single elements.
static void transposed()
{
	armci::shared_array<double> a(ROWS * COLUMNS);
	const matrix m = numbered();
	const armci::patch<double, 2> turn({ROWS, COLUMNS}, {COLUMNS, 1}, {1, ROWS});
	CHECK_EQ(turn.levels(), 2);
	armci::handle h = nb_put(turn, m.data(), a.on(right()));
	h.wait();
	armci::barrier();
	for (std::size_t i = 0; i < ROWS; i++)
		for (std::size_t j = 0; j < COLUMNS; j++)
			CHECK_EQ(a[j * ROWS + i], left() * 1e5 + 1 + double(i * COLUMNS + j));
	std::vector<double> column(ROWS);
	get(armci::patch<double, 1>({ROWS}, {1}, {1}), a.on(right()) + 3 * ROWS, column.data());
	for (std::size_t i = 0; i < ROWS; i++)
		CHECK_EQ(column[i], m[i * COLUMNS + 3]);
	armci::barrier();
}

// Two elements in each of N dimensions, of arrays three wide.
template <std::size_t N> void dimensions()
{
	armci::dims<N> two = armci::row_major<N>({}), three = two;
	two.fill(2);
	three.fill(3);
	const armci::patch<int, N> p(two, armci::row_major<N>(two), armci::row_major<N>(three));
	const std::size_t all = p.bytes() / sizeof(int),
			  whole = static_cast<std::size_t>(armci::row_major<N>(three)[0]) * 3;
	CHECK(all == std::size_t(1) << N && p.levels() == int(N) - 1);
	armci::shared_array<int> a(whole);
	std::vector<int> from(all), to(all);
	std::iota(from.begin(), from.end(), 1);
	put(p, from.data(), a.on(right()));
	armci::barrier();
	CHECK_EQ(std::accumulate(a.local().begin(), a.local().end(), 0L),
		long(all * (all + 1) / 2));
	get(p, a.on(right()), to.data());
	CHECK(from == to);
	std::size_t at = 0; // of element 1 1 1 ..., the last one
	for (std::size_t i = 0, step = 1; i < N; i++, step *= 3)
		at += step;
	CHECK_EQ(a[at], int(all));
	armci::barrier();
}

static void lists()
{
	armci::shared_array<long> a(PLACES);
	armci::pieces<long> list;
	std::vector<long> from(100), to(100);
	std::iota(from.begin(), from.end(), armci::rank() * 1000L + 1);
	std::size_t at = 0;
	for (std::size_t i = 0, n = 1; i < 100; i += n, n = i % 7 < 3 ? 2 : 3) {
		n = n < 100 - i ? n : 100 - i;
		list.add(&from[i], a.on(right()) + at, n);
		at += n + 1; // a gap after each piece
	}
	CHECK(list.rank() == right() && list.size() > 30);
	put(list);
	armci::barrier();
	long sum = 0;
	for (long x : a.local())
		sum += x;
	CHECK_EQ(sum, 100L * (left() * 1000L) + 5050);
	armci::barrier();
	acc(list);
	armci::handle h;
	nb_acc(list, 3, h);
	h.wait();
	armci::fence_all();
	const std::vector<long> before = from;
	nb_get(list, h);
	h.wait();
	for (std::size_t i = 0; i < 100; i++)
		CHECK_EQ(from[i], 5 * before[i]);
	nb_put(list, armci::implicit);
	armci::wait_all();
	get(list);
	CHECK_EQ(from[99], 5 * before[99]);
	list.clear();
	put(list);
	CHECK(list.size() == 0 && list.rank() == -1);
	armci::barrier();
}

int main(int argc, char **argv)
{
	armci::job job(argc, argv);
	tiles();
	transposed();
	dimensions<1>();
	dimensions<2>();
	dimensions<3>();
	dimensions<5>();
	dimensions<9>();
	lists();
	return check_end("patch");
}
