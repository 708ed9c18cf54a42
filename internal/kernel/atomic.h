/*
 * atomic.h - one atomic operation of the processor on a word of 4 or 8 bytes. It must not
 * depend on the owner of the word.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LIBARMCI_KERNEL_ATOMIC_H
#define LIBARMCI_KERNEL_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Numbered as in armcix.h, whose calls on the node come here without a detour. */
enum { K_WORD_ADD = 1, K_WORD_AND, K_WORD_OR, K_WORD_XOR, K_WORD_SWAP, K_WORD_CAS };

/* k_change_32 and k_change_64: false if there is no such operation. The word is aligned and
 * accessible. operand, compare (of a compare-and-swap) and old, the value before, are of its size;
 * without old the processor need not fetch. */
#define K_WORD_OPERATIONS(bits) \
	static inline bool k_change_##bits(int op, uint##bits##_t *old, void *prem, \
		const void *operand, const void *compare) \
	{ \
		_Atomic uint##bits##_t *word = prem; \
		uint##bits##_t v, was; \
		memcpy(&v, operand, sizeof v); \
		switch (op) { \
		case K_WORD_ADD: was = atomic_fetch_add(word, v); break; \
		case K_WORD_AND: \
			if (!old) \
				return atomic_fetch_and(word, v), true; \
			was = atomic_fetch_and(word, v); \
			break; \
		case K_WORD_OR: \
			if (!old) \
				return atomic_fetch_or(word, v), true; \
			was = atomic_fetch_or(word, v); \
			break; \
		case K_WORD_XOR: \
			if (!old) \
				return atomic_fetch_xor(word, v), true; \
			was = atomic_fetch_xor(word, v); \
			break; \
		case K_WORD_SWAP: was = atomic_exchange(word, v); break; \
		case K_WORD_CAS: \
			if (!compare) \
				return false; \
			memcpy(&was, compare, sizeof was); \
			atomic_compare_exchange_strong(word, &was, v); \
			break; \
		default: return false; \
		} \
		if (old) \
			memcpy(old, &was, sizeof was); \
		return true; \
	}

K_WORD_OPERATIONS(32)
K_WORD_OPERATIONS(64)

#endif
