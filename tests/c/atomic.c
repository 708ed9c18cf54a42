// SPDX-License-Identifier: BSD-3-Clause
// atomic.c - ARMCIX_Atomic: every operation and size with and without the old value, mixed
// operations of all ranks on the same words, compare-and-swap loops, together with ARMCI_Rmw, in
// every kind of memory, and wrong arguments.
#include "check.h"
#include <armcix.h>
#include <limits.h>
#include <stdbool.h>

enum { FIRST = ARMCIX_ADD, LAST = ARMCIX_CAS, ROUNDS = 400 };

static int64_t word_at(const void *p, int bytes)
{
	int32_t narrow;
	int64_t wide;
	memcpy(&narrow, p, sizeof narrow);
	memcpy(&wide, p, sizeof wide);
	return bytes == 4 ? narrow : wide;
}

static int64_t model(int op, int64_t was, int64_t operand, int64_t compare)
{
	switch (op) {
	case ARMCIX_ADD: return (int64_t)((uint64_t)was + (uint64_t)operand);
	case ARMCIX_AND: return was & operand;
	case ARMCIX_OR: return was | operand;
	case ARMCIX_XOR: return was ^ operand;
	case ARMCIX_SWAP: return operand;
	}
	return was == compare ? operand : was;
}

// One operation; what the word was and is, and that its neighbours stay. Three words at `there`,
// the second is changed.
static void one(int op, int bytes, bool fetch, char *there, int64_t first, int64_t operand,
	int64_t compare, int proc)
{
	int64_t before[3] = {-1, first, -1}, after[3], old = 0x5555555555555555;
	CHECK_OK(ARMCI_Put(before, there, sizeof before, proc));
	CHECK_OK(ARMCIX_Atomic(op, bytes, fetch ? &old : NULL, there + 8, &operand,
		op == ARMCIX_CAS ? &compare : NULL, proc));
	if (!fetch)
		ARMCI_Fence(proc);
	CHECK_OK(ARMCI_Get(there, after, sizeof after, proc));
	if (fetch)
		CHECK_INT(word_at(&old, bytes), word_at(&first, bytes));
	if (bytes == 4 || !fetch)
		CHECK_INT((uint64_t)old >> 32, 0x55555555);
	int64_t want = model(op, word_at(&first, bytes), word_at(&operand, bytes),
		word_at(&compare, bytes));
	CHECK_INT(word_at(&after[1], bytes), word_at(&want, bytes));
	if (bytes == 4)
		CHECK_INT(after[1] >> 32, first >> 32);
	CHECK_INT(after[0], -1);
	CHECK_INT(after[2], -1);
}

static void values(char *there, int proc)
{
	static const int64_t v[] = {0, 1, -1, 5, INT_MAX, INT_MIN, INT64_MAX, INT64_MIN,
		0x0123456789abcdef};
	enum { VALUES = sizeof v / sizeof *v };
	for (int op = FIRST; op <= LAST; op++)
		for (int i = 0; i < VALUES; i++)
			for (int j = 0; j < VALUES; j++) {
				one(op, 4 + 4 * (i & 1), j & 1, there, v[i], v[j],
					v[(i + j) % 2 ? i : j], proc);
				one(op, 8 - 4 * (i & 1), !(j & 1), there, v[i], v[j], v[i], proc);
			}
	int64_t same = 7; // all operands in one place
	CHECK_OK(ARMCI_PutValueLong(7, there, proc));
	CHECK_OK(ARMCIX_Atomic(ARMCIX_CAS, 8, &same, there, &same, &same, proc));
	CHECK_INT(same, 7);
	CHECK_OK(ARMCIX_Atomic(ARMCIX_ADD, 8, &same, there, &same, NULL, proc));
	CHECK_INT(same, 7);
	CHECK_INT(ARMCI_GetValueLong(there, proc), 14);
}

// Words of `bytes` of rank 0: a sum, bits that one rank each sets, bits that are toggled, bits that
// are cleared.
struct words {
	char *sum, *set, *toggled, *cleared;
};

static void mixed_step(const struct words *w, int bytes, int i, bool fetch)
{
	int64_t add = me + 1, bit = 1ll << (me % 31), keep = ~bit, flip = 1 + i, old, one_more = 1;
	void *out = fetch ? &old : NULL;
	CHECK_OK(ARMCIX_Atomic(ARMCIX_ADD, bytes, out, w->sum, &add, NULL, 0));
	CHECK_OK(ARMCIX_Atomic(ARMCIX_OR, bytes, out, w->set, &bit, NULL, 0));
	CHECK_OK(ARMCIX_Atomic(ARMCIX_XOR, bytes, out, w->toggled, &flip, NULL, 0));
	CHECK_OK(ARMCIX_Atomic(ARMCIX_AND, bytes, out, w->cleared, &keep, NULL, 0));
	if (bytes == 4)
		CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &old, w->sum, 1, 0));
	else
		CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, w->sum, (int)one_more, 0));
}

