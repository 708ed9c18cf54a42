// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_Put_flag.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	struct box {
		double data[100];
		int flag;
	};
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(struct box));
	struct box *mine = base[me], *its = base[(me + 1) % np];
	mine->flag = 0;
	ARMCI_Barrier();
	double data[100] = {1.5};
	ARMCI_Put_flag(data, its->data, sizeof data, &its->flag, 1, (me + 1) % np);
	while (__atomic_load_n(&mine->flag, __ATOMIC_ACQUIRE) == 0)
		; /* no call of the library is needed here */
	wrong = mine->data[0] != 1.5;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
