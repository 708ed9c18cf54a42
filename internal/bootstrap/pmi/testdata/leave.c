// SPDX-License-Identifier: BSD-3-Clause
// leave.c - how a process leaves the jobs that it has joined: each once, the last first, not from a
// forked process, and in the time that is given to a slow launcher. Prints "ok leave".
#define _GNU_SOURCE
#include "../pmi.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char closed[16]; // a letter for each call

static void close_a(void) { strcat(closed, "a"); }
static void close_b(void) { strcat(closed, "b"); }
static void close_c(void) { strcat(closed, "c"); }

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("line %d: not " #condition "; closed: %s\n", __LINE__, closed); \
			exit(1); \
		} \
	} while (0)

// Each job is left once; more of them than there are interfaces can be joined one after the other.
static void each_once(void)
{
	CHECK(!pmi_in_job());
	pmi_at_exit(close_a);
	pmi_at_exit(close_b);
	CHECK(pmi_in_job());
	pmi_leave();
	CHECK(!pmi_in_job() && strcmp(closed, "ba") == 0);
	pmi_leave();
	CHECK(strcmp(closed, "ba") == 0);
	pmi_at_exit(close_c);
	pmi_leave();
	pmi_at_exit(close_a);
	pmi_at_exit(close_b);
	pmi_at_exit(close_c);
	pmi_leave();
	CHECK(!pmi_in_job() && strcmp(closed, "baccba") == 0);
}

// A forked process is in no job, and leaves none but one that it has joined itself.
static void forked(void)
{
	int status = 0;
	closed[0] = 0;
	pmi_at_exit(close_a);
	fflush(stdout);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		CHECK(!pmi_in_job());
		pmi_leave();
		CHECK(closed[0] == 0);
		pmi_at_exit(close_b);
		CHECK(pmi_in_job());
		pmi_leave();
		CHECK(strcmp(closed, "b") == 0);
		exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(pmi_in_job() && closed[0] == 0);
	pmi_leave();
	CHECK(strcmp(closed, "a") == 0);
}

static void pause_ms(int ms) { nanosleep(&(struct timespec){0, ms * 1000000L}, NULL); }

// The launcher's side: a byte every 20 ms for two seconds, without the end of a line.
static void answer_slowly(int socket)
{
	for (int i = 0; i < 100; i++) {
		if (send(socket, "x", 1, MSG_NOSIGNAL) != 1)
			break;
		pause_ms(20);
	}
	_exit(0);
}

static void on_alarm(int signal) { (void)signal; }

// The limit is for the whole answer, whatever arrives meanwhile: bytes, or signals.
static void in_time(int bytes, int signals)
{
	int pair[2];
	struct timespec from, to;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	pid_t child = bytes ? fork() : 0;
	CHECK(child >= 0);
	if (bytes && child == 0)
		answer_slowly(pair[1]);
	if (signals) {
		sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
		setitimer(ITIMER_REAL, &(struct itimerval){{0, 20000}, {0, 20000}}, NULL);
	}
	pmi_1_at_exit(pair[0], 200);
	clock_gettime(CLOCK_MONOTONIC, &from);
	pmi_leave();
	clock_gettime(CLOCK_MONOTONIC, &to);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	double s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
	CHECK(s > 0.15 && s < 1.5);
	close(pair[0]);
	close(pair[1]);
	if (bytes)
		waitpid(child, NULL, 0);
}

int main(void)
{
	each_once();
	forked();
	in_time(1, 0);
	in_time(0, 1);
	printf("ok leave\n");
	return 0;
}
