/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/error.hpp: how a failed call of the C interface becomes an exception. It must not print,
 * the library has done so, and must cost a call that succeeds no more than a comparison.
 */
#ifndef ARMCI_ERROR_HPP_
#define ARMCI_ERROR_HPP_

#include "../armci.h"

#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace armci {

/**
 * A call that failed and changed nothing. what() names the caller's rank, the function of the C
 * interface, the argument and the target rank: "armci: rank 0: ARMCI_Put: argument proc, rank 9:
 * out of range 0..3 (FAIL5)". Errors of functions without a return code end the job, and so do all
 * others under ARMCI_ERRORS=abort, which is the default of the ARMCI-MPI flavour. Threads: any.
 */
class error : public std::runtime_error {
public:
	error(const char *function, int code, const std::string &text)
		: std::runtime_error(text), function_(function), code_(code)
	{
	}

	/** Name of the function, a literal. */
	const char *function() const noexcept { return function_; }

	/** FAIL .. FAIL8 of armci.h. */
	int code() const noexcept { return code_; }

private:
	const char *function_;
	int code_;
};

namespace detail {

/* What a code means, for the end of a sentence about an argument. */
inline const char *meaning(int code) noexcept
{
	switch (code) {
	case FAIL2: return "a null array";
	case FAIL3: return "a negative size, or not whole elements";
	case FAIL4: return "too many levels or bytes, or a negative count";
	case FAIL5: return "out of range";
	case FAIL6: return "no memory left, or a failure inside the library or its transport";
	case FAIL7: return "an unknown operation or type, or a misaligned address";
	case FAIL8: return "not inside one live allocation";
	default: return "not valid, or the library is not running";
	}
}

/* armci_msg_me would start the library, were it not running. */
inline std::string opening(const char *function)
{
	const std::string me = ARMCI_Initialized() != 0 ?
		"rank " + std::to_string(armci_msg_me()) + ": " :
		"";
	return "armci: " + me + function;
}

inline std::string closing(int code)
{
	return code == FAIL ? " (FAIL)" : " (FAIL" + std::to_string(-code) + ")";
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(const char *function, int code,
	const std::string &text)
{
	throw error(function, code, opening(function) + ": " + text + closing(code));
}

/* The remote side of a transfer: the name of its argument, where it is, and how long. */
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(const char *function, int code,
	const char *argument, const void *address, std::size_t bytes, int proc)
{
	const std::string rank = "rank " + std::to_string(proc);
	if (code == FAIL5)
		refuse(function, code,
			"argument proc, " + rank + ": out of range 0.." +
				std::to_string(armci_msg_nproc() - 1));
	char hex[2 * sizeof address + 3];
	std::snprintf(hex, sizeof hex, "%p", address);
	refuse(function, code,
		std::string("argument ") + argument + ", " + std::to_string(bytes) + " bytes at " +
			hex + " of " + rank + ": " + meaning(code));
}

inline void check(int code, const char *function, const char *argument, const void *address,
	std::size_t bytes, int proc)
{
	if (code != 0)
		fail(function, code, argument, address, bytes, proc);
}

/* For calls with no argument worth naming: collectives, waits. */
inline void check(int code, const char *function)
{
	if (code != 0)
		refuse(function, code, meaning(code));
}

inline void check_rank(int rank, int ranks, const char *function)
{
	if (rank < 0 || rank >= ranks)
		refuse(function, FAIL5,
			"rank " + std::to_string(rank) + ": out of range 0.." +
				std::to_string(ranks - 1));
}

/*
 * Tells a destructor whether it runs because an exception passes through its scope: then it must
 * not call what is collective, since the other ranks do not come.
 */
class scope_watch {
public:
	bool unwinding() const noexcept { return std::uncaught_exceptions() > before_; }

private:
	int before_ = std::uncaught_exceptions();
};

} // namespace detail
} // namespace armci

#endif
