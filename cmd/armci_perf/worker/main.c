// SPDX-License-Identifier: BSD-3-Clause
// The benchmark worker: one rank of the job that armci_perf starts. Arguments: [-q] [-r repetitions] [-e setting] group...
// With -e NAME=VALUE,..., the ranks of a node differ in that setting: the first has the first value, and so on.
// It initialises the library, runs the groups in the order given and ends. What a group measures is in its own file.
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VARIANTS = 8 };

int perf_me, perf_n, perf_peer, perf_reps = 11;
bool perf_quick;
double perf_init_seconds;
const char *perf_settings[VARIANTS];
int perf_variants;

static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	{"put", perf_put_get},
	{"bandwidth", perf_bandwidth},
	{"strided", perf_strided},
	{"vector", perf_vector},
	{"acc", perf_accumulate},
	{"rmw", perf_rmw},
	{"lock", perf_lock},
	{"barrier", perf_barriers},
	{"malloc", perf_memory},
	{"malloc-new", perf_memory_new},
	{"nonblocking", perf_nonblocking},
	{"message", perf_message},
	{"collective", perf_collective},
	{"init", perf_init},
	{"idle", perf_idle},
	{"remote-small", perf_remote_small},
	{"remote-asleep", perf_remote_asleep},
	{"remote-bandwidth", perf_remote_bandwidth},
	{"remote-strided", perf_remote_strided},
	{"remote-vector", perf_remote_vector},
	{"remote-batch", perf_remote_batch},
	{"remote-meeting", perf_remote_meeting},
	{"remote-all", perf_remote_all},
	{"remote-busy", perf_remote_busy},
	{"remote-crowded", perf_remote_crowded},
	{"remote-overlap", perf_remote_overlap},
#ifdef PERF_VERBS
	{"rdma-small", perf_rdma_small},
	{"rdma-asleep", perf_rdma_asleep},
	{"rdma-memory", perf_rdma_memory},
	{"rdma-contiguous", perf_rdma_contiguous},
	{"rdma-strided", perf_rdma_strided},
	{"rdma-busy", perf_rdma_busy},
	{"rdma-overlap", perf_rdma_overlap},
	{"rdma-fences", perf_rdma_fences},
#endif
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static int find(const char *name)
{
	for (int i = 0; i < GROUPS; i++)
		if (strcmp(groups[i].name, name) == 0)
			return i;
	fprintf(stderr, "perf worker: no group %s\n", name);
	exit(2);
}

// Sets what this rank differs in. The library has read its settings before main: the program begins again with it.
static void differ(char **argv, const char *setting)
{
	char *name = strdup(setting), *values = strchr(name, '='), *rest = NULL;
	const char *rank = getenv("ARMCI_JOB_RANK"), *mine, *now;
	*values++ = 0;
	for (char *v = strtok_r(values, ",", &rest); v && perf_variants < VARIANTS; v = strtok_r(NULL, ",", &rest))
		perf_settings[perf_variants++] = v;
	mine = perf_settings[rank ? atoi(rank) % perf_variants : 0];
	now = getenv(name);
	if (now && strcmp(now, mine) == 0)
		return;
	setenv(name, mine, 1);
	execv("/proc/self/exe", argv);
	perror("perf worker: begin again");
	exit(1);
}

// Options; returns the index of the first group's name.
static int options(int argc, char **argv)
{
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "-q") == 0) {
			perf_quick = true;
		} else if (strcmp(argv[i], "-r") == 0 && i + 1 < argc) {
			perf_reps = atoi(argv[++i]);
		} else if (strcmp(argv[i], "-e") == 0 && i + 1 < argc) {
			differ(argv, argv[++i]);
		} else {
			fprintf(stderr, "perf worker: unknown option %s\n", argv[i]);
			exit(2);
		}
	}
	if (perf_reps < 1 || perf_reps > PERF_REPS_MAX)
		perf_reps = 1;
	return i;
}

int main(int argc, char **argv)
{
	int first = options(argc, argv);
	double begin = perf_now();
	armci_msg_init(&argc, &argv);
	if (ARMCI_Init() != 0)
		return 1;
	perf_init_seconds = perf_now() - begin;
	perf_me = armci_msg_me();
	perf_n = armci_msg_nproc();
	perf_peer = (perf_me + 1) % perf_n;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = first; i < argc; i++) {
		ARMCI_Barrier();
		groups[find(argv[i])].run();
	}
	ARMCI_Barrier();
	int status = perf_failed();
	ARMCI_Finalize();
	armci_msg_finalize();
	return status;
}
