/*
 * update_swap.c - compare-and-swap of any few bytes, and stripes that are held for other means.
 * Must not know types. k_stripes_hold_runs is the only function that holds more than one stripe.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "update_ops.h"

/* SWAP compares and swaps one T at any address: everything is loaded before anything is stored. */
#define SWAP(AT)                                                                          \
	do {                                                                              \
		AT was = *(const AT *)dst, want = *(const AT *)compare, to = *(const AT *)value; \
		if (was == want)                                                          \
			*(AT *)dst = to;                                                  \
		if (old)                                                                  \
			*(AT *)old = was;                                                 \
	} while (0)

/* swap_bytes is the same for any number of bytes, at most those of a k_b32_at. */
static void swap_bytes(size_t bytes, void *dst, const void *compare, const void *value, void *old)
{
	k_b32_at was, to;

	memcpy(&was, dst, bytes);
	memcpy(&to, value, bytes);
	if (memcmp(&was, compare, bytes) == 0)
		k_copy(dst, &to, bytes);
	if (old)
		memcpy(old, &was, bytes);
}

void k_compare_swap(const struct k_stripes *st, size_t bytes, void *dst, const void *compare,
	const void *value, void *old)
{
	k_lock_word *held;

	if (bytes == 0 || bytes > sizeof(k_b32_at))
		return;
	held = st ? k_take(st, dst) : NULL;
	switch (bytes) {
	case 1: SWAP(k_u8_at); break;
	case 2: SWAP(k_u16_at); break;
	case 4: SWAP(k_u32_at); break;
	case 8: SWAP(k_u64_at); break;
	default: swap_bytes(bytes, dst, compare, value, old);
	}
	if (held)
		k_unlock(held);
}

k_lock_word *k_stripes_hold(const struct k_stripes *st, const void *dst)
{
	return st ? k_take(st, dst) : NULL;
}

void k_stripes_drop(k_lock_word *held)
{
	if (held)
		k_unlock(held);
}

/* sorted puts the words of the stripes of runs in ascending order, each once, and gives how many
 * there are. Runs mostly come in ascending order, so that a word is behind those before it. */
static size_t sorted(const struct k_stripes *st, const struct k_segment *runs, size_t n,
	k_lock_word **held)
{
	size_t many = 0;

	for (size_t i = 0; i < n; i++) {
		k_lock_word *word = k_stripe_word(st, (const void *)runs[i].addr);
		size_t    at = many;

		while (at > 0 && held[at - 1] > word)
			at--;
		if (at > 0 && held[at - 1] == word)
			continue;
		memmove(held + at + 1, held + at, (many - at) * sizeof *held);
		held[at] = word;
		many++;
	}
	return many;
}

size_t k_stripes_hold_runs(const struct k_stripes *st, const struct k_segment *runs, size_t n,
	k_lock_word **held)
{
	size_t many = st ? sorted(st, runs, n, held) : 0;

	for (size_t i = 0; i < many; i++)
		k_take_word(st, held[i]);
	return many;
}

void k_stripes_drop_runs(k_lock_word *const *held, size_t n)
{
	for (size_t i = 0; i < n; i++)
		k_unlock(held[i]);
}
