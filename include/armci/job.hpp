/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/job.hpp: the program as part of a job: start and end, own rank, number of ranks, nodes. It
 * must not hold what moves data.
 */
#ifndef ARMCI_JOB_HPP_
#define ARMCI_JOB_HPP_

#include "error.hpp"

namespace armci {

/** Thread levels of MPI, by MPI's numbers. All functions here allow what their thread rule says
 * under any of them. */
enum class thread_level { single = 0, funneled = 1, serialized = 2, multiple = 3 };

/**
 * ARMCI runs while an object of this class lives; declare it first in main. The constructors are
 * collective over the job and throw error. So is the destructor: it completes all operations and
 * waits for the other ranks. Left by an exception, a rank does not wait for others, which may never
 * come: the destructor then does nothing. Let main return a nonzero status or call abort(), and the
 * launcher ends the other ranks. Threads: one.
 */
class job {
public:
	/** The whole program: starts MPI if it is part of the program and not running; the
	 *  destructor ends MPI in any case. Without an MPI it is needed, too. @param argc,
	 *  argv [in,out] as of main. */
	job(int &argc, char **&argv) : whole_(true)
	{
		armci_msg_init(&argc, &argv);
		detail::check(ARMCI_Init(), "ARMCI_Init");
	}

	/** ARMCI alone: the program starts and ends MPI itself, or has none. */
	job() { detail::check(ARMCI_Init(), "ARMCI_Init"); }

	/** As job(), and if MPI runs with less than this level the job ends with an error.
	 * @param level [in] wanted. */
	explicit job(thread_level level)
	{
		detail::check(ARMCI_Init_thread(static_cast<int>(level)), "ARMCI_Init_thread");
	}

#ifdef ARMCI_MPI_COMM_
	/** As job(), over the ranks of a communicator, collective over it. @param comm [in]
	 * duplicated; may be freed. */
	explicit job(ARMCI_MPI_COMM_ comm, thread_level level = thread_level::single)
	{
		detail::check(ARMCI_Init_thread_comm(static_cast<int>(level), comm),
			"ARMCI_Init_thread_comm");
	}
#endif

	job(const job &) = delete;
	job &operator=(const job &) = delete;

	~job()
	{
		if (watch_.unwinding())
			return;
		ARMCI_Finalize();
		if (whole_)
			armci_msg_finalize();
	}

private:
	detail::scope_watch watch_;
	bool whole_ = false;
};

/** Own rank, 0 <= rank() < size(). Valid while a job lives. Scope: local. Threads: any. */
inline int rank() { return armci_msg_me(); }

/** Number of ranks. Valid while a job lives. Scope: local. Threads: any. */
inline int size() { return armci_msg_nproc(); }

/** Whether a rank shares memory with the caller, so that global_ptr::local() is not null. False for
 *  a rank out of range. Scope: local. Threads: any. */
inline bool same_node(int rank) { return ARMCI_Same_node(rank) != 0; }

/* Where the ranks of a node are not neighbours (armcirun -map cyclic), each rank counts as a node
 * in the next three; same_node tells the truth anyway. */

/** Number of nodes. Scope: local. Threads: any. */
inline int node_count() { return armci_domain_count(ARMCI_DOMAIN_SMP); }

/** Node of a rank, from 0. Scope: local. Threads: any. Errors: throws error for a rank out of
 * range. */
inline int node_of(int rank)
{
	const int node = armci_domain_id(ARMCI_DOMAIN_SMP, rank);
	if (node < 0)
		detail::fail("armci_domain_id", node, "glob_proc_id", nullptr, 0, rank);
	return node;
}

/** Number of ranks on a node. Scope: local. Threads: any. Errors: throws error for a node out of
 * range. */
inline int node_size(int node)
{
	const int ranks = armci_domain_nprocs(ARMCI_DOMAIN_SMP, node);
	if (node < 0 || ranks < 0)
		detail::refuse("armci_domain_nprocs", FAIL5,
			"argument id, node " + std::to_string(node) + ": out of range");
	return ranks;
}

/** Ends every rank of the job with a line on standard error. @param text [in] printed.
 *  @param status [in] exit status, low 8 bits. Scope: one-sided, at any time. Threads: any. */
[[noreturn]] inline void abort(const char *text, int status = 1)
{
	ARMCI_Error(text, status);
	std::terminate(); // not reached
}

} // namespace armci

#endif
