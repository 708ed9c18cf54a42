// SPDX-License-Identifier: BSD-3-Clause
// The signal handler for crash reports. It decides whether the crash is in code of the library,
// records one that is (stack.c reads the stack), has a goroutine print the record, and then passes
// the signal on to the handler installed before, or to the default action. The handler allocates
// nothing and takes no lock: system calls, the unwinder (loaded beforehand) and static memory only.
// Go's own handler remains responsible for faults in Go code, which become panics (crash.go). It
// sees nothing else: for a signal that a process has sent it would print the stacks of all
// goroutines and exit.
#define _GNU_SOURCE
#include "stack.h"

#include <errno.h>
#include <execinfo.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct crash_record crash;

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
// GO is how many of them, the first ones, Go handles too. HEARING and PATIENCE are how many seconds
// Go may take to begin and to print: it reads debug information, perhaps on a busy machine.
enum { GO = 3, SIGNALS = sizeof signals / sizeof signals[0], HEARING = 5, PATIENCE = 20 };

// before: the handlers when the library was loaded; former: those at initialisation; go: Go's
// handler, one for all signals.
static struct sigaction before[SIGNALS], former[SIGNALS], go;
static int wake = -1;
static pid_t owner;
static char prefix[300] = "[?@?] ";
static _Atomic bool reports, identified; // crash_install was called, crash_identify was
static _Atomic uint32_t taken, heard, told; // only the first crash is reported
static _Atomic uintptr_t go_fault;

// Ends a process that cannot have alternate signal stacks, without which Go ends it without a word.
static void check_stacks(void)
{
	static const char why[] =
		"libarmci: the system call sigaltstack is refused (by a seccomp filter of the "
		"container or the batch system?); the Go runtime in this library needs it: allow "
		"it\n";
	stack_t s;
	if (sigaltstack(NULL, &s) == 0)
		return;
	if (write(STDERR_FILENO, why, sizeof why - 1) < 0)
		_exit(2);
	_exit(1);
}

// Runs before Go's constructor, since it has a priority and Go's has none.
__attribute__((constructor(101))) static void remember(void)
{
	check_stacks();
	for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], NULL, &before[i]);
}

static bool is_function(const struct sigaction *a)
{
	return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

// The handler that crash_begin installs, and the one of crash_install. Each passes on to what was
// there before it: a handler that was installed between the two (UCX has one) returns to the first.
static void handler_at_load(int sig, siginfo_t *info, void *context);
static void handler(int sig, siginfo_t *info, void *context);

static bool is_ours(const struct sigaction *a)
{
	return is_function(a) &&
		(a->sa_sigaction == handler || a->sa_sigaction == handler_at_load ||
			a->sa_sigaction == go.sa_sigaction);
}

static void invoke(const struct sigaction *a, int sig, siginfo_t *info, void *context)
{
	if (a->sa_flags & SA_SIGINFO)
		a->sa_sigaction(sig, info, context);
	else
		a->sa_handler(sig);
}

// Was the signal raised by a fault of the CPU, or by abort in this process?
static bool is_crash(int sig, const siginfo_t *info)
{
	return info->si_code > 0 ||
		(sig == SIGABRT && info->si_code == SI_TKILL && info->si_pid == getpid());
}

// Tells which other process has sent the signal that ends this one.
static void tell_sender(int sig, const siginfo_t *info)
{
	int how = info->si_code;
	bool sent = how == SI_USER || how == SI_TKILL || how == SI_QUEUE;
	if (!sent || info->si_pid == getpid() || !atomic_load(&identified))
		return;
	char line[400];
	int n = snprintf(line, sizeof line,
		"%sended by SIG%s, which process %d of user %u has sent\n", prefix,
		sigabbrev_np(sig), (int)info->si_pid, (unsigned)info->si_uid);
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) != n)
		return;
}

static int index_of(int sig)
{
	int i = 0;
	while (signals[i] != sig) i++;
	return i;
}

