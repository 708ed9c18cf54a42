// SPDX-License-Identifier: BSD-3-Clause
// memory.cc - shared and local memory with owners: values at the start, moving, groups, order of
// destruction, and scopes that an exception leaves. It must not need more ranks than there are.
#include "check.hpp"

struct point {
	point() = delete; // no default constructor, trivially copyable
	double x, y;
};

static void values()
{
	armci::shared_array<long> a(100);
	CHECK_EQ(a.size(), 100u);
	CHECK_EQ(a.ranks(), armci::size());
	CHECK_EQ(a.local().size(), 100u);
	for (long x : a.local())
		CHECK_EQ(x, 0);
	CHECK_EQ(reinterpret_cast<std::size_t>(a.local().data()) % 64, 0u);
	armci::barrier();
	a.on(right())[7] = 40 + armci::rank();
	armci::barrier();
	CHECK_EQ(a[7], 40 + left());
	CHECK(a.here().local() == a.local().data() && a.here().rank() == armci::rank());
}

// Parts of other lengths, some empty; memory as it comes.
static void lengths()
{
	const auto n = static_cast<std::size_t>(armci::rank());
	armci::shared_array<point> a(n, armci::uninitialized);
	CHECK_EQ(a.local().size(), n);
	CHECK(!a.on(0));
	CHECK_EQ(static_cast<bool>(a.on(armci::size() - 1)), armci::size() > 1);
	armci::shared_array<int> none;
	CHECK(none.local().empty() && none.ranks() == 0);
	none.free();
}

static armci::shared_array<int> made(int value)
{
	armci::shared_array<int> a(3);
	a[0] = value;
	return a;
}

// Moving hands the memory over; assignment frees what was there, which is collective and so must
// happen on every rank.
static void moving()
{
	armci::shared_array<int> a = made(5);
	const int *where = a.local().data();
	armci::shared_array<int> b = std::move(a);
	CHECK_EQ(a.ranks(), 0);
	CHECK(b.local().data() == where && b[0] == 5);
	a = made(6);
	b = std::move(a);
	CHECK(b[0] == 6 && a.local().empty());
	armci::shared_array<int> &same = b;
	b = std::move(same);
	CHECK_EQ(b[0], 6);
	b.free();
	CHECK_EQ(b.ranks(), 0);
	b = made(7);
	armci::barrier();
	CHECK_EQ(b.on(right())[0], 7);

	armci::local_array<double> local(10), taken = std::move(local);
	CHECK(local.size() == 0 && taken.size() == 10 && taken[9] == 0);
	armci::span<const double> view = taken;
	CHECK_EQ(view.size(), 10u);
}

// Even and odd ranks have groups, and arrays, of their own.
static void in_groups()
{
	const armci::group half = armci::group::world().split(armci::rank() % 2);
	CHECK_EQ(half.size(), (armci::size() + 1 - armci::rank() % 2) / 2);
	CHECK_EQ(half.world_rank(half.rank()), armci::rank());
	armci::shared_array<int> a(4, half);
	CHECK_EQ(a.ranks(), half.size());
	const int next = (half.rank() + 1) % half.size();
	CHECK_EQ(a.on(next).rank(), half.world_rank(next));
	a.on(next)[2] = armci::rank();
	armci::barrier(half);
	CHECK_EQ(a[2], half.world_rank((half.rank() + half.size() - 1) % half.size()));
}

// All ranks leave a scope by an exception: nothing waits, nothing is freed twice, and the job goes
// on.
static void unwound()
{
	for (int i = 0; i < 3; i++) {
		try {
			armci::shared_array<int> a(1000);
			armci::mutexes m(1);
			armci::group all = armci::group::world().split(0);
			armci::handle h = armci::nb_put({&i, 1}, a.on(right()));
			throw std::string("leave");
		} catch (const std::string &text) {
			CHECK_EQ(text, "leave");
		}
		const auto a = made(i); // destroyed while no exception is under way
	}
	// Inside a destructor that runs because of an exception a scope of its own ends as ever.
	struct cleaner {
		~cleaner() { CHECK_EQ(made(8)[0], 8); }
	};
	try {
		cleaner c;
		throw 1;
	} catch (int) {
	}
}

int main(int argc, char **argv)
{
	armci::job job(argc, argv);
	values();
	lengths();
	moving();
	in_groups();
	unwound();
	return check_end("memory");
}
