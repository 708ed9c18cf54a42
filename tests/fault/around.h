// SPDX-License-Identifier: BSD-3-Clause
// around.h - the ways of victim.c in which each rank waits for another most of the time, each time
// a little. Most of these waits end before the waiter sleeps, so the rank is receiving itself what
// comes from other nodes when another rank dies.

// A token goes around, by notifications or by messages.
static void notify_around(void)
{
	for (;;) {
		armci_notify((me + 1) % np);
		if (armci_notify_wait((me + np - 1) % np, NULL) < 0)
			die("armci_notify_wait");
	}
}

static void pass_around(long tag)
{
	long token = me;
	for (;;) {
		armci_msg_snd(tag, &token, sizeof token, (me + 1) % np);
		armci_msg_rcv(tag, &token, sizeof token, NULL, (me + np - 1) % np);
	}
}

static void ask_around(void)
{
	long old;
	for (int to = me;; to = (to + 1) % np)
		if (ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, base[to], 1, to))
			die("ARMCI_Rmw");
}

static void notices(void)
{
	ready();
	notify_around();
}

static void messages(void)
{
	ready();
	pass_around(7);
}

static void barriers(void)
{
	ready();
	for (;;)
		ARMCI_Barrier();
}

static void *pass_in_thread(void *tag)
{
	pass_around((long)tag);
	return NULL;
}

static void *ask_in_thread(void *unused)
{
	ask_around();
	return unused;
}

// Several threads of each rank wait at a time.
static void threads(void)
{
	pthread_t t[3];
	for (long i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, pass_in_thread, (void *)(10 + i)))
			die("pthread_create");
	if (pthread_create(&t[2], NULL, ask_in_thread, NULL))
		die("pthread_create");
	notices();
}
