// SPDX-License-Identifier: BSD-3-Clause
// raw [TEST]... - tests of bare verbs between two processes of this machine, over the first device
// there is; `raw measure` prints how long small operations take. Those that need the software
// device are skipped over others.
#define _GNU_SOURCE
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, PATIENCE = 60 };

static void run_end(const struct test *t, int socket, bool lead)
{
	struct end e = {.lead = lead, .socket = socket};
	alarm(PATIENCE);
	if (lead && t->setting)
		setenv(t->setting, t->value, 1);
	raw_open(&e, t);
	raw_connect(&e, t->rnr_retry);
	t->body(&e);
	raw_close(&e);
	exit(0);
}

// Both ends in processes of their own: 0, or SKIPPED, or not.
static int run(const struct test *t)
{
	int pair[2], status[2];
	pid_t end[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return 1;
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		if ((end[i] = fork()) == 0) {
			close(pair[!i]);
			run_end(t, pair[i], i == 0);
		}
	close(pair[0]);
	close(pair[1]);
	for (int i = 0; i < 2; i++)
		waitpid(end[i], &status[i], 0);
	for (int i = 0; i < 2; i++)
		if (WIFSIGNALED(status[i]) && WTERMSIG(status[i]) != SIGKILL)
			fprintf(stderr, "FAIL %s: the %s end died of signal %d\n", t->name,
				i ? "other" : "leading", WTERMSIG(status[i]));
	if (WIFEXITED(status[0]) && WEXITSTATUS(status[0]) == SKIPPED)
		return SKIPPED;
	return !(WIFEXITED(status[0]) && WEXITSTATUS(status[0]) == 0 &&
		(WIFEXITED(status[1]) ? WEXITSTATUS(status[1]) == 0 :
					WTERMSIG(status[1]) == SIGKILL));
}

static bool chosen(int argc, char **argv, const char *name)
{
	bool some = argc == 1;
	for (int i = 1; i < argc; i++)
		some = some || strcmp(argv[i], name) == 0;
	return some;
}

int main(int argc, char **argv)
{
	static const struct test measure[] = {{"measure", raw_measure, .rnr_retry = 7},
		{"measure, shared", raw_measure, .shared = true, .rnr_retry = 7}, {0}};
	const struct test *all[] = {raw_moves, raw_errors, raw_faults, measure};
	int failed = 0, passed = 0, skipped = 0;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		for (const struct test *t = all[i]; t->name; t++) {
			if (!chosen(argc, argv, t->name))
				continue;
			uint64_t begin = raw_now();
			int result = run(t);
			passed += result == 0;
			skipped += result == SKIPPED;
			failed += result != 0 && result != SKIPPED;
			printf("%s %s %.2f s\n",
				result == 0               ? "ok" :
					result == SKIPPED ? "skip" :
							    "FAIL",
				t->name, (double)(raw_now() - begin) * 1e-9);
		}
	printf("raw: %d passed, %d skipped, %d failed\n", passed, skipped, failed);
	return failed ? 1 : passed ? 0 : SKIPPED;
}
