// hello_shmem.c - the smallest OpenSHMEM program a user would write: each PE puts its number into a
// variable of its neighbour and checks its own. It is compiled against the installed library only
// and must not use anything of the source tree. SPDX-License-Identifier: BSD-3-Clause
#include <shmem.h>
#include <stdio.h>

static int from = -1;

int main(void)
{
	shmem_init();
	int me = shmem_my_pe(), np = shmem_n_pes();
	shmem_int_p(&from, me, (me + 1) % np);
	shmem_barrier_all();
	if (from != (me + np - 1) % np) {
		printf("PE %d has %d\n", me, from);
		shmem_global_exit(1);
	}
	if (me == 0)
		printf("ok hello of %d\n", np);
	shmem_finalize();
	return 0;
}
