// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCIX_Event_raise and ARMCIX_Event_await.
#include <armcix.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), next = (me + 1) % np,
	    prev = (me + np - 1) % np, wrong = 0;
	struct box {
		armcix_event_t event;  /* raised by the rank before */
		armcix_event_t record; /* of the next rank's event, which this rank raises */
		long data;
	};
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(struct box));
	struct box *mine = base[me], *its = base[next], *raisers = base[prev];
	*mine = (struct box){{0, 0}, {0, 0}, 0};
	ARMCI_Barrier();
	long value = 42;
	ARMCI_Put(&value, &its->data, sizeof value, next);
	ARMCIX_Event_raise(&its->event, &mine->record, next);                /* behind the put */
	/* sleeps until the count is not 0 */
	ARMCIX_Event_await(&mine->event, &raisers->record, 0, -1, prev);
	wrong = mine->data != 42;
	ARMCI_Barrier(); /* the record is there while a rank may wait */
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
