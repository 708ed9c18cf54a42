/* SPDX-License-Identifier: BSD-3-Clause */
/* ends WAY: a program that ends in a certain way, or makes a mistake; ends.txt says which there are
 * and what is to be seen of them. */
#include "../check.h"

static int variable;
static long lock;

static void exits(const char *way)
{
	if (strcmp(way, "global_exit_0") == 0 && me == n - 1)
		shmem_global_exit(0);
	if (strcmp(way, "global_exit_3") == 0 && me == n - 1)
		shmem_global_exit(3);
	if (strncmp(way, "global_exit", 11) == 0)
		shmem_int_wait_until(&variable, SHMEM_CMP_EQ, 1); /* it never is */
	if (strcmp(way, "no_finalize") == 0)
		exit(0);
	if (strcmp(way, "status_4") == 0)
		exit(me == 0 ? 4 : 0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int local = 0, *far = (int *)((uintptr_t)&variable + ((uintptr_t)1 << 32));
	shmem_team_t team = SHMEM_TEAM_INVALID;
	begin();
	printf("written and not flushed\n");
	shmem_barrier_all();
	exits(way);
	if (me == 0) {
		if (strcmp(way, "pe") == 0)
			shmem_int_p(&variable, 1, n);
		if (strcmp(way, "negative_pe") == 0)
			shmem_int_g(&variable, -1);
		if (strcmp(way, "address") == 0)
			shmem_int_put(&local, &variable, 1, right);
		if (strcmp(way, "beyond") == 0)
			shmem_int_atomic_inc(far, 0);
		if (strcmp(way, "null") == 0)
			shmem_int_put(&variable, NULL, 1, right);
		if (strcmp(way, "stride") == 0)
			shmem_int_iput(&variable, &local, 0, 1, 1, right);
		if (strcmp(way, "comparison") == 0)
			shmem_int_wait_until(&variable, 77, 0);
		if (strcmp(way, "signal") == 0)
			shmem_int_put_signal(&variable, &local, 1, (uint64_t *)&lock, 1, 9, right);
		if (strcmp(way, "team") == 0)
			shmem_team_sync(team);
		if (strcmp(way, "active_set") == 0)
			shmem_barrier(0, 0, n + 1, &lock);
		if (strcmp(way, "free") == 0)
			shmem_free(&variable);
		if (strcmp(way, "unlock") == 0)
			shmem_clear_lock(&lock);
	}
	return end("ends");
}
