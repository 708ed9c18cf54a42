/*
 * sanitize.c - runs every kernel on heap blocks of exactly the right size, at odd addresses, so
 * that the C sanitizers see any byte read or written outside and anything undefined. It also checks
 * results, but the Go tests are the place where correctness is tested thoroughly. Must not depend
 * on Go.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Run it in internal/kernel, twice:
 *   cc -std=c11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra -Werror
 *   \
 *      -I. testdata/sanitize.c *.c -lpthread -o sanitize && ./sanitize
 *   cc -std=c11 -g -O1 -fsanitize=thread -Wall -Wextra -Werror -I. testdata/sanitize.c *.c
 *   -lpthread -o sanitize && ./sanitize
 * Exit status 0 and a last line "ok sanitize HASH" are success. HASH depends on the results of all
 * floating-point arithmetic: it is the same for every compiler option and machine (-O0, -O3,
 * -march=native ...).
 */
#define _POSIX_C_SOURCE 200809L
#include "cursor.h"
#include "update.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3000, THREADS = 4, SHARED = 1500, STRIPES = 4, PITCH = 16 };

static uint64_t seed = 1, hash = 14695981039346656037u;

static unsigned pick(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "sanitize: wrong: %s\n", what);
	exit(1);
}

/* A heap block whose used part ends exactly where the block ends; `misalign` bytes are wasted at
 * its start. */
struct block {
	char *start, *use;
	size_t n;
};

static struct block block(size_t n)
{
	size_t       misalign = pick(9);
	struct block b = { malloc(misalign + n + (n == 0)), NULL, n };

	check(b.start != NULL, "out of memory");
	b.use = b.start + misalign;
	for (size_t i = 0; i < n; i++)
		b.use[i] = (char)pick(256);
	return b;
}

static void mix(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ ((const unsigned char *)p)[i]) * 1099511628211u;
}

/* shape makes random counts and strides that do not overlap, some negative, and gives the extent.
 */
static int shape(int *stride, int *stride2, int *count, int unit)
{
	int levels = (int)pick(5), below = 0, below2 = 0;

	count[0] = unit * (int)pick(40);
	below = below2 = count[0];
	for (int i = 0; i < levels; i++) {
		count[i + 1] = (int)pick(5) + (pick(8) != 0);
		stride[i] = below + unit * (int)(pick(2) * pick(9));
		stride2[i] = below2 + unit * (int)(pick(2) * pick(9));
		below = stride[i] * (count[i + 1] ? count[i + 1] : 1);
		below2 = stride2[i] * (count[i + 1] ? count[i + 1] : 1);
		if (pick(4) == 0)
			stride[i] = -stride[i];
		if (pick(4) == 0)
			stride2[i] = -stride2[i];
	}
	return levels;
}

static struct block room(const int *stride, const int *count, int levels, char **base)
{
	int64_t      lo, hi;
	struct block b;

	k_extent(stride, count, levels, &lo, &hi);
	b = block((size_t)(hi - lo));
	*base = b.use - lo;
	return b;
}

static void test_copies(void)
{
	int           stride[K_MAX_LEVELS], stride2[K_MAX_LEVELS], count[K_MAX_LEVELS + 1];
	int           levels = shape(stride, stride2, count, 1);
	char         *src, *dst;
	struct block  a = room(stride, count, levels, &src), b = room(stride2, count, levels, &dst);
	size_t        n = (size_t)k_volume(count, levels), got = 0;
	struct block  one = block(n), two = block(n);
	struct k_cursor c;
	struct k_segment  piece[3];

	k_copy_strided(src, stride, dst, stride2, count, levels);
	k_pack(src, stride, count, levels, one.use);
	k_pack(dst, stride2, count, levels, two.use);
	check(memcmp(one.use, two.use, n) == 0, "strided copy");
	k_cursor_strided(&c, (uintptr_t)src, stride, count, levels);
	for (size_t k; (k = k_cursor_pieces(&c, NULL, piece, 0, 3, INT64_MAX)) > 0;)
		for (size_t i = 0; i < k; i++, got += piece[i - 1].bytes)
			check(memcmp((char *)piece[i].addr, one.use + got, piece[i].bytes) == 0,
				"piece");
	check(got == n, "length of pieces");
	k_cursor_strided(&c, (uintptr_t)src, stride, count, levels);
	for (got = 0; c.left > 0; got = n - (size_t)c.left)
		k_cursor_pack(&c, NULL, two.use + got, 1 + pick((unsigned)c.left));
	check(memcmp(one.use, two.use, n) == 0, "pack by parts");
	memset(a.use, 0, a.n);
	k_unpack(src, stride, count, levels, one.use);
	k_pack(src, stride, count, levels, two.use);
	check(memcmp(one.use, two.use, n) == 0, "unpack");
	free(a.start), free(b.start), free(one.start), free(two.start);
}

