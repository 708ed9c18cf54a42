// SPDX-License-Identifier: BSD-3-Clause
// messages.c - a plain program: one put and one barrier between start and end. messages.sh looks at
// what it prints under various settings; the exit status is 5 if the library does not start.
#include <armci.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long value = 1;
	armci_msg_init(&argc, &argv);
	if (ARMCI_Init())
		return 5;
	int to = (armci_msg_me() + 1) % armci_msg_nproc();
	void **base = malloc((size_t)armci_msg_nproc() * sizeof *base);
	if (!base || ARMCI_Malloc(base, sizeof value) ||
		ARMCI_Put(&value, base[to], sizeof value, to))
		ARMCI_Error("allocation or put", 1);
	ARMCI_Barrier();
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
