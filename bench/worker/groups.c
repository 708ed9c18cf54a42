// SPDX-License-Identifier: BSD-3-Clause
// The groups that only bench/ has, its options, and which baselines are taken. With -e
// NAME=VALUE,... the ranks of a node differ in that setting: the first has the first value, and so
// on. With -n NODES the ranks that an MPI has started take each other for ranks of so many nodes,
// in blocks. With -b DIRECTORY the library must be from there.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "from.h"

enum { VARIANTS = 8 };

const char *bench_settings[VARIANTS];
int bench_variants;

void perf_acc_together(void);
void perf_memory_new(void);
void perf_idle(void);
void perf_rare(void);
void perf_owner(void);
void perf_busy(void);
void perf_crowded(void);
void perf_overlap_crowded(void);
void perf_all_nodes(void);
void perf_fences(void);
void perf_one_sided(void);
void perf_put_new(void);
void perf_registered(void);
void perf_protocols(void);
void perf_protocols_strided(void);

static const struct perf_group own[] = {
	{"acc-together", perf_acc_together},
	{"malloc-new", perf_memory_new},
	{"idle", perf_idle},
	{"rare", perf_rare},
	{"owner", perf_owner},
	{"busy", perf_busy},
	{"crowded", perf_crowded},
	{"overlap-crowded", perf_overlap_crowded},
	{"all-nodes", perf_all_nodes},
	{"one-sided", perf_one_sided},
#ifdef PERF_VERBS
	{"fences", perf_fences},
	{"put-new", perf_put_new},
	{"registered", perf_registered},
	{"protocols", perf_protocols},
	{"protocols-strided", perf_protocols_strided},
#endif
	{NULL, NULL},
};

const struct perf_group *const perf_more[] = {
	own,
#ifdef PERF_PAPERS
	bench_papers,
#endif
	NULL,
};

// The library has read its settings before main: the program begins again with what this rank
// differs in.
static void begin_again(char **argv, const char *name, const char *value)
{
	const char *now = getenv(name);
	if (now && strcmp(now, value) == 0)
		return;
	setenv(name, value, 1);
	execv("/proc/self/exe", argv);
	perror("bench worker: begin again");
	exit(1);
}

static int number(const char *mine, const char *openmpi, const char *mpich, int none)
{
	const char *names[] = {mine, openmpi, mpich};
	for (int i = 0; i < 3; i++)
		if (getenv(names[i]))
			return atoi(getenv(names[i]));
	return none;
}

static int rank(void) { return number("ARMCI_JOB_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", 0); }

static void differ(char **argv, const char *setting)
{
	char *name = strdup(setting), *values = strchr(name, '='), *rest = NULL;
	*values++ = 0;
	for (char *v = strtok_r(values, ",", &rest); v && bench_variants < VARIANTS;
		v = strtok_r(NULL, ",", &rest))
		bench_settings[bench_variants++] = v;
	begin_again(argv, name, bench_settings[rank() % bench_variants]);
}

static void pretend(char **argv, const char *nodes)
{
	char name[16];
	int ranks = number("ARMCI_JOB_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1);
	snprintf(name, sizeof name, "node%d", rank() * atoi(nodes) / ranks);
	begin_again(argv, "ARMCI_NODE", name);
}

// These options come first.
void perf_begin(int *argc, char **argv)
{
	int i = 1;
	for (; i + 1 < *argc; i += 2)
		if (strcmp(argv[i], "-b") == 0)
			bench_must_be_from((void *)ARMCI_Init, argv[i + 1]);
		else if (strcmp(argv[i], "-e") == 0)
			differ(argv, argv[i + 1]);
		else if (strcmp(argv[i], "-n") == 0)
			pretend(argv, argv[i + 1]);
		else
			break;
	memmove(argv + 1, argv + i, (size_t)(*argc - i + 1) * sizeof *argv);
	*argc -= i - 1;
}

#ifdef PERF_MPI
enum { MPI = 1 };
#else
enum { MPI = 0 };
bool bench_mpi_baseline(struct perf_case *c) { return !c; }
#endif

// A worker has the MPI's baselines or the raw ones; that of the papers has both.
#if defined(PERF_PAPERS) || !defined(PERF_MPI)
enum { RAW = 1 };
#else
enum { RAW = 0 };
#endif

#if defined(PERF_VERBS) || defined(PERF_OFI)
static bool over(const char *name)
{
	const char *transport = getenv("ARMCI_TRANSPORT");
	return transport && strcmp(transport, name) == 0;
}
#endif

#ifdef PERF_VERBS
static bool over_verbs(void) { return over("rdma"); }
#else
static bool over_verbs(void) { return false; }
void bench_verbs_ready(void) {}
bool bench_verbs_baseline(struct perf_case *c, int k) { return !c && k; }
void bench_verbs_overlap(struct perf_overlap *o) { (void)o; }
void bench_verbs_end(void) {}
#endif

#ifdef PERF_OFI
static bool over_ofi(void) { return over("ofi"); }
#else
static bool over_ofi(void) { return false; }
void bench_ofi_ready(void) {}
bool bench_ofi_baseline(struct perf_case *c, int k) { return !c && k; }
void bench_ofi_end(void) {}
#endif

enum bench_kind bench_raw(void)
{
	if (!RAW || (perf_far && perf_alone))
		return BENCH_NONE;
	if (!perf_far)
		return BENCH_NODE;
	return over_ofi() ? BENCH_OFI : over_verbs() ? BENCH_VERBS : BENCH_SOCKET;
}

void perf_ready(void)
{
	static void (*const ready[])(
		void) = {bench_node_ready, bench_socket_ready, bench_verbs_ready, bench_ofi_ready};
	if (bench_raw() != BENCH_NONE)
		ready[bench_raw()]();
}

static bool raw_baseline(struct perf_case *c, int k)
{
	static bool (*const baseline[])(struct perf_case *, int) = {bench_node_baseline,
		bench_socket_baseline, bench_verbs_baseline, bench_ofi_baseline};
	return bench_raw() != BENCH_NONE && baseline[bench_raw()](c, k);
}

// The MPI's comes first.
bool perf_baseline(struct perf_case *c, int k)
{
	struct perf_case beside = *c;
	bool mpi = MPI && bench_mpi_baseline(&beside);
	if (!mpi || k > 0)
		return raw_baseline(c, k - mpi);
	*c = beside;
	return true;
}

void perf_overlap_baseline(struct perf_overlap *o)
{
	if (bench_raw() == BENCH_VERBS)
		bench_verbs_overlap(o);
	else if (bench_raw() == BENCH_SOCKET)
		bench_socket_overlap(o);
}

void perf_end(void)
{
	static void (*const end[])(
		void) = {bench_node_end, bench_socket_end, bench_verbs_end, bench_ofi_end};
	if (bench_raw() != BENCH_NONE)
		end[bench_raw()]();
}

bool bench_asleep(void) { return strcmp(perf_label, "/asleep") == 0; }

void bench_wait(int times)
{
	if (times >= 1000)
		sched_yield();
#if defined(__x86_64__)
	else
		__builtin_ia32_pause();
#endif
}
