// SPDX-License-Identifier: BSD-3-Clause
// sigpipe.c - a program that lets SIGPIPE end it, as many do by signal(SIGPIPE, SIG_DFL), before
// and after ARMCI_Init: no send of the library may raise it, also not in the last one of a job, to
// ranks that have left already.
#include "check.h"

#include <signal.h>
#include <unistd.h>

static void others_values(void **base)
{
	for (int r = 0; r < np; r++) {
		CHECK_OK(ARMCI_PutValueLong(100 * r + me, (long *)base[r] + me, r));
		ARMCI_Fence(r);
	}
	ARMCI_Barrier();
	for (int r = 0; r < np; r++)
		CHECK_INT(((long *)base[me])[r], 100 * me + r);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_DFL);
	check_begin(&argc, &argv);
	signal(SIGPIPE, SIG_DFL);
	void **base = check_malloc((armci_size_t)np * (armci_size_t)sizeof(long));
	others_values(base);
	check_free(base);
	ARMCI_Finalize();
	if (me == 0) {
		// the others have left when rank 0, which leads its node, says goodbye
		usleep(100000);
		printf("ok sigpipe (%d ranks)\n", np);
	}
	armci_msg_finalize();
	return 0;
}
