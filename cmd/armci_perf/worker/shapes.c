// SPDX-License-Identifier: BSD-3-Clause
// Strided and vector transfers: n by n patches of doubles beside a loop of one memcpy a row, and 1000 scattered
// doubles beside a loop of one assignment each. The leading dimension is larger than the patch, so rows never touch.
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEADING = 600, LARGEST = 512, SCATTERED = 1000 };

struct patch {
	char *mine, *theirs;
	int stride[1], count[2];
};

static void put(void *arg, long n)
{
	struct patch *p = arg;
	for (long i = 0; i < n; i++) ARMCI_PutS(p->mine, p->stride, p->theirs, p->stride, p->count, 1, perf_peer);
}

static void get(void *arg, long n)
{
	struct patch *p = arg;
	for (long i = 0; i < n; i++) ARMCI_GetS(p->theirs, p->stride, p->mine, p->stride, p->count, 1, perf_peer);
}

static void copy_rows(char *to, const char *from, const struct patch *p)
{
	for (int row = 0; row < p->count[1]; row++)
		memcpy(to + (long)row * p->stride[0], from + (long)row * p->stride[0], (size_t)p->count[0]);
}

static void raw_put(void *arg, long n)
{
	struct patch *p = arg;
	for (long i = 0; i < n; i++) {
		copy_rows(p->theirs, p->mine, p);
		perf_opaque(p);
	}
}

static void raw_get(void *arg, long n)
{
	struct patch *p = arg;
	for (long i = 0; i < n; i++) {
		copy_rows(p->mine, p->theirs, p);
		perf_opaque(p);
	}
}

void perf_strided(void)
{
	size_t bytes = (size_t)LEADING * LARGEST * sizeof(double);
	void **all = perf_malloc(bytes);
	struct patch p = {.mine = perf_private(bytes), .theirs = all[perf_peer], .stride = {LEADING * sizeof(double)}};
	for (int n = 4; n <= LARGEST; n *= perf_quick ? 8 : 2) {
		char shape[32];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		p.count[0] = n * (int)sizeof(double);
		p.count[1] = n;
		struct perf_case c = {.shape = shape, .bytes = 8.0 * n * n, .unit = PERF_NS, .arg = &p};
		c.op = "put-strided", c.ours = put, c.raw = raw_put;
		perf_solo(&c);
		c.op = "get-strided", c.ours = get, c.raw = raw_get;
		perf_solo(&c);
	}
	free(p.mine);
	perf_free(all);
}

struct scatter {
	double *mine, *theirs;
	armci_giov_t put, get;
};

static void put_vector(void *arg, long n)
{
	struct scatter *s = arg;
	for (long i = 0; i < n; i++) ARMCI_PutV(&s->put, 1, perf_peer);
}

static void get_vector(void *arg, long n)
{
	struct scatter *s = arg;
	for (long i = 0; i < n; i++) ARMCI_GetV(&s->get, 1, perf_peer);
}

static void raw_vector(const armci_giov_t *v, long n)
{
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < v->ptr_array_len; k++) *(double *)v->dst_ptr_array[k] = *(double *)v->src_ptr_array[k];
		perf_opaque(v->dst_ptr_array);
	}
}

static void raw_put_vector(void *arg, long n) { raw_vector(&((struct scatter *)arg)->put, n); }
static void raw_get_vector(void *arg, long n) { raw_vector(&((struct scatter *)arg)->get, n); }

// Every 17th double, in an order that no prefetcher likes too much.
static void scatter_addresses(struct scatter *s, void **mine, void **theirs)
{
	for (int i = 0; i < SCATTERED; i++) {
		long at = (long)((i * 389) % SCATTERED) * 17;
		mine[i] = s->mine + at;
		theirs[i] = s->theirs + at;
	}
	s->put = (armci_giov_t){.src_ptr_array = mine, .dst_ptr_array = theirs, .ptr_array_len = SCATTERED, .bytes = 8};
	s->get = (armci_giov_t){.src_ptr_array = theirs, .dst_ptr_array = mine, .ptr_array_len = SCATTERED, .bytes = 8};
}

void perf_vector(void)
{
	static void *mine[SCATTERED], *theirs[SCATTERED];
	size_t bytes = SCATTERED * 17 * sizeof(double);
	void **all = perf_malloc(bytes);
	struct scatter s = {.mine = perf_private(bytes), .theirs = all[perf_peer]};
	scatter_addresses(&s, mine, theirs);
	struct perf_case c = {.shape = "1000x8", .bytes = 8.0 * SCATTERED, .unit = PERF_NS, .arg = &s};
	c.op = "put-vector", c.ours = put_vector, c.raw = raw_put_vector;
	perf_solo(&c);
	c.op = "get-vector", c.ours = get_vector, c.raw = raw_get_vector;
	perf_solo(&c);
	free(s.mine);
	perf_free(all);
}
