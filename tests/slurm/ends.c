// SPDX-License-Identifier: BSD-3-Clause
// ends.c - ends in one way, for the tests of launchers; they look at exit status and output.
//   ends WAY [RANK]      RANK, 1 unless said, is the one that does it
#include <armci.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int me;

// Every rank starts the library three times.
static void again(void)
{
	for (int i = 0; i < 2; i++) {
		ARMCI_Finalize();
		if (ARMCI_Init())
			exit(5);
	}
	ARMCI_Barrier();
}

// Children end as if they were ranks.
static void forked(void)
{
	pid_t child = fork();
	if (child == 0)
		exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		ARMCI_Error("fork", 1);
}

// The job does not go on after it.
static void fail(const char *way)
{
	if (!strcmp(way, "kill"))
		raise(SIGKILL);
	if (!strcmp(way, "error"))
		ARMCI_Error("on purpose", 7);
	if (!strcmp(way, "exit"))
		exit(9);
	if (!strcmp(way, "leave"))
		exit(0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int who = argc > 2 ? atoi(argv[2]) : 1;
	if (ARMCI_Init())
		return 5;
	me = armci_msg_me();
	int ranks = armci_msg_nproc();
	void **base = malloc((size_t)ranks * sizeof *base);
	if (!base || ARMCI_Malloc(base, 1 << 16))
		ARMCI_Error("allocation", 1);
	if (!strcmp(way, "apart")) { // no rank calls ARMCI_Finalize, and the others take longer
		if (me != who)
			usleep(200000);
		printf("rank %d of %d is done\n", me, ranks);
		return 0;
	}
	if (!strcmp(way, "again"))
		again();
	else if (!strcmp(way, "fork"))
		forked();
	else if (me == who)
		fail(way);
	armci_msg_barrier();
	ARMCI_Finalize();
	if (me == 0)
		printf("%d ranks, all well\n", ranks);
	return 0;
}
