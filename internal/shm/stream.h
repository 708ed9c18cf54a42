// SPDX-License-Identifier: BSD-3-Clause
// Streaming copies into a slot that another core reads next. They bypass the writer's cache: a line
// is neither fetched from the reader's cache before the store, nor from the writer's for the read.
// (From 16 KiB on: 2 to 3 times the bandwidth between cores.) The caller calls shm_stream_end once
// between the copies and the release store that announces them.
#ifndef ARMCI_SHM_STREAM_H
#define ARMCI_SHM_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// least bytes for which this is faster, also between cores that share a cache
#define SHM_STREAM_MIN ((4u << 10) + 1)

#if defined(__x86_64__)
#include <emmintrin.h>

// shm_stream_lines copies lines of 64 bytes; `to` is aligned to a line.
static inline void shm_stream_lines(uint8_t *to, const uint8_t *from, size_t lines)
{
	for (; lines > 0; lines--, to += 64, from += 64) {
		__m128i a = _mm_loadu_si128((const __m128i *)from),
			b = _mm_loadu_si128((const __m128i *)(from + 16));
		__m128i c = _mm_loadu_si128((const __m128i *)(from + 32)),
			d = _mm_loadu_si128((const __m128i *)(from + 48));
		_mm_stream_si128((__m128i *)to, a);
		_mm_stream_si128((__m128i *)(to + 16), b);
		_mm_stream_si128((__m128i *)(to + 32), c);
		_mm_stream_si128((__m128i *)(to + 48), d);
	}
}

// streaming stores are not ordered by a release store
static inline void shm_stream_end(void) { _mm_sfence(); }

// shm_stream copies n bytes; shorter copies are a memcpy.
static inline void shm_stream(uint8_t *to, const uint8_t *from, size_t n)
{
	size_t head = -(uintptr_t)to & 63;
	if (n < SHM_STREAM_MIN) {
		memcpy(to, from, n);
		return;
	}
	memcpy(to, from, head);
	size_t lines = (n - head) / 64, rest = head + lines * 64;
	memcpy(to + rest, from + rest, n - rest);
	shm_stream_lines(to + head, from + head, lines);
}
#else
static inline void shm_stream(uint8_t *to, const uint8_t *from, size_t n) { memcpy(to, from, n); }
static inline void shm_stream_end(void) {}
#endif

#endif
