// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_AccV.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 100 * sizeof(double));
	double *mine = base[me], *its = base[0], value[3] = {1, 2, 3}, scale = 1;
	for (int i = 0; i < 100; i++)
		mine[i] = 0;
	ARMCI_Barrier();
	void *src[3] = {&value[0], &value[1], &value[2]}, *dst[3] = {its + 7, its + 50, its + 7};
	armci_giov_t v = {.src_ptr_array = src,
		.dst_ptr_array = dst,
		.ptr_array_len = 3,
		.bytes = 8};
	ARMCI_AccV(ARMCI_ACC_DBL, &scale, &v, 1, 0); /* two segments to one place: both count */
	ARMCI_Barrier();
	wrong = me == 0 && (mine[7] != 4 * np || mine[50] != 2 * np);
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
