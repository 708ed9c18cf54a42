/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/transfer.hpp: put, get and accumulate of contiguous elements, blocking and nonblocking.
 * Patches and lists of pieces have headers of their own.
 */
#ifndef ARMCI_TRANSFER_HPP_
#define ARMCI_TRANSFER_HPP_

#include "global_ptr.hpp"
#include "handle.hpp"
#include "span.hpp"

#include <climits>
#include <complex>

namespace armci {

namespace detail {

/* The number by which accumulate knows a type; 0: it does not. */
template <class T> inline constexpr int acc_code = 0;
template <> inline constexpr int acc_code<int> = ARMCI_ACC_INT;
template <> inline constexpr int acc_code<long> = ARMCI_ACC_LNG;
template <> inline constexpr int acc_code<float> = ARMCI_ACC_FLT;
template <> inline constexpr int acc_code<double> = ARMCI_ACC_DBL;
template <> inline constexpr int acc_code<std::complex<float>> = ARMCI_ACC_CPL;
template <> inline constexpr int acc_code<std::complex<double>> = ARMCI_ACC_DCP;

template <class T> constexpr void check_acc() noexcept
{
	static_assert(acc_code<T> != 0,
		"armci: accumulate takes int, long, float, double, complex<float>, "
		"complex<double>");
}

template <class T> constexpr void check_store() noexcept
{
	check_element<T>();
	static_assert(!std::is_const_v<T>, "armci: a global_ptr<const T> reads only");
}

/* The C interface counts bytes in an int: one call as a rule, else several of whole elements. Call
 * takes offset and bytes. */
template <class Call> void in_parts(std::size_t bytes, std::size_t element, Call &&call)
{
	if (bytes <= INT_MAX) {
		call(std::size_t{0}, static_cast<int>(bytes));
		return;
	}
	const std::size_t part = element < INT_MAX ? INT_MAX / element * element : INT_MAX;
	for (std::size_t at = 0; at < bytes; at += part)
		call(at, static_cast<int>(bytes - at < part ? bytes - at : part));
}

template <class T> char *at(T *p, std::size_t offset) noexcept
{
	return static_cast<char *>(bare(p)) + offset;
}

} // namespace detail

/** Whether accumulate takes a type: int, long, float, double, complex<float>, complex<double>. */
template <class T> inline constexpr bool is_accumulable_v = detail::acc_code<T> != 0;

/* In what follows: a span is local and may be given as a vector, an array or (pointer, elements) in
 * braces; a global_ptr is [remote], the first of as many elements. No elements: nothing to do. More
 * than 2 GiB are moved by several calls; if one of them fails, what earlier ones moved stays.
 * Scope: one-sided. Threads: any. Errors: throws error. */

/** Stores elements at a rank. @param src [in] elements. @param dst [remote] where. Done: locally on
 *  return, remotely after fence(dst.rank()). */
template <class T> void put(detail::as_is<span<const T>> src, global_ptr<T> dst)
{
	detail::check_store<T>();
	detail::in_parts(src.size() * sizeof(T), sizeof(T), [&](std::size_t from, int bytes) {
		detail::check(ARMCI_Put(detail::at(src.data(), from),
				      detail::at(dst.address(), from), bytes, dst.rank()),
			"ARMCI_Put", "dst", detail::at(dst.address(), from),
			static_cast<std::size_t>(bytes), dst.rank());
	});
}

/** Loads elements of a rank; sees all earlier stores of the caller there. @param src [remote] from
 *  where.
 *  @param dst [out] elements. Done: on return. */
template <class T> void get(global_ptr<T> src, detail::as_is<span<std::remove_const_t<T>>> dst)
{
	detail::check_element<T>();
	detail::in_parts(dst.size() * sizeof(T), sizeof(T), [&](std::size_t from, int bytes) {
		detail::check(ARMCI_Get(detail::at(src.address(), from),
				      detail::at(dst.data(), from), bytes, src.rank()),
			"ARMCI_Get", "src", detail::at(src.address(), from),
			static_cast<std::size_t>(bytes), src.rank());
	});
}

/** dst[i] += scale * src[i], each element atomic with respect to other accumulates only.
 *  @param src [in] elements.
 *  @param dst [remote] where. @param scale [in] factor. Done: locally on return, remotely after
 *  fence(dst.rank()). */
template <class T>
void acc(detail::as_is<span<const T>> src, global_ptr<T> dst, detail::as_is<T> scale = T(1))
{
	detail::check_acc<T>();
	detail::in_parts(src.size() * sizeof(T), sizeof(T), [&](std::size_t from, int bytes) {
		detail::check(ARMCI_Acc(detail::acc_code<T>, &scale, detail::at(src.data(), from),
				      detail::at(dst.address(), from), bytes, dst.rank()),
			"ARMCI_Acc", "dst", detail::at(dst.address(), from),
			static_cast<std::size_t>(bytes), dst.rank());
	});
}

/**
 * Stores elements and then an int that becomes visible only after all of them: a thread that waits
 * for it by atomic loads sees the elements. @param src [in] elements. @param dst [remote] where.
 * @param flag [remote] in memory of the same rank.
 * @param value [in] what the flag becomes. Done: locally on return, remotely when the flag shows.
 */
template <class T>
void put_flag(detail::as_is<span<const T>> src, global_ptr<T> dst, global_ptr<int> flag, int value)
{
	detail::check_store<T>();
	if (flag.rank() != dst.rank() || src.size() > INT_MAX / sizeof(T))
		detail::refuse("ARMCI_Put_flag", FAIL,
			flag.rank() != dst.rank() ? "argument f: of another rank than dst" :
						    "argument bytes: more than an int");
	const int bytes = static_cast<int>(src.size() * sizeof(T));
	detail::check(ARMCI_Put_flag(detail::bare(src.data()), dst.address(), bytes, flag.address(),
			      value, dst.rank()),
		"ARMCI_Put_flag", "dst", dst.address(), src.size() * sizeof(T), dst.rank());
}

/* Nonblocking: as the blocking functions, with a handle, an aggregate or `implicit`, or with none,
 * then they return a handle. Done: locally after wait() of the handle; until then sources must not
 * be changed, nor destinations of gets be read. Stores are remotely done after a fence as well. No
 * order among open calls. An error starts nothing and leaves the handle as it was; of several calls
 * for more than 2 GiB, earlier ones stay open. */

/** Nonblocking put. */
template <class T> void nb_put(detail::as_is<span<const T>> src, global_ptr<T> dst, detail::slot to)
{
	detail::check_store<T>();
	detail::in_parts(src.size() * sizeof(T), sizeof(T), [&](std::size_t from, int bytes) {
		detail::check(ARMCI_NbPut(detail::at(src.data(), from),
				      detail::at(dst.address(), from), bytes, dst.rank(), to),
			"ARMCI_NbPut", "dst", detail::at(dst.address(), from),
			static_cast<std::size_t>(bytes), dst.rank());
	});
}

/** Nonblocking get. */
template <class T>
void nb_get(global_ptr<T> src, detail::as_is<span<std::remove_const_t<T>>> dst, detail::slot to)
{
	detail::check_element<T>();
	detail::in_parts(dst.size() * sizeof(T), sizeof(T), [&](std::size_t from, int bytes) {
		detail::check(ARMCI_NbGet(detail::at(src.address(), from),
				      detail::at(dst.data(), from), bytes, src.rank(), to),
			"ARMCI_NbGet", "src", detail::at(src.address(), from),
			static_cast<std::size_t>(bytes), src.rank());
	});
}

/** Nonblocking accumulate; the scale is copied. */
template <class T>
void nb_acc(detail::as_is<span<const T>> src, global_ptr<T> dst, detail::as_is<T> scale,
	detail::slot to)
{
	detail::check_acc<T>();
	detail::in_parts(src.size() * sizeof(T), sizeof(T), [&](std::size_t from, int bytes) {
		detail::check(ARMCI_NbAcc(detail::acc_code<T>, &scale, detail::at(src.data(), from),
				      detail::at(dst.address(), from), bytes, dst.rank(), to),
			"ARMCI_NbAcc", "dst", detail::at(dst.address(), from),
			static_cast<std::size_t>(bytes), dst.rank());
	});
}

template <class T> [[nodiscard]] handle nb_put(detail::as_is<span<const T>> src, global_ptr<T> dst)
{
	handle h;
	nb_put(src, dst, h);
	return h;
}

template <class T>
[[nodiscard]] handle nb_get(global_ptr<T> src, detail::as_is<span<std::remove_const_t<T>>> dst)
{
	handle h;
	nb_get(src, dst, h);
	return h;
}

template <class T>
[[nodiscard]] handle nb_acc(detail::as_is<span<const T>> src, global_ptr<T> dst,
	detail::as_is<T> scale = T(1))
{
	handle h;
	nb_acc(src, dst, scale, h);
	return h;
}

} // namespace armci

#endif
