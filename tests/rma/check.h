// SPDX-License-Identifier: BSD-3-Clause
// check.h - what every program of this directory shares: start and end of the job, checks that name
// rank, file, line and values and end the whole job, a small random generator and byte patterns.
// The programs are plain MPI programs: nothing here may know ARMCI, except that pretended nodes
// (ARMCI_NODE) divide the ranks further.
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Rank and size of the job, set by check_begin.
static int me, np;

__attribute__((format(printf, 3, 4), noreturn))
static inline void check_fail(const char *file, int line, const char *format, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	fprintf(stderr, "rank %d: %s:%d: check failed: %s\n", me, file, line, text);
	fflush(stderr);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

// The condition must hold.
#define CHECK(cond) \
	do { \
		if (!(cond)) \
			check_fail(__FILE__, __LINE__, "%s", #cond); \
	} while (0)

// Two integers of any width must be equal.
#define CHECK_INT(got, want) \
	check_int(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))

// Two floating point numbers must agree to 1e-12 of their size.
#define CHECK_DBL(got, want) check_dbl(__FILE__, __LINE__, #got, (got), (want))

// n bytes must be equal; the first difference is printed, after the words of where (a printf
// format).
#define CHECK_MEM(got, want, n, ...) check_mem(__FILE__, __LINE__, (got), (want), (n), __VA_ARGS__)

// A call of MPI must return MPI_SUCCESS.
#define CHECK_MPI(call) check_code(__FILE__, __LINE__, #call, (call), MPI_SUCCESS)

// A call of MPI must return an error of this class.
#define CHECK_CLASS(call, class) check_code(__FILE__, __LINE__, #call, (call), (class))

static inline void check_int(const char *file, int line, const char *what, long long got,
	long long want)
{
	if (got != want)
		check_fail(file, line, "%s is %lld, expected %lld", what, got, want);
}

static inline void check_dbl(const char *file, int line, const char *what, double got, double want)
{
	double scale = fabs(want) > 1 ? fabs(want) : 1;
	if (!(fabs(got - want) <= 1e-12 * scale))
		check_fail(file, line, "%s is %.17g, expected %.17g", what, got, want);
}

__attribute__((format(printf, 6, 7))) static inline void check_mem(const char *file, int line,
	const void *got, const void *want, size_t n, const char *where, ...)
{
	const unsigned char *g = got, *w = want;
	if (n == 0 || memcmp(g, w, n) == 0)
		return;
	size_t i = 0;
	while (g[i] == w[i])
		i++;
	char text[256];
	va_list ap;
	va_start(ap, where);
	vsnprintf(text, sizeof text, where, ap);
	va_end(ap);
	check_fail(file, line, "%s: byte %zu of %zu is 0x%02x, expected 0x%02x", text, i, n, g[i],
		w[i]);
}

// A job setting, or the default.
static inline double check_setting(const char *name, double otherwise)
{
	const char *s = getenv(name);
	return s && *s ? strtod(s, NULL) : otherwise;
}

// True where the MPI's own one-sided communication is on trial (RMA_NATIVE=1): what the standard
// leaves open, or an MPI is known not to do, is then only noted.
static inline int check_native(void)
{
	return check_setting("RMA_NATIVE", 0) != 0;
}

// Errors of the wrong class so far: the program goes on, to tell all of them, and fails at its end.
static int check_wrong;

static inline void check_code(const char *file, int line, const char *what, int code, int want)
{
	int class = code, length = 0;
	char text[MPI_MAX_ERROR_STRING] = "", expected[MPI_MAX_ERROR_STRING] = "";
	if (code != MPI_SUCCESS)
		MPI_Error_class(code, &class);
	if (class == want)
		return;
	MPI_Error_string(code, text, &length);
	MPI_Error_string(want, expected, &length);
	if (want == MPI_SUCCESS)
		check_fail(file, line, "%s returned class %d \"%s\", expected none", what, class,
			text);
	fprintf(stderr,
		"rank %d: %s:%d: %s: %s returned class %d \"%s\", expected class %d \"%s\"\n", me,
		file, line, check_native() ? "note" : "check failed", what, class, text, want,
		expected);
	check_wrong += !check_native();
}

// Starts the job.
static inline void check_begin(int *argc, char ***argv)
{
	CHECK_MPI(MPI_Init(argc, argv));
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
}

// Ends the job; the value is main's exit code.
static inline int check_end(const char *name)
{
	MPI_Allreduce(MPI_IN_PLACE, &check_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (me == 0 && check_wrong == 0) {
		printf("ok %s (%d ranks)\n", name, np);
		fflush(stdout);
	}
	MPI_Finalize();
	return check_wrong != 0;
}

// Rank 0 says why a part of a test does not run here.
static inline void check_skip(const char *why)
{
	if (me == 0)
		printf("skip: %s\n", why);
}

// How often to repeat what all ranks do together: n times, fewer on more than four ranks and on
// slow machines (ROUNDS_DIVISOR).
static inline int check_rounds(int n)
{
	n = n / (int)check_setting("ROUNDS_DIVISOR", 1) + 1;
	return np <= 4 ? n : n * 4 / np + 1;
}

static inline void barrier(void)
{
	CHECK_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

// Random numbers: splitmix64. The same state gives the same numbers on every rank.
static inline uint64_t check_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

// A random integer of [lo, hi].
static inline int check_between(uint64_t *state, int lo, int hi)
{
	return lo + (int)(check_random(state) % (uint64_t)(hi - lo + 1));
}

// Fills n bytes with a pattern that depends on salt and on the position.
static inline void check_fill(void *p, size_t n, uint64_t salt)
{
	unsigned char *b = p;
	uint64_t state = salt * 0x2545f4914f6cdd1dULL + 1, word = 0;
	for (size_t i = 0; i < n; i++) {
		if (i % 8 == 0)
			word = check_random(&state);
		b[i] = (unsigned char)(word >> (i % 8 * 8));
	}
}

// Memory that is surely there.
static inline void *check_alloc(size_t n)
{
	void *p = malloc(n ? n : 1);
	CHECK(p != NULL);
	return p;
}

// The ranks of my node: those that share memory, and belong to the same pretended node.
static inline MPI_Comm check_node(void)
{
	const char *pretended = getenv("ARMCI_NODE");
	MPI_Comm shared, node;
	CHECK_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL,
		&shared));
	int color = 0;
	for (const char *c = pretended ? pretended : ""; *c; c++)
		color = (color * 31 + *c) % 1000003;
	CHECK_MPI(MPI_Comm_split(shared, color, me, &node));
	CHECK_MPI(MPI_Comm_free(&shared));
	return node;
}

#endif
