// SPDX-License-Identifier: BSD-3-Clause
// What a message to the data server and its answer are held against: a message without bytes over
// bare verbs that a thread of the far process answers. That thread waits as a data server does: it
// looks for a while, then sleeps.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

#include "dial.h"
#include "rdma.h"

enum { END = 1 }; // the last message

static const double patience = 20e-6; // how long the far side looks

static struct link near, far;
static pthread_t thread;

static struct ibv_wc next_of_far(void)
{
	struct ibv_wc done;
	double begin = timing_now();
	while (timing_now() - begin < patience)
		if (ibv_poll_cq(far.queue, 1, &done) > 0)
			return done;
	return link_next(&far);
}

static void *answer(void *arg)
{
	(void)arg;
	for (;;) {
		struct ibv_wc done = next_of_far();
		if (done.opcode != IBV_WC_RECV)
			continue; // an answer has left
		if (done.imm_data == END)
			return NULL;
		link_receive(&far);
		link_say(&far, NULL, 0);
	}
}

void rdma_echo_ready(void)
{
	if (perf_me == 0) {
		link_open(&near, perf_dial(perf_peer), 4096);
		near.asleep = bench_asleep();
	} else {
		link_open(&far, perf_answer(0), 4096);
		far.asleep = true;
		link_receive(&far);
		perf_need(pthread_create(&thread, NULL, answer, NULL) == 0, "thread");
	}
}

void rdma_echo_end(void)
{
	if (perf_me == 0) {
		link_say(&near, NULL, END);
		link_next(&near);
		link_close(&near);
	} else {
		pthread_join(thread, NULL);
		link_close(&far);
	}
}

static void echo(void *arg, long n)
{
	(void)arg;
	for (long i = 0; i < n; i++) {
		link_receive(&near);
		link_say(&near, NULL, 0);
		// it has left, and the answer is here
		for (int done = 0; done < 2; done++) link_next(&near);
	}
}

bool rdma_echo_baseline(struct perf_case *c)
{
	static const char *const ops[][2] = {{"fetch-add", "fetch-add/echo"},
		{"lock+unlock", "lock+unlock/echo"}, {"acc", "acc/echo"}};
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
		if (strcmp(c->op, ops[i][0]) == 0 && c->bytes <= 8) {
			c->op = ops[i][1];
			c->raw = echo;
			return true;
		}
	return false;
}
