// SPDX-License-Identifier: BSD-3-Clause
// hello.c - the smallest program: start, print rank and node, end. For newcomers; no data moves
// here.
//
//   armcicc hello.c -o hello && armcirun -n 4 ./hello
#include <armci.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	// Starts MPI too when the program is linked with it; harmless without.
	armci_msg_init(&argc, &argv);
	ARMCI_Init();

	int me = armci_msg_me();        // my rank: 0 .. nproc-1
	int nproc = armci_msg_nproc();
	int node = armci_domain_my_id(ARMCI_DOMAIN_SMP);
	int nodes = armci_domain_count(ARMCI_DOMAIN_SMP);

	// One after the other, so that the lines come in order.
	for (int r = 0; r < nproc; r++) {
		if (r == me) {
			printf("hello from rank %d of %d on node %d of %d\n", me, nproc, node,
				nodes);
			fflush(stdout);
		}
		armci_msg_barrier();
	}

	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
