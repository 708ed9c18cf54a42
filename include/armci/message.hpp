/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/message.hpp: messages that both sides take part in: broadcast, reductions, send and
 * receive, by type. It must not be taken for MPI: these messages are the library's own.
 */
#ifndef ARMCI_MESSAGE_HPP_
#define ARMCI_MESSAGE_HPP_

#include "../message.h"
#include "group.hpp"
#include "span.hpp"

#include <climits>

namespace armci {

/** What a reduction does; the last five for integers only, logical ones give 0 or 1. */
enum class op { sum, product, max, min, absmax, absmin, bit_or, bit_and, logical_or, logical_and };

/** The ranks that take part: all, those of the caller's node, or the lowest of every node (others
 * return at once). */
enum class scope { all = SCOPE_ALL, node = SCOPE_NODE, masters = SCOPE_MASTERS };

namespace detail {

template <class T> inline constexpr int message_code = 0;
template <> inline constexpr int message_code<int> = ARMCI_INT;
template <> inline constexpr int message_code<long> = ARMCI_LONG;
template <> inline constexpr int message_code<long long> = ARMCI_LONG_LONG;
template <> inline constexpr int message_code<float> = ARMCI_FLOAT;
template <> inline constexpr int message_code<double> = ARMCI_DOUBLE;

/* The C interface takes names without const and leaves them alone. */
inline char *name(op which) noexcept
{
	static constexpr const char *names[] = {"+", "*", "max", "min", "absmax", "absmin", "or",
		"band", "lor", "land"};
	return const_cast<char *>(names[static_cast<int>(which)]);
}

/* For the int of the C interface. */
inline int as_int(std::size_t n, const char *function)
{
	if (n > INT_MAX)
		refuse(function, FAIL4, std::to_string(n) + " bytes or elements: more than an int");
	return static_cast<int>(n);
}

/* What all reductions have in common; call is the rest: a function of C with its scope or group. */
template <class C, class Call> void reduction(C &elements, op what, const char *function, Call call)
{
	const span view(elements);
	using T = element_of<decltype(view)>;
	static_assert(message_code<T> != 0,
		"armci: reductions take int, long, long long, float, double");
	call(view.data(), as_int(view.size(), function), name(what), message_code<T>);
}

template <class T>
using if_element = std::enable_if_t<!is_contiguous<T> && std::is_trivially_copyable_v<T>, T>;
template <class C> using if_elements = std::enable_if_t<is_contiguous<C>>;

} // namespace detail

/* Collectives. A container is changed in place and has as many elements on every rank; anything
 * else is a value, and the result is returned. They are no fence: stores may still be under way.
 * Done: on return. Scope: collective over the scope, or over the group. Threads: one. Errors:
 * throws error for more than 2^31 bytes or elements; others end the job. */

/** Gives the elements of a rank to all. @param elements [in,out] of a trivially copyable type.
 *  @param root [in] rank of the world; in scope::node a place on the node, from 0. */
template <class C> detail::if_elements<C> broadcast(C &&elements, int root, scope in = scope::all)
{
	const span view(elements);
	static_assert(std::is_trivially_copyable_v<detail::element_of<decltype(view)>>,
		"armci: not trivially copyable");
	armci_msg_bcast_scope(static_cast<int>(in), view.data(),
		detail::as_int(view.size() * sizeof *view.data(), "broadcast"), root);
}

/** Within a group. @param root [in] group rank. */
template <class C> detail::if_elements<C> broadcast(C &&elements, int root, const group &members)
{
	const span view(elements);
	static_assert(std::is_trivially_copyable_v<detail::element_of<decltype(view)>>,
		"armci: not trivially copyable");
	armci_msg_group_bcast_scope(SCOPE_ALL, view.data(),
		detail::as_int(view.size() * sizeof *view.data(), "broadcast"),
		members.world_rank(root), members.native());
}

/** A value, where: a scope or a group. */
template <class T, class Where = scope>
detail::if_element<T> broadcast(T value, int root, const Where &where = scope::all)
{
	broadcast(span<T>(&value, 1), root, where);
	return value;
}

/** The same result on every rank, bit by bit: elements[i] = op over all of elements[i].
 *  @param elements [in,out] int, long, long long, float or double. */
template <class C> detail::if_elements<C> all_reduce(C &&elements, op what, scope in = scope::all)
{
	detail::reduction(elements, what, "all_reduce",
		[&](auto... all) { armci_msg_gop_scope(static_cast<int>(in), all...); });
}

/** Within a group. */
template <class C> detail::if_elements<C> all_reduce(C &&elements, op what, const group &members)
{
	detail::reduction(elements, what, "all_reduce", [&](auto... all) {
		armci_msg_group_gop_scope(SCOPE_ALL, all..., members.native());
	});
}

/** A value, where: a scope or a group. */
template <class T, class Where = scope>
detail::if_element<T> all_reduce(T value, op what, const Where &where = scope::all)
{
	all_reduce(span<T>(&value, 1), what, where);
	return value;
}

/** As all_reduce, with the result at the first rank of the scope only; elsewhere the elements are
 * not defined afterwards. */
template <class C> detail::if_elements<C> reduce(C &&elements, op what, scope in = scope::all)
{
	detail::reduction(elements, what, "reduce",
		[&](auto... all) { armci_msg_reduce_scope(static_cast<int>(in), all...); });
}

/* Point to point. Threads: any. Errors: end the job (a message that is longer than the receiver's
 * span). */

/** Sends elements; messages of one tag between two ranks arrive in order. @param tag [in] any int.
 *  @param elements [in].
 *  @param to [in] rank, may be the caller. Done: they may be changed on return; a long message may
 *  wait for its receiver. */
template <class C> detail::if_elements<C> send(int tag, const C &elements, int to)
{
	const span view(elements);
	static_assert(std::is_trivially_copyable_v<detail::element_of<decltype(view)>>,
		"armci: not trivially copyable");
	armci_msg_snd(tag, const_cast<void *>(static_cast<const void *>(view.data())),
		detail::as_int(view.size() * sizeof *view.data(), "send"), to);
}

/** Receives the next message of a tag from a rank. @param elements [out] room. Returns how many
 * elements came. */
template <class C, class = detail::if_elements<C>>
std::size_t receive(int tag, C &&elements, int from)
{
	const span view(elements);
	int bytes = 0;
	armci_msg_rcv(tag, view.data(),
		detail::as_int(view.size() * sizeof *view.data(), "receive"), &bytes, from);
	return static_cast<std::size_t>(bytes) / sizeof *view.data();
}

} // namespace armci

#endif
