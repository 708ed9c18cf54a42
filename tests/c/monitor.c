// SPDX-License-Identifier: BSD-3-Clause
// Go's monitor thread has timers that may be late by 2 ms (internal/guest/monitor.c), and no other
// thread of the library has.
#include "check.h"

#include <dirent.h>
#include <unistd.h>

enum { SLACK = 2000000, TRIES = 100000 };

// The first line of a file of a thread; false if it may not be read, or the thread has ended.
static int line_of(int thread, const char *file, char *line, int size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", thread, file);
	FILE *f = fopen(path, "r");
	int there = f && fgets(line, size, f);
	if (f)
		fclose(f);
	return there;
}

// How many threads have that slack: the last one's number is put into thread. -1: it cannot be
// read.
static int with_slack(int *thread)
{
	int found = 0, others = 0;
	char line[64];
	DIR *d = opendir("/proc/self/task");
	CHECK(d != NULL);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		int other = atoi(e->d_name); // 0: no thread
		if (!other || other == getpid() ||
			!line_of(other, "timerslack_ns", line, sizeof line))
			continue;
		others++;
		if (atol(line) == SLACK) {
			*thread = other;
			found++;
		}
	}
	closedir(d);
	return others > 0 ? found : -1;
}

// The monitor alone sleeps in nanosleep, while there are calls that enter Go.
static int is_monitor(int thread)
{
	char line[64] = "";
	for (int i = 0; i < TRIES; i++) {
		void *p = ARMCI_Malloc_local(64);
		CHECK_OK(ARMCI_Free_local(p));
		if (line_of(thread, "wchan", line, sizeof line) && strstr(line, "nanosleep"))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int thread = 0;
	check_begin(&argc, &argv);
	int found = with_slack(&thread);
	if (found < 0)
		check_skip("the timer slack of other threads may not be read");
	else
		CHECK_INT(found, 1);
	CHECK(found < 0 || is_monitor(thread));
	return check_end("monitor");
}
