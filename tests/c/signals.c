// SPDX-License-Identifier: BSD-3-Clause
// signals.c - the application's signals and the library: handlers without SA_ONSTACK that use 12
// KiB of stack, installed before and after ARMCI_Init, for timers, a profiler's SIGPROF, SIGCHLD
// and signals to a thread, while two threads call ARMCI. No handler may run on a goroutine's stack,
// masks stay as the application has set them, and the library's own threads take none of these
// signals.
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <gpc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 64, DEEP = 12 << 10, TIDS = 8 };

static const int early[] = {SIGALRM, SIGUSR2, SIGCHLD}, late[] = {SIGPROF, SIGUSR1, SIGVTALRM};
static volatile sig_atomic_t count[64];
static volatile int stop;
static void **base;
static pid_t own[TIDS]; // threads of this program
static int owns;

static void handler(int sig)
{
	volatile char deep[DEEP];
	for (int i = 0; i < DEEP; i += 64)
		deep[i] = (char)0xa5;
	count[sig] += deep[64] != 0;
}

static void install(const int *sigs, int n)
{
	for (int i = 0; i < n; i++) {
		struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
		CHECK_OK(sigaction(sigs[i], &a, NULL));
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Calls of all kinds to a peer, with the thread's own part of its memory.
static void calls(int part, int round)
{
	int peer = (me + round) % np, stride[1] = {2 * sizeof(double)}, pack[1] = {sizeof(double)},
	    counts[2] = {sizeof(double), N / 2};
	double *at = (double *)base[peer] + (2 * me + part) * N, out[N], in[N], one = 1;
	long old, *counter = (long *)((double *)base[peer] + 2 * np * N) + part;
	armci_hdl_t h;
	for (int i = 0; i < N; i++)
		out[i] = round + i;
	CHECK_OK(ARMCI_Put(out, at, sizeof out, peer));
	CHECK_OK(ARMCI_Get(at, in, sizeof in, peer));
	CHECK_MEM(in, out, sizeof in);
	CHECK_OK(ARMCI_PutS(out, pack, at, stride, counts, 1, peer));
	CHECK_OK(ARMCI_GetS(at, stride, in, pack, counts, 1, peer));
	CHECK_MEM(in, out, sizeof in / 2);
	ARMCI_INIT_HANDLE(&h);
	CHECK_OK(ARMCI_NbPut(out, at, sizeof out, peer, &h));
	CHECK_OK(ARMCI_Wait(&h));
	CHECK_OK(ARMCI_Acc(ARMCI_ACC_DBL, &one, out, at, sizeof out, peer));
	CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, counter, 1, peer));
	ARMCI_Fence(peer);
}

static int is_blocked(int sig)
{
	sigset_t mask;
	CHECK_OK(pthread_sigmask(SIG_BLOCK, NULL, &mask));
	return sigismember(&mask, sig);
}

static void *second_thread(void *arg)
{
	own[owns++] = (pid_t)syscall(SYS_gettid);
	*(volatile int *)arg = 1;
	for (int round = 0; !stop; round++)
		calls(1, round);
	return NULL;
}

// Signals to the process and to the threads that call ARMCI.
static void *signaller(void *arg)
{
	pthread_t *threads = arg;
	own[owns++] = (pid_t)syscall(SYS_gettid);
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	CHECK_OK(ARMCI_Free_local(ARMCI_Malloc_local(64)));
	CHECK(is_blocked(SIGCHLD) && is_blocked(SIGPROF) && is_blocked(SIGALRM));
	for (int i = 0; !stop; i++) {
		struct timespec pause = {.tv_nsec = 200000};
		nanosleep(&pause, NULL);
		kill(getpid(), i & 1 ? SIGUSR1 : SIGUSR2);
		pthread_kill(threads[i & 1], i & 2 ? SIGUSR2 : i & 4 ? SIGCHLD : SIGVTALRM);
	}
	return NULL;
}

static void check_onstack(const int *sigs, int n)
{
	for (int i = 0; i < n; i++) {
		struct sigaction a;
		CHECK_OK(sigaction(sigs[i], NULL, &a));
		CHECK(a.sa_handler == handler);
		CHECK(a.sa_flags & SA_ONSTACK);
	}
}

static int is_own(pid_t tid)
{
	for (int i = 0; i < owns; i++)
		if (own[i] == tid)
			return 1;
	return 0;
}

// The signals that a thread of this process blocks; -1 if it has ended.
static int blocked(const char *tid, unsigned long long *mask)
{
	char path[64], line[256];
	int found = -1;
	snprintf(path, sizeof path, "/proc/self/task/%.20s/status", tid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "SigBlk: %llx", mask) == 1)
			found = 0;
	if (f)
		fclose(f);
	return found;
}

// A signal of a thread of the library whose mask is wrong, 0 if it is right: such threads block all
// that this program uses, and others that end or stop a program, but no faults, unless they block
// all: those do not run Go, or not yet.
static int wrong(unsigned long long mask)
{
	static const int no[] = {SIGURG, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGPROF, SIGVTALRM,
		SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGTSTP};
	static const int yes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
		if (!(mask >> (no[i] - 1) & 1))
			return no[i];
	size_t needed = 0, all = sizeof yes / sizeof yes[0];
	for (size_t i = 0; i < all; i++)
		needed += mask >> (yes[i] - 1) & 1;
	return needed == 0 || needed == all ? 0 : SIGSEGV;
}

