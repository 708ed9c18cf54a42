// SPDX-License-Identifier: BSD-3-Clause
// sync.cc - groups, fences, notifications, events and messages by type. What the C interface tests
// in depth is tried once here.
#include "check.hpp"

#include <array>

static void groups()
{
	armci::group world = armci::group::world();
	CHECK(world.size() == armci::size() && world.rank() == armci::rank() && world.member());
	const int first[] = {0};
	armci::group one = armci::group::of(first), none = world.split(armci::rank() == 0 ? 0 : -1);
	CHECK_EQ(one.member(), armci::rank() == 0);
	CHECK_EQ(none.member(), armci::rank() == 0);
	armci::group turned = world.split(0, -armci::rank());
	CHECK_EQ(turned.world_rank(turned.rank()), armci::rank());
	CHECK_EQ(turned.rank(), armci::size() - 1 - armci::rank());
	CHECK_EQ(all_reduce(armci::rank(), armci::op::max, turned), armci::size() - 1);
	CHECK_EQ(armci::broadcast(armci::rank(), 0, turned), armci::size() - 1);
	std::vector<long> sums(3, turned.rank());
	all_reduce(sums, armci::op::sum, turned);
	CHECK_EQ(sums[2], armci::size() * (armci::size() - 1L) / 2);
	const armci::group same = turned.dup();
	CHECK(same.rank() == turned.rank() && same.size() == turned.size());
	armci::group moved = std::move(turned), back = world.split(0);
	back = std::move(moved);
	CHECK_EQ(back.rank(), armci::size() - 1 - armci::rank());
}

static void order()
{
	armci::shared_array<int> a(2);
	for (int i = 1; i <= 10; i++) {
		a.on(right())[0] = i;
		armci::notify(right());
		CHECK(armci::wait_notify(left()) >= i);
		CHECK_EQ(a[0], i);
		armci::barrier();
	}
	a.on(right())[1] = 1;
	armci::fence(right());
	armci::fence_all();
	armci::fence_all(armci::group::world());
	CHECK_EQ(a.on(right())[1], 1);
	armci::barrier();
}

// A token goes round by an event; then every rank raises rank 0's.
static void events()
{
	armci::shared_array<armci::event> events(2);
	armci::shared_array<int> token(1);
	for (int i = 1; i <= 5; i++) {
		if (armci::rank() != 0)
			events[0].consume();
		token.on(right())[0] = i;
		armci::raise(events.on(right()));
		if (armci::rank() == 0)
			events[0].consume();
		CHECK_EQ(token[0], i);
		armci::barrier();
	}
	CHECK_EQ(events[0].value(), 0u);
	CHECK(!events[1].wait_for(0, std::chrono::milliseconds(armci::rank() % 2)));
	armci::barrier();
	armci::raise(events.on(0) + 1, 2);
	if (armci::rank() == 0) {
		unsigned seen = 0;
		while (seen != 2u * static_cast<unsigned>(armci::size()))
			seen = events[1].wait(seen);
		CHECK(events[1].wait_for(0, std::chrono::hours(2000)));
	}
	armci::barrier();
}

static void messages()
{
	const int n = armci::size(), me = armci::rank();
	CHECK_EQ(armci::broadcast(me + 0.5, n - 1), n - 0.5);
	std::array<int, 4> all{me, 2, 3, 4};
	armci::broadcast(all, 0);
	CHECK_EQ(all[0], 0);
	CHECK_EQ(all_reduce(me, armci::op::sum), n * (n - 1) / 2);
	CHECK_EQ(all_reduce(me + 1LL, armci::op::min), 1);
	CHECK_EQ(all_reduce(static_cast<float>(me - n), armci::op::absmax), static_cast<float>(n));
	CHECK_EQ(all_reduce(1L << me, armci::op::bit_or), (1L << n) - 1);
	CHECK_EQ(all_reduce(me, armci::op::logical_and), 0);
	CHECK_EQ(all_reduce(2.0, armci::op::product), static_cast<double>(1 << n));
	const int here = all_reduce(1, armci::op::sum, armci::scope::node);
	CHECK_EQ(here, armci::node_size(armci::node_of(me)));
	double sums[2] = {1, double(me)};
	reduce(sums, armci::op::sum);
	if (me == 0)
		CHECK(sums[0] == n && sums[1] == n * (n - 1) / 2);
	const std::vector<int> out{me, me + 1, me + 2};
	std::vector<int> in(5, -1);
	armci::send(7, out, right());
	CHECK_EQ(armci::receive(7, in, left()), 3u);
	CHECK(in[0] == left() && in[2] == left() + 2 && in[3] == -1);
}

static int all()
{
	groups();
	order();
	events();
	messages();
	return check_end("sync");
}

// MPI belongs to the program: it is there before and after the job, which is over a communicator in
// another order.
#ifdef MPI_VERSION
int main(int argc, char **argv)
{
	int rank, size, over;
	MPI_Comm turned;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
	{
		armci::job job(turned);
		MPI_Comm_free(&turned);
		CHECK_EQ(armci::rank(), size - 1 - rank);
		all();
	}
	MPI_Finalized(&over);
	return MPI_Finalize() + over;
}
#else
int main(int argc, char **argv)
{
	{
		armci::job whole(argc, argv);
		armci::job inner(armci::thread_level::multiple); // counted, as in C
	}
	armci::job again;
	return all();
}
#endif
