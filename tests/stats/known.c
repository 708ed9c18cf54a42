// SPDX-License-Identifier: BSD-3-Clause
// known.c - a known number of operations of each kind, from every rank to the next one, whose
// counts run.sh compares. With an argument it does them again and again until it is killed, or
// "abort" ends the job.
#include <armci.h>
#include <armcix.h>
#include <gpc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES 10
static double local[64], *mine;
static int me, np, to;

static void one_of_each(double *remote)
{
	int stride[1] = {64}, count[2] = {32, 4}, value = 0;
	long scale = 1, word = 1;
	void *from[2] = {local, local + 8}, *at[2] = {remote, remote + 8};
	armci_giov_t v = {.src_ptr_array = from,
		.dst_ptr_array = at,
		.ptr_array_len = 2,
		.bytes = 16};
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	ARMCI_Put(local, remote, 8, to);
	ARMCI_Put(local, remote, 512, to);
	ARMCI_PutValueLong(1, remote, to);
	ARMCI_Get(remote, local, 8, to);
	ARMCI_Acc(ARMCI_ACC_LNG, &scale, &word, remote, 8, to);
	ARMCI_PutS(local, stride, remote, stride, count, 1, to);
	ARMCI_GetS(remote, stride, local, stride, count, 1, to);
	ARMCI_PutV(&v, 1, to);
	ARMCI_NbPut(local, remote, 64, to, &h);
	ARMCI_Wait(&h);
	ARMCI_Fence(to);
	ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &word, mine ? (void *)remote : NULL, 1, to);
	ARMCI_Lock(0, to);
	ARMCI_Unlock(0, to);
	ARMCI_Free_local(ARMCI_Malloc_local(1000));
	armci_msg_igop(&value, 1, "+");
	ARMCI_Barrier();
}

static int nothing(void) { return GPC_DONE; }

// What is done once: a group of all, and a procedure call.
static void once(void)
{
	ARMCI_Group group;
	int *all = calloc((size_t)np, sizeof *all), handle = ARMCI_Gpc_register((int (*)())nothing);
	for (int i = 0; i < np; i++) all[i] = i;
	ARMCI_Group_create(np, all, &group);
	ARMCI_Gpc_exec(handle, to, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL);
	ARMCI_Group_free(&group);
	free(all);
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	if (ARMCI_Init())
		return 1;
	me = armci_msg_me(), np = armci_msg_nproc(), to = (me + 1) % np;
	void **base = calloc((size_t)np, sizeof *base);
	ARMCI_Malloc(base, 4096);
	mine = base[me];
	ARMCI_Create_mutexes(1);
	once();
	for (int i = 0; i < TIMES || (argc > 1 && !strcmp(argv[1], "forever")); i++)
		one_of_each(base[to]);
	if (argc > 1 && me == 1)
		ARMCI_Error("on purpose", 3);
	ARMCI_Destroy_mutexes();
	ARMCI_Free(base[me]);
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