// All ranks change the same words in all ways; every change counts once.
static void mixed(void **base, int bytes)
{
	char *p = base[0];
	struct words w = {p, p + 64, p + 128, p + 192};
	int rounds = check_rounds(ROUNDS);
	if (me == 0) {
		memset(p, 0, 256);
		memset(w.cleared, -1, 8);
	}
	ARMCI_Barrier();
	for (int i = 0; i < rounds; i++)
		mixed_step(&w, bytes, i, i % 3 == 0);
	ARMCI_Barrier();
	int64_t got[32], sum = 0, set = 0, flips = 0;
	CHECK_OK(ARMCI_Get(p, got, sizeof got, 0));
	for (int r = 0; r < np; r++) {
		sum += (int64_t)(r + 2) * rounds;
		set |= 1ll << (r % 31);
	}
	for (int i = 0; i < rounds && np % 2; i++)
		flips ^= 1 + i;
	CHECK_INT(word_at(&got[0], bytes), sum);
	CHECK_INT(word_at(&got[8], bytes), set);
	CHECK_INT(word_at(&got[16], bytes), flips);
	CHECK_INT(word_at(&got[24], bytes), ~set);
	ARMCI_Barrier();
}

// Loops around compare-and-swap count exactly; where it fails, it tells what is there.
static void loops(void **base, int bytes)
{
	int rounds = check_rounds(ROUNDS / 2);
	if (me == 0)
		memset(base[0], 0, 8);
	ARMCI_Barrier();
	for (int i = 0; i < rounds; i++) {
		int64_t guess = 0, old = 0, next;
		for (;;) {
			next = guess + 3;
			CHECK_OK(ARMCIX_Atomic(ARMCIX_CAS, bytes, &old, base[0], &next, &guess, 0));
			if (word_at(&old, bytes) == word_at(&guess, bytes))
				break;
			guess = word_at(&old, bytes);
		}
	}
	ARMCI_Barrier();
	int64_t got;
	CHECK_OK(ARMCI_Get(base[0], &got, sizeof got, 0));
	CHECK_INT(word_at(&got, bytes), 3ll * np * rounds);
	ARMCI_Barrier();
}

// Operations without the old value come in the order of the caller's blocking calls there.
static void order(void **base)
{
	int to = (me + 1) % np;
	char *word = (char *)base[to] + 512;
	for (int i = 0; i < check_rounds(200); i++) {
		long v = i, add = 1, old;
		CHECK_OK(ARMCI_Put(&v, word, sizeof v, to));
		CHECK_OK(ARMCIX_Atomic(ARMCIX_ADD, 8, NULL, word, &add, NULL, to));
		if (i % 2) {
			CHECK_INT(ARMCI_GetValueLong(word, to), i + 1);
		} else {
			CHECK_OK(ARMCIX_Atomic(ARMCIX_SWAP, 8, &old, word, &add, NULL, to));
			CHECK_INT(old, i + 1);
		}
	}
	ARMCI_Barrier();
}

// A rank's own ARMCI_Memget memory, which others learn of by a message.
static void of_one(void)
{
	armci_meminfo_t info;
	if (me == 0) {
		ARMCI_Memget(256, &info, 0);
		memset(info.addr, 0, 256);
	}
	armci_msg_bcast(&info, sizeof info, 0);
	void **base = check_alloc(sizeof(void *) * (size_t)np);
	base[0] = info.armci_addr;
	mixed(base, 4);
	mixed(base, 8);
	loops(base, 4);
	if (me == 0)
		ARMCI_Memctl(&info);
	free(base);
}

static void declared(void)
{
	void **base = check_alloc(sizeof(void *) * (size_t)np);
	CHECK_OK(ARMCI_Malloc_memdev(base, 256, "rdma-atomics"));
	if (me == 0)
		memset(base[0], 0, 256);
	mixed(base, 8);
	loops(base, 8);
	CHECK_OK(ARMCI_Free_memdev(base[me]));
	free(base);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(1024);
	values(base[(me + 1) % np], (me + 1) % np);
	ARMCI_Barrier();
	values(base[me], me);
	ARMCI_Barrier();
	order(base);
	for (int bytes = 4; bytes <= 8; bytes += 4) {
		mixed(base, bytes);
		loops(base, bytes);
	}
	check_free(base);
	of_one();
	declared();
	return check_end("atomic");
}
