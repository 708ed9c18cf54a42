// SPDX-License-Identifier: BSD-3-Clause
// The variables of fast.h, through which fabrics and capi call each other without naming each
// other, and messages that are made of puts.
#include "fast.h"

#include <string.h>

const struct fast_path *_Atomic fast_path;
bool (*_Atomic fast_serve)(struct fast_change *c);
bool (*_Atomic fast_serve_acc)(const struct fast_acc *a);
bool (*_Atomic fast_serve_send)(const struct fast_send *s);

enum { SHORT = FAST_BYTES - FAST_HEAD }; // most bytes of data that one put carries with the head

static const struct fast_path *current(void)
{
	return atomic_load_explicit(&fast_path, memory_order_acquire);
}

bool fast_word(int rank, struct traffic *at, struct traffic *all, uintptr_t word, uint32_t count)
{
	const struct fast_path *f = current();
	struct fast_transfer t = {.local = &count, .remote = word, .bytes = sizeof count, .at = at,
		.all = all, .rank = rank, .blocking = true};
	return f && f->put(&t) == FAST_DONE;
}

// Puts the head, and n bytes of data behind it. t has the target, the address and the counters. The
// put is locally complete at return.
static bool put_head(const struct fast_path *f, struct fast_transfer t, uint64_t total,
	const void *data, uint64_t n)
{
	unsigned char head[FAST_BYTES] = {0};
	memcpy(head, &total, sizeof total);
	if (n > 0)
		memcpy(head + FAST_HEAD, data, n);
	t.local = head;
	t.bytes = FAST_HEAD + n;
	return f->put(&t) == FAST_DONE;
}

enum fast_parts fast_message(int rank, struct traffic *at, struct traffic *all, uintptr_t to,
	uint64_t total, void *data, uint64_t n, uintptr_t word, uint32_t count, int32_t *request)
{
	const struct fast_path *f = current();
	struct fast_transfer t = {.remote = to, .at = at, .all = all, .rank = rank,
		.blocking = true};
	if (!f || !put_head(f, t, total, data, n <= SHORT ? n : 0))
		return FAST_NO_PART;
	if (n > SHORT) {
		t.local = data;
		t.remote = to + FAST_HEAD;
		t.bytes = n;
		t.blocking = false;
		t.request = *request;
		enum fast_result r = f->put(&t);
		if (r == FAST_DECLINED)
			return FAST_HEAD_ONLY;
		if (r == FAST_OPEN)
			*request = t.request;
	}
	return fast_word(rank, at, all, word, count) ? FAST_WHOLE : FAST_HEAD_AND_DATA;
}

bool fast_wait(int32_t request)
{
	const struct fast_path *f = current();
	return f && f->wait(request) == FAST_DONE;
}
