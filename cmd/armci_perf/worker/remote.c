// SPDX-License-Identifier: BSD-3-Clause
// Loops over an operation on a rank of another node, and over as many bytes on a raw socket. The raw side polls its
// sockets while its samples run, unless another way to wait is asked for: what is fastest is what we are measured by.
#include "remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct remote remote_without_socket(void **all, size_t bytes)
{
	struct remote r = {.wire.fd = -1, .mine = perf_private(bytes), .theirs = all[perf_peer], .each = 1,
		.style = PERF_SPINNING};
	memset(r.mine, 0, bytes);
	return r;
}

struct remote remote_begin(void **all, size_t bytes)
{
	struct remote r = remote_without_socket(all, bytes);
	r.wire = perf_wire_open(bytes + 4096, 1);
	return r;
}

void remote_finish(struct remote *r, void **all)
{
	perf_wire_close(&r->wire);
	free(r->mine);
	perf_free(all);
}

void remote_measure(struct remote *r, struct perf_case c, void (*one)(struct remote *r), perf_body ours, perf_body beside)
{
	c.ours = ours;
	c.raw = beside;
	c.arg = r;
	c.clock = &r->clock;
	r->one = one;
	perf_solo(&c);
}

void remote_styles(struct remote *r, const char *op, double bytes, void (*one)(struct remote *r), perf_body ours)
{
	static const struct {
		const char *name;
		enum perf_style style;
	} styles[] = {{"mixed", PERF_MIXED}, {"spinning", PERF_SPINNING}, {"blocking", PERF_ASLEEP}};
	for (int i = 0; i < 3; i++) {
		char name[64];
		snprintf(name, sizeof name, "%s/%s", op, styles[i].name);
		r->style = styles[i].style;
		remote_measure(r, (struct perf_case){.op = name, .shape = "-", .bytes = bytes, .unit = PERF_NS}, one, ours, remote_raw);
	}
	r->style = PERF_SPINNING;
}

void remote_ours(void *arg, long n)
{
	struct remote *r = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++)
		for (int k = 0; k < r->each; k++) r->one(r);
	r->clock += perf_now() - begin;
}

void remote_fenced(void *arg, long n)
{
	struct remote *r = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < r->each; k++) r->one(r);
		ARMCI_Fence(perf_peer);
	}
	r->clock += perf_now() - begin;
}

static void raw(struct remote *r, long n, void (*exchange)(struct remote *r))
{
	if (r->wire.fd < 0)
		return;
	perf_wire_style(&r->wire, r->style);
	double begin = perf_now();
	for (long i = 0; i < n; i++) exchange(r);
	r->clock += perf_now() - begin;
	perf_wire_style(&r->wire, PERF_ASLEEP);
}

static void ask(struct remote *r) { perf_wire_ask(&r->wire, r->out, r->back); }

static void puts_then_answer(struct remote *r)
{
	for (int k = 1; k < r->each; k++) perf_wire_send(&r->wire, r->out, 0);
	perf_wire_ask(&r->wire, r->out, r->back);
}

static void requests_then_answers(struct remote *r)
{
	for (int k = 0; k < r->each; k++) perf_wire_send(&r->wire, r->out, r->back);
	for (int k = 0; k < r->each; k++) perf_wire_take(&r->wire, r->back);
}

void remote_raw(void *arg, long n) { raw(arg, n, ask); }
void remote_raw_puts(void *arg, long n) { raw(arg, n, puts_then_answer); }
void remote_raw_gets(void *arg, long n) { raw(arg, n, requests_then_answers); }

void remote_put(struct remote *r) { ARMCI_Put(r->mine, r->theirs, r->count[0], perf_peer); }
void remote_get(struct remote *r) { ARMCI_Get(r->theirs, r->mine, r->count[0], perf_peer); }

void remote_fetch_add(struct remote *r)
{
	long old;
	ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, r->theirs, 1, perf_peer);
}
