// SPDX-License-Identifier: BSD-3-Clause
// check.h - what every test program shares: start and end of the job, checks that name rank, file,
// line and values and end the whole job, a small random generator and byte patterns. It must not
// hide ARMCI calls that a program is about, and it knows nothing of any one test.
#ifndef CHECK_H
#define CHECK_H

#include <armci.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Rank and size of the job, set by check_begin.
static int me, np;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4), noreturn))
#endif
static inline void check_fail(const char *file, int line, const char *format, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	fprintf(stderr, "rank %d: %s:%d: check failed: %s\n", me, file, line, text);
	fflush(stderr);
	ARMCI_Error("a check failed", 1);
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

// Two pointers must be equal.
#define CHECK_PTR(got, want) \
	check_ptr(__FILE__, __LINE__, #got, (const void *)(got), (const void *)(want))

// n bytes must be equal; the first difference is printed.
#define CHECK_MEM(got, want, n) check_mem(__FILE__, __LINE__, #got, (got), (want), (n))

// A call must return 0.
#define CHECK_OK(call) CHECK_INT(call, 0)

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

static inline void check_ptr(const char *file, int line, const char *what, const void *got,
	const void *want)
{
	if (got != want)
		check_fail(file, line, "%s is %p, expected %p", what, got, want);
}

static inline void check_mem(const char *file, int line, const char *what, const void *got,
	const void *want, size_t n)
{
	const unsigned char *g = got, *w = want;
	if (n == 0 || memcmp(g, w, n) == 0)
		return;
	size_t i = 0;
	while (g[i] == w[i])
		i++;
	check_fail(file, line, "%s differs at byte %zu of %zu: 0x%02x, expected 0x%02x", what, i, n,
		g[i], w[i]);
}

// Starts the job: with MPI when the program is linked with it, else under armcirun or alone.
static inline void check_begin(int *argc, char ***argv)
{
	armci_msg_init(argc, argv);
	CHECK_OK(ARMCI_Init());
	me = armci_msg_me();
	np = armci_msg_nproc();
	CHECK(np >= 1 && me >= 0 && me < np);
}

// Ends the job; the value is main's exit code.
static inline int check_end(const char *name)
{
	ARMCI_Barrier();
	ARMCI_Finalize();
	if (me == 0) {
		printf("ok %s (%d ranks)\n", name, np);
		fflush(stdout);
	}
	armci_msg_finalize();
	return 0;
}

// Rank 0 says why a part of a test does not run here.
static inline void check_skip(const char *why)
{
	if (me == 0)
		printf("skip: %s\n", why);
}

// A job setting (never named ARMCI_*), or the default.
static inline double check_setting(const char *name, double otherwise)
{
	const char *s = getenv(name);
	return s && *s ? strtod(s, NULL) : otherwise;
}

// How often to repeat what all ranks do together: n times on four ranks or fewer, fewer times on
// more, whose rounds take longer where they share processors, and on slow machines
// (ROUNDS_DIVISOR).
static inline int check_rounds(int n)
{
	n = n / (int)check_setting("ROUNDS_DIVISOR", 1) + 1;
	return np <= 4 ? n : n * 4 / np * 4 / np + 1;
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

// The pointers of one collective allocation of the same size everywhere.
static inline void **check_malloc(armci_size_t bytes)
{
	void **base = check_alloc(sizeof(void *) * (size_t)np);
	CHECK_OK(ARMCI_Malloc(base, bytes));
	for (int r = 0; r < np; r++)
		CHECK(bytes == 0 || base[r] != NULL);
	return base;
}

// The lowest rank on each rank's node: the nodes that scopes are about. (A domain is a node only
// where ranks are in blocks.)
static inline int *check_masters(void)
{
	int *master = check_alloc(sizeof(int) * (size_t)np);
	memset(master, 0, sizeof(int) * (size_t)np);
	while (!ARMCI_Same_node(master[me]))
		master[me]++;
	armci_msg_igop(master, np, "+");
	return master;
}

// Frees what check_malloc gave.
static inline void check_free(void **base)
{
	CHECK_OK(ARMCI_Free(base[me]));
	free(base);
}

#endif
