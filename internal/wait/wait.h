// SPDX-License-Identifier: BSD-3-Clause
// How a thread waits: it looks, yields its core, then sleeps. The policy decides how long it does
// which (policy.c); look.c carries it out for a condition in memory, sleep.c sleeps and wakes,
// cpu.c knows about cores. All times are nanoseconds. Nothing here knows what is waited for.
#ifndef ARMCI_WAIT_H
#define ARMCI_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../kernel/cpu.h"

/* cores where a program computes ------------------------------------------------------------- */
enum {
	WAIT_LOST_SLICE = 500000,       // a yield that takes longer was to a thread that computes
	WAIT_FIRST_SPELL = 2000000,     // no yields for so long after one; twice as long each time
	WAIT_LONGEST_SPELL = 250000000, // that the thread still computes
	WAIT_CALM = 8000000,            // a spell ends earlier after so long without a lost slice
	WAIT_CALM_WAITS = 16,           // and so many waits for a rank of this core meanwhile
};

// A spell is a time in which no yield is tried, since a program computes on the core: a yield would
// cost one of its time slices, while a thread that sleeps may run as soon as it is woken. Threads
// share it without a lock: a lost update is as good as one that came a little earlier.
struct wait_crowd {
	_Atomic uint64_t length, end; // of the last spell; when it ends
	_Atomic uint64_t calm;        // when a slice was last lost, or a spell began
	_Atomic uint32_t waits;       // short waits for a rank of this core since then
};
// Records how long a yield took that ended at `now`. True: it has cost a time slice.
bool wait_crowd_yielded(struct wait_crowd *c, uint64_t took, uint64_t now);
// Records how long a wait for a rank on the caller's own core took.
void wait_crowd_waited(struct wait_crowd *c, uint64_t took, uint64_t now);
static inline bool wait_crowded(const struct wait_crowd *c, uint64_t now)
{
	return now < atomic_load_explicit(&c->end, memory_order_relaxed);
}

/* policy ------------------------------------------------------------------------------------- */
enum {
	WAIT_LEAST_WAKE = 10000,    // bounds of what a wake-up is believed to cost
	WAIT_MOST_WAKE = 100000,
	WAIT_USUAL_WAKE = 30000,    // where it cannot be measured
	WAIT_QUICK = 500,           // what the looks before the first reading of the clock take
	WAIT_LEAST_PATIENCE = 500,  // a wait looks for so long, however vain that was
	WAIT_LEAST_FAR = 2000,      // the same of what another node may send: devices store soon
	WAIT_CROWDED_SPIN = 300,    // where waiters outnumber cores they yield after so long
	WAIT_ANY_SPIN = 1000000,    // where they do not, patience is the only bound
	WAIT_LEAST_OWN_YIELD = 600, // bounds of a yield that has run no other thread
	WAIT_MOST_OWN_YIELD = 2000,
	WAIT_SHARED = 1000000,      // longest time in yields that do run others
	WAIT_SHARED_CORE = 200000,  // time in yields where the awaited thread may need this core
	WAIT_LEAST_YIELDS = 2,      // before a sleep
};

// The policy of waits of one kind, shared by the threads of a process without a lock.
struct wait_policy {
	_Atomic uint64_t patience; // how long the next wait looks, in all, before it sleeps
	_Atomic uint64_t wake;     // what sleeping and being woken costs, as sleeps show
	uint64_t spin;             // longest time of looking before the first yield
	uint64_t own_yield;        // a yield that takes longer has run another thread
	uint32_t quick;            // looks between two readings of the clock
	uint32_t quick_time;       // what they take; 0: wake is not corrected, either
	struct wait_crowd crowd;
};
// Where waiters outnumber cores spin is WAIT_CROWDED_SPIN, else WAIT_ANY_SPIN. One look is made
// before the first reading of the clock until wait_policy_tune says how long looks and yields take
// here.
void wait_policy_open(struct wait_policy *p, uint64_t wake, uint64_t spin);
void wait_policy_tune(struct wait_policy *p, uint32_t quick, uint64_t own_yield);

enum wait_next {
	WAIT_LOOK,  // look, then call wait_looked
	WAIT_YIELD, // yield the core, then call wait_yielded
	WAIT_SLEEP, // sleep until woken, then call wait_slept
};
enum wait_place { // where the awaited rank was last seen
	WAIT_ELSEWHERE, // or it is not known
	WAIT_BESIDE,    // on the core of the waiter: looking keeps it from running
	WAIT_FARAWAY,   // on another node, perhaps; its server may share this core
};

