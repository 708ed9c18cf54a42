/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci/handle.hpp: what nonblocking calls are waited for by. Destructors wait: that is one-sided,
 * so an exception may pass.
 */
#ifndef ARMCI_HANDLE_HPP_
#define ARMCI_HANDLE_HPP_

#include "error.hpp"

namespace armci {

/** Stands in place of a handle: completed by wait_all, wait_all(rank) and the fences. */
struct implicit_t {};
inline constexpr implicit_t implicit{};

namespace detail {

class slot;

/* What both kinds of handles have. */
class handle_base {
public:
	/** Waits until all calls on the handle are locally done: sources may be changed,
	 *  destinations read. Scope: one-sided. Threads: any, one per handle at a time. Errors:
	 *  throws error, also for calls that an aggregate collected. */
	void wait()
	{
		open_ = false;
		check(ARMCI_Wait(&hdl_), "ARMCI_Wait");
	}

	/** Whether all calls on the handle are locally done, without waiting. Scope: local.
	 *  Threads: any, one per handle at a time. Errors: throws error. */
	bool test()
	{
		const int state = ARMCI_Test(&hdl_);
		if (state < 0)
			refuse("ARMCI_Test", state, meaning(state));
		open_ = state != 0;
		return state == 0;
	}

protected:
	handle_base() noexcept { ARMCI_INIT_HANDLE(&hdl_); }
	~handle_base() = default;
	handle_base(const handle_base &) noexcept = default;
	handle_base &operator=(const handle_base &) noexcept = default;

	/* An error has been printed: destructors do not throw. */
	void settle() noexcept
	{
		if (open_)
			ARMCI_Wait(&hdl_);
		open_ = false;
	}

	friend class slot;
	armci_hdl_t hdl_;
	bool open_ = false;
};

/* The last argument of nonblocking calls: a handle, an aggregate, or `implicit`. */
class slot {
public:
	slot(handle_base &handle) noexcept : hdl_(&handle.hdl_) { handle.open_ = true; }
	slot(implicit_t) noexcept {}
	operator armci_hdl_t *() const noexcept { return hdl_; }

private:
	armci_hdl_t *hdl_ = nullptr;
};

} // namespace detail

/**
 * Handle of nonblocking calls, of any kinds and to any ranks: wait() and test() mean all of them.
 * Can be moved, not copied. The destructor waits, so a handle that is thrown away makes the call a
 * blocking one. Threads: any, one at a time.
 */
class handle : public detail::handle_base {
public:
	handle() noexcept = default;
	handle(handle &&other) noexcept : handle_base(other) { other.forget(); }
	handle &operator=(handle &&other) noexcept
	{
		if (this != &other) {
			settle();
			handle_base::operator=(other);
			other.forget();
		}
		return *this;
	}
	~handle() { settle(); }

private:
	void forget() noexcept
	{
		ARMCI_INIT_HANDLE(&hdl_);
		open_ = false;
	}
};

/**
 * A handle that collects small puts, or small gets, to one rank and sends them together when it is
 * waited for; sources stay untouched until then. It stays where it is: the library knows it by its
 * address. After wait() it collects again. The constructor is local; the destructor waits. Threads:
 * any, one at a time.
 */
class aggregate : public detail::handle_base {
public:
	aggregate() { ARMCI_SET_AGGREGATE_HANDLE(&hdl_); }
	aggregate(const aggregate &) = delete;
	aggregate &operator=(const aggregate &) = delete;
	~aggregate()
	{
		if (ARMCI_Initialized() == 0)
			return;
		settle();
		ARMCI_UNSET_AGGREGATE_HANDLE(&hdl_);
	}
};

/** Waits until the caller's calls with `implicit` are locally done. Scope: one-sided. Threads: any;
 *  covers the calls of all threads. Errors: throws error. */
inline void wait_all() { detail::check(ARMCI_WaitAll(), "ARMCI_WaitAll"); }

/** wait_all for the calls to one rank. @param rank [in] target. */
inline void wait_all(int rank)
{
	detail::check(ARMCI_WaitProc(rank), "ARMCI_WaitProc", "proc", nullptr, 0, rank);
}

} // namespace armci

#endif
