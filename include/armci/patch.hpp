/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/patch.hpp: strided transfers: a patch of a matrix, or of an array of up to nine dimensions.
 * Strides are translated once, at compile time where they are constants. It must not know what the
 * arrays mean.
 */
#ifndef ARMCI_PATCH_HPP_
#define ARMCI_PATCH_HPP_

#include "transfer.hpp"

#include <array>

namespace armci {

namespace detail {

/* A number of elements: from any integer type, without warnings about narrowing in braces. */
class index {
public:
	constexpr index() noexcept = default;
	template <class I, class = if_index<I>>
	constexpr index(I i) noexcept : value_(static_cast<long long>(i))
	{
	}
	constexpr operator long long() const noexcept { return value_; }

private:
	long long value_ = 0;
};

} // namespace detail

/** Extents or strides of N dimensions, in elements: {3, 4}. The last dimension is the one whose
 * elements are neighbours. */
template <std::size_t N> using dims = std::array<detail::index, N>;

/** Strides of a whole array that lies row by row, as C++ has it: {3, 4, 5} gives {20, 5, 1}. */
template <std::size_t N> constexpr dims<N> row_major(const dims<N> &extent)
{
	dims<N> stride = extent;
	long long step = 1;
	for (std::size_t i = N; i-- > 0; step *= extent[i])
		stride[i] = step;
	return stride;
}

/**
 * The shape of a strided transfer: how many elements in each dimension, and how far neighbours are
 * apart on either side, in elements of type T. A constant one is checked and translated by the
 * compiler:
 *     static constexpr armci::patch<double, 2> tile({8, 8}, {64, 1}, {1000, 1});
 *     put(tile, &local[0], remote + 5000);
 * If the last stride is not 1 on both sides, single elements are moved, and there are at most 8
 * dimensions instead of 9. Scope: local. Threads: any. Errors: throws error for what does not fit
 * the int of the C interface, when it is constructed.
 */
template <class T, std::size_t N> class patch {
public:
	static_assert(N >= 1 && N <= ARMCI_MAX_STRIDE_LEVEL + 1,
		"armci: a patch has 1 to 9 dimensions");

	/** @param extent [in] elements. @param local, remote [in] strides of either side, in
	 * elements. */
	constexpr patch(const dims<N> &extent, const dims<N> &local, const dims<N> &remote)
	{
		const long long last = extent[N - 1];
		const bool rows = last == 1 || (local[N - 1] == 1 && remote[N - 1] == 1);
		count_[0] = fit(rows ? last : 1, sizeof(T), "count");
		for (std::size_t i = rows ? N - 1 : N; i-- > 0; levels_++) {
			if (levels_ == ARMCI_MAX_STRIDE_LEVEL)
				detail::refuse("patch", FAIL4,
					"argument extent: 9 dimensions of single elements");
			local_[levels_] = fit(local[i], sizeof(T), "local stride");
			remote_[levels_] = fit(remote[i], sizeof(T), "remote stride");
			count_[levels_ + 1] = fit(extent[i], 1, "count");
		}
	}

	/* The arrays of the C interface, which leaves them alone. */
	int *count() const noexcept { return const_cast<int *>(count_); }
	int *local() const noexcept { return const_cast<int *>(local_); }
	int *remote() const noexcept { return const_cast<int *>(remote_); }
	constexpr int levels() const noexcept { return levels_; }

	/** Bytes in all. */
	constexpr std::size_t bytes() const noexcept
	{
		std::size_t product = 1;
		for (int i = 0; i <= levels_; i++)
			product *= static_cast<std::size_t>(count_[i]);
		return product;
	}

private:
	static constexpr int fit(long long n, std::size_t size, const char *what)
	{
		const long long limit = INT_MAX / static_cast<long long>(size);
		if (n < 0 || n > limit)
			detail::refuse("patch", n < 0 ? FAIL3 : FAIL4,
				std::string(what) + " of " + std::to_string(n) +
					" elements: not in 0.." + std::to_string(limit));
		return static_cast<int>(n) * static_cast<int>(size);
	}

	int count_[N + 1] = {};
	int local_[N] = {};
	int remote_[N] = {};
	int levels_ = 0;
};

/* In what follows: the local address and the global_ptr are those of the patch's first element.
 * Done, Scope, Threads, Errors, handles: as the functions of the same name in transfer.hpp. Other
 * elements than the patch's are not touched. */

/** Strided put. */
template <class T, std::size_t N>
void put(const patch<T, N> &p, detail::as_is<const T *> src, detail::as_is<global_ptr<T>> dst)
{
	detail::check(ARMCI_PutS(detail::bare(src), p.local(), dst.address(), p.remote(), p.count(),
			      p.levels(), dst.rank()),
		"ARMCI_PutS", "dst_ptr", dst.address(), p.bytes(), dst.rank());
}

/** Strided get. */
template <class T, std::size_t N>
void get(const patch<T, N> &p, detail::as_is<global_ptr<const T>> src, detail::as_is<T *> dst)
{
	detail::check(ARMCI_GetS(detail::bare(src.address()), p.remote(), dst, p.local(), p.count(),
			      p.levels(), src.rank()),
		"ARMCI_GetS", "src_ptr", src.address(), p.bytes(), src.rank());
}

/** Strided accumulate. */
template <class T, std::size_t N>
void acc(const patch<T, N> &p, detail::as_is<const T *> src, detail::as_is<global_ptr<T>> dst,
	detail::as_is<T> scale = T(1))
{
	detail::check_acc<T>();
	detail::check(ARMCI_AccS(detail::acc_code<T>, &scale, detail::bare(src), p.local(),
			      dst.address(), p.remote(), p.count(), p.levels(), dst.rank()),
		"ARMCI_AccS", "dst_ptr", dst.address(), p.bytes(), dst.rank());
}

/** Nonblocking strided put; the patch may go at once. */
template <class T, std::size_t N>
void nb_put(const patch<T, N> &p, detail::as_is<const T *> src, detail::as_is<global_ptr<T>> dst,
	detail::slot to)
{
	detail::check(ARMCI_NbPutS(detail::bare(src), p.local(), dst.address(), p.remote(),
			      p.count(), p.levels(), dst.rank(), to),
		"ARMCI_NbPutS", "dst_ptr", dst.address(), p.bytes(), dst.rank());
}

/** Nonblocking strided get. */
template <class T, std::size_t N>
void nb_get(const patch<T, N> &p, detail::as_is<global_ptr<const T>> src, detail::as_is<T *> dst,
	detail::slot to)
{
	detail::check(ARMCI_NbGetS(detail::bare(src.address()), p.remote(), dst, p.local(),
			      p.count(), p.levels(), src.rank(), to),
		"ARMCI_NbGetS", "src_ptr", src.address(), p.bytes(), src.rank());
}

/** Nonblocking strided accumulate. */
template <class T, std::size_t N>
void nb_acc(const patch<T, N> &p, detail::as_is<const T *> src, detail::as_is<global_ptr<T>> dst,
	detail::as_is<T> scale, detail::slot to)
{
	detail::check_acc<T>();
	detail::check(ARMCI_NbAccS(detail::acc_code<T>, &scale, detail::bare(src), p.local(),
			      dst.address(), p.remote(), p.count(), p.levels(), dst.rank(), to),
		"ARMCI_NbAccS", "dst_ptr", dst.address(), p.bytes(), dst.rank());
}

template <class T, std::size_t N>
[[nodiscard]] handle nb_put(const patch<T, N> &p, detail::as_is<const T *> src,
	detail::as_is<global_ptr<T>> dst)
{
	handle h;
	nb_put(p, src, dst, h);
	return h;
}

template <class T, std::size_t N>
[[nodiscard]] handle nb_get(const patch<T, N> &p, detail::as_is<global_ptr<const T>> src,
	detail::as_is<T *> dst)
{
	handle h;
	nb_get(p, src, dst, h);
	return h;
}

template <class T, std::size_t N>
[[nodiscard]] handle nb_acc(const patch<T, N> &p, detail::as_is<const T *> src,
	detail::as_is<global_ptr<T>> dst, detail::as_is<T> scale = T(1))
{
	handle h;
	nb_acc(p, src, dst, scale, h);
	return h;
}

} // namespace armci

#endif
