// SPDX-License-Identifier: BSD-3-Clause
// victim.c - a job that works without end in one way until it is killed from outside or one rank
// ends itself. It says in files when it is ready; run.sh does the killing and looks at what is
// left. Only what leads to the situation is checked here. Long because each way of being busy is a
// function of its own.
//
//   victim DIRECTORY WAY VICTIM     writes DIRECTORY/<rank>, its process number
#include <armcix.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "several.h"

enum { N = 1 << 17 };

static int me, np, victim;
static void **base;
static const char *directory;
static double *local;

static void die(const char *what)
{
	fprintf(stderr, "victim: %s failed\n", what);
	ARMCI_Error(what, 1);
}

static void ready(void)
{
	char name[4096], hidden[4096];
	snprintf(name, sizeof name, "%s/%d", directory, me);
	snprintf(hidden, sizeof hidden, "%s/.%d", directory, me);
	FILE *f = fopen(hidden, "w");
	if (!f || fprintf(f, "%ld\n", (long)getpid()) < 0 || fclose(f) || rename(hidden, name))
		die("writing the process number");
}

static void asleep(void)
{
	for (;;)
		pause();
}

static void ready_asleep(void)
{
	ready();
	asleep();
}

static void puts_(void)
{
	ready();
	for (int i = 0;; i++) {
		int to = i % np, bytes = i % 2 ? 8 : N * 8;
		if (ARMCI_Put(local, base[to], bytes, to) || several(local, base[to], to, i % 3))
			die("ARMCI_Put");
		if (i % 8 == 0)
			ARMCI_Fence(to);
	}
}

// More at a time for the victim than all buffers on the way hold. The memory is there before any
// rank is stopped.
enum { MUCH = 32 << 20 };
static void **large, *much;

static void make_large(void)
{
	large = malloc((size_t)np * sizeof *large);
	much = calloc(1, MUCH);
	if (!large || !much || ARMCI_Malloc(large, MUCH))
		die("ARMCI_Malloc");
}

static void flood_without_end(void)
{
	for (;;)
		if (me == victim)
			pause();
		else if (ARMCI_Put(much, large[victim], MUCH, victim))
			die("ARMCI_Put");
}

static void flood(void)
{
	make_large();
	ready();
	flood_without_end();
}

// The same, a second after the others know that the rank is ready: some connections are new by
// then.
static void late_flood(void)
{
	make_large();
	ready();
	sleep(1);
	flood_without_end();
}

// Puts whose errors are ignored: the library ends the job, and says so once.
static void careless(void)
{
	ready();
	for (int i = 0;; i++) {
		ARMCI_Put(local, base[i % np], i % 2 ? 8 : 65536, i % np);
		if (i % 8 == 0)
			ARMCI_Fence(i % np);
	}
}

// The same by nonblocking puts and gets, several of which are always open.
static void careless_requests(void)
{
	enum { OPEN = 8, MOST = 65536 };
	armci_hdl_t handle[OPEN];
	char *mine = ARMCI_Malloc_local(MOST);
	ready();
	for (int i = 0; i < OPEN; i++) ARMCI_INIT_HANDLE(&handle[i]);
	for (int i = 0;; i++) {
		armci_hdl_t *h = &handle[i % OPEN];
		int bytes = i % 3 ? 1024 : MOST;
		ARMCI_Wait(h);
		if (i % 2)
			ARMCI_NbPut(mine, base[i % np], bytes, i % np, i % 5 ? h : NULL);
		else
			ARMCI_NbGet(base[i % np], mine, bytes, i % np, i % 7 ? h : NULL);
		if (i % 16 == 0)
			ARMCI_WaitAll();
		if (i % 32 == 0)
			ARMCI_Fence(i % np);
	}
}

// The victim ends with status 0 after a moment; the others only put.
static void leave_careless(void)
{
	if (me != victim)
		careless();
	ready();
	usleep(300000);
	exit(0);
}

// The victim makes a mistake that ends the job while the others put.
static void error_careless(void)
{
	if (me != victim)
		careless();
	ready();
	usleep(300000);
	ARMCI_Error("the victim gives up", 5);
}

// The victim dereferences a pointer of the last rank that is not on its node.
static void dereference(void)
{
	int other = me;
	for (int r = 0; r < np; r++)
		if (!ARMCI_Same_node(r))
			other = r;
	ready();
	if (me != victim)
		asleep();
	printf("read %ld\n", *(volatile long *)base[other]);
	die("what should have crashed");
}

// The same without keeping a slow machine from everything else.
static void trickle(void)
{
	ready();
	for (int i = 0;; i++) {
		int to = i % np;
		if (ARMCI_Put(local, base[to], i / np % 2 ? 8 : 16384, to))
			die("ARMCI_Put");
		if (i % 8 == 0)
			ARMCI_Fence(to);
		usleep(10000);
	}
}

static void accumulates(void)
{
	double one = 1;
	ready();
	for (;;)
		if (ARMCI_Acc(ARMCI_ACC_DBL, &one, local, base[0], N * 8, 0))
			die("ARMCI_Acc");
}

// The victim sleeps with the lock in its hands, the others wait for it.
static void lock(void)
{
	if (ARMCI_Create_mutexes(1))
		die("ARMCI_Create_mutexes");
	if (me == victim)
		ARMCI_Lock(0, 1);
	ARMCI_Barrier();
	ready();
	if (me == victim)
		asleep();
	ARMCI_Lock(0, 1);
	die("the lock of a sleeping rank came free, which");
}

// All wait in a barrier for the rank after the victim, which is outside the library.
static void barrier(void)
{
	ready();
	if (me == (victim + 1) % np)
		asleep();
	ARMCI_Barrier();
}

