// SPDX-License-Identifier: BSD-3-Clause
// refused.cc - what must not compile. run.sh compiles it once and wants an error in every line that
// ends in a comment with its text, and nowhere else of our own.
#include <armci.hpp>
#include <string>

void refused(armci::global_ptr<int> p, armci::global_ptr<const int> c, armci::global_ptr<char> t,
	std::vector<int> &v);

void refused(armci::global_ptr<int> p, armci::global_ptr<const int> c, armci::global_ptr<char> t,
	std::vector<int> &v)
{
	armci::shared_array<std::string> strings;            // must be trivially copyable
	armci::global_ptr<std::string>().get();              // must be trivially copyable
	c.put(1);                                            // reads only
	c.cast<char>();                                      // would take const away
	acc({"ab", 2}, t);                                   // accumulate takes int, long
	fetch_add(t, 'a');                                   // atomics take integers
	fetch_add(c, 1);                                     // atomics take integers
	all_reduce('a', armci::op::sum);                     // reductions take int, long
	armci::broadcast(std::vector<std::string>(), 0);     // not trivially copyable
	// constant|non-.constexpr
	constexpr armci::patch<int, 2> wide({2, 2}, {2, 1}, {1LL << 40, 1});
	armci::patch<int, 10> many({}, {}, {});              // 1 to 9 dimensions
	p = c;                                               // no match for|no viable
	const std::vector<int> &fixed = v;
	get(p, fixed);                                       // no matching function
	armci::handle h = nb_put(v, p), copy = h;            // deleted|implicitly
}
