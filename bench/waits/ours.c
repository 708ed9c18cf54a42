// SPDX-License-Identifier: BSD-3-Clause
// The operations of the library, by its public C interface, and its start.
#include <armci.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "from.h"
#include "raw.h"
#include "waits.h"

enum { TAG = 7, FLAG = WAITS_MOST, STOP = FLAG + 64, BYTES = STOP + 64, LOOKS = 1000 };

static char **memory, *mine; // of ARMCI_Malloc, by rank; private
static long number;          // of the turns of pairs: what is stored

void flavour_start(int *argc, char ***argv, const char *build)
{
	if (build)
		bench_must_be_from((void *)ARMCI_Init, build);
	armci_msg_init(argc, argv);
	need(ARMCI_Init() == 0, "ARMCI_Init");
	me = armci_msg_me();
	ranks = armci_msg_nproc();
	memory = calloc((size_t)ranks, sizeof *memory);
	need(memory && ARMCI_Malloc((void **)memory, BYTES) == 0, "ARMCI_Malloc");
	need(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
	memset(memory[me], 0, BYTES);
	mine = touched(BYTES);
	ARMCI_Barrier();
}

void flavour_end(void)
{
	raw_end();
	ARMCI_Destroy_mutexes();
	ARMCI_Free(memory[me]);
	ARMCI_Finalize();
	armci_msg_finalize();
}

void flavour_barrier(void) { armci_msg_barrier(); }

double flavour_greatest(double x)
{
	armci_msg_dgop(&x, 1, (char *)"max");
	return x;
}

void flavour_gather(double *from, int n, double *to)
{
	int bytes = n * (int)sizeof *from, got;
	if (me != 0)
		armci_msg_snd(TAG + 1, from, bytes, 0);
	else
		memcpy(to, from, (size_t)bytes);
	for (int r = 1; me == 0 && r < ranks; r++)
		armci_msg_rcv(TAG + 1, to + (size_t)r * (size_t)n, bytes, &got, r);
}

TIMING_LOOP(barrier, true, ARMCI_Barrier())
TIMING_LOOP(bcast, true, armci_msg_bcast(mine, size, (int)(i % ranks)))
TIMING_LOOP(sums, true, armci_msg_dgop((double *)(void *)mine, size / 8, (char *)"+"))

static double sum(long n)
{
	memset(mine, 0, (size_t)size); // what other operations left there may be no numbers
	return sums(n);
}

static void send_message(void) { armci_msg_snd(TAG, mine, size, peer()); }

static void receive_message(void)
{
	int got = 0;
	armci_msg_rcv(TAG, mine, size, &got, peer());
	check(got == size);
}

static void notify(void) { armci_notify(peer()); }

static void await_notification(void)
{
	int times;
	armci_notify_wait(peer(), &times);
}

static long *last(char *data) { return (long *)(void *)(data + size) - 1; }

static void put_notify(void)
{
	*last(mine) = ++number;
	ARMCI_NbPut(mine, memory[peer()], size, peer(), NULL);
	armci_notify(peer());
}

static void await_put(void)
{
	number++;
	await_notification();
	check(*(volatile long *)last(memory[me]) == number);
	ARMCI_WaitProc(peer()); // of this rank's put before: its buffer is free again
}

static void put_flag(void)
{
	*last(mine) = ++number;
	ARMCI_Put_flag(mine, memory[peer()], size, (int *)(void *)(memory[peer()] + FLAG),
		(int)number, peer());
}

static void await_flag(void)
{
	_Atomic int *flag = (_Atomic int *)(void *)(memory[me] + FLAG);
	number++;
	for (int i = 0; atomic_load_explicit(flag, memory_order_acquire) != (int)number; i++)
		if (i >= LOOKS)
			sched_yield();
	check(*(volatile long *)last(memory[me]) == number);
}

static void lock(void) { ARMCI_Lock(0, 0); }
static void unlock(void) { ARMCI_Unlock(0, 0); }

// Rank 0 has the mutex, all others want it.
static double lock_remote(long n)
{
	return handovers(&(struct operation){.lock = lock, .unlock = unlock}, 1, n);
}

TIMING_LOOP(get, me == 0, if (me == 0) ARMCI_Get(memory[ranks - 1], mine, size, ranks - 1))

// The last rank computes until rank 0 has measured.
static double get_computing(long n)
{
	long *stop = (long *)(void *)(memory[me] + STOP), one = 1;
	double t = me == 0 ? get(n) : 0;
	if (me == 0)
		ARMCI_Put(&one, memory[ranks - 1] + STOP, sizeof one, ranks - 1);
	while (me == ranks - 1 && !*(volatile long *)stop) timing_compute(100);
	*stop = 0;
	return t;
}

const struct operation operations[] = {
	{.name = "barrier", .run = barrier},
	{.name = "bcast", .run = bcast},
	{.name = "sum", .run = sum},
	{.name = "message", .pairs = true, .trip = true, .send = send_message,
		.receive = receive_message},
	{.name = "notify", .pairs = true, .send = notify, .receive = await_notification},
	{.name = "put-notify", .pairs = true, .send = put_notify, .receive = await_put},
	{.name = "put-flag", .pairs = true, .send = put_flag, .receive = await_flag},
	{.name = "lock", .lock = lock, .unlock = unlock},
	{.name = "lock-remote", .run = lock_remote},
	{.name = "get", .run = get},
	{.name = "get-computing", .run = get_computing},
	{.name = "trip-mixed", .run = trip_mixed},
	{.name = "trip-spinning", .run = trip_spinning},
	{.name = "trip-asleep", .run = trip_asleep},
	{.name = NULL},
};