// Passes the signal on to the next handler as if this one were not installed.
static void pass_on(struct sigaction *next, int sig, siginfo_t *info, void *context)
{
	struct sigaction a = *next;
	if (is_function(&a)) {
		sigset_t mask = a.sa_mask;
		sigdelset(&mask, sig);
		pthread_sigmask(SIG_BLOCK, &mask, NULL);
		if (a.sa_flags & (int)SA_RESETHAND)
			*next = (struct sigaction){.sa_handler = SIG_DFL};
		if (a.sa_flags & SA_NODEFER) {
			sigemptyset(&mask);
			sigaddset(&mask, sig);
			pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
		}
		invoke(&a, sig, info, context);
		return;
	}
	if (a.sa_handler == SIG_IGN && !is_crash(sig, info))
		return;
	tell_sender(sig, info);
	signal(sig, SIG_DFL);
	if (info->si_code <= 0)
		raise(sig); // delivered when this handler returns; a fault happens again by itself
}

// Without Go: prints the first line and the addresses.
static void print_bare(void)
{
	char line[400];
	int n = snprintf(line, sizeof line, "%scrashed with SIG%s at address %#lx; frames:\n",
		prefix, sigabbrev_np(crash.signal), (unsigned long)crash.address);
	if (write(STDERR_FILENO, line, (size_t)n) == n)
		backtrace_symbols_fd((void **)crash.pc, crash.frames, STDERR_FILENO);
}

static time_t seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

// Sleeps; other signals that arrive meanwhile do not shorten it. No goroutine prints if Go's
// runtime waits for the thread that crashes: then none begins to.
static void await_report(void)
{
	struct timespec second = {.tv_sec = 1};
	time_t begin = seconds(), now = begin;
	while (!atomic_load(&told) && now - begin < (atomic_load(&heard) ? PATIENCE : HEARING)) {
		syscall(SYS_futex, &told, FUTEX_WAIT_PRIVATE, 0, &second, NULL, 0);
		now = seconds();
	}
}

void crash_heard(void) { atomic_store(&heard, 1); }

void crash_told(void)
{
	atomic_store(&told, 1);
	syscall(SYS_futex, &told, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

// Wakes the goroutine that prints, and waits for it.
static void print(void)
{
	uint64_t one = 1;
	if (getpid() == owner && write(wake, &one, sizeof one) == sizeof one)
		await_report();
	if (!atomic_load(&told))
		print_bare();
	crash_told();
}

// Go's runtime aborts the process after a fatal error, which it has printed. It may hold its own
// locks, so no goroutine could print more.
static void tell_go_ended(void)
{
	char line[400];
	int n = snprintf(line, sizeof line, "%sended by Go's runtime, for the reason above\n",
		prefix);
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) != n)
		return;
}

// Faults of the program's own code are passed on at once: the program may handle them.
static void report(int sig, const siginfo_t *info, const ucontext_t *u)
{
	uintptr_t pc[CRASH_FRAMES];
	int n = 0;
	if (sig == SIGABRT && crash_owner(crash_pc(u)) == CRASH_GO) {
		tell_go_ended();
		return;
	}
	if (!atomic_load(&taken)) {
		if (crash_owner(crash_pc(u)) == CRASH_OTHER)
			return;
		n = crash_unwind(pc, CRASH_FRAMES, u);
		if (!crash_inside(pc, n))
			return;
	}
	if (atomic_exchange(&taken, 1)) {
		// the process must not end before the crash of another thread has been reported
		await_report();
		return;
	}
	crash.signal = sig;
	crash.address = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;
	crash.frames = n;
	memcpy(crash.pc, pc, (size_t)n * sizeof *pc);
	crash.words = (int)crash_stack(crash_sp(u), crash.stack, CRASH_WORDS);
	print();
}

static struct {
	uintptr_t lo, bytes;
	int count;
	const char **whose;
} ranges;

