/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/memory.hpp: memory with an owner: shared between ranks, or local and well suited to
 * transfers. It must not move elements.
 */
#ifndef ARMCI_MEMORY_HPP_
#define ARMCI_MEMORY_HPP_

#include "global_ptr.hpp"
#include "group.hpp"
#include "span.hpp"

#include <limits>
#include <memory>

namespace armci {

/** Asks a constructor not to set the elements. */
struct uninitialized_t {};
inline constexpr uninitialized_t uninitialized{};

namespace detail {

/* Bytes of n elements; -1 if there are too many, which the C interface refuses: collectives on
 * every rank. */
template <class T> constexpr armci_size_t bytes_of(std::size_t n) noexcept
{
	constexpr std::size_t most = static_cast<std::size_t>(
		std::numeric_limits<armci_size_t>::max());
	return n <= most / sizeof(T) ? static_cast<armci_size_t>(n * sizeof(T)) : -1;
}

inline void check_memory(int code, const char *function, std::size_t n, std::size_t size)
{
	if (code != 0)
		refuse(function, code,
			"argument bytes, " + std::to_string(n) + " elements of " +
				std::to_string(size) + " bytes: " + meaning(code) +
				"; or so at another rank");
}

} // namespace detail

/**
 * An array with a part in the memory of every rank, or of every member of a group, that all can
 * access. Can be moved, not copied. T is trivially copyable. Parts may differ in length and be
 * empty; they are aligned to 64 bytes. Constructors, free() and the destructor are collective: all
 * members construct and destroy their arrays in the same order, which scopes give by themselves.
 * The destructor waits for the members' operations, and then for the members. Left by an exception
 * it does nothing, since the others may not come: finalize frees the memory. Threads: one for what
 * is collective, any for the rest.
 */
template <class T> class shared_array {
public:
	static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
		"armci: a T in shared memory must be trivially copyable, and not const");

	/** No array. Scope: local. */
	shared_array() = default;

	/** n elements in the caller's part, value-initialised, at every rank when it returns.
	 *  @param n [in] elements. Scope: collective(world). Errors: throws error, on every rank if
	 *  memory lacks on any. */
	explicit shared_array(std::size_t n) : shared_array(n, uninitialized)
	{
		std::uninitialized_value_construct_n(data(), size_);
		ARMCI_Barrier();
	}

	/** As shared_array(n), among the members of a group, which lives longer. Scope:
	 * collective(members). */
	shared_array(std::size_t n, const group &members) : shared_array(n, members, uninitialized)
	{
		std::uninitialized_value_construct_n(data(), size_);
		armci_msg_group_barrier(&group_);
	}

	/** Without setting the elements. */
	shared_array(std::size_t n, uninitialized_t)
		: parts_(static_cast<std::size_t>(armci_msg_nproc())), size_(n), me_(armci_msg_me())
	{
		detail::check_memory(ARMCI_Malloc(parts_.data(), detail::bytes_of<T>(n)),
			"ARMCI_Malloc", n, sizeof(T));
	}
	shared_array(std::size_t n, const group &members, uninitialized_t)
		: parts_(static_cast<std::size_t>(members.size())), size_(n), me_(members.rank()),
		  group_(*members.native()), grouped_(true)
	{
		const int code = ARMCI_Malloc_group(parts_.data(), detail::bytes_of<T>(n), &group_);
		detail::check_memory(code, "ARMCI_Malloc_group", n, sizeof(T));
	}

	shared_array(shared_array &&other) noexcept { take(other); }
	shared_array &operator=(shared_array &&other) noexcept
	{
		if (this != &other) {
			settle();
			take(other);
		}
		return *this;
	}
	~shared_array() { settle(); }

	/** Frees the array now, and leaves none. Scope: collective. Errors: throws error. */
	void free()
	{
		if (parts_.empty())
			return;
		const int code = release();
		detail::check(code, grouped_ ? "ARMCI_Free_group" : "ARMCI_Free");
	}

