// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCIX_Event_add and ARMCIX_Event_wait.
#include <armcix.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	struct box {
		armcix_event_t event;
		long data;
	};
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(struct box));
	struct box *mine = base[me], *its = base[(me + 1) % np];
	mine->event = (armcix_event_t){0, 0};
	ARMCI_Barrier();
	long value = 42;
	ARMCI_Put(&value, &its->data, sizeof value, (me + 1) % np);
	ARMCIX_Event_add(&its->event, 1, (me + 1) % np); /* behind the put */
	ARMCIX_Event_wait(&mine->event, 0, -1);          /* sleeps until the count is not 0 */
	wrong = mine->data != 42;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