void crash_ranges(uintptr_t lo, uintptr_t bytes, int count, const char **whose)
{
	ranges.count = 0;
	ranges.lo = lo;
	ranges.bytes = bytes;
	ranges.whose = whose;
	ranges.count = count;
}

// A dereferenced pointer to memory of another process: prints, once, the process that owns it.
static void tell_foreign(uintptr_t address)
{
	static _Atomic int said;
	uintptr_t i = ranges.count && address >= ranges.lo ? (address - ranges.lo) / ranges.bytes :
							     (uintptr_t)-1;
	if (i >= (uintptr_t)ranges.count || !ranges.whose[i] || getpid() != owner ||
		atomic_exchange(&said, 1))
		return;
	char line[1024];
	int n = snprintf(line, sizeof line, "%saddress %#lx is memory of %.600s\n", prefix,
		(unsigned long)address, ranges.whose[i]);
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) != n)
		return;
}

// Is the fault for Go's handler? In C code that passes it on to the handler of the library's
// loading.
static bool is_go_fault(int sig, const siginfo_t *info, const ucontext_t *u)
{
	if (info->si_code <= 0 || !is_function(&go) || sig == SIGILL || sig == SIGABRT)
		return false;
	return !atomic_load(&reports) || crash_owner(crash_pc(u)) == CRASH_GO;
}

static void handle(struct sigaction *next, int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	if (sig == SIGSEGV && info->si_code > 0)
		tell_foreign((uintptr_t)info->si_addr);
	const ucontext_t *u = context;
	if (is_go_fault(sig, info, u)) {
		atomic_store(&go_fault, (uintptr_t)info->si_addr);
		invoke(&go, sig, info, context);
		errno = saved;
		return;
	}
	if (atomic_load(&reports) && is_crash(sig, info))
		report(sig, info, u);
	pass_on(next, sig, info, context);
	errno = saved;
}

static void handler_at_load(int sig, siginfo_t *info, void *context)
{
	handle(&before[index_of(sig)], sig, info, context);
}

static void handler(int sig, siginfo_t *info, void *context)
{
	int i = index_of(sig);
	handle(is_ours(&former[i]) ? &before[i] : &former[i], sig, info, context);
}

uintptr_t crash_fault(void) { return atomic_load(&go_fault); }

void crash_identify(const char *p)
{
	snprintf(prefix, sizeof prefix, "%s", p);
	atomic_store(&identified, true);
}

// Puts the handler in front of Go's.
void crash_begin(void)
{
	int flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	struct sigaction a = {.sa_sigaction = handler_at_load, .sa_flags = flags};
	sigfillset(&a.sa_mask); // as Go's, which must not be interrupted
	sigaction(signals[0], NULL, &go);
	if (!is_function(&go) || go.sa_sigaction == before[0].sa_sigaction)
		go = (struct sigaction){.sa_handler = SIG_DFL}; // Go has none
	for (int i = 0; i < GO; i++) sigaction(signals[i], &a, NULL);
}

void crash_find_code(uintptr_t go_from, uintptr_t go_to);

void crash_install(int fd, uintptr_t go_from, uintptr_t go_to)
{
	void *first[1];
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	backtrace(first, 1); // loads the unwinder
	crash_find_code(go_from, go_to);
	owner = getpid();
	wake = fd;
	for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], NULL, &former[i]);
	atomic_store(&reports, true);
	for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &a, NULL);
}

void crash_end(int sig)
{
	sigset_t mask;
	signal(sig, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, sig);
	pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
	raise(sig);
	_exit(1);
}

// strong where cgosymbolizer is linked in
void __real_cgoSymbolizerInit(char *program) __attribute__((weak));
void __wrap_cgoSymbolizerInit(char *program);

// cgosymbolizer keeps the program's name where checkers of leaks do not look.
static char *kept __attribute__((used));

void __wrap_cgoSymbolizerInit(char *program)
{
	kept = program;
	__real_cgoSymbolizerInit(program);
}
