// SPDX-License-Identifier: BSD-3-Clause
// profiled_NAME for each line of PROFILE_CALLS: records the call around inner_NAME. How many bytes
// a call moves is said here; a call whose arguments will be refused moves none.
#include "front.h"

static inline uint64_t positive(int n) { return n > 0 ? (uint64_t)n : 0; }

static uint64_t strided_bytes(const int *count, int levels)
{
	uint64_t n = 1;
	if (!count || levels < 0 || levels > K_MAX_LEVELS)
		return 0;
	for (int i = 0; i <= levels; i++)
		if (count[i] <= 0 || __builtin_mul_overflow(n, (uint64_t)count[i], &n))
			return 0;
	return n;
}

static uint64_t vector_bytes(const armci_giov_t *v, int n)
{
	uint64_t all = 0;
	for (int i = 0; v && i < n; i++) all += positive(v[i].bytes) * positive(v[i].ptr_array_len);
	return all;
}

static uint64_t gop_bytes(int n, int type)
{
	int t = k_type_of_message(type);
	return t < 0 ? 0 : positive(n) * k_type_size(t);
}

#define CALL(type, name, public, op, proc, bytes, params, args) \
	type profiled_##name params \
	{ \
		uint64_t moved = bytes; \
		struct profile_span s = profile_begin(public, proc, moved); \
		type result = inner_##name args; \
		profile_end(&s, op, proc, moved); \
		return result; \
	}
#define VOID_CALL(name, public, op, proc, bytes, params, args) \
	void profiled_##name params \
	{ \
		uint64_t moved = bytes; \
		struct profile_span s = profile_begin(public, proc, moved); \
		inner_##name args; \
		profile_end(&s, op, proc, moved); \
	}
PROFILE_CALLS(CALL, VOID_CALL)
