// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of memory.
#include "front.h"

#include "_cgo_export.h"

PUBLIC void ARMCI_Ckpt_create_ds(armci_ckpt_ds_t *ds, int count)
{
	size_t n = count > 0 ? (size_t)count : 0;
	ds->ptr_arr = calloc(n, sizeof *ds->ptr_arr);
	ds->sz = calloc(n, sizeof *ds->sz);
	ds->saveonce = calloc(n, sizeof *ds->saveonce);
	ds->count = ds->ptr_arr && ds->sz && ds->saveonce ? (int)n : 0;
}

PUBLIC int ARMCI_Ckpt_init(char *file, ARMCI_Group *group, int stack, int heap, armci_ckpt_ds_t *ds)
{
	return armcigo_ckpt_init(file, group ? front_group(group) : -1, stack, heap, ds);
}
PUBLIC int ARMCI_Ckpt(int rid) { return armcigo_ckpt(rid); }
PUBLIC void ARMCI_Ckpt_finalize(int rid) { armcigo_ckpt_finalize(rid); }

PUBLIC void ARMCI_Ckpt_Recover(int rid, int replacement)
{
	(void)replacement;
	armcigo_ckpt_recover((char *)"ARMCI_Ckpt_Recover", rid, true);
}
PUBLIC int armci_irecover(int rid, int replacement)
{
	(void)replacement;
	int code = armcigo_ckpt_recover((char *)"armci_irecover", rid, false);
	return code == 0 ? 1 : code;
}

PUBLIC int ARMCIX_Ckpt_distribute(int rid, int index, int dims, size_t elem_bytes,
	const long *extent, const long *lo, const long *hi)
{
	return armcigo_ckpt_distribute(rid, index, dims, elem_bytes, (long *)extent, (long *)lo,
		(long *)hi);
}
PUBLIC long ARMCIX_Ckpt_generation(int rid) { return armcigo_ckpt_generation(rid); }

PUBLIC void armci_set_spare_procs(int spare)
{
	if (spare != 0)
		armcigo_no_spare_ranks();
}
PUBLIC ARMCI_Group *ARMCI_Get_world_group(void)
{
	static ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	return &world;
}
PUBLIC ARMCI_Group *ARMCI_Get_ft_group(void) { return ARMCI_Get_world_group(); }
