/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/atomic.hpp: atomic operations on integers of any rank. It must not hold accumulate, which
 * is atomic in another sense.
 */
#ifndef ARMCI_ATOMIC_HPP_
#define ARMCI_ATOMIC_HPP_

#include "../armcix.h"
#include "global_ptr.hpp"
#include "span.hpp"

namespace armci {

/** Whether the functions below take a type: integers and enumerations of 4 or 8 bytes. */
template <class T>
inline constexpr bool is_atomic_v = (std::is_integral_v<T> ||
					    std::is_enum_v<T>)&&!std::is_const_v<T> &&
	(sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {

template <class T>
void atomic(int op, std::remove_const_t<T> *old, global_ptr<T> at, T operand, T compare = T())
{
	static_assert(is_atomic_v<T>,
		"armci: atomics take integers and enumerations of 4 or 8 bytes, not const");
	check(ARMCIX_Atomic(op, static_cast<int>(sizeof(T)), old, at.address(), &operand, &compare,
		      at.rank()),
		"ARMCIX_Atomic", "prem", at.address(), sizeof(T), at.rank());
}

template <class T> T fetch(int op, global_ptr<T> at, T operand, T compare = T())
{
	std::remove_const_t<T> old;
	atomic<T>(op, &old, at, operand, compare);
	return old;
}

} // namespace detail

/* Each is atomic with respect to all others and to ARMCI_Rmw from any rank, not to put and
 * accumulate. `at` is [remote], aligned to its size. Sums wrap. Scope: one-sided. Threads: any.
 * Errors: throws error. The first six return the value before. Done: on return, on both sides. */

template <class T> T fetch_add(global_ptr<T> at, detail::as_is<T> n)
{
	return detail::fetch<T>(ARMCIX_ADD, at, n);
}
template <class T> T fetch_and(global_ptr<T> at, detail::as_is<T> bits)
{
	return detail::fetch<T>(ARMCIX_AND, at, bits);
}
template <class T> T fetch_or(global_ptr<T> at, detail::as_is<T> bits)
{
	return detail::fetch<T>(ARMCIX_OR, at, bits);
}
template <class T> T fetch_xor(global_ptr<T> at, detail::as_is<T> bits)
{
	return detail::fetch<T>(ARMCIX_XOR, at, bits);
}

/** Stores a value. */
template <class T> T swap(global_ptr<T> at, detail::as_is<T> value)
{
	return detail::fetch<T>(ARMCIX_SWAP, at, value);
}

/** Stores `desired` if the value before was `expected`, which a result equal to `expected` says. */
template <class T>
T compare_swap(global_ptr<T> at, detail::as_is<T> expected, detail::as_is<T> desired)
{
	return detail::fetch<T>(ARMCIX_CAS, at, desired, expected);
}

/* These do not ask for the value before. Done: as a store: on the caller's node at once, elsewhere
 * after a fence. */

template <class T> void atomic_add(global_ptr<T> at, detail::as_is<T> n)
{
	detail::atomic<T>(ARMCIX_ADD, nullptr, at, n);
}
template <class T> void atomic_and(global_ptr<T> at, detail::as_is<T> bits)
{
	detail::atomic<T>(ARMCIX_AND, nullptr, at, bits);
}
template <class T> void atomic_or(global_ptr<T> at, detail::as_is<T> bits)
{
	detail::atomic<T>(ARMCIX_OR, nullptr, at, bits);
}
template <class T> void atomic_xor(global_ptr<T> at, detail::as_is<T> bits)
{
	detail::atomic<T>(ARMCIX_XOR, nullptr, at, bits);
}
template <class T> void atomic_set(global_ptr<T> at, detail::as_is<T> value)
{
	detail::atomic<T>(ARMCIX_SWAP, nullptr, at, value);
}

} // namespace armci

#endif
