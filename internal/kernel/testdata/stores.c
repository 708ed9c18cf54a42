/*
 * stores.c - single-steps through copies and updates and looks at memory after every instruction:
 * is each aligned block of 1, 2, 4 or 8 bytes loaded once and stored once? Must not depend on Go,
 * nor on chance.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The processor's trap flag makes every instruction raise SIGTRAP. The handler plays the reader of
 * flags: a block that is no longer zero is taken, that is counted and set to zero again, and a
 * block whose bytes differ is torn. It also plays the writer: after every instruction the source
 * holds other bytes, all alike. Last line: "ok stores", or "skip: ..." on processors other than
 * x86-64. TestStoresOnce (copy_test.go) compiles and runs it.
 */
#define _GNU_SOURCE
#include "cursor.h"
#include "update.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

enum { MOST = 64, ROWS = 5, MIDDLE = 2048 };

static _Alignas(64) char source[2 * MIDDLE], target[2 * MIDDLE];

/* The blocks that the copy at hand moves, and what the handler has seen of them. */
static struct {
	char    *src, *dst;
	unsigned size, taken, torn;
} block[MOST];
static unsigned      blocks;
static unsigned char value;
static int           failed;

static void fill(void)
{
	if (++value == 0)
		value = 1;
	for (unsigned i = 0; i < blocks; i++)
		memset(block[i].src, value, block[i].size);
}

static void look(void)
{
	for (unsigned i = 0; i < blocks; i++) {
		char     *p = block[i].dst;
		unsigned differ = 0;

		for (unsigned k = 1; k < block[i].size; k++)
			differ |= p[k] != p[0];
		block[i].torn += differ;
		if (differ == 0 && p[0] != 0) {
			block[i].taken++;
			memset(p, 0, block[i].size);
		}
	}
}

static void trapped(int sig)
{
	(void)sig;
	look();
	fill();
}

/* The red zone below the stack pointer is the compiler's. */
#define FLAGS(change) \
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; " change \
			 " (%%rsp); popfq; lea 128(%%rsp), %%rsp" :: \
				 : "memory", "cc")

static void add(void *dst, void *src, size_t size)
{
	block[blocks].dst = dst;
	block[blocks].src = src;
	block[blocks].size = (unsigned)size;
	block[blocks].taken = block[blocks].torn = 0;
	blocks++;
}

static void check(const char *what, size_t size, long detail)
{
	for (unsigned i = 0; i < blocks; i++)
		if (block[i].taken != 1 || block[i].torn != 0) {
			printf("%s of %zu bytes (%ld): block %u came %u times, torn %u times\n",
				what, size, detail, i, block[i].taken, block[i].torn);
			failed = 1;
			break;
		}
	blocks = 0;
}

/* STEP runs one call instruction by instruction. */
#define STEP(call)                        \
	do {                              \
		memset(target, 0, sizeof target); \
		fill();                   \
		FLAGS("orq $0x100,");     \
		call;                     \
		FLAGS("andq $~0x100,");   \
	} while (0)

static void contiguous(size_t n)
{
	for (size_t at = 0; at < 16; at += n) {
		char *d = target + MIDDLE + at, *s = source + MIDDLE + 16 - at;

		add(d, s, n);
		STEP(k_copy(d, s, n));
		check("k_copy", n, (long)at);
	}
}

/* Of other sizes, no byte comes twice. */
static void bytes(size_t n)
{
	for (size_t at = 0; at < 8; at++) {
		char *d = target + MIDDLE + at, *s = source + MIDDLE;

		for (size_t i = 0; i < n; i++)
			add(d + i, s + i, 1);
		STEP(k_copy(d, s, n));
		check("bytes of k_copy", n, (long)at);
	}
}

/* rows adds the blocks of two levels of rows. */
static void rows(size_t n, int dstep, int sstep)
{
	for (int j = 0; j < 2; j++)
		for (int i = 0; i < ROWS; i++)
			add(target + MIDDLE + j * 1024 + i * dstep,
				source + MIDDLE + j * 1024 + i * sstep, n);
}

/* packed adds the same with one side dense. */
static void packed(size_t n, int step, int store)
{
	for (int i = 0; i < 2 * ROWS; i++) {
		int at = i / ROWS * 1024 + i % ROWS * step;

		if (store)
			add(target + MIDDLE + at, source + (size_t)i * n, n);
		else
			add(target + (size_t)i * n, source + MIDDLE + at, n);
	}
}

