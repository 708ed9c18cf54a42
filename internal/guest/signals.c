// SPDX-License-Identifier: BSD-3-Clause
// Keeps the application's signals off Go's stacks. A goroutine runs on a stack of a few KiB: a
// handler that was installed without SA_ONSTACK and is delivered there overwrites Go's memory. Two
// kinds of threads run goroutines:
// - Go's own. They block the application's signals.
// - Threads of the application that have called the library. They get an alternate stack of a
//   handler's usual size, and handlers get SA_ONSTACK: those that are there at its first call,
//   later ones at one of the next calls that enter Go. Their masks stay as the application has set
//   them.
// Go sends no signal to any thread: it is linked with asyncpreemptoff=1, and its table of signals
// is changed so that it leaves SIGURG, SIGCHLD and SIGPROF alone (sigtable, cmake/go_build.cmake).
// The linker puts two functions here in the place of others (LDFLAGS in doc.go): the one that
// creates Go's threads, and the one that begins every call from C into Go.
#define _GNU_SOURCE
#include "crash.h"
#include "monitor.h"
#include "procs.h"
#include "signals.h"
#include "space.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TLS _Thread_local __attribute__((tls_model("initial-exec")))

// handlers are checked at one call in 16, at most every 20 ms
enum { CHECK_CALLS = 16, CHECK_MS = 20 };
// so often Go tries to create a thread before it ends the process
enum { GO_TRIES = 20 };
enum { STACK = 256 << 10 };               // of a thread of the application; Go would give it 32 KiB

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;
// mask of the application: of the first thread that has entered Go
static _Atomic uint64_t application;
// a thread of this library, which runs no function of the application
static TLS bool ours;
static TLS bool entered;             // the thread is prepared for Go
static TLS unsigned calls;           // into Go
// threads that could not be created since the last one that could
static TLS int failures;

static uint64_t bit(int sig) { return (uint64_t)1 << (sig - 1); }

// Faults, and what the C library uses: signals whose masks are not for us to change.
static uint64_t needed(void)
{
	return bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) |
		bit(SIGABRT) | bit(SIGSYS) | bit(SIGSTKFLT) | bit(32) | bit(33) | bit(34);
}

static sigset_t set_of(uint64_t mask)
{
	sigset_t set;
	sigemptyset(&set);
	for (int sig = 1; sig <= 64; sig++)
		if (mask & bit(sig))
			sigaddset(&set, sig);
	return set;
}

static uint64_t change_mask(int how, uint64_t mask)
{
	sigset_t set = set_of(mask), was;
	uint64_t before = 0;
	pthread_sigmask(how, &set, &was);
	for (int sig = 1; sig <= 64; sig++)
		if (sigismember(&was, sig) == 1)
			before |= bit(sig);
	return before;
}

static void drop_stack(void *p)
{
	stack_t none = {.ss_flags = SS_DISABLE};
	sigaltstack(&none, NULL);
	munmap(p, STACK);
}

// Go has installed its handlers when it starts its first thread.
static void begin(void)
{
	crash_begin();
	pthread_key_create(&stack_key, drop_stack);
	procs_begin();
}

struct start {
	void *(*run)(void *);
	void *arg;
	int number; // in the order of creation
};

static void *run_thread(void *arg)
{
	struct start s = *(struct start *)arg;
	free(arg);
	ours = entered = true;
	monitor_begin(s.number);
	return s.run(s.arg);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
	void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
	void *arg);

// Creates a thread of this library, which blocks the application's signals from its beginning.
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
	void *arg)
{
	static _Atomic int created;
	struct start *s = malloc(sizeof *s);
	if (!s)
		return EAGAIN;
	*s = (struct start){run, arg, atomic_fetch_add(&created, 1)};
	pthread_once(&once, begin);
	uint64_t was = change_mask(SIG_BLOCK, ~needed());
	int err = __real_pthread_create(thread, attr, run_thread, s);
	change_mask(SIG_SETMASK, was);
	if (err != 0) {
		free(s);
		atomic_fetch_sub(&created, 1); // it is tried again
	}
	failures = err == EAGAIN ? failures + 1 : 0;
	if (failures == GO_TRIES)
		space_no_thread(err);
	return err;
}

static void give_stack(void)
{
	stack_t s;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (sigaltstack(NULL, &s) != 0 || !(s.ss_flags & SS_DISABLE))
		return; // the application's own
	void *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return; // Go's will do
	mprotect(p, page, PROT_NONE); // a handler that needs more ends in a fault
	s = (stack_t){.ss_sp = (char *)p + page, .ss_size = STACK - page};
	if (sigaltstack(&s, NULL) != 0 || pthread_setspecific(stack_key, p) != 0)
		drop_stack(p);
}

static bool same(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_flags == b->sa_flags && a->sa_sigaction == b->sa_sigaction;
}

static void check_handlers(void)
{
	for (int sig = 1; sig <= 64; sig++) {
		struct sigaction a, was;
		if (sigaction(sig, NULL, &a) != 0 || (a.sa_flags & SA_ONSTACK))
			continue;
		if (!(a.sa_flags & SA_SIGINFO) &&
			(a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN))
			continue;
		struct sigaction b = a;
		b.sa_flags |= SA_ONSTACK;
		if (sigaction(sig, &b, &was) == 0 && !same(&was, &a))
			sigaction(sig, &was, NULL); // changed meanwhile: the next check looks at it
	}
}

static void check_sometimes(void)
{
	static _Atomic int64_t next;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	int64_t now = t.tv_sec * (int64_t)1000 + t.tv_nsec / 1000000;
	if (now >= atomic_load_explicit(&next, memory_order_relaxed)) {
		atomic_store_explicit(&next, now + CHECK_MS, memory_order_relaxed);
		check_handlers();
	}
}

static __attribute__((noinline, cold)) void enter_first(void)
{
	static _Atomic int known; // not bool: riscv64 has no exchange of one byte without libatomic
	uint64_t mask = change_mask(SIG_BLOCK, 0);
	entered = true;
	if (!atomic_exchange(&known, 1))
		atomic_store(&application, mask);
	give_stack();
	procs_enter();
}

uintptr_t __real__cgo_wait_runtime_init_done(void);
uintptr_t __wrap__cgo_wait_runtime_init_done(void);

// Begins every call into Go, on a thread of the application, or on one of ours in a function of the
// application.
uintptr_t __wrap__cgo_wait_runtime_init_done(void)
{
	uintptr_t context = __real__cgo_wait_runtime_init_done();
	if (__builtin_expect(!entered, 0))
		enter_first();
	if (calls++ % CHECK_CALLS == 0)
		check_sometimes();
	return context;
}

bool signals_lend(sigset_t *mask)
{
	if (!ours)
		return false;
	ours = false;
	sigset_t theirs = set_of(atomic_load(&application) & ~needed());
	pthread_sigmask(SIG_SETMASK, &theirs, mask);
	return true;
}

void signals_take_back(const sigset_t *mask)
{
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	ours = true;
}
