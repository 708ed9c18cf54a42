// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_PutV.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 100 * sizeof(int));
	int value[3] = {7, 8, 9}, to = (me + 1) % np;
	void *src[3] = {&value[0], &value[1], &value[2]};
	void *dst[3] = {(int *)base[to] + 3, (int *)base[to] + 50, (int *)base[to] + 99};
	armci_giov_t v = {.src_ptr_array = src,
		.dst_ptr_array = dst,
		.ptr_array_len = 3,
		.bytes = sizeof(int)};
	ARMCI_PutV(&v, 1, to);
	ARMCI_Barrier();
	wrong = ((int *)base[me])[50] != 8;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
