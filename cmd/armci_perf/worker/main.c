// SPDX-License-Identifier: BSD-3-Clause
// The worker of armci_perf: one rank of the job that it starts. Arguments: [-q] [-a] [-r
// repetitions] [-l label] group... -q: short runs; -a: no baselines; -l: is appended to the names
// of all figures. It initialises the library, runs the groups in the order given and ends. What a
// group measures is in its own file.
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int perf_me, perf_n, perf_peer, perf_reps = 11;
bool perf_quick, perf_alone, perf_far;
double perf_init_seconds;
const char *perf_label = "";

void perf_small(void);
void perf_bandwidth(void);
void perf_stream(void);
void perf_strided(void);
void perf_vector(void);
void perf_nonblocking(void);
void perf_accumulate(void);
void perf_rmw(void);
void perf_lock(void);
void perf_barriers(void);
void perf_memory(void);
void perf_message(void);
void perf_notify(void);
void perf_collective(void);
void perf_overlap(void);
void perf_init(void);
void perf_growth(void);

const struct perf_group perf_groups[] = {
	{"small", perf_small},
	{"bandwidth", perf_bandwidth},
	{"stream", perf_stream},
	{"strided", perf_strided},
	{"vector", perf_vector},
	{"nonblocking", perf_nonblocking},
	{"acc", perf_accumulate},
	{"rmw", perf_rmw},
	{"lock", perf_lock},
	{"barrier", perf_barriers},
	{"malloc", perf_memory},
	{"message", perf_message},
	{"notify", perf_notify},
	{"collective", perf_collective},
	{"overlap", perf_overlap},
	{"init", perf_init},
	{"growth", perf_growth},
	{NULL, NULL},
};

static const struct perf_group *find(const char *name)
{
	const struct perf_group *list = perf_groups;
	for (int i = 0; list; list = perf_more[i++])
		for (const struct perf_group *g = list; g->name; g++)
			if (strcmp(g->name, name) == 0)
				return g;
	fprintf(stderr, "armci_perf worker: no group %s\n", name);
	exit(2);
}

// Options; returns the index of the first group's name.
static int options(int argc, char **argv)
{
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "-q") == 0) {
			perf_quick = true;
		} else if (strcmp(argv[i], "-a") == 0) {
			perf_alone = true;
		} else if (strcmp(argv[i], "-r") == 0 && i + 1 < argc) {
			perf_reps = atoi(argv[++i]);
		} else if (strcmp(argv[i], "-l") == 0 && i + 1 < argc) {
			perf_label = argv[++i];
		} else {
			fprintf(stderr, "armci_perf worker: unknown option %s\n", argv[i]);
			exit(2);
		}
	}
	if (perf_reps < 1 || perf_reps > TIMING_REPS_MAX)
		perf_reps = 1;
	return i;
}

int main(int argc, char **argv)
{
	perf_begin(&argc, argv);
	int first = options(argc, argv);
	for (int i = first; i < argc; i++) find(argv[i]);
	double begin = timing_now();
	armci_msg_init(&argc, &argv);
	if (ARMCI_Init() != 0)
		return 1;
	perf_init_seconds = timing_now() - begin;
	perf_me = armci_msg_me();
	perf_n = armci_msg_nproc();
	perf_peer = perf_me == perf_n / 2 ? 0 : (perf_me + perf_n / 2) % perf_n;
	perf_far = armci_domain_id(ARMCI_DOMAIN_SMP, 0) !=
		armci_domain_id(ARMCI_DOMAIN_SMP, perf_n / 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	perf_ready();
	for (int i = first; i < argc; i++) {
		ARMCI_Barrier();
		find(argv[i])->run();
	}
	ARMCI_Barrier();
	perf_end();
	int status = perf_failed();
	ARMCI_Finalize();
	armci_msg_finalize();
	return status;
}