// One wait. wait_begin starts it; then wait_next says what to do until the condition is met; then
// wait_done adapts the policy.
struct wait {
	uint64_t begin, now;
	uint64_t shared;   // time in yields that have run other threads
	uint32_t yields;
	enum wait_place place;
	bool ran_other; // the last yield has
	bool slept;
};
void wait_begin(struct wait *w, enum wait_place place, uint64_t now);
enum wait_next wait_next(const struct wait_policy *p, const struct wait *w);
void wait_looked(struct wait *w, uint64_t now);
void wait_yielded(struct wait_policy *p, struct wait *w, uint64_t now);
// rung: when the thread that woke this one began to; 0: not known.
void wait_slept(struct wait_policy *p, struct wait *w, uint64_t now, uint64_t rung);
void wait_done(struct wait_policy *p, const struct wait *w);
// The longest patience. A peer may be just being woken, which takes as long as a wake-up: a waiter
// that looks no longer than that misses it by a hair, sleeps, and the peer misses it in turn, for
// good.
static inline uint64_t wait_full(const struct wait_policy *p)
{
	uint64_t wake = atomic_load_explicit(&p->wake, memory_order_relaxed);
	return wake + wake / 5;
}
// Ends a wait that was met before the clock was read.
static inline void wait_met(struct wait_policy *p)
{
	uint64_t full = wait_full(p);
	if (atomic_load_explicit(&p->patience, memory_order_relaxed) != full)
		atomic_store_explicit(&p->patience, full, memory_order_relaxed);
}

// Looks a few times for a condition, an expression, before a wait_look, where even a call counts.
#define WAIT_SOON(p, condition)                                    \
	({                                                         \
		bool met_ = false;                                 \
		for (uint32_t i_ = 0; i_ < 8 && i_ < (p)->quick && !met_; i_++) { \
			met_ = (condition);                        \
			if (!met_)                                 \
				cpu_relax();                       \
		}                                                  \
		if (met_)                                          \
			wait_met(p);                               \
		met_;                                              \
	})

/* waiting for a condition in memory ----------------------------------------------------------- */
uint64_t wait_clock(void); // only goes forward
typedef bool (*wait_cond)(void *arg);
// Looks until cond is true, for WAIT_QUICK about, without reading the clock.
bool wait_quick(const struct wait_policy *p, wait_cond cond, void *arg);
// Looks and yields until cond is true, or the policy says to sleep: then false. *w is the wait: the
// caller sleeps, calls wait_slept, and wait_done when cond is true.
bool wait_look(struct wait_policy *p, struct wait *w, enum wait_place place, wait_cond cond,
	void *arg);
// Passes some time before the caller looks again, at most `pauses` pauses of the processor. False:
// the caller should sleep instead.
bool wait_pause(struct wait_policy *p, struct wait *w, unsigned pauses);

/* sleeping and waking ------------------------------------------------------------------------- */
// Sleeps while *word is `seen`, for so many milliseconds at most.
void wait_sleep(_Atomic uint32_t *word, uint32_t seen, unsigned millis);
void wait_wake(_Atomic uint32_t *word, int threads);
// Sleeps until something happens in an epoll, for so many milliseconds at most.
void wait_sleep_in(int epoll, unsigned millis);
// What a thread does now and then while it sleeps in wait_sleep; NULL: nothing. It lets another
// library of the program go on with its work, an MPI: a message that this rank has begun may be
// what the peer waits for that this rank waits for.
extern _Thread_local void (*wait_idle)(void) __attribute__((tls_model("initial-exec")));

/* cores --------------------------------------------------------------------------------------- */
enum { WAIT_CPUS = 1024, WAIT_CPU_WORDS = WAIT_CPUS / 64 }; // as many as the kernel's CPU set has
// The CPU that the caller runs on, -1 if that is not known. It costs no system call where the
// kernel keeps it in the thread's memory (restartable sequences) or maps code that tells it.
int wait_cpu(void);
// Moves the calling thread to a CPU of its mask that is neither its own nor in `avoid`; the mask
// stays as it was. False: there is none.
bool wait_move(const uint64_t avoid[WAIT_CPU_WORDS]);

/* what this machine's waits cost -------------------------------------------------------------- */
uint64_t wait_measure_wake(void); // 0: it cannot be measured. Takes a millisecond at most
uint32_t wait_measure_quick(void); // looks that take WAIT_QUICK, about
uint64_t wait_measure_yield(void); // of what length a yield has run another thread

#endif
