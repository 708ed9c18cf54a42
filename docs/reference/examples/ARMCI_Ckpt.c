// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Ckpt, ARMCI_Ckpt_init, ARMCI_Ckpt_create_ds,
// ARMCI_Ckpt_Recover, ARMCI_Ckpt_finalize, ARMCIX_Ckpt_distribute and ARMCIX_Ckpt_generation.
#include <armcix.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	/* an array of 1000 doubles, a part on each rank, and the number of steps done */
	long n = 1000, lo = n * me / np, hi = n * (me + 1) / np, steps = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, (hi - lo) * sizeof(double));
	double *mine = base[me];
	for (long i = 0; i < hi - lo; i++)
		mine[i] = 0;
	armci_ckpt_ds_t ds;
	ARMCI_Ckpt_create_ds(&ds, 2);
	ds.ptr_arr[0] = mine, ds.sz[0] = (hi - lo) * sizeof(double);
	ds.ptr_arr[1] = &steps, ds.sz[1] = sizeof steps;
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	int rid = ARMCI_Ckpt_init("array", &world, 0, 0, &ds); /* files array.RANK.0 and .1 */
	if (rid < 0)
		ARMCI_Error("no files", 1);
	/* so that another number of ranks can restart it */
	ARMCIX_Ckpt_distribute(rid, 0, 1, sizeof(double), &n, &lo, &hi);
	ARMCIX_Ckpt_distribute(rid, 1, 0, 0, NULL, NULL, NULL);
	if (ARMCIX_Ckpt_generation(rid) > 0)
		ARMCI_Ckpt_Recover(rid, 0); /* an earlier job's */
	for (long last = steps + 10; steps < last;) {
		for (long i = 0; i < hi - lo; i++)
			mine[i] += 1;
		steps++;
		if (steps % 5 == 0 && ARMCI_Ckpt(rid) != ARMCI_CKPT)
			wrong = 1; /* the checkpoint before is still there */
	}
	for (long i = 0; i < hi - lo; i++)
		wrong |= mine[i] != steps;
	ARMCI_Ckpt_finalize(rid);
	ARMCI_Free(base[me]);
	free(base), free(ds.ptr_arr), free(ds.sz), free(ds.saveonce);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
