/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/sync.hpp: order between ranks: fences, barriers, notifications, events. It must not move
 * elements.
 */
#ifndef ARMCI_SYNC_HPP_
#define ARMCI_SYNC_HPP_

#include "global_ptr.hpp"
#include "group.hpp"

#include <chrono>
#include <climits>

namespace armci {

/** Waits until all stores of the caller to a rank (put, accumulate, atomics; nonblocking too) are
 *  remotely done: every rank sees them. @param rank [in] target. Scope: one-sided. Threads: any;
 *  covers the calls of all threads. Errors: end the job. */
inline void fence(int rank) { ARMCI_Fence(rank); }

/** fence for every rank. */
inline void fence_all() { ARMCI_AllFence(); }

/** fence for every member of a group. It is no barrier. */
inline void fence_all(const group &members) { ARMCI_GroupFence(members.native()); }

/** fence_all, and waits for all ranks: afterwards every rank sees all stores of every rank. Scope:
 *  collective(world). Threads: one. Errors: end the job. */
inline void barrier() { ARMCI_Barrier(); }

/** fence_all, to every rank of the world, and waits for the members of a group. Scope:
 *  collective(members). Threads: one. Errors: end the job. */
inline void barrier(const group &members)
{
	ARMCI_AllFence();
	armci_msg_group_barrier(members.native());
}

/** Tells a rank that everything the caller stored there before has arrived: one more notification,
 *  per pair of ranks.
 *  @param rank [in] receiver. Returns how many the caller has sent it. Scope: one-sided.
 *  Threads: any. Errors: throws error. */
inline int notify(int rank)
{
	const int sent = armci_notify(rank);
	if (sent < 0)
		detail::fail("armci_notify", sent, "proc", nullptr, 0, rank);
	return sent;
}

/** Waits for one more notification from a rank. Done: what it stored here before notify is there.
 *  @param rank [in] whose. Returns how many it has sent so far. Scope: local. Threads: any, one per
 *  rank at a time. Errors: throws error. */
inline int wait_notify(int rank)
{
	int waited = 0;
	const int arrived = armci_notify_wait(rank, &waited);
	if (arrived < 0)
		detail::fail("armci_notify_wait", arrived, "proc", nullptr, 0, rank);
	return arrived;
}

/**
 * A counter in a shared_array<event> that any rank raises and ranks of its node wait for; zero at
 * first. The count wraps. The functions on it below wait and read; raise() is for any rank.
 */
struct event : armcix_event_t {
	/** Count now: what was stored before it was raised so far is there. Scope: local, on the
	 * event's node. Threads: any. */
	unsigned value() const noexcept { return __atomic_load_n(&count, __ATOMIC_ACQUIRE); }

	/** Waits until the count differs from `seen`, and returns it. Ends the job if no rank is
	 *  left to raise it. Scope: local, on the event's node. Threads: any. Errors: throws error.
	 *  */
	unsigned wait(unsigned seen)
	{
		wait_for(seen, std::chrono::milliseconds(-1));
		return value();
	}

	/** As wait, for a limited time; false if it has passed. @param limit [in] 0: does not wait;
	 * negative: no limit. */
	bool wait_for(unsigned seen, std::chrono::milliseconds limit)
	{
		const auto millis = limit.count() > INT_MAX ? INT_MAX :
			limit.count() < 0                   ? -1 :
							      limit.count();
		const int state = ARMCIX_Event_wait(this, seen, static_cast<int>(millis));
		if (state < 0)
			detail::refuse("ARMCIX_Event_wait", state,
				std::string("argument event: ") + detail::meaning(state));
		return state == 0;
	}

	/** Waits until the count is n or more and lowers it by n: a counting semaphore, for one
	 * waiter at a time. */
	void consume(unsigned n = 1)
	{
		for (unsigned seen = value(); seen < n;)
			seen = wait(seen);
		__atomic_fetch_sub(&count, n, __ATOMIC_ACQ_REL);
	}
};

/** Raises an event behind all earlier stores of the caller at its rank: a waiter sees them once
 *  it sees the count. @param at [remote] event.
 *  @param n [in] by how much. Done: as a store: on the caller's node at once, elsewhere after a
 *  fence. Scope: one-sided. Threads: any. Errors: throws error. */
inline void raise(global_ptr<event> at, unsigned n = 1)
{
	detail::check(ARMCIX_Event_add(at.address(), n, at.rank()), "ARMCIX_Event_add", "event",
		at.address(), sizeof(event), at.rank());
}

} // namespace armci

#endif
