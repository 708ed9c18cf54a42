// SPDX-License-Identifier: BSD-3-Clause
// collect.c - while a thread of rank 0 waits in the library, in each way that there is, another one
// calls procedures, which allocates memory of Go, so that it is collected (GOGC=1): each collection
// stops all goroutines, which Go must be able to do though it interrupts none by a signal. Rank 1
// lets the first thread go on when the second one has finished, so a wait that cannot be stopped
// would last for ever.
#include "check.h"

#include <gpc.h>
#include <pthread.h>
#include <unistd.h>

enum { CALLS = 1500 };

static void **base;
static int procedure_number;

// Rank 0 waits until rank 1 does its part.
static void barrier(void) { ARMCI_Barrier(); }

static void message(void)
{
	char c;
	if (me == 0)
		armci_msg_rcv(9, &c, 1, NULL, 1);
	else
		armci_msg_snd(9, "x", 1, 0);
}

static void message_of_any(void)
{
	char c;
	if (me == 0)
		CHECK_INT(armci_msg_rcvany(10, &c, 1, NULL), 1);
	else
		armci_msg_snd(10, "x", 1, 0);
}

static void broadcast(void)
{
	char text[64] = "";
	armci_msg_bcast(text, (int)sizeof text, 1);
}

static void lock(void)
{
	if (me == 0) {
		ARMCI_Lock(0, 1);
		ARMCI_Unlock(0, 1);
	} else {
		ARMCI_Unlock(0, 1);
	}
}

static void notified(void)
{
	if (me == 0)
		armci_notify_wait(1, NULL);
	else
		armci_notify(0);
}

static const struct {
	const char *name;
	void (*wait)(void);
} waits[] = {
	{"barrier", barrier},
	{"message", message},
	{"message of any", message_of_any},
	{"broadcast", broadcast},
	{"lock", lock},
	{"notified", notified},
};

static int procedure(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr,
	int rhlen, int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype)
{
	(void)from, (void)hdr, (void)hlen, (void)data, (void)dlen, (void)rhdr;
	(void)rhlen, (void)rdlen, (void)rtype;
	*(int *)rdata = to;
	*rhsize = 0;
	*rdsize = (int)sizeof to;
	return GPC_DONE;
}

static void *allocate(void *number)
{
	char head = 0, answer_head = 0, one = 1;
	usleep(20000); // the first thread waits by now
	for (int i = 0; i < CALLS; i++) {
		int to = i % 2, answer = -1;
		CHECK_OK(ARMCI_Gpc_exec(procedure_number, to, &head, 1, &head, 1, &answer_head, 1,
			&answer, (int)sizeof answer, NULL));
		CHECK_INT(answer, to);
	}
	CHECK_OK(ARMCI_Put(&one, (char *)base[1] + *(int *)number, 1, 1));
	ARMCI_Fence(1);
	return NULL;
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	base = check_malloc(4096);
	memset(base[me], 0, 4096);
	procedure_number = ARMCI_Gpc_register(procedure);
	CHECK_OK(ARMCI_Create_mutexes(1));
	for (int i = 0; i < (int)(sizeof waits / sizeof waits[0]); i++) {
		pthread_t thread;
		if (me == 1 && waits[i].wait == lock)
			ARMCI_Lock(0, 1);
		ARMCI_Barrier();
		if (me == 0)
			CHECK_OK(pthread_create(&thread, NULL, allocate, &i));
		else
			while (!*((volatile char *)base[1] + i))
				usleep(1000);
		waits[i].wait();
		if (me == 0)
			CHECK_OK(pthread_join(thread, NULL));
	}
	ARMCI_Barrier();
	CHECK_OK(ARMCI_Destroy_mutexes());
	ARMCI_Gpc_release(procedure_number);
	check_free(base);
	return check_end("collect");
}
