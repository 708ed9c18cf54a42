/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * victim DIRECTORY WAY PE: all PEs wait, in the way named, for one that never comes, and that a
 * script kills meanwhile. Each writes the number of its process to DIRECTORY/PE first. The job must
 * end without the waiting PEs.
 */
#include <unistd.h>

#include "../check.h"

static long word, lock, buffer[1000];

static void write_pid(const char *directory)
{
	char part[520], name[500];
	snprintf(name, sizeof name, "%s/%d", directory, me);
	snprintf(part, sizeof part, "%s.part", name);
	FILE *f = fopen(part, "w");
	CHECK(f);
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
	rename(part, name);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	const char *way = argv[2];
	begin();
	int who = atoi(argv[3]);
	if (me == who && strcmp(way, "lock") == 0)
		shmem_set_lock(&lock);
	shmem_barrier_all();
	write_pid(argv[1]);
	while (me == who) sleep(1);
	if (strcmp(way, "barrier") == 0)
		shmem_barrier_all();
	else if (strcmp(way, "wait") == 0)
		shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
	else if (strcmp(way, "lock") == 0)
		shmem_set_lock(&lock);
	else if (strcmp(way, "reduce") == 0)
		shmem_long_xor_to_all(buffer, buffer, 1000, 0, 0, n, NULL, NULL);
	else
		for (;;) shmem_long_get(buffer, buffer, 1000, who);
	printf("PE %d went on\n", me);
	return 1;
}