// The victim itself is the late one.
static void late(void)
{
	ready();
	if (me == victim)
		asleep();
	ARMCI_Barrier();
}

static void bcast(void)
{
	ready();
	for (int i = 0;; i++)
		armci_msg_bcast(local, i % 2 ? 64 : N * 8, i % np);
}

static void receive(void)
{
	ready();
	if (me == victim)
		asleep();
	armci_msg_rcv(1, local, 8, NULL, victim);
}

static int never_met(void *arg)
{
	(void)arg;
	return 0;
}

// All but the victim sleep until a condition is met, which it never is.
static void until(void)
{
	ready();
	if (me == victim)
		asleep();
	ARMCIX_Wait_until(never_met, NULL, -1);
	die("a condition that is not met");
}

// All but the victim sleep until the victim raises an event, which it does not.
static void event(void)
{
	ready();
	if (me == victim)
		asleep();
	ARMCIX_Event_wait(base[me], 0, -1);
	die("an event that nobody has raised");
}

static void counter(void)
{
	long old;
	ready();
	for (;;)
		if (ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, base[0], 1, 0))
			die("ARMCI_Rmw");
}

static void allocate(void)
{
	void **other = malloc((size_t)np * sizeof *other);
	ready();
	for (;;) {
		if (ARMCI_Malloc(other, 1 << 20))
			die("ARMCI_Malloc");
		memset(other[me], 1, 1 << 20);
		if (ARMCI_Free(other[me]))
			die("ARMCI_Free");
	}
}

// The victim ends by itself after a moment, without ARMCI_Finalize; the others wait for it.
static void leave(int code)
{
	ready();
	if (me == victim) {
		usleep(300000);
		exit(code);
	}
	ARMCI_Barrier();
}

static void *exit_soon(void *unused)
{
	(void)unused;
	usleep(100000);
	exit(0);
}

// A second thread of the victim ends the process while the first one puts, as all ranks do.
static void thread_leaves(void)
{
	pthread_t thread;
	if (me == victim && pthread_create(&thread, NULL, exit_soon, NULL))
		die("pthread_create");
	puts_();
}

static void leave_0(void) { leave(0); }
static void leave_3(void) { leave(3); }

// The victim ends without a word of the library's: by _exit, whatever the status, and by abort.
static void leave_at_once(void)
{
	if (me != victim)
		careless();
	ready();
	usleep(300000);
	_exit(0);
}

static void leave_by_abort(void)
{
	if (me != victim)
		careless();
	ready();
	usleep(300000);
	abort();
}

// No rank finalizes, all simply end.
static void all_leave(void)
{
	ready();
	ARMCI_Barrier();
	exit(0);
}

// The victim finalises while the others wait for something it would have to do.
static void finalize(void)
{
	ready();
	ARMCI_Finalize();
	armci_msg_finalize();
	exit(0);
}

static void last_barrier(void)
{
	if (me == victim)
		finalize();
	ready();
	for (;;) ARMCI_Barrier();
}

static void last_receive(void)
{
	if (me == victim)
		finalize();
	ready();
	armci_msg_rcv(1, local, 8, NULL, victim);
}

static void last_any(void)
{
	if (me != victim)
		finalize();
	ready();
	armci_msg_rcvany(1, local, 8, NULL);
}

static void last_event(void)
{
	if (me != victim)
		finalize();
	ready();
	ARMCIX_Event_wait(base[me], 0, -1);
}

static void last_until(void)
{
	if (me != victim)
		finalize();
	ready();
	ARMCIX_Wait_until(never_met, NULL, -1);
}

static void last_lock(void)
{
	if (ARMCI_Create_mutexes(1))
		die("ARMCI_Create_mutexes");
	if (me == victim)
		ARMCI_Lock(0, 1);
	ARMCI_Barrier();
	if (me == victim)
		finalize();
	ready();
	ARMCI_Lock(0, 1);
}

#include "around.h"

static const struct way {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"puts", puts_},
	{"flood", flood},
	{"late-flood", late_flood},
	{"trickle", trickle},
	{"accumulates", accumulates},
	{"lock", lock},
	{"barrier", barrier},
	{"late", late},
	{"bcast", bcast},
	{"receive", receive},
	{"counter", counter},
	{"malloc", allocate},
	{"sleep", ready_asleep},
	{"dereference", dereference},
	{"careless", careless},
	{"requests", careless_requests},
	{"exit0-careless", leave_careless},
	{"error-careless", error_careless},
	{"exit0", leave_0},
	{"exit0-thread", thread_leaves},
	{"exit3", leave_3},
	{"all-exit", all_leave},
	{"_exit", leave_at_once},
	{"abort", leave_by_abort},
	{"last-barrier", last_barrier},
	{"last-receive", last_receive},
	{"last-any", last_any},
	{"last-lock", last_lock},
	{"event", event},
	{"until", until},
	{"last-event", last_event},
	{"last-until", last_until},
	{"notices", notices},
	{"messages", messages},
	{"barriers", barriers},
	{"threads", threads},
};

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	if (argc != 4 || ARMCI_Init())
		die("starting");
	me = armci_msg_me();
	np = armci_msg_nproc();
	directory = argv[1];
	victim = atoi(argv[3]);
	base = malloc((size_t)np * sizeof *base);
	local = calloc(N, sizeof *local);
	if (!base || !local || ARMCI_Malloc(base, N * sizeof *local))
		die("ARMCI_Malloc");
	memset(base[me], 0, N * sizeof *local);
	ARMCI_Barrier();
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (strcmp(argv[2], ways[i].name) == 0) {
			ways[i].run();
			return 1;
		}
	die("an unknown way");
	return 2;
}