static void strided(size_t n)
{
	int steps[] = { (int)n, 2 * (int)n, -(int)n, 64 };
	int count[] = { (int)n, ROWS, 2 };

	for (unsigned i = 0; i < 4; i++) {
		int             a[] = { steps[i], 1024 };
		struct k_cursor c;

		for (unsigned k = 0; k < 4; k++) {
			int b[] = { steps[k], 1024 };

			if (i == 0 && k == 0)
				continue; /* rows that touch on both sides are one larger block */
			rows(n, b[0], a[0]);
			STEP(k_copy_strided(source + MIDDLE, a, target + MIDDLE, b, count, 2));
			check("k_copy_strided", n, a[0] * 1000 + b[0]);
		}
		if (i == 0)
			continue;
		packed(n, a[0], 0);
		STEP(k_pack(source + MIDDLE, a, count, 2, target));
		check("k_pack", n, a[0]);
		packed(n, a[0], 1);
		STEP(k_unpack(target + MIDDLE, a, count, 2, source));
		check("k_unpack", n, a[0]);
		packed(n, a[0], 0);
		k_cursor_strided(&c, (uintptr_t)(source + MIDDLE), a, count, 2);
		STEP(k_cursor_pack(&c, NULL, target, (int64_t)n * 2 * ROWS));
		check("k_cursor_pack", n, a[0]);
		packed(n, a[0], 1);
		k_cursor_strided(&c, (uintptr_t)(target + MIDDLE), a, count, 2);
		STEP(k_cursor_unpack(&c, NULL, source, (int64_t)n * 2 * ROWS));
		check("k_cursor_unpack", n, a[0]);
	}
}

static void lists(size_t n)
{
	void *src[2 * ROWS], *dst[2 * ROWS];

	for (int i = 0; i < 2 * ROWS; i++) {
		src[i] = source + MIDDLE + i / ROWS * 1024 + i % ROWS * 24;
		dst[i] = target + MIDDLE + i / ROWS * 1024 + i % ROWS * 40;
	}
	rows(n, 40, 24);
	STEP(k_copy_vector(src, dst, n, 2 * ROWS));
	check("k_copy_vector", n, 0);
	packed(n, 24, 0);
	STEP(k_pack_vector(src, n, 2 * ROWS, target));
	check("k_pack_vector", n, 0);
	packed(n, 40, 1);
	STEP(k_unpack_vector(dst, n, 2 * ROWS, source));
	check("k_unpack_vector", n, 0);
}

/* updates looks at operators whose result is the source, as the target is zero: an element is one
 * store. */
static void updates(void)
{
	static const int ops[] = { K_U_REPLACE, K_U_SUM, K_U_BOR, K_U_BXOR, K_U_MAXLOC };

	for (int type = 0; type < K_UPDATE_TYPES; type++)
		for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
			size_t n = k_update_bytes(type);

			if (n > 8 || !k_update_valid(ops[i], type))
				continue;
			value = 0; /* and so no negative number soon */
			add(target + MIDDLE, source + MIDDLE, n);
			STEP(k_update(NULL, ops[i], type, target + MIDDLE, source + MIDDLE, target,
				1));
			check("k_update", n, type * 100 + ops[i]);
		}
}

static void swaps(size_t n)
{
	static const char zeros[8];

	add(target + MIDDLE, source + MIDDLE, n);
	STEP(k_compare_swap(NULL, n, target + MIDDLE, zeros, source + MIDDLE, target));
	check("k_compare_swap", n, 0);
}

int main(void)
{
	struct sigaction act = { .sa_handler = trapped };

	if (sigaction(SIGTRAP, &act, NULL) != 0)
		return 2;
	for (size_t n = 1; n <= 8; n *= 2) {
		contiguous(n);
		strided(n);
		lists(n);
		swaps(n);
	}
	updates();
	for (size_t n = 1; n <= 16; n++)
		bytes(n);
	puts(failed ? "FAILED" : "ok stores");
	return failed;
}

#else

int main(void)
{
	puts("skip: single-stepping is written for x86-64 only");
	return 0;
}

#endif
