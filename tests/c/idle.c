// SPDX-License-Identifier: BSD-3-Clause
// A rank that sleeps, or that waits in a barrier, uses less than 0.1 % of a processor; and the
// library needs less than 12 MiB of memory, measured where no MPI is in the process, beside what a
// program without the library has, and what is pinned for RDMA, which is a setting's.
#include "check.h"

#include <sys/resource.h>
#include <unistd.h>

// KiB. A program without the library has 1200 (docs/validation.md). How many pages of libraries'
// files count depends on what the kernel has cached: a rank's total varies by 1 MiB between runs.
enum { PLAIN = 1200, MOST = 12 * 1024 };

static double processor_seconds(void)
{
	struct rusage u;
	CHECK_INT(getrusage(RUSAGE_SELF, &u), 0);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
		1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

// A line of a file of /proc/self that holds a word; false if there is none.
static int line_with(const char *file, const char *word, char *line, int size)
{
	FILE *f = fopen(file, "r");
	int found = 0;
	CHECK(f != NULL);
	while (!found && fgets(line, size, f))
		found = strstr(line, word) != NULL;
	fclose(f);
	return found;
}

// Rank 0 sleeps and the others wait for it: whether a rank has used more than it may. A wait polls
// for a while before it sleeps, which costs some milliseconds now and then where processors are
// few.
static int loud(double seconds)
{
	double before = processor_seconds();
	if (me == 0)
		usleep((useconds_t)(seconds * 1e6));
	double asleep = processor_seconds() - before;
	ARMCI_Barrier();
	double used = processor_seconds() - before;
	int over = asleep > seconds / 1000 || (me != 0 && used > seconds / 1000);
	if (over)
		fprintf(stderr, "rank %d: %g s of processor time in %g s, %g of them asleep\n", me,
			used, seconds, asleep);
	armci_msg_igop(&over, 1, "max");
	return over;
}

int main(int argc, char **argv)
{
	char line[4096];
	long kib = 0, pinned = 0;
	check_begin(&argc, &argv);
	double seconds = check_setting("IDLE_SECONDS", 8);
	void **base = check_malloc(1 << 16);
	ARMCI_Barrier();
	// Something that runs always shows in each of three.
	CHECK(!loud(seconds) || !loud(seconds) || !loud(seconds));
	if (line_with("/proc/self/maps", "libmpi", line, sizeof line)) {
		check_skip("memory: there is an MPI in the process");
	} else {
		CHECK(line_with("/proc/self/status", "VmRSS:", line, sizeof line));
		CHECK_INT(sscanf(line, "VmRSS: %ld kB", &kib), 1);
		if (line_with("/proc/self/status", "VmPin:", line, sizeof line))
			CHECK_INT(sscanf(line, "VmPin: %ld kB", &pinned), 1);
		if (kib - pinned <= 0 || kib - pinned - PLAIN >= MOST)
			check_fail(__FILE__, __LINE__, "%ld KiB of memory, %ld of them pinned", kib,
				pinned);
	}
	check_free(base);
	return check_end("idle");
}