// A thread that is just starting may not have its mask yet.
static void check_masks(void)
{
	int seen = 0;
	DIR *d = opendir("/proc/self/task");
	CHECK(d != NULL);
	for (struct dirent *e; (e = readdir(d));) {
		unsigned long long mask = 0;
		int sig = 0, here = e->d_name[0] != '.' && !is_own(atoi(e->d_name));
		for (int i = 0; here && i < 500; i++) {
			here = blocked(e->d_name, &mask) == 0;
			if (!here || (sig = wrong(mask)) == 0)
				break;
			nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		}
		if (here && sig)
			check_fail(__FILE__, __LINE__,
				"thread %s has the wrong mask %#llx for signal %d", e->d_name, mask,
				sig);
		seen += here;
	}
	closedir(d);
	CHECK(seen > 0);
}

// A procedure is the application's: it runs with the application's mask.
static int procedure(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr,
	int rhlen, int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype)
{
	int answer[2] = {is_blocked(SIGUSR1) || is_blocked(SIGCHLD) || is_blocked(SIGPROF),
		!is_blocked(SIGWINCH)};
	CHECK(to == me && rdlen == (int)sizeof answer);
	(void)from, (void)hdr, (void)hlen, (void)data, (void)dlen, (void)rhdr, (void)rhlen,
		(void)rtype;
	memcpy(rdata, answer, sizeof answer);
	*rhsize = 0;
	*rdsize = (int)sizeof answer;
	return GPC_DONE;
}

static void check_procedure(void)
{
	int f = ARMCI_Gpc_register(procedure), wrong[2] = {-1, -1};
	char head = 0, answer_head = 0;
	CHECK_OK(ARMCI_Gpc_exec(f, (me + 1) % np, &head, 1, &head, 1, &answer_head, 1, wrong,
		(int)sizeof wrong, NULL));
	CHECK_INT(wrong[0], 0);
	CHECK_INT(wrong[1], 0);
	ARMCI_Barrier();
	ARMCI_Gpc_release(f);
}

// Signals that this program waits for with sigwait come to it, though no thread has a handler for
// them.
static void check_sigwait(void)
{
	sigset_t child;
	struct timespec patience = {.tv_sec = 5};
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	CHECK_OK(pthread_sigmask(SIG_BLOCK, &child, NULL));
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	int got;
	do
		got = sigtimedwait(&child, NULL, &patience);
	while (got < 0 && errno == EINTR);
	CHECK_INT(got, SIGCHLD);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void start_timer(int which, int us)
{
	struct itimerval every = {{0, us}, {0, us}};
	CHECK_OK(setitimer(which, &every, NULL));
}

int main(int argc, char **argv)
{
	int under_mpi = getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK"), running = 0;
	sigset_t window;
	own[owns++] = getpid();
	sigemptyset(&window);
	sigaddset(&window, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &window, NULL);
	install(early, 3);
	check_begin(&argc, &argv);
	check_onstack(early, 3);
	base = check_malloc((armci_size_t)(2 * np * N + 2) * (armci_size_t)sizeof(double));
	memset((double *)base[me] + 2 * np * N, 0, 2 * sizeof(long));
	ARMCI_Barrier();
	start_timer(ITIMER_REAL, 700);
	install(late, 3);
	// Until the library has looked at handlers again, at one of 16 calls and after 20 ms, a
	// late one must not run inside it. A busy machine may leave no time for a call in these 20
	// ms, so that the calls behind them count.
	for (double begin = now(); now() < begin + 0.05;)
		CHECK_OK(ARMCI_Free_local(ARMCI_Malloc_local(64)));
	for (int i = 0; i < 32; i++)
		CHECK_OK(ARMCI_Free_local(ARMCI_Malloc_local(64)));
	check_onstack(late, 3);
	start_timer(ITIMER_PROF, 1000);

	pthread_t threads[2] = {pthread_self()}, other;
	CHECK_OK(pthread_create(&threads[1], NULL, second_thread, &running));
	while (!*(volatile int *)&running)
		sched_yield();
	CHECK_OK(pthread_create(&other, NULL, signaller, threads));
	double end = now() + check_setting("SIGNALS_SECONDS", 1.5);
	for (int round = 0; now() < end; round++)
		calls(0, round);
	// calls that enter Go, which looks at the handlers now and then
	for (int i = 0; i < 32; i++)
		CHECK_OK(ARMCI_Free_local(ARMCI_Malloc_local(64)));
	check_onstack(late, 3);
	check_procedure();
	if (under_mpi)
		check_skip("masks of threads: some are MPI's");
	else
		check_masks();
	stop = 1;
	CHECK_OK(pthread_join(threads[1], NULL));
	CHECK_OK(pthread_join(other, NULL));
	CHECK(is_blocked(SIGWINCH) && !is_blocked(SIGCHLD) && !is_blocked(SIGUSR1));
	CHECK(count[SIGALRM] > 0 && count[SIGPROF] > 0 && count[SIGUSR1] > 0 &&
		count[SIGUSR2] > 0 && count[SIGCHLD] > 0);
	if (!under_mpi)
		check_sigwait();
	start_timer(ITIMER_REAL, 0);
	start_timer(ITIMER_PROF, 0);
	ARMCI_AllFence();
	check_free(base);
	return check_end("signals");
}
