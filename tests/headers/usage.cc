// SPDX-License-Identifier: BSD-3-Clause
// How C++ programs use armci.hpp beside the standard library: names that both have,
// argument-dependent lookup, std::span of C++20, a compiler's constants. It is compiled with every
// warning as an error, never linked or run.
#include <armci.hpp>
#include <algorithm>
#include <csignal>
#include <mutex>
#include <string>
#if __cplusplus >= 202002L
#include <span>
#endif

using namespace armci;

struct particle {
	double x[3];
	global_ptr<particle> next;
};

void uses(shared_array<double> &a, std::vector<double> &v, const std::string &text,
	global_ptr<particle> p);

void uses(shared_array<double> &a, std::vector<double> &v, const std::string &text,
	global_ptr<particle> p)
{
	const double fixed[4] = {1, 2, 3, 4};
	put(v, a.on(0));
	put(fixed, a.on(1) + 1L);
	get(a.on(0), v);
	enum { THIRD = 3 };
	a.on(1)[0] = fixed[0];
	a.on(1)[v.size() - 1] = a.on(0)[-1 + THIRD];
	*(THIRD + a.on(0) - THIRD) = 1;
	global_ptr<double> q = a.on(0), r = q + v.size() % 2;
	std::swap(q, r);
	std::sort(v.begin(), v.end());
	if (q == r || q == nullptr || nullptr != r || q < r)
		q = {};
	broadcast(v, 0);
	p = p.member(&particle::next).get();
	p.put(particle{{1, 2, 3}, p});
	shared_array<char> letters(text.size());
	put(text, letters.on(0));
	mutexes set(1);
	mutex one = set.on(0);
	std::scoped_lock hold(one);
	int count = 3;
	long wide = 4;
	unsigned narrow = 5;
	const patch<double, 3> box({count, wide, narrow}, row_major<3>({count, wide, narrow}),
		{100, 10, 1});
	nb_get(box, a.on(0), v.data()).wait();
	std::array<handle, 2> two{nb_put(v, a.on(0)), handle()};
	std::vector<handle> many;
	many.push_back(nb_get(a.on(0), v));
	std::swap(two[0], many[0]);
	std::vector<shared_array<int>> arrays;
	arrays.emplace_back(10u);
#if __cplusplus >= 202002L
	std::span<double> s(v);
	put(s, a.on(0));
	get(a.on(0), s.subspan(1));
	std::span<double> own(a.local().data(), a.local().size());
	std::ranges::fill(a.local(), 0);
#endif
}