static void test_vector(void)
{
	size_t       bytes = pick(300), n = pick(5);
	void        *src[5] = { 0 }, *dst[5] = { 0 };
	struct block a[5] = { 0 }, b[5] = { 0 };

	for (size_t i = 0; i < n; i++) {
		a[i] = block(bytes), b[i] = block(bytes);
		src[i] = a[i].use, dst[i] = b[i].use;
	}
	k_copy_vector(src, dst, bytes, n);
	for (size_t i = 0; i < n; i++) {
		check(memcmp(src[i], dst[i], bytes) == 0, "vector copy");
		k_copy(dst[i], src[i], bytes);
		free(a[i].start), free(b[i].start);
	}
}

/* numbers fills memory with small finite values of a type. */
static void numbers(int type, char *p, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i += 4) {
		float  f = (float)pick(2000001) / 1e6f - 1;
		double d = (double)pick(2000001) / 1e6 - 1;

		if (type == K_FLT || type == K_CPL)
			memcpy(p + i, &f, sizeof f);
		else if ((type == K_DBL || type == K_DCP) && i % 8 == 0 && i + 8 <= n)
			memcpy(p + i, &d, sizeof d);
	}
}

static void test_acc(const struct k_stripes *st)
{
	int          type = (int)pick(6), size = (int)k_type_size(type);
	int          stride[K_MAX_LEVELS], stride2[K_MAX_LEVELS], count[K_MAX_LEVELS + 1];
	int          levels = shape(stride, stride2, count, size);
	char        *src, *dst;
	struct block a = room(stride, count, levels, &src), b = room(stride2, count, levels, &dst),
		     scale = block(16);
	size_t       n = (size_t)k_volume(count, levels);
	struct block one = block(n), two = block(n);

	numbers(type, a.use, a.n), numbers(type, b.use, b.n), numbers(type, scale.use, 16);
	k_pack(src, stride, count, levels, one.use);
	k_pack(dst, stride2, count, levels, two.use);
	k_acc_strided(st, type, scale.use, src, stride, dst, stride2, count, levels);
	k_acc(st, type, scale.use, two.use, one.use, n);
	k_pack(dst, stride2, count, levels, one.use);
	check(memcmp(one.use, two.use, n) == 0, "strided accumulate");
	mix(one.use, n);
	free(a.start), free(b.start), free(one.start), free(two.start), free(scale.start);
}

static void test_reduce(void)
{
	size_t n = pick(70);

	for (int red = 0; red < K_NRED; red++)
		for (int type = 0; type < K_NTYPES; type++) {
			size_t       size = n * k_type_size(type);
			struct block a = block(size), b = block(size);

			numbers(type, a.use, size), numbers(type, b.use, size);
			k_reduce(red, type, a.use, b.use, n);
			k_reduce_finish(red, type, a.use, n);
			mix(a.use, size);
			free(a.start), free(b.start);
		}
}

/* elements fills memory with elements of an update type; reals are finite, whatever the order of
 * arithmetic. */
static void elements(int type, char *p, size_t n)
{
	size_t size = k_update_bytes(type);

	if (type == K_F32 || type == K_C32)
		numbers(K_FLT, p, n);
	else if (type == K_F64 || type == K_C64)
		numbers(K_DBL, p, n);
	else if (type == K_F80 || type == K_C80 || type == K_F80_I)
		for (size_t i = 0; i + 16 <= n; i += type == K_F80_I ? size : 16) {
			long double x = (long double)pick(2001) - 1000;

			memcpy(p + i, &x, 10);
		}
}

/* equal compares elements, but not what is behind the ten bytes that count of a long double. */
static int equal(int type, const char *a, const char *b, size_t n)
{
	size_t each = type == K_F80 || type == K_C80 ? 16 : 1;

	for (size_t i = 0; i < n; i += each)
		if (memcmp(a + i, b + i, each == 1 ? 1 : 10) != 0)
			return 0;
	return 1;
}

/* test_update does every operator on n elements at once, and on one after the other: dst, and what
 * was there before, are the same. */
static void test_update(const struct k_stripes *st)
{
	size_t n = pick(70);

	for (int op = 0; op < K_UPDATE_OPS; op++)
		for (int type = 0; type < K_UPDATE_TYPES; type++) {
			size_t       size = k_update_bytes(type), all = n * size;
			struct block a = block(all), b = block(all), old = block(all),
				     two = block(all), was = block(all);

			elements(type, a.use, all), elements(type, b.use, all);
			memcpy(two.use, a.use, all);
			memcpy(was.use, a.use, all);
			for (size_t i = 0; i < all; i += size)
				k_update(st, op, type, two.use + i, b.use + i,
					pick(2) ? old.use + i : NULL, 1);
			k_update(st, op, type, a.use, b.use, old.use, n);
			check(equal(type, a.use, two.use, all), "update");
			check(!k_update_valid(op, type) || equal(type, old.use, was.use, all),
				"old values");
			if (type != K_F80 && type != K_C80)
				mix(a.use, all);
			memcpy(two.use, was.use, all);
			k_update(st, op, type, two.use, b.use, b.use, n);
			check(equal(type, a.use, two.use, all), "update with src as old");
			check(!k_update_valid(op, type) || equal(type, b.use, was.use, all),
				"old values at src");
			free(a.start), free(b.start), free(old.start), free(two.start),
				free(was.start);
		}
}

