// SPDX-License-Identifier: BSD-3-Clause
// Baselines over libfabric: one raw request after the other, by libfabric alone over the provider
// that the library uses, that moves as many bytes in one piece. What a provider in software does at
// the far side it does in a thread there, which waits in the same way as this side does, while
// samples run; otherwise it sleeps.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "dial.h"
#include "endpoint.h"
#include "wire.h"

static struct {
	struct endpoint end;
	int socket; // to the other side, for the way to wait
	bool open;
	enum perf_style style;
	int (*post)(struct endpoint *e, size_t bytes);
	size_t bytes;
	double clock;
	pthread_t thread;
} raw;

// How long a side looks before it sleeps when it mixes: as over TCP.
static const double asker = 100e-6, answerer = 20e-6;

static const char *setting(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

// serve lets the provider work at the far side as rank 0 says, until that closes the socket. A
// request's arrival shows nowhere; so in mixed style the thread polls for a while after each
// wake-up.
static void *serve(void *arg)
{
	char style = PERF_ASLEEP;
	double until = 0;
	(void)arg;
	for (int i = 0;; i++) {
		bool look = style == PERF_SPINNING || (style == PERF_MIXED && timing_now() < until);
		int flags = style == PERF_ASLEEP && !endpoint_wakes(&raw.end) ? 0 : MSG_DONTWAIT;
		if (!look && flags) {
			endpoint_sleep(&raw.end, raw.socket);
			until = timing_now() + answerer;
		}
		endpoint_progress(&raw.end);
		if (look)
			bench_wait(style == PERF_MIXED ? 1000 : i % 2000);
		if (look && i % 64 != 0)
			continue;
		ssize_t got = recv(raw.socket, &style, 1, flags);
		if (got == 0)
			return NULL;
		if (got == 1 && send(raw.socket, &style, 1, MSG_NOSIGNAL) != 1)
			return NULL;
	}
}

void bench_ofi_ready(void)
{
	if (perf_me != 0 && perf_me != perf_n / 2)
		return;
	const char *provider = setting("ARMCI_OFI_PROVIDER");
	perf_need(provider != NULL,
		"ARMCI_OFI_PROVIDER names the provider of the raw baseline; it");
	raw.socket = perf_me == 0 ? perf_dial(perf_peer) : perf_answer(0);
	endpoint_open(&raw.end, raw.socket, BENCH_MOST, provider, setting("ARMCI_OFI_DOMAIN"));
	raw.open = perf_me == 0;
	if (!raw.open)
		perf_need(pthread_create(&raw.thread, NULL, serve, NULL) == 0, "thread");
}

void bench_ofi_end(void)
{
	if (raw.open)
		shutdown(raw.socket, SHUT_RDWR);
	else if (raw.thread)
		pthread_join(raw.thread, NULL);
	if (raw.open || raw.thread) {
		close(raw.socket);
		endpoint_close(&raw.end);
	}
}

// wait_for waits for n completions in the chosen style. Spinning yields the core now and then.
static void wait_for(int n)
{
	double until = raw.style == PERF_MIXED ? timing_now() + asker : 0;
	for (int i = 0; n > 0; i++) {
		int got = endpoint_progress(&raw.end);
		n -= got;
		if (n == 0 || got > 0)
			continue;
		if (raw.style == PERF_SPINNING || (raw.style == PERF_MIXED && timing_now() < until))
			bench_wait(raw.style == PERF_MIXED ? 1000 : i % 2000);
		else
			endpoint_sleep(&raw.end, -1);
	}
}

// far_style has the far side wait like this from now on, and returns when it does. It may have to
// accept a connection meanwhile.
static void far_style(enum perf_style style)
{
	char way = (char)style;
	perf_need(send(raw.socket, &way, 1, MSG_NOSIGNAL) == 1 &&
			recv(raw.socket, &way, 1, MSG_WAITALL) == 1,
		"the far side");
}

static void requests(void *arg, long n)
{
	(void)arg;
	if (!raw.open)
		return;
	far_style(raw.style);
	double begin = timing_now();
	for (long i = 0; i < n; i++) wait_for(raw.post(&raw.end, raw.bytes));
	raw.clock += timing_now() - begin;
	far_style(PERF_ASLEEP);
}

static const struct {
	const char *op;
	int (*post)(struct endpoint *e, size_t bytes);
	bool styles; // a row for each way to wait
} baselines[] = {
	{"put+fence", endpoint_write, true},
	{"get", endpoint_read, true},
	{"put-bandwidth", endpoint_write, false},
	{"get-bandwidth", endpoint_read, false},
	{"put-strided", endpoint_write, false},
	{"get-strided", endpoint_read, false},
};

// By rank 0 alone. Where the provider cannot wake a waiter, both sides spin.
bool bench_ofi_baseline(struct perf_case *c, int k)
{
	static const char *const names[] = {"mixed", "spinning", "blocking"};
	static const enum perf_style styles[] = {PERF_MIXED, PERF_SPINNING, PERF_ASLEEP};
	static char name[64];
	bool wakes = raw.open && endpoint_wakes(&raw.end);
	for (size_t i = 0; i < sizeof baselines / sizeof baselines[0]; i++) {
		if (strcmp(c->op, baselines[i].op) != 0)
			continue;
		bool all = baselines[i].styles && wakes && !bench_asleep();
		if (k >= (all ? 3 : 1) || (bench_asleep() && !wakes))
			return false;
		raw.style = all        ? styles[k] :
			bench_asleep() ? PERF_ASLEEP :
			wakes          ? PERF_MIXED :
					 PERF_SPINNING;
		raw.post = baselines[i].post;
		raw.bytes = c->bytes > 0 ? (size_t)c->bytes : 8;
		if (all) {
			snprintf(name, sizeof name, "%s/%s", c->op, names[k]);
			c->op = name;
		} else if (baselines[i].styles && !bench_asleep()) {
			snprintf(name, sizeof name, "%s/spinning", c->op);
			c->op = name;
		}
		c->raw = requests;
		c->raw_clock = &raw.clock;
		return true;
	}
	return false;
}
