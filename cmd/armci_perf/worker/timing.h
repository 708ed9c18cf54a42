// SPDX-License-Identifier: BSD-3-Clause
// What all programs that measure share: the clock, the length of a sample, samples of several ways
// by turns, work to compute, and the lines that internal/figure reads. A line has every sample:
// medians, spreads and ratios are the reader's. It knows no operation, and needs no library and no
// MPI.
//
//   PERF   op shape bytes ranks unit samples baseline's samples, or - where there is none
//   CHECK  name got want ok|WRONG
//
// Fields are separated by tabs, samples by blanks.
#ifndef TIMING_H
#define TIMING_H

#include <stdbool.h>
#include <time.h>

enum { TIMING_REPS_MAX = 99 }; // samples of a figure

// timing_now returns the time in seconds.
static inline double timing_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A sample does something n times and returns the seconds that count: the same on all ranks that
// take part, since they decide by it what comes next.
typedef double (*timing_sample)(void *arg, long n);

// A loop of n turns that returns its seconds where it is timed, else 0.
#define TIMING_LOOP(name, timed, ...)                      \
	static double name(long n)                         \
	{                                                  \
		double begin = timing_now();               \
		for (long i = 0; i < n; i++) {             \
			__VA_ARGS__;                       \
		}                                          \
		return (timed) ? timing_now() - begin : 0; \
	}

// timing_turns returns how many turns take about so many seconds, a multiple of `step`. It also
// warms up: the first turns may have to connect.
long timing_turns(timing_sample sample, void *arg, double seconds, long step);

// One of several ways to do the same.
struct timing_way {
	timing_sample sample; // NULL: this way is left out
	void *arg;
	long n;                       // turns of a sample
	double each[TIMING_REPS_MAX]; // seconds of a turn, by repetition
};

// timing_order returns which of the ways is the k-th of a repetition: the order moves on, so that
// no way always follows the same one.
static inline int timing_order(int k, int rep, int count) { return (k + rep + count) % count; }

// timing_repeat makes one repetition, from 0: a sample of each way, one after the other, in `parts`
// parts each. What else the machine does hits all ways. Repetition -1 is to warm up; 0 replaces it.
void timing_repeat(struct timing_way *ways, int count, int rep, int parts);

enum timing_unit {
	TIMING_NS,   // nanoseconds of one operation
	TIMING_MBS,  // 1e6 bytes per second
	TIMING_MOPS, // 1e6 operations per second
	TIMING_PERCENT,
	TIMING_MIB,
	TIMING_SHARE, // 1 = exactly the fair share
};

// timing_in_unit converts the seconds of an operation that moves so many bytes.
double timing_in_unit(enum timing_unit unit, double seconds, double bytes);

struct timing_figure {
	// words without blanks; the label is appended to op; shape "-": none
	const char *op, *label, *shape;
	double bytes;
	int ranks;
	enum timing_unit unit;
};

// timing_print prints the samples of a figure in its unit; raw NULL: no baseline.
void timing_print(const struct timing_figure *f, const double *ours, const double *raw, int n);

// timing_check prints whether a result is exact, and returns it.
bool timing_check(const char *name, double got, double want);

// timing_median sorts the values and returns their median, where a measurement goes on with it.
double timing_median(double *v, int n);

// timing_compute does work that calls nothing, some nanoseconds a round; timing_rounds returns how
// many rounds take so long on a core of one's own.
void timing_compute(long rounds);
long timing_rounds(double seconds);

#endif
