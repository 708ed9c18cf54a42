/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/span.hpp: a view of contiguous elements, as std::span of C++20. It must not own memory. It
 * is a type of its own under every standard, so that functions have one signature; it converts from
 * std::span and is a range for it.
 */
#ifndef ARMCI_SPAN_HPP_
#define ARMCI_SPAN_HPP_

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace armci {

namespace detail {

/* What has data() and size(): vectors, arrays, strings, other spans. */
template <class C, class = void> struct contiguous : std::false_type {};
template <class C>
struct contiguous<C,
	std::void_t<decltype(std::data(std::declval<C &>())),
		decltype(std::size(std::declval<C &>()))>> : std::true_type {
};
template <class C>
inline constexpr bool is_contiguous = contiguous<std::remove_reference_t<C>>::value;

/* The elements of such a container, const if they may not be changed. */
template <class C>
using element_of = std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>;

/* In a parameter: the template argument is taken from another one, so that this one may convert. */
template <class T> struct identity {
	using type = T;
};
template <class T> using as_is = typename identity<T>::type;

} // namespace detail

/** n elements from an address on. Copying it copies no elements. Indices are not checked. Scope:
 * local. Threads: any. */
template <class T> class span {
public:
	using element_type = T;
	using value_type = std::remove_cv_t<T>;
	using iterator = T *;

	constexpr span() noexcept = default;

	/** @param data [in] first element. @param size [in] elements. */
	constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}

	/** The elements of a vector, array, string or std::span, and span<T> as span<const T>. */
	template <class C,
		class = std::enable_if_t<detail::is_contiguous<C> &&
			!std::is_same_v<std::decay_t<C>, span> &&
			std::is_convertible_v<detail::element_of<C> (*)[], T (*)[]>>>
	constexpr span(C &&container) noexcept
		: data_(std::data(container)), size_(std::size(container))
	{
	}

	constexpr T *data() const noexcept { return data_; }
	/** Elements. */
	constexpr std::size_t size() const noexcept { return size_; }
	constexpr bool empty() const noexcept { return size_ == 0; }
	constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }
	constexpr T *begin() const noexcept { return data_; }
	constexpr T *end() const noexcept { return data_ + size_; }

	/** n elements from element `first` on; both must lie within this one. */
	constexpr span subspan(std::size_t first, std::size_t n) const noexcept
	{
		return span(data_ + first, n);
	}

private:
	T *data_ = nullptr;
	std::size_t size_ = 0;
};

template <class C> span(C &&) -> span<detail::element_of<std::remove_reference_t<C>>>;

} // namespace armci

#endif
