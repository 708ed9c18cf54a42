/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/global_ptr.hpp: a typed address in the memory of some rank, and access to single elements
 * through it. It must not hold what moves more than one element.
 */
#ifndef ARMCI_GLOBAL_PTR_HPP_
#define ARMCI_GLOBAL_PTR_HPP_

#include "error.hpp"

#include <cstddef>
#include <functional>
#include <type_traits>

namespace armci {

template <class T> class global_ref;

namespace detail {

/* Room for a value that need not have a default constructor. */
template <class T> union room {
	room() noexcept : nothing(0) {}
	char nothing;
	T value;
};

/* Asked where a T is used, so that a class may hold pointers to itself. */
template <class T> constexpr void check_element() noexcept
{
	static_assert(std::is_trivially_copyable_v<T>,
		"armci: a T that is transferred must be trivially copyable");
}

/* A number of elements: of any integer type, or an enumerator, as with plain pointers. */
template <class I>
using if_index = std::enable_if_t<std::is_integral_v<I> ||
	(std::is_enum_v<I> && std::is_convertible_v<I, int>)>;

/* The C interface takes local and remote sources without const, and leaves them alone. */
template <class T> void *bare(T *p) noexcept { return const_cast<std::remove_cv_t<T> *>(p); }

} // namespace detail

/**
 * Address of a T in memory of a rank: what shared_array::on() gives. Trivially copyable, so it may
 * be stored in shared memory and sent to other ranks: it means the same on all of them.
 * global_ptr<const T> reads only; global_ptr<T> converts to it. Arithmetic counts elements and does
 * not check; an access outside live memory of the rank throws error. Scope of what communicates
 * here: one-sided. Threads: any.
 */
template <class T> class global_ptr {
public:
	using element_type = T;
	using value_type = std::remove_cv_t<T>;
	using difference_type = std::ptrdiff_t;

	/** Null: equal to nullptr, of no rank. */
	constexpr global_ptr() noexcept = default;
	constexpr global_ptr(std::nullptr_t) noexcept {}

	/** @param rank [in] of the world. @param address [remote] in memory of that rank, as
	 * ARMCI_Malloc gives it. */
	constexpr global_ptr(int rank, T *address) noexcept : address_(address), rank_(rank) {}

	template <class U,
		class = std::enable_if_t<std::is_same_v<const U, T> && !std::is_same_v<U, T>>>
	constexpr global_ptr(const global_ptr<U> &other) noexcept
		: address_(other.address()), rank_(other.rank())
	{
	}

	/** Rank of the world in whose memory it is. */
	constexpr int rank() const noexcept { return rank_; }
	/** The address for the C interface. Only local() says whether it may be dereferenced. */
	constexpr T *address() const noexcept { return address_; }
	constexpr explicit operator bool() const noexcept { return address_ != nullptr; }

	/** The same memory for plain loads and stores if the rank is on the caller's node, else
	 * null. Scope: local. */
	T *local() const { return ARMCI_Same_node(rank_) != 0 ? address_ : nullptr; }

	/** The element, as one load if it has 1, 2, 4 or 8 bytes. Done: on return. Errors: throws
	 * error. */
	value_type get() const
	{
		detail::check_element<T>();
		detail::room<value_type> to;
		detail::check(ARMCI_Get(detail::bare(address_), &to.value,
				      static_cast<int>(sizeof(T)), rank_),
			"ARMCI_Get", "src", address_, sizeof(T), rank_);
		return to.value;
	}

	/** Stores the element, as one store if it has 1, 2, 4 or 8 bytes. Done: locally on return,
	 *  remotely after fence(rank()). Errors: throws error. */
	void put(const value_type &value) const
	{
		detail::check_element<T>();
		static_assert(!std::is_const_v<T>, "armci: a global_ptr<const T> reads only");
		detail::check(ARMCI_Put(detail::bare(&value), detail::bare(address_),
				      static_cast<int>(sizeof(T)), rank_),
			"ARMCI_Put", "dst", address_, sizeof(T), rank_);
	}

	/** A reference to an element: reading it is get(), assigning to it is put(). */
	constexpr global_ref<T> operator*() const noexcept { return global_ref<T>(*this); }
	template <class I, class = detail::if_index<I>>
	constexpr global_ref<T> operator[](I i) const noexcept
	{
		return global_ref<T>(*this + i);
	}

	/** The address of a member of a class: p.member(&node::next). */
	template <class M, class C> auto member(M C::*field) const noexcept
	{
		static_assert(std::is_same_v<std::remove_cv_t<T>, C> && !std::is_array_v<M>,
			"armci: not a member of T, or an array");
		using result = std::conditional_t<std::is_const_v<T>, const M, M>;
		return global_ptr<result>(rank_, &(address_->*field));
	}

	/** The same bytes as elements of another type, which must keep const. */
	template <class U> constexpr global_ptr<U> cast() const noexcept
	{
		static_assert(std::is_const_v<U> || !std::is_const_v<T>,
			"armci: cast would take const away");
		return global_ptr<U>(rank_, reinterpret_cast<U *>(address_));
	}

	template <class I, class = detail::if_index<I>>
	constexpr global_ptr &operator+=(I n) noexcept
	{
		return address_ += n, *this;
	}
	template <class I, class = detail::if_index<I>>
	constexpr global_ptr &operator-=(I n) noexcept
	{
		return address_ -= n, *this;
	}
	constexpr global_ptr &operator++() noexcept { return ++address_, *this; }
	constexpr global_ptr &operator--() noexcept { return --address_, *this; }
	constexpr global_ptr operator++(int) noexcept { return global_ptr(rank_, address_++); }
	constexpr global_ptr operator--(int) noexcept { return global_ptr(rank_, address_--); }
	template <class I, class = detail::if_index<I>>
	friend constexpr global_ptr operator+(global_ptr p, I n) noexcept
	{
		return p += n;
	}
	template <class I, class = detail::if_index<I>>
	friend constexpr global_ptr operator+(I n, global_ptr p) noexcept
	{
		return p += n;
	}
	template <class I, class = detail::if_index<I>>
	friend constexpr global_ptr operator-(global_ptr p, I n) noexcept
	{
		return p -= n;
	}

	/** Elements between two pointers into one array of one rank. */
	friend constexpr difference_type operator-(global_ptr a, global_ptr b) noexcept
	{
		return a.address_ - b.address_;
	}

	/* Equal: the same rank and address; null ones are equal. Order: by rank, then by address.
	 */
	friend constexpr bool operator==(global_ptr a, global_ptr b) noexcept
	{
		return a.address_ == b.address_ && (a.rank_ == b.rank_ || a.address_ == nullptr);
	}
	friend constexpr bool operator!=(global_ptr a, global_ptr b) noexcept { return !(a == b); }
	friend constexpr bool operator<(global_ptr a, global_ptr b) noexcept
	{
		return a.rank_ != b.rank_ ? a.rank_ < b.rank_ :
					    std::less<T *>()(a.address_, b.address_);
	}
	friend constexpr bool operator>(global_ptr a, global_ptr b) noexcept { return b < a; }
	friend constexpr bool operator<=(global_ptr a, global_ptr b) noexcept { return !(b < a); }
	friend constexpr bool operator>=(global_ptr a, global_ptr b) noexcept { return !(a < b); }

private:
	T *address_ = nullptr;
	int rank_ = -1;
};

/**
 * What *p and p[i] give: T x = p[i] is a get, p[i] = x a put, with their completion and errors.
 * `auto` keeps the reference, not the value. It is no atomic: for p[i] += 1 use fetch_add or acc.
 */
template <class T> class global_ref {
public:
	constexpr explicit global_ref(global_ptr<T> at) noexcept : at_(at) {}
	constexpr global_ref(const global_ref &) noexcept = default;

	operator std::remove_cv_t<T>() const { return at_.get(); }
	const global_ref &operator=(const std::remove_cv_t<T> &value) const
	{
		return at_.put(value), *this;
	}
	const global_ref &operator=(const global_ref &other) const
	{
		return at_.put(other.at_.get()), *this;
	}
	constexpr global_ptr<T> operator&() const noexcept { return at_; }

private:
	global_ptr<T> at_;
};

} // namespace armci

#endif
