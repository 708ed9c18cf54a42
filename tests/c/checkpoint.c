// SPDX-License-Identifier: BSD-3-Clause
// checkpoint.c - checkpointing is declared but not offered: its functions say so and return the
// documented error, the job goes on.
#include "check.h"

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	ARMCI_Group world;
	armci_ckpt_ds_t ds;
	ARMCI_Group_get_world(&world);
	memset(&ds, 0, sizeof ds);
	ARMCI_Ckpt_create_ds(&ds, 1);
	CHECK_INT(ARMCI_Ckpt_init("checkpoint", &world, 0, 0, &ds), FAIL);
	CHECK_INT(ARMCI_Ckpt(1), FAIL);
	ARMCI_Ckpt_Recover(1, 0);
	ARMCI_Ckpt_finalize(1);
	CHECK_INT(armci_irecover(1, 0), FAIL);
	armci_set_spare_procs(0);
	int size = 0;
	ARMCI_Group_size(ARMCI_Get_ft_group(), &size);
	CHECK_INT(size, np);
	size = 0;
	ARMCI_Group_size(ARMCI_Get_world_group(), &size);
	CHECK_INT(size, np);
	void **base = check_malloc(sizeof(int));
	CHECK_OK(ARMCI_PutValueInt(me, base[(me + 1) % np], (me + 1) % np));
	ARMCI_Barrier();
	CHECK_INT(*(int *)base[me], (me + np - 1) % np);
	check_free(base);
	return check_end("checkpoint");
}
