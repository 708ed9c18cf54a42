/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/pieces.hpp: vector transfers: many pieces, at any places of local memory and of one rank's,
 * in one call. It must not hold elements, only where they are.
 */
#ifndef ARMCI_PIECES_HPP_
#define ARMCI_PIECES_HPP_

#include "transfer.hpp"

#include <vector>

namespace armci {

/**
 * A list of pieces that one call moves: (local address, global address, elements), all at one rank.
 * For put, get and accumulate alike, and as often as wanted. Pieces may repeat or overlap: every
 * accumulate counts, of several puts to one place any may win. Scope: local. Threads: one per list
 * at a time. Errors: throws error.
 */
template <class T> class pieces {
public:
	static_assert(!std::is_const_v<T>, "armci: pieces<T> of a T without const");

	/** Adds a piece. @param local, remote its first element on either side. @param n [in]
	 * elements; 0 adds nothing. */
	void add(T *local, global_ptr<T> remote, std::size_t n = 1)
	{
		detail::check_element<T>();
		if (n == 0)
			return;
		if (n > INT_MAX / sizeof(T))
			detail::refuse("pieces::add", FAIL4,
				"argument n: " + std::to_string(n) +
					" elements are more than an int of bytes");
		if (!remote_.empty() && remote.rank() != rank_)
			detail::refuse("pieces::add", FAIL5,
				"argument remote: of rank " + std::to_string(remote.rank()) +
					", earlier pieces of rank " + std::to_string(rank_));
		const int bytes = static_cast<int>(n * sizeof(T));
		local_.resize(remote_.size()); // after an add that found no memory halfway
		if (runs_.empty() || runs_.back().bytes != bytes)
			runs_.push_back({bytes, 0});
		local_.push_back(local);
		remote_.push_back(remote.address());
		runs_.back().pieces++;
		rank_ = remote.rank();
	}

	/** Forgets all pieces. */
	void clear() noexcept
	{
		local_.clear();
		remote_.clear();
		runs_.clear();
	}

	/** Number of pieces. */
	std::size_t size() const noexcept { return remote_.size(); }
	/** The rank they are at; -1 without pieces. */
	int rank() const noexcept { return remote_.empty() ? -1 : rank_; }

	/* For the functions below: the descriptors of the C interface, one for neighbours of equal
	 * length. */
	template <class Call> void call(bool get, const char *function, Call &&call)
	{
		if (remote_.empty())
			return;
		std::vector<armci_giov_t> list(runs_.size());
		std::size_t first = 0, bytes = 0;
		for (std::size_t i = 0; i < runs_.size(); i++) {
			void **local = local_.data() + first, **remote = remote_.data() + first;
			list[i].src_ptr_array = get ? remote : local;
			list[i].dst_ptr_array = get ? local : remote;
			list[i].ptr_array_len = runs_[i].pieces;
			list[i].bytes = runs_[i].bytes;
			first += static_cast<std::size_t>(runs_[i].pieces);
			bytes += static_cast<std::size_t>(runs_[i].pieces) *
				static_cast<std::size_t>(runs_[i].bytes);
		}
		detail::check(call(list.data(), static_cast<int>(list.size())), function, "darr",
			remote_.front(), bytes, rank_);
	}

private:
	struct run {
		int bytes, pieces;
	};

	std::vector<void *> local_, remote_;
	std::vector<run> runs_;
	int rank_ = -1;
};

/* Done, Scope, Threads, Errors, handles: as the functions of the same name in transfer.hpp. The
 * list may change on return. */

/** Puts all pieces. */
template <class T> void put(pieces<T> &list)
{
	list.call(false, "ARMCI_PutV",
		[&](armci_giov_t *of, int n) { return ARMCI_PutV(of, n, list.rank()); });
}

/** Gets all pieces. */
template <class T> void get(pieces<T> &list)
{
	list.call(true, "ARMCI_GetV",
		[&](armci_giov_t *of, int n) { return ARMCI_GetV(of, n, list.rank()); });
}

/** Accumulates all pieces. @param scale [in] factor. */
template <class T> void acc(pieces<T> &list, detail::as_is<T> scale = T(1))
{
	detail::check_acc<T>();
	list.call(false, "ARMCI_AccV", [&](armci_giov_t *of, int n) {
		return ARMCI_AccV(detail::acc_code<T>, &scale, of, n, list.rank());
	});
}

/** Nonblocking put of all pieces. */
template <class T> void nb_put(pieces<T> &list, detail::slot to)
{
	list.call(false, "ARMCI_NbPutV",
		[&](armci_giov_t *of, int n) { return ARMCI_NbPutV(of, n, list.rank(), to); });
}

/** Nonblocking get of all pieces. */
template <class T> void nb_get(pieces<T> &list, detail::slot to)
{
	list.call(true, "ARMCI_NbGetV",
		[&](armci_giov_t *of, int n) { return ARMCI_NbGetV(of, n, list.rank(), to); });
}

/** Nonblocking accumulate of all pieces. @param scale [in] factor. */
template <class T> void nb_acc(pieces<T> &list, detail::as_is<T> scale, detail::slot to)
{
	detail::check_acc<T>();
	list.call(false, "ARMCI_NbAccV", [&](armci_giov_t *of, int n) {
		return ARMCI_NbAccV(detail::acc_code<T>, &scale, of, n, list.rank(), to);
	});
}

} // namespace armci

#endif
