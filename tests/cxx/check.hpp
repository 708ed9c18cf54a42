// SPDX-License-Identifier: BSD-3-Clause
// check.hpp - what the C++ test programs share: checks that name rank, file, line and values and
// end the whole job, and what is wanted of an exception. It must not hide calls that a program is
// about.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <armci.hpp>
#include <cstdio>
#include <sstream>

[[noreturn]] inline void check_fail(const char *file, int line, const std::string &text)
{
	std::fprintf(stderr, "rank %d: %s:%d: check failed: %s\n", armci::rank(), file, line,
		text.c_str());
	armci::abort("a check failed");
}

template <class A, class B>
void check_equal(const char *file, int line, const char *what, const A &got, const B &want)
{
	if (got == want)
		return;
	std::ostringstream text;
	text << what << " is " << got << ", expected " << want;
	check_fail(file, line, text.str());
}

// The call must throw an error of that function and code whose text has this part and names the
// caller.
template <class Call>
void check_throws(const char *file, int line, const char *function, int code,
	const std::string &part, Call &&call)
{
	try {
		call();
	} catch (const armci::error &e) {
		const std::string text = e.what(),
				  head = "armci: rank " + std::to_string(armci::rank()) + ": " +
			function + ": ";
		if (e.function() != std::string(function) || e.code() != code ||
			text.compare(0, head.size(), head) != 0 ||
			text.find(part) == std::string::npos)
			check_fail(file, line,
				"threw \"" + text + "\", expected " + head + "..." + part);
		return;
	}
	check_fail(file, line, std::string("no exception of ") + function);
}

// The condition must hold.
#define CHECK(...) ((__VA_ARGS__) ? void() : check_fail(__FILE__, __LINE__, #__VA_ARGS__))

// Two values must be equal.
#define CHECK_EQ(got, want) check_equal(__FILE__, __LINE__, #got, got, want)

// The expressions must throw.
#define CHECK_THROWS(function, code, part, ...) \
	check_throws(__FILE__, __LINE__, function, code, part, [&] { __VA_ARGS__; })

// Rank 0 says that all is well, after the checks of all ranks.
inline int check_end(const char *name)
{
	armci::barrier();
	if (armci::rank() == 0)
		std::printf("ok %s (%d ranks)\n", name, armci::size());
	return 0;
}

// The next rank and the one before, in a ring.
inline int right() { return (armci::rank() + 1) % armci::size(); }
inline int left() { return (armci::rank() + armci::size() - 1) % armci::size(); }

#endif
