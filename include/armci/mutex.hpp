/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/mutex.hpp: mutexes between ranks, for std::lock_guard and std::unique_lock. It must not
 * know what they protect.
 */
#ifndef ARMCI_MUTEX_HPP_
#define ARMCI_MUTEX_HPP_

#include "group.hpp"

namespace armci {

/**
 * One mutex at some rank: mutexes::on() gives it. It is a name, and may be copied; the mutex lives
 * as long as its mutexes. Waiters are served in order of arrival; a mutex is held by a process
 * until one of its threads unlocks it, and is not recursive. Stores to the mutex's rank made before
 * unlock() are seen by the next holder; stores to other ranks need a fence before it. Scope:
 * one-sided. Threads: any. Errors (no such mutex, unlock without holding it): end the job.
 */
class mutex {
public:
	/** Waits until the mutex is held. */
	void lock() const { ARMCIX_Lock_hdl(batch_, number_, rank_); }
	/** Whether it is now held; never waits for a holder. */
	bool try_lock() const { return ARMCIX_Trylock_hdl(batch_, number_, rank_) == 0; }
	/** Gives it up. */
	void unlock() const { ARMCIX_Unlock_hdl(batch_, number_, rank_); }

private:
	friend class mutexes;
	mutex(armcix_mutex_hdl_t batch, int rank, int number) noexcept
		: batch_(batch), rank_(rank), number_(number)
	{
	}

	armcix_mutex_hdl_t batch_;
	int rank_, number_;
};

/**
 * A set of mutexes, some at every rank; several sets may exist. Can be moved, not copied. The
 * constructors are collective, and so is the destructor: all members construct and destroy in the
 * same order, with all mutexes unlocked. Left by an exception it does nothing; finalize ends the
 * set. Threads: one for these, any for the rest.
 */
class mutexes {
public:
	/** @param n [in] how many the caller hosts; may differ. Scope: collective(world). Errors:
	 * throws error on every rank. */
	explicit mutexes(int n) : mutexes(n, group::world()) {}

	/** As mutexes(n), among the members of a group, which lives longer. Scope:
	 * collective(members). */
	mutexes(int n, const group &members)
		: batch_(ARMCIX_Create_mutexes_hdl(n, members.native()))
	{
		if (batch_ == nullptr)
			detail::refuse("ARMCIX_Create_mutexes_hdl", n < 0 ? FAIL3 : FAIL6,
				"argument count, " + std::to_string(n) + ": " +
					detail::meaning(n < 0 ? FAIL3 : FAIL6) +
					", at this rank or another");
	}

	mutexes(mutexes &&other) noexcept : batch_(std::exchange(other.batch_, nullptr)) {}
	mutexes &operator=(mutexes &&other) noexcept
	{
		if (this != &other) {
			settle();
			batch_ = std::exchange(other.batch_, nullptr);
		}
		return *this;
	}
	~mutexes() { settle(); }

	/** A mutex. @param rank [in] of the world, that hosts it. @param number [in] from 0, below
	 * what it hosts. Scope: local. */
	mutex on(int rank, int number = 0) const noexcept { return mutex(batch_, rank, number); }

private:
	void settle() noexcept
	{
		if (batch_ != nullptr && !watch_.unwinding() && ARMCI_Initialized() != 0)
			ARMCIX_Destroy_mutexes_hdl(batch_);
		batch_ = nullptr;
	}

	armcix_mutex_hdl_t batch_;
	detail::scope_watch watch_;
};

} // namespace armci

#endif