	/** Address of the first element of a rank's part, for any rank. @param rank [in] of the
	 *  world, or of the array's group. Scope: local. Errors: throws error for a rank out of
	 *  range. */
	global_ptr<T> on(int rank) const
	{
		detail::check_rank(rank, static_cast<int>(parts_.size()), "shared_array::on");
		const int world = grouped_ ?
			ARMCI_Absolute_id(const_cast<ARMCI_Group *>(&group_), rank) :
			rank;
		return global_ptr<T>(world,
			static_cast<T *>(parts_[static_cast<std::size_t>(rank)]));
	}

	/** Address of the caller's own part. Scope: local. */
	global_ptr<T> here() const { return on(me_); }

	/** The caller's own part, for plain loads and stores. What others stored is there after a
	 *  barrier, a lock or another synchronisation with them. Scope: local. */
	span<T> local() const noexcept { return span<T>(data(), size_); }
	T &operator[](std::size_t i) const noexcept { return data()[i]; }

	/** Elements of the caller's own part. */
	std::size_t size() const noexcept { return size_; }
	/** Number of parts: of ranks, or members; 0 for no array. */
	int ranks() const noexcept { return static_cast<int>(parts_.size()); }

private:
	T *data() const noexcept
	{
		return parts_.empty() ? nullptr :
					static_cast<T *>(parts_[static_cast<std::size_t>(me_)]);
	}

	int release() noexcept
	{
		void *own = parts_[static_cast<std::size_t>(me_)];
		parts_.clear();
		size_ = 0;
		return grouped_ ? ARMCI_Free_group(own, &group_) : ARMCI_Free(own);
	}

	/* An error has been printed: destructors do not throw. */
	void settle() noexcept
	{
		if (!parts_.empty() && !watch_.unwinding() && ARMCI_Initialized() != 0)
			release();
	}

	void take(shared_array &other) noexcept
	{
		parts_ = std::exchange(other.parts_, {});
		size_ = std::exchange(other.size_, 0);
		me_ = other.me_;
		group_ = other.group_;
		grouped_ = other.grouped_;
	}

	std::vector<void *> parts_;
	std::size_t size_ = 0;
	int me_ = 0;
	ARMCI_Group group_{};
	bool grouped_ = false;
	detail::scope_watch watch_;
};

/**
 * Local memory well suited to transfers, which other ranks cannot access. Can be moved, not copied.
 * Aligned to 64 bytes. The destructor is local; no operation may still use the memory. Threads:
 * any.
 */
template <class T> class local_array {
public:
	static_assert(std::is_trivially_copyable_v<T>,
		"armci: a T that is transferred must be trivially copyable");

	/** n elements, value-initialised. @param n [in] elements, may be 0. Scope: local. Errors:
	 * throws error. */
	explicit local_array(std::size_t n) : local_array(n, uninitialized)
	{
		std::uninitialized_value_construct_n(data(), n);
	}

	/** Without setting the elements. */
	local_array(std::size_t n, uninitialized_t) : size_(n)
	{
		if (n == 0)
			return;
		data_.reset(static_cast<T *>(ARMCI_Malloc_local(detail::bytes_of<T>(n))));
		detail::check_memory(data_ ? 0 : FAIL6, "ARMCI_Malloc_local", n, sizeof(T));
	}

	T *data() const noexcept { return data_.get(); }
	/** Elements. */
	std::size_t size() const noexcept { return data_ ? size_ : 0; }
	T &operator[](std::size_t i) const noexcept { return data()[i]; }
	T *begin() const noexcept { return data(); }
	T *end() const noexcept { return data() + size(); }

private:
	struct gives_back {
		void operator()(T *p) const noexcept
		{
			if (ARMCI_Initialized() != 0)
				ARMCI_Free_local(p);
		}
	};

	std::unique_ptr<T, gives_back> data_;
	std::size_t size_;
};

} // namespace armci

#endif
