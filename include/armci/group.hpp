/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/group.hpp: some of the ranks, as an object. A group names ranks of its own from 0;
 * communication names those of the world, which world_rank gives.
 */
#ifndef ARMCI_GROUP_HPP_
#define ARMCI_GROUP_HPP_

#include "../armcix.h"
#include "error.hpp"
#include "span.hpp"

#include <utility>
#include <vector>

namespace armci {

/**
 * A process group. Can be moved, not copied. The destructor is collective over the group (but for
 * the world, which it leaves alone): memory and mutexes of the group go before it, and all members
 * destroy groups in the same order. Left by an exception, it does nothing; finalize frees the
 * group. Threads: one for what is collective, any for the rest.
 */
class group {
public:
	/** The group of all ranks. Scope: local. */
	static group world()
	{
		group all;
		ARMCI_Group_get_world(&all.group_);
		return all;
	}

	/** The members of `parent` whose group ranks there are listed. @param ranks [in] ascending
	 *  and distinct. Scope: collective over them, with the same list; on others it is a group
	 *  they are no member of. Errors: end the job. */
	static group of(span<const int> ranks, const group &parent)
	{
		group part(true);
		std::vector<int> list(ranks.begin(), ranks.end()); // the C interface wants no const
		ARMCI_Group_create_child(static_cast<int>(list.size()), list.data(), &part.group_,
			parent.native());
		return part;
	}
	static group of(span<const int> ranks) { return of(ranks, world()); }

	/** Members of equal colour, ordered by key, then by rank here. @param color [in] >= 0, or
	 *  negative: joins none. Scope: collective over this group. Errors: throws error on every
	 *  member. */
	group split(int color, int key = 0) const
	{
		group part(true);
		detail::check(ARMCIX_Group_split(native(), color, key, &part.group_),
			"ARMCIX_Group_split");
		return part;
	}

	/** A group of the same members in the same order. Scope: collective over this group.
	 * Errors: throws error. */
	group dup() const
	{
		group same(true);
		detail::check(ARMCIX_Group_dup(native(), &same.group_), "ARMCIX_Group_dup");
		return same;
	}

	group(group &&other) noexcept
		: group_(other.group_), owned_(std::exchange(other.owned_, false))
	{
	}
	group &operator=(group &&other) noexcept
	{
		if (this != &other) {
			settle();
			group_ = other.group_;
			owned_ = std::exchange(other.owned_, false);
		}
		return *this;
	}
	~group() { settle(); }

	/** Group rank of the caller, -1 if it is no member. Scope: local. */
	int rank() const
	{
		int rank = -1;
		ARMCI_Group_rank(native(), &rank);
		return rank;
	}

	/** Whether the caller is a member. Scope: local. */
	bool member() const { return rank() >= 0; }

	/** Number of members. Scope: local. */
	int size() const
	{
		int size = 0;
		ARMCI_Group_size(native(), &size);
		return size;
	}

	/** Rank in the world of a member. Scope: local. Errors: throws error if there is no such
	 * member. */
	int world_rank(int rank) const
	{
		const int world = ARMCI_Absolute_id(native(), rank);
		if (world < 0)
			detail::refuse("ARMCI_Absolute_id", FAIL5,
				"argument group_rank, " + std::to_string(rank) +
					": no such member");
		return world;
	}

	/** For the C interface, which takes it without const and leaves it alone. */
	ARMCI_Group *native() const noexcept { return const_cast<ARMCI_Group *>(&group_); }

private:
	group() = default;
	explicit group(bool owned) : owned_(owned) {}

	void settle() noexcept
	{
		if (owned_ && !watch_.unwinding() && ARMCI_Initialized() != 0)
			ARMCI_Group_free(&group_);
		owned_ = false;
	}

	ARMCI_Group group_{};
	detail::scope_watch watch_;
	bool owned_ = false;
};

} // namespace armci

#endif
