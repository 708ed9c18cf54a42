// SPDX-License-Identifier: BSD-3-Clause
// Eight bytes to or from a rank of another node beside a raw round trip that moves as many bytes as the frames do, in
// three ways to wait: as the library waits, with both sides spinning, with both asleep in the kernel.
#include "crew.h"
#include "remote.h"

static void empty_fences(void *arg, long n)
{
	struct remote *r = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++) ARMCI_Fence(perf_peer);
	r->clock += perf_now() - begin;
}

// The caller computes for longer than anybody polls, then asks once: the far side has to be woken. Only the asking counts.
static long rounds_between;

static void rare_gets(void *arg, long n)
{
	struct remote *r = arg;
	for (long i = 0; i < n; i++) {
		perf_compute(rounds_between);
		double begin = perf_now();
		remote_get(r);
		r->clock += perf_now() - begin;
	}
}

static void rare_questions(void *arg, long n)
{
	struct remote *r = arg;
	perf_wire_style(&r->wire, PERF_MIXED);
	for (long i = 0; i < n; i++) {
		perf_compute(rounds_between);
		double begin = perf_now();
		perf_wire_ask(&r->wire, r->out, r->back);
		r->clock += perf_now() - begin;
	}
	perf_wire_style(&r->wire, PERF_ASLEEP);
}

// The raw head is 24 bytes: sent and received are what a frame of the library is.
static void beside(struct remote *r, size_t out, size_t back)
{
	r->out = out;
	r->back = back;
}

void perf_remote_small(void)
{
	void **all = perf_malloc(4096);
	struct remote r = remote_begin(all, 4096);
	r.count[0] = 8;
	beside(&r, 8, 40);
	remote_styles(&r, "remote-get", 8, remote_get, remote_ours);
	struct perf_case c = {.op = "remote-get-rare", .shape = "-", .bytes = 8, .unit = PERF_NS};
	rounds_between = perf_rounds(200e-6);
	remote_measure(&r, c, NULL, rare_gets, rare_questions);
	beside(&r, 24, 16);
	remote_styles(&r, "remote-fetch-add", 8, remote_fetch_add, remote_ours);
	beside(&r, 48, 32); // two frames
	remote_styles(&r, "remote-put+fence", 8, remote_put, remote_fenced);
	c.op = "remote-put";
	remote_measure(&r, c, remote_put, remote_ours, NULL);
	c.op = "remote-fence-idle";
	c.bytes = 0;
	remote_measure(&r, c, NULL, empty_fences, NULL);
	remote_finish(&r, all);
}

// The same in a job whose settings make the library sleep in the kernel instead of polling, beside a raw socket that
// does.
void perf_remote_asleep(void)
{
	void **all = perf_malloc(4096);
	struct remote r = remote_begin(all, 4096);
	struct perf_case c = {.shape = "-", .bytes = 8, .unit = PERF_NS};
	r.count[0] = 8;
	r.style = PERF_ASLEEP;
	beside(&r, 8, 40);
	c.op = "remote-get-asleep";
	remote_measure(&r, c, remote_get, remote_ours, remote_raw);
	beside(&r, 24, 16);
	c.op = "remote-fetch-add-asleep";
	remote_measure(&r, c, remote_fetch_add, remote_ours, remote_raw);
	beside(&r, 48, 32); // two frames
	c.op = "remote-put+fence-asleep";
	remote_measure(&r, c, remote_put, remote_fenced, remote_raw);
	remote_finish(&r, all);
}
