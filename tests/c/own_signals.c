// SPDX-License-Identifier: BSD-3-Clause
// own_signals.c - a program's own handlers of signals that the Go runtime uses or changes: the
// program gets every signal that it has sent, in its own threads, and no other. Handlers are
// installed late, one after the other, by two threads that call ARMCI, with and without SA_ONSTACK,
// while Go's memory is collected as often as possible (GOGC=1), which made the runtime send SIGURG
// to all threads.
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1024, ROUNDS = 2000, MANY = 64, CHILDREN = 10 };

static const int sigs[] = {SIGURG, SIGPROF, SIGSEGV, SIGCHLD, SIGUSR1, SIGALRM};
enum { SIGS = sizeof sigs / sizeof sigs[0] };

static void **base;
static _Atomic int count[65], sent[65], strange; // strange: in a thread that is not the program's
static pid_t own[3];

static pid_t thread_number(void) { return (pid_t)syscall(SYS_gettid); }

static void handler(int sig)
{
	pid_t here = thread_number();
	count[sig]++;
	strange += here != own[0] && here != own[1] && here != own[2];
}

// Nothing of the library is seen by a program that asks. (MPICH has a handler of SIGUSR1.)
static void check_untouched(void)
{
	static const int plain[] = {SIGURG, SIGPROF, SIGCHLD, SIGALRM};
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		struct sigaction a;
		CHECK_OK(sigaction(plain[i], NULL, &a));
		CHECK(a.sa_handler == SIG_DFL);
	}
	raise(SIGURG); // ignored by default
}

// Sends a signal to the calling thread, which handles it before this function returns.
static void send_myself(int sig)
{
	sent[sig]++;
	CHECK_OK(pthread_kill(pthread_self(), sig));
}

// Calls that allocate memory of Go, and transfers.
static void calls(int part)
{
	int peer = (me + part + 1) % np;
	double *at = (double *)base[peer] + (2 * me + part) * N, out[N], in[N];
	armci_hdl_t h[8];
	for (int i = 0; i < N; i++)
		out[i] = me + i;
	CHECK_OK(ARMCI_Put(out, at, sizeof out, peer));
	CHECK_OK(ARMCI_Get(at, in, sizeof in, peer));
	CHECK_MEM(in, out, sizeof in);
	for (int i = 0; i < 8; i++) {
		ARMCI_INIT_HANDLE(&h[i]);
		CHECK_OK(ARMCI_NbPut(out, at, sizeof out, peer, &h[i]));
	}
	for (int i = 0; i < 8; i++)
		CHECK_OK(ARMCI_Wait(&h[i]));
	CHECK_OK(ARMCI_Free_local(ARMCI_Malloc_local(64)));
}

static void *second_thread(void *arg)
{
	(void)arg;
	own[1] = thread_number();
	for (int round = 0; round < ROUNDS; round++) {
		if (round == ROUNDS / 4) // without SA_ONSTACK
			CHECK(signal(SIGUSR1, handler) != SIG_ERR);
		if (round > ROUNDS / 4)
			send_myself(SIGUSR1);
		calls(1);
	}
	return NULL;
}

// A signal to the process waits for the handler of the one before, since two that wait are one.
static void *sender(void *arg)
{
	(void)arg;
	own[2] = thread_number();
	for (int i = 0; i < MANY; i++) {
		int before = count[SIGALRM];
		sent[SIGALRM]++;
		CHECK_OK(kill(getpid(), SIGALRM));
		while (count[SIGALRM] == before)
			usleep(50);
	}
	return NULL;
}

static void have_children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		int before = count[SIGCHLD];
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		sent[SIGCHLD]++;
		while (waitpid(pid, NULL, 0) < 0)
			;
		while (count[SIGCHLD] == before)
			usleep(50);
	}
}

static void install(int sig, int flags)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
	CHECK_OK(sigaction(sig, &a, NULL));
}

int main(int argc, char **argv)
{
	pthread_t second, third;
	check_untouched();
	check_begin(&argc, &argv);
	if (!getenv("OMPI_COMM_WORLD_RANK"))
		check_untouched();
	own[0] = thread_number();
	base = check_malloc((armci_size_t)(2 * np * N) * (armci_size_t)sizeof(double));
	ARMCI_Barrier();
	CHECK_OK(pthread_create(&second, NULL, second_thread, NULL));
	for (int round = 0; round < ROUNDS; round++) {
		if (round % (ROUNDS / 8) == 10 && round * 8 / ROUNDS < 4)
			install(sigs[round * 8 / ROUNDS],
				round & 1 ? SA_ONSTACK | SA_RESTART : SA_RESTART);
		for (int i = 0; i < 4 && i * (ROUNDS / 8) + 10 <= round; i++)
			send_myself(sigs[i]);
		calls(0);
	}
	install(SIGALRM, SA_ONSTACK | SA_RESTART);
	CHECK_OK(pthread_create(&third, NULL, sender, NULL));
	CHECK_OK(pthread_join(third, NULL));
	CHECK_OK(pthread_join(second, NULL));
	have_children();
	ARMCI_Barrier();
	for (int i = 0; i < SIGS; i++)
		CHECK_INT(count[sigs[i]], sent[sigs[i]]);
	CHECK(sent[SIGURG] > ROUNDS / 2 && sent[SIGUSR1] > ROUNDS / 2);
	// an MPI has threads of its own, which leave signals unblocked
	if (!dlsym(RTLD_DEFAULT, "MPI_Init"))
		CHECK_INT(strange, 0);
	check_free(base);
	return check_end("own_signals");
}
