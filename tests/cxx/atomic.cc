// SPDX-License-Identifier: BSD-3-Clause
// atomic.cc - atomic operations and mutexes: no step is lost or seen twice, by std::lock_guard,
// std::unique_lock and try_lock too.
#include "check.hpp"

#include <mutex>
#include <set>

enum class colour : unsigned { red = 1, green = 2, blue = 4 };

template <class T> void count()
{
	armci::shared_array<T> a(4);
	const auto n = static_cast<T>(armci::size()), me = static_cast<T>(armci::rank());
	const armci::global_ptr<T> at = a.on(armci::size() - 1);
	T last = 0;
	for (int i = 0; i < 100; i++) {
		const T now = fetch_add(at, 1);
		CHECK(i == 0 || now > last);
		last = now;
		atomic_add(at + 1, 2);
	}
	fetch_or(at + 2, T(1) << me);
	T seen = 0; // compare and swap until it works
	for (T was; (was = compare_swap(at + 3, seen, static_cast<T>(seen + me + 1))) != seen;)
		seen = was;
	armci::barrier();
	CHECK_EQ(at.get(), 100 * n);
	CHECK_EQ((at + 1).get(), 200 * n);
	CHECK_EQ((at + 2).get(), (T(1) << n) - 1);
	CHECK_EQ((at + 3).get(), n * (n + 1) / 2);
	armci::barrier();
	const T all = a.here() == at ? 100 * n : 0;
	CHECK_EQ(fetch_add(a.here(), T(-1)), all); // sums wrap
	CHECK_EQ(fetch_and(a.here(), T(0)), static_cast<T>(all - 1));
	CHECK_EQ(fetch_xor(a.here(), T(6)), T(0));
	CHECK_EQ(swap(a.here(), T(9)), T(6));
	atomic_and(a.here(), T(8));
	atomic_or(a.here(), T(3));
	atomic_xor(a.here(), T(1));
	CHECK_EQ(a[0], T(10));
	atomic_set(a.here(), T(5));
	CHECK_EQ(swap(a.here(), 0), T(5));
	armci::barrier();
}

static void enumerations()
{
	armci::shared_array<colour> a(1);
	CHECK(swap(a.on(right()), colour::blue) == colour{});
	armci::barrier();
	CHECK(compare_swap(a.here(), colour::red, colour::green) == colour::blue &&
		a[0] == colour::blue);
	armci::barrier();
}

// Two sets at once; each mutex guards a sum at its rank that is read and written by plain get and
// put.
static void locked()
{
	armci::mutexes few(2), others = armci::mutexes(armci::rank() == 0 ? 1 : 0);
	armci::shared_array<long> a(2);
	for (int i = 0; i < 20; i++)
		for (int r = 0; r < armci::size(); r++) {
			const armci::mutex m = few.on(r, i % 2);
			const std::lock_guard<const armci::mutex> hold(m);
			a.on(r)[i % 2] = a.on(r)[i % 2] + 1;
		}
	armci::barrier();
	CHECK(a[0] == 10 * armci::size() && a[1] == 10 * armci::size());
	armci::mutex one = others.on(0);
	if (armci::rank() == 0)
		one.lock();
	armci::barrier();
	std::unique_lock<armci::mutex> attempt(one, std::defer_lock);
	if (armci::rank() != 0)
		CHECK(!attempt.try_lock());
	armci::barrier();
	if (armci::rank() == 0)
		one.unlock();
	armci::barrier();
	if (armci::rank() == armci::size() - 1)
		CHECK(attempt.try_lock() && attempt.owns_lock());
	if (attempt)
		attempt.unlock();
	armci::barrier();
	others = std::move(few); // the one set goes when its mutex is free
} // attempt does not hold

// An exception gives the mutex up, and leaves the sets alone.
static void thrown()
{
	armci::mutexes set(1);
	armci::mutex m = set.on(0);
	try {
		const std::lock_guard<armci::mutex> hold(m);
		throw 1;
	} catch (int) {
	}
	const std::lock_guard<armci::mutex> again(m);
}

int main(int argc, char **argv)
{
	armci::job job(argc, argv);
	count<int>();
	count<unsigned>();
	count<long>();
	count<unsigned long long>();
	enumerations();
	locked();
	thrown();
	return check_end("atomic");
}
