/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits and tests for own memory. A wait looks a few times here, then in the library, which sleeps
 * in the end: PEs of the node that write to this one see the sleeper and wake it, and so does what
 * comes from another node.
 */
#include "osh.h"

enum {
	LOOKS = 100, /* before the library is called */
	/* For so long all other PEs may have left, since shmem_global_exit(0) ends this one soon;
	 * then a wait for them ends the job. */
	LEAVING_MS = 10000
};

void osh_wait_for(int (*happened)(void *), void *arg)
{
	for (int i = 0; i < LOOKS; i++)
		if (happened(arg))
			return;
	int code = ARMCIX_Wait_until(happened, arg, LEAVING_MS);
	if (code == 1)
		code = ARMCIX_Wait_until(happened, arg, -1);
	if (code != 0)
		osh_failed("shmem_wait_until", code);
}

/* The words that a call waits for or tests, and what it compares them with. */
struct words {
	const char *at;
	size_t n, bytes;
	bool is_signed;
	const int *status; /* nonzero: excluded; or null */
	int cmp;
	uint64_t value;
	const char *values; /* one for each word; or null */
	const char *fn;
	size_t *indices;    /* of words that were found; or null */
	size_t most, found; /* words to find, found */
};

static uint64_t load(const char *at, size_t bytes, bool is_signed)
{
	const void *p = at;
	int shift = 64 - 8 * (int)bytes;
	uint64_t v = bytes == 2 ? atomic_load((const _Atomic uint16_t *)p)
		: bytes == 4    ? atomic_load((const _Atomic uint32_t *)p)
				: atomic_load((const _Atomic uint64_t *)p);
	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
}

static bool compare(const struct words *w, uint64_t a, uint64_t b)
{
	bool less = w->is_signed ? (int64_t)a < (int64_t)b : a < b;
	switch (w->cmp) {
	case SHMEM_CMP_EQ: return a == b;
	case SHMEM_CMP_NE: return a != b;
	case SHMEM_CMP_GT: return !less && a != b;
	case SHMEM_CMP_LE: return less || a == b;
	case SHMEM_CMP_LT: return less;
	case SHMEM_CMP_GE: return !less;
	default: osh_die(w->fn, "cmp: there is no comparison %d", w->cmp);
	}
}

static bool included(const struct words *w, size_t i) { return !w->status || !w->status[i]; }

static bool holds(const struct words *w, size_t i)
{
	return compare(w, load(w->at + i * w->bytes, w->bytes, w->is_signed),
		w->values ? load(w->values + i * w->bytes, w->bytes, w->is_signed) : w->value);
}

/* Looks once, from another word on each time, so that none is never found. */
static int find_some(void *arg)
{
	static _Thread_local size_t turn;
	struct words *w = arg;
	size_t i = w->n > 1 ? ++turn % w->n : 0;
	for (size_t left = w->n; left > 0 && w->found < w->most; left--) {
		if (included(w, i) && holds(w, i))
			w->indices[w->found++] = i;
		i = i + 1 < w->n ? i + 1 : 0;
	}
	return w->found > 0;
}

/* Words once found need not be looked at again: found counts those at the beginning. */
static int find_all(void *arg)
{
	struct words *w = arg;
	while (w->found < w->n && (!included(w, w->found) || holds(w, w->found))) w->found++;
	return w->found == w->n;
}

static int find_one(void *arg) { return holds(arg, 0); }

static bool empty(const struct words *w)
{
	size_t i = 0;
	while (i < w->n && !included(w, i)) i++;
	return i == w->n;
}

static void check(const struct words *w)
{
	if (unlikely(!osh.on))
		osh_die(w->fn, "shmem_init was not called");
	if (unlikely(w->n && (!w->at || (uintptr_t)w->at % w->bytes)))
		osh_die(w->fn, "ivar: %p is not aligned", (const void *)w->at);
}

static int one_or_all(struct words w, int (*found)(void *), bool wait)
{
	check(&w);
	if (wait)
		osh_wait_for(found, &w);
	return wait || found(&w);
}

static size_t some(struct words w, bool wait)
{
	check(&w);
	if (empty(&w))
		return 0;
	if (wait)
		osh_wait_for(find_some, &w);
	else
		find_some(&w);
	return w.found;
}

static size_t any(struct words w, bool wait)
{
	size_t index = SIZE_MAX;
	w.indices = &index;
	w.most = 1;
	some(w, wait);
	return index;
}

