/* SPDX-License-Identifier: BSD-3-Clause */
/* A call before shmem_init. */
#include <shmem.h>

static int variable;

int main(void)
{
	shmem_int_p(&variable, 1, 0);
	return 0;
}
