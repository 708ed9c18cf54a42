// SPDX-License-Identifier: BSD-3-Clause
// The signal handler behind crash reports. It decides whose crash it is, records one of ours, lets a goroutine print
// the record, and then passes the signal on to whoever had it before, or to its default action. In the handler nothing
// is allocated and no lock is taken: system calls, the unwinder (loaded beforehand) and static memory only.
// Go's own handler stays responsible for Go code, where a fault becomes a panic (crash.go).
#define _GNU_SOURCE
#include "crash.h"

#include <errno.h>
#include <execinfo.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

struct crash_record crash;

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
// PATIENCE is seconds for Go to print: it reads debug information, on busy machines too.
enum { SIGNALS = sizeof signals / sizeof signals[0], PATIENCE = 20 };

// before: as found when the library was loaded, which is what Go's handler passes signals on to; former: as found at
// initialisation; go: Go's handler.
static struct sigaction before[SIGNALS], former[SIGNALS], go;
static int wake = -1;
static pid_t owner;
static char prefix[300] = "[?@?] ";
static _Atomic uint32_t taken, told; // one crash is reported, the first
static _Atomic uintptr_t go_fault;

// Runs before Go's part of the library is loaded, as it has a priority and Go's has none.
__attribute__((constructor(101))) static void remember(void)
{
	for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], NULL, &before[i]);
}

static bool is_function(const struct sigaction *a)
{
	return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static bool is_ours(const struct sigaction *a)
{
	return is_function(a) && crash_owner((uintptr_t)a->sa_sigaction) == CRASH_GO;
}

static void invoke(const struct sigaction *a, int sig, siginfo_t *info, void *context)
{
	if (a->sa_flags & SA_SIGINFO)
		a->sa_sigaction(sig, info, context);
	else
		a->sa_handler(sig);
}

// Did the processor raise it, or the process itself by abort?
static bool is_crash(int sig, const siginfo_t *info)
{
	return info->si_code > 0 || (sig == SIGABRT && info->si_code == SI_TKILL && info->si_pid == getpid());
}

// Passes the signal on as if this handler had never been there.
static void pass_on(int sig, siginfo_t *info, void *context)
{
	int i = 0;
	while (signals[i] != sig) i++;
	struct sigaction *next = is_ours(&former[i]) ? &before[i] : &former[i];
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
	signal(sig, SIG_DFL);
	if (info->si_code <= 0)
		raise(sig); // arrives when this handler returns; a fault simply happens again
}

static size_t copy_stack(uintptr_t sp, uintptr_t *words, size_t most)
{
	struct iovec to = {words, most * sizeof *words}, from = {(void *)sp, most * sizeof *words};
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0); // unlike a plain copy, it stops at the stack's end
	return n < 0 ? 0 : (size_t)n / sizeof *words;
}

int crash_callers(uintptr_t *words, int most)
{
	return (int)copy_stack((uintptr_t)__builtin_frame_address(0), words, (size_t)most);
}

static uintptr_t context_pc(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#else
	return (uintptr_t)u->uc_mcontext.pc;
#endif
}

static uintptr_t context_sp(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#else
	return (uintptr_t)u->uc_mcontext.sp;
#endif
}

// The frames from the crash outwards; those of this handler are left out.
static int unwind(uintptr_t *pc, int most, const ucontext_t *u)
{
	void *all[CRASH_FRAMES + 8];
	int n = backtrace(all, CRASH_FRAMES + 8), skip = 0;
	while (skip < n && (uintptr_t)all[skip] != context_pc(u)) skip++;
	if (skip == n) { // a jump to nowhere: the caller's address is on top of the stack
		pc[0] = context_pc(u);
		return copy_stack(context_sp(u), &pc[1], 1) ? 2 : 1;
	}
	n = n - skip < most ? n - skip : most;
	memcpy(pc, &all[skip], (size_t)n * sizeof *pc);
	return n;
}

// Is the library the first that is not the C library, from the crash outwards?
static bool is_inside(const uintptr_t *pc, int n)
{
	int i = 0;
	while (i < n && (crash_owner(pc[i]) == CRASH_LIBC || (i == 0 && crash_owner(pc[i]) == CRASH_NOWHERE))) i++;
	return i < n && (crash_owner(pc[i]) == CRASH_C || crash_owner(pc[i]) == CRASH_GO);
}

// Without Go: the first line and the bare frames.
static void print_bare(void)
{
	char line[400];
	int n = snprintf(line, sizeof line, "%scrashed with SIG%s at address %#lx; frames:\n", prefix,
		sigabbrev_np(crash.signal), (unsigned long)crash.address);
	if (write(STDERR_FILENO, line, (size_t)n) == n)
		backtrace_symbols_fd((void **)crash.pc, crash.frames, STDERR_FILENO);
}

static time_t seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

// Other signals that arrive meanwhile do not shorten it.
static void await_report(void)
{
	struct timespec second = {.tv_sec = 1};
	for (time_t end = seconds() + PATIENCE; seconds() < end && !atomic_load(&told);)
		syscall(SYS_futex, &told, FUTEX_WAIT_PRIVATE, 0, &second, NULL, 0);
}

void crash_told(void)
{
	atomic_store(&told, 1);
	syscall(SYS_futex, &told, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

// Wakes the goroutine that prints and waits for it.
static void print(void)
{
	uint64_t one = 1;
	if (getpid() == owner && write(wake, &one, sizeof one) == sizeof one)
		await_report();
	if (!atomic_load(&told))
		print_bare();
	crash_told();
}

// Faults of the program's own code are not even looked at: it may live on them.
static void report(int sig, const siginfo_t *info, const ucontext_t *u)
{
	uintptr_t pc[CRASH_FRAMES];
	int n = 0;
	if (!atomic_load(&taken)) {
		if (crash_owner(context_pc(u)) == CRASH_OTHER)
			return;
		n = unwind(pc, CRASH_FRAMES, u);
		if (!is_inside(pc, n))
			return;
	}
	if (atomic_exchange(&taken, 1)) {
		await_report(); // the process must not end before another thread's crash is told
		return;
	}
	crash.signal = sig;
	crash.address = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;
	crash.frames = n;
	memcpy(crash.pc, pc, (size_t)n * sizeof *pc);
	crash.words = (int)copy_stack(context_sp(u), crash.stack, CRASH_WORDS);
	print();
}

static void handler(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	const ucontext_t *u = context;
	if (crash_owner(context_pc(u)) == CRASH_GO && is_function(&go) && sig != SIGILL && sig != SIGABRT) {
		atomic_store(&go_fault, (uintptr_t)info->si_addr);
		invoke(&go, sig, info, context);
		errno = saved;
		return;
	}
	if (is_crash(sig, info))
		report(sig, info, u);
	pass_on(sig, info, context);
	errno = saved;
}

uintptr_t crash_fault(void) { return atomic_load(&go_fault); }

void crash_identify(const char *p) { snprintf(prefix, sizeof prefix, "%s", p); }

void crash_find_code(uintptr_t go_from, uintptr_t go_to);

void crash_install(int fd, uintptr_t go_from, uintptr_t go_to)
{
	void *first[1];
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	backtrace(first, 1); // loads the unwinder now
	crash_find_code(go_from, go_to);
	sigaction(SIGURG, NULL, &go); // Go has one handler for all signals, and nobody else wants this one
	if (!is_ours(&go))
		go = (struct sigaction){.sa_handler = SIG_DFL};
	owner = getpid();
	wake = fd;
	for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], NULL, &former[i]);
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