#define WORDS(...) \
	(struct words){.at = (const char *)ivars, .n = nelems, .bytes = sizeof *ivars, \
		.is_signed = (__typeof__(*ivars))-1 < (__typeof__(*ivars))1, .cmp = cmp, .fn = FN, \
		.most = nelems, __VA_ARGS__}
#define ONE(...) WORDS(.value = (uint64_t)cmp_value, ##__VA_ARGS__)
#define MANY(...) WORDS(.value = (uint64_t)cmp_value, .status = status, ##__VA_ARGS__)
#define VECTOR(...) WORDS(.values = (const char *)cmp_values, .status = status, ##__VA_ARGS__)

#define WAITS(NAME, TYPE) \
	API(void, NAME##_wait_until, (TYPE *ivars, int cmp, TYPE cmp_value)) \
	{ \
		enum { nelems = 1 }; \
		one_or_all(ONE(), find_one, true); \
	} \
	API(int, NAME##_test, (TYPE *ivars, int cmp, TYPE cmp_value)) \
	{ \
		enum { nelems = 1 }; \
		return one_or_all(ONE(), find_one, false); \
	} \
	API(void, NAME##_wait_until_all, (TYPE *ivars, size_t nelems, const int *status, int cmp, \
		TYPE cmp_value)) \
	{ \
		one_or_all(MANY(), find_all, true); \
	} \
	API(int, NAME##_test_all, (TYPE *ivars, size_t nelems, const int *status, int cmp, \
		TYPE cmp_value)) \
	{ \
		return one_or_all(MANY(), find_all, false); \
	} \
	API(void, NAME##_wait_until_all_vector, (TYPE *ivars, size_t nelems, const int *status, \
		int cmp, TYPE *cmp_values)) \
	{ \
		one_or_all(VECTOR(), find_all, true); \
	} \
	API(int, NAME##_test_all_vector, (TYPE *ivars, size_t nelems, const int *status, int cmp, \
		TYPE *cmp_values)) \
	{ \
		return one_or_all(VECTOR(), find_all, false); \
	} \
	ANY_SOME(NAME, TYPE, wait_until, true) \
	ANY_SOME(NAME, TYPE, test, false)

#define ANY_SOME(NAME, TYPE, VERB, WAIT) \
	API(size_t, NAME##_##VERB##_any, (TYPE *ivars, size_t nelems, const int *status, int cmp, \
		TYPE cmp_value)) \
	{ \
		return any(MANY(), WAIT); \
	} \
	API(size_t, NAME##_##VERB##_some, (TYPE *ivars, size_t nelems, size_t *indices, \
		const int *status, int cmp, TYPE cmp_value)) \
	{ \
		return some(MANY(.indices = indices), WAIT); \
	} \
	API(size_t, NAME##_##VERB##_any_vector, (TYPE *ivars, size_t nelems, const int *status, \
		int cmp, TYPE *cmp_values)) \
	{ \
		return any(VECTOR(), WAIT); \
	} \
	API(size_t, NAME##_##VERB##_some_vector, (TYPE *ivars, size_t nelems, size_t *indices, \
		const int *status, int cmp, TYPE *cmp_values)) \
	{ \
		return some(VECTOR(.indices = indices), WAIT); \
	}
SHMEM_SYNC_TYPES_(WAITS)

API(uint64_t, signal_fetch, (const uint64_t *sig_addr))
{
	return load((const char *)sig_addr, sizeof *sig_addr, false);
}

struct signal_wait {
	struct words words;
	uint64_t value;
};

static int signalled(void *arg)
{
	struct signal_wait *s = arg;
	s->value = load(s->words.at, sizeof s->value, false);
	return compare(&s->words, s->value, s->words.value);
}

API(uint64_t, signal_wait_until, (uint64_t *ivars, int cmp, uint64_t cmp_value))
{
	enum { nelems = 1 };
	struct signal_wait s = {ONE(), 0};
	check(&s.words);
	osh_wait_for(signalled, &s);
	return s.value;
}

/* Deprecated names. */
#define OLD_WAIT(NAME, TYPE) \
	API(void, NAME##_wait, (TYPE *ivar, TYPE cmp_value)) \
	{ \
		pshmem_##NAME##_wait_until(ivar, SHMEM_CMP_NE, cmp_value); \
	}
SHMEM_OLD_AMO_TYPES_(OLD_WAIT)
OLD_WAIT(short, short)
API(void, wait, (long *ivar, long cmp_value))
{
	pshmem_long_wait_until(ivar, SHMEM_CMP_NE, cmp_value);
}
API(void, wait_until, (long *ivar, int cmp, long cmp_value))
{
	pshmem_long_wait_until(ivar, cmp, cmp_value);
}
