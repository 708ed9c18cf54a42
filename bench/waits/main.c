// SPDX-License-Identifier: BSD-3-Clause
// The command line of waits, and its samples. It measures each operation that is named for a fixed
// time and prints one figure of it.
//
//   waits [-t MS] [-r SAMPLES] [-b BUILD] OPERATION[:BYTES]...
//
// Lines are those of timing.h: PERF and a figure, CHECK whether its results were right, END after
// all. It knows no operation.
#define _GNU_SOURCE
#include "waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int me, ranks, size;
static int samples = 5;
static double seconds = 0.02; // of a sample
static bool good;

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
	double begin = timing_now();
	for (long i = 0; i < (o->trip ? 2 * n : n); i++) {
		if (i % 2 == me % 2)
			o->send();
		else
			o->receive();
	}
	return timing_now() - begin;
}

static double run(const struct operation *o, long n)
{
	if (o->pairs)
		return pair_turns(o, n);
	return o->lock ? handovers(o, 0, n) : o->run(n);
}

// Seconds of n operations, of the slowest rank, known to all.
static double sample(void *arg, long n)
{
	flavour_barrier();
	return flavour_greatest(run(arg, n));
}

static void measure(const struct operation *o)
{
	struct timing_figure f = {o->name, "", "-", size, ranks, TIMING_NS};
	struct timing_way way = {.sample = sample, .arg = (void *)o};
	good = true;
	way.n = timing_turns(sample, way.arg, seconds, 2);
	for (int i = 0; i < samples; i++) {
		timing_repeat(&way, 1, i, 1);
		way.each[i] = timing_in_unit(f.unit, way.each[i], size);
	}
	double wrong = flavour_greatest(good ? 0 : 1);
	if (me != 0)
		return;
	timing_print(&f, way.each, NULL, samples);
	timing_check(o->name, wrong, 0);
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
	if (seconds <= 0 || samples < 1 || samples > TIMING_REPS_MAX || optind == argc) {
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
