// SPDX-License-Identifier: BSD-3-Clause
// many.c - a large job starts: every rank puts a number to its neighbours in the job, on the next
// node and half the job away, and finds those of the others. Rank 0 prints the time to start and
// the memory, the least and greatest of all ranks. It must not judge them.
#include "../c/check.h"

enum { PEERS = 5 };

// The ranks that a rank puts to.
static int peer(int rank, int k)
{
	const int distance[PEERS] = {1, 2, 8, 9, np / 2};
	return (rank + distance[k]) % np;
}

static double resident(void)
{
	char line[256];
	double value = 0;
	FILE *f = fopen("/proc/self/status", "r");
	CHECK(f != NULL);
	while (fgets(line, sizeof line, f))
		if (strncmp(line, "RssAnon:", 8) == 0)
			value = atof(line + 8) / 1024;
	fclose(f);
	return value;
}

static void print(const char *what, double mine)
{
	double least = mine, most = mine;
	armci_msg_dgop(&least, 1, (char *)"min");
	armci_msg_dgop(&most, 1, (char *)"max");
	if (me == 0)
		printf("  %-30s %9.4g .. %.4g\n", what, least, most);
}

int main(int argc, char **argv)
{
	double begin = armci_timer();
	check_begin(&argc, &argv);
	double started = armci_timer() - begin, own = resident();
	int **base = (int **)check_malloc(PEERS * sizeof(int));
	for (int k = 0; k < PEERS; k++)
		base[me][k] = -1;
	ARMCI_Barrier();
	for (int k = 0; k < PEERS; k++) {
		int number = 1000 * k + me, to = peer(me, k);
		CHECK_OK(ARMCI_Put(&number, &base[to][k], sizeof number, to));
	}
	ARMCI_AllFence();
	ARMCI_Barrier();
	for (int k = 0; k < PEERS; k++) {
		int from = base[me][k] - 1000 * k;
		CHECK(from >= 0 && from < np);
		CHECK_INT(peer(from, k), me);
	}
	double done = armci_timer() - begin;
	if (me == 0)
		printf("%d ranks on %d nodes, per process\n", np,
			armci_domain_count(ARMCI_DOMAIN_SMP));
	print("seconds to start", started);
	print("seconds until all is checked", done);
	print("MiB of its own after the start", own);
	check_free((void **)base);
	return check_end("many");
}
