// SPDX-License-Identifier: BSD-3-Clause
// The command line of waits, and its samples. It measures each operation that is named for a fixed
// time and prints one figure of it, the median of its samples.
//
//   waits [-t MS] [-r SAMPLES] [-b BUILD] OPERATION[:BYTES]...
//
// Lines are those of armci_perf's worker (cmd/armci_perf/worker/row.h): PERF and a figure, CHECK
// where the result of an operation is wrong, END after all. It knows no operation.
#define _GNU_SOURCE
#include "waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "row.h"

int me, ranks, size;
static int samples = 5;
static double seconds = 0.02; // of a sample
static bool good;

double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "waits: rank %d: %s\n", me, what);
	exit(1);
}

void *touched(size_t bytes)
{
	void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	need(p != NULL, "no memory");
	return memset(p, 0, bytes);
}

int peer(void) { return me ^ 1; }

void check(bool ok) { good = good && ok; }

double pair_turns(const struct operation *o, long n)
{
	double begin = now();
	for (long i = 0; i < (o->trip ? 2 * n : n); i++) {
		if (i % 2 == me % 2)
			o->send();
		else
			o->receive();
	}
	return now() - begin;
}

static double run(const struct operation *o, long n)
{
	if (o->pairs)
		return pair_turns(o, n);
	return o->lock ? handovers(o, 0, n) : o->run(n);
}

// Seconds of n operations, of the slowest rank, known to all.
static double sample(const struct operation *o, long n)
{
	flavour_barrier();
	return flavour_greatest(run(o, n));
}

// How many operations, an even number, make a sample. The first may have to connect.
static long enough(const struct operation *o)
{
	sample(o, 2);
	for (long n = 2;; n *= 2) {
		double t = sample(o, n);
		if (t >= seconds / 3)
			return (long)((double)n * seconds / t / 2 + 1) * 2;
	}
}

static void measure(const struct operation *o)
{
	double figures[ROW_REPS_MAX];
	struct row r = {o->name, "", "-", size, ranks, "ns"};
	good = true;
	long n = enough(o);
	for (int i = 0; i < samples; i++) figures[i] = sample(o, n) / (double)n * 1e9;
	double wrong = flavour_greatest(good ? 0 : 1);
	if (me != 0)
		return;
	row_print(&r, figures, NULL, samples, 0);
	if (wrong > 0)
		printf("CHECK\t%s\tWRONG\n", o->name);
}

static const struct operation *find(const char *word)
{
	size_t length = strcspn(word, ":");
	for (const struct operation *o = operations; o->name; o++)
		if (strlen(o->name) == length && strncmp(o->name, word, length) == 0)
			return o;
	fprintf(stderr, "waits: no operation %s\n", word);
	exit(2);
}

static void measure_named(const char *word)
{
	const struct operation *o = find(word);
	const char *bytes = strchr(word, ':');
	size = bytes ? atoi(bytes + 1) : 8;
	need(size >= 8 && size <= WAITS_MOST && size % 8 == 0, "bytes are 8 to 65536, by eights");
	need(ranks > 1 && (!o->pairs || ranks % 2 == 0), "operations need two ranks, or pairs");
	measure(o);
}

int main(int argc, char **argv)
{
	const char *build = NULL;
	for (int option; (option = getopt(argc, argv, "+t:r:b:")) != -1;)
		switch (option) {
		case 't': seconds = atof(optarg) / 1e3; break;
		case 'r': samples = atoi(optarg); break;
		case 'b': build = optarg; break;
		default: return 2;
		}
	if (seconds <= 0 || samples < 1 || samples > ROW_REPS_MAX || optind == argc) {
		fprintf(stderr, "usage: waits [-t MS] [-r SAMPLES] [-b BUILD] OPERATION[:BYTES]"
				"...\n");
		return 2;
	}
	for (int i = optind; i < argc; i++) find(argv[i]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	flavour_start(&argc, &argv, build);
	for (int i = optind; i < argc; i++) measure_named(argv[i]);
	flavour_barrier();
	if (me == 0)
		printf("END\n");
	flavour_end();
	return 0;
}
