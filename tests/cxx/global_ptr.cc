// SPDX-License-Identifier: BSD-3-Clause
// global_ptr.cc - typed addresses: arithmetic, order, single elements, members, other types, plain
// access on the node, and that they mean the same to every rank. What must not compile is in
// refused.cc; what must not be possible is asserted here.
#include "check.hpp"

#include <algorithm>
#include <map>

struct node {
	long key;
	armci::global_ptr<node> next;
	char tag;
};

using gp = armci::global_ptr<int>;
using gpc = armci::global_ptr<const int>;
static_assert(std::is_trivially_copyable_v<gp> && sizeof(gp) <= 16);
static_assert(std::is_convertible_v<gp, gpc> && !std::is_constructible_v<gp, gpc>);
static_assert(
	!std::is_convertible_v<armci::global_ptr<long>, gp> && !std::is_convertible_v<gp, int *>);
static_assert(!std::is_copy_constructible_v<armci::shared_array<int>> &&
	std::is_nothrow_move_constructible_v<armci::shared_array<int>>);
static_assert(!std::is_copy_constructible_v<armci::handle> &&
	std::is_nothrow_move_assignable_v<armci::handle>);
static_assert(!std::is_move_constructible_v<armci::aggregate> &&
	!std::is_copy_constructible_v<armci::job>);
static_assert(!std::is_copy_constructible_v<armci::group> &&
	!std::is_copy_constructible_v<armci::mutexes>);
static_assert(std::is_nothrow_destructible_v<armci::shared_array<int>> &&
	std::is_nothrow_destructible_v<armci::job>);
static_assert(std::is_convertible_v<std::vector<int> &, armci::span<const int>> &&
	!std::is_convertible_v<const std::vector<int> &, armci::span<int>>);
static_assert(armci::is_accumulable_v<long> && !armci::is_accumulable_v<char> &&
	!armci::is_accumulable_v<const int>);
static_assert(
	armci::is_atomic_v<unsigned> && !armci::is_atomic_v<short> && !armci::is_atomic_v<double>);

static void arithmetic(const armci::shared_array<int> &a)
{
	const gp p = a.on(0), q = p + 5;
	CHECK(q - p == 5 && q - 5 == p && 2 + p == p + 2 && q > p && p <= q && p != q);
	gp r = p;
	CHECK(r++ == p && r-- == p + 1 && ++r == p + 1 && --r == p && (r += 7) == p + 7 &&
		(r -= 6) == p + 1);
	CHECK(!gp() && gp() == nullptr && p != nullptr && a.on(armci::size() - 1) >= p);
	CHECK(gpc(p) == p && p.cast<char>() + 4 == (p + 1).cast<char>());
	std::map<gp, int> order{{q, 2}, {p, 1}, {gp(), 0}};
	CHECK_EQ(order.begin()->second, 0);
}

static void elements(const armci::shared_array<int> &a)
{
	const gp p = a.on(right());
	for (int i = 0; i < 10; i++)
		p[i] = 10 * armci::rank() + i;
	armci::barrier();
	for (int i = 0; i < 10; i++)
		CHECK_EQ(a[static_cast<std::size_t>(i)], 10 * left() + i);
	armci::barrier();
	const gpc c = p;
	CHECK_EQ(c.get(), 10 * armci::rank());
	const int third = p[3];
	CHECK_EQ(third, 10 * armci::rank() + 3);
	CHECK_EQ(*(c + 4), 10 * armci::rank() + 4);
	p[0] = p[9];
	CHECK_EQ(*p, 10 * armci::rank() + 9);
	CHECK(&p[3] == p + 3);
	CHECK_EQ(p.local() != nullptr, armci::same_node(p.rank()));
	if (p.local() != nullptr)
		CHECK_EQ(p.local()[3], third);
	CHECK(gp().local() == nullptr);
	armci::barrier();
}

// A list through the memory of all ranks: every rank walks it.
static void list()
{
	armci::shared_array<node> nodes(1);
	nodes[0] = node{100L + armci::rank(), nodes.on(right()), 'n'};
	armci::barrier();
	armci::global_ptr<node> at = armci::broadcast(nodes.here(), armci::size() - 1);
	CHECK_EQ(at.rank(), armci::size() - 1);
	for (int i = 0; i < 2 * armci::size(); i++) {
		const node seen = at.get();
		CHECK_EQ(seen.key, 100 + at.rank());
		CHECK(at.member(&node::tag).get() == 'n' &&
			at.member(&node::next).get() == seen.next);
		at = seen.next;
	}
	armci::barrier();
	nodes.on(right()).member(&node::key).put(5);
	armci::barrier();
	CHECK(nodes[0].key == 5 && nodes[0].tag == 'n');
}

int main(int argc, char **argv)
{
	armci::job job(argc, argv);
	armci::shared_array<int> a(10);
	arithmetic(a);
	elements(a);
	list();
	int nodes = 0;
	for (int i = 0; i < armci::node_count(); i++)
		nodes += armci::node_size(i);
	CHECK(nodes == armci::size() && armci::node_of(armci::rank()) < armci::node_count());
	return check_end("global_ptr");
}
