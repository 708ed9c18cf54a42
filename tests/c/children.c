// SPDX-License-Identifier: BSD-3-Clause
// Children of a rank: system(), fork and exec, and children of fork that exit, _exit or die must
// not disturb the job.
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000 };

// A child that ends in a way of its own; the parent sees the status.
static void child(int way)
{
	int status;
	fflush(stdout);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		switch (way) {
		case 0:
			exit(0); // runs the handlers of exit, also the library's
		case 1:
			exit(3);
		case 2:
			_exit(0);
		case 3:
			signal(SIGSEGV, SIG_DFL);
			raise(SIGSEGV);
			break;
		case 4:
			raise(SIGKILL);
			break;
		default:
			execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
		}
		_exit(99);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	switch (way) {
	case 0:
	case 2:
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		break;
	case 1:
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
		break;
	case 3:
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
		break;
	case 4:
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		break;
	default:
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	}
}

// The job goes on: puts, a counter, a barrier, memory that is allocated and freed.
static void work(void **base, int round)
{
	int to = (me + 1) % np;
	long old, values[N];
	for (int i = 0; i < N; i++)
		values[i] = me * 1000000L + round * N + i;
	CHECK_OK(ARMCI_Put(values, base[to], sizeof values, to));
	ARMCI_Barrier();
	int from = (me + np - 1) % np;
	for (int i = 0; i < N; i++)
		CHECK_INT(((long *)base[me])[i], from * 1000000L + round * N + i);
	CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, (long *)base[0] + N, 1, 0));
	check_free(check_malloc(1 << 16));
	ARMCI_Barrier();
	CHECK_INT(ARMCI_GetValueLong((long *)base[0] + N, 0), (long)np * (round + 1));
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc((N + 1) * sizeof(long));
	memset(base[me], 0, (N + 1) * sizeof(long));
	ARMCI_Barrier();
	int round = 0;
	for (int way = 0; way <= 5; way++) {
		if (me == way % np)
			child(way);
		work(base, round++);
	}
	CHECK_INT(system("exit 0"), 0);
	CHECK_INT(WEXITSTATUS(system("exit 7")), 7);
	FILE *p = popen("echo child", "r");
	char text[16] = "";
	CHECK(p != NULL && fgets(text, sizeof text, p) != NULL && strcmp(text, "child\n") == 0);
	CHECK_INT(pclose(p), 0);
	work(base, round++);
	check_free(base);
	return check_end("children");
}