static void test_swap(const struct k_stripes *st)
{
	size_t       n = 1 + pick(32);
	struct block a = block(n), b = block(n), c = block(n), old = block(n);

	if (pick(2))
		memcpy(b.use, a.use, n);
	int same = memcmp(a.use, b.use, n) == 0;

	k_compare_swap(st, n, a.use, b.use, c.use, old.use);
	check(memcmp(a.use, same ? c.use : old.use, n) == 0, "compare and swap");
	check(!same || memcmp(old.use, b.use, n) == 0, "old value of a swap");
	free(a.start), free(b.start), free(c.start), free(old.start);
}

static k_lock_word words[STRIPES * PITCH];
static _Alignas(1 << K_STRIPE_SHIFT) char two_stripes[2 << K_STRIPE_SHIFT];
/* a stripe ends in the middle */
#define sums ((double *)(void *)(two_stripes + (1 << K_STRIPE_SHIFT) - SHARED * 4))

/* add_runs adds ones to all elements of both stripes: by runs, and under the locks of both, which
 * all threads take at once. */
static void add_runs(const struct k_stripes *st, const double *ones, double *old)
{
	struct k_segment run[3] = { { (uintptr_t)(sums + SHARED / 2), SHARED * 4 },
		                       { (uintptr_t)two_stripes, 0 },
		                       { (uintptr_t)sums, SHARED * 4 } };
	k_lock_word        *held[3];
	size_t              n;

	k_update_runs(st, K_U_SUM, K_F64, run, 3, ones, old);
	n = k_stripes_hold_runs(st, run, 3, held);
	check(n == 2 && held[0] < held[1], "locks in ascending order");
	k_acc_raw(K_DBL, &ones[0], sums, ones, SHARED * 8);
	k_stripes_drop_runs(held, n);
}

/* add_all is one thread: whole arrays, rows and single elements into `sums`. */
static void *add_all(void *owner)
{
	struct k_stripes st = { words, STRIPES - 1, PITCH, *(uint32_t *)owner, 0 };
	double           ones[SHARED], old[SHARED], scale = 1;
	int              stride = 16, count[] = { 8, SHARED / 2 };

	for (int i = 0; i < SHARED; i++)
		ones[i] = 1;
	for (int r = 0; r < 50; r++) {
		k_acc(&st, K_DBL, &scale, sums, ones, sizeof ones);
		k_update(&st, K_U_SUM, K_F64, sums, ones, r % 2 ? old : NULL, SHARED);
		k_acc_strided(&st, K_DBL, &scale, ones, &stride, sums, &stride, count, 1);
		k_acc_strided(&st, K_DBL, &scale, ones, &stride, sums + 1, &stride, count, 1);
		add_runs(&st, ones, r % 2 ? old : NULL);
		for (int i = 0; i < SHARED; i++)
			k_update(&st, K_U_SUM, K_F64, sums + i, ones, old, 1);
		for (int i = 0; i < SHARED; i++)
			if (!k_acc_small(&st, K_DBL, &scale, sums + i, ones, 8))
				k_acc(&st, K_DBL, &scale, sums + i, ones, 8);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[THREADS];
	uint32_t  owner[THREADS];

	for (int i = 0; i < THREADS; i++) {
		owner[i] = (uint32_t)i + 1;
		check(pthread_create(&thread[i], NULL, add_all, &owner[i]) == 0, "thread");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < SHARED; i++)
		check(sums[i] == 7 * 50 * THREADS, "sum of threads");
	for (int i = 0; i < STRIPES; i++)
		check(words[i * PITCH] == 0, "lock left behind");
}

int main(void)
{
	struct k_stripes st = { words, STRIPES - 1, PITCH, 1, 0 };

	for (int i = 0; i < ROUNDS; i++) {
		test_copies();
		test_vector();
		test_acc(i % 4 ? &st : NULL);
		test_swap(i % 4 ? &st : NULL);
		if (i % 30 == 0) {
			test_reduce();
			test_update(i % 4 ? &st : NULL);
		}
	}
	test_threads();
	printf("ok sanitize %016llx\n", (unsigned long long)hash);
	return 0;
}
