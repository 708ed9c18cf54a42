// SPDX-License-Identifier: BSD-3-Clause
// interpose.c - the program defines ARMCI_ names of its own over the PARMCI_ ones, as profiling
// tools do. The library must call none of its own through the public names.
#include "check.h"

static int inits, finals, puts_, gets_, accs, barriers;

int ARMCI_Init(void)
{
	inits++;
	return PARMCI_Init();
}

int ARMCI_Finalize(void)
{
	finals++;
	return PARMCI_Finalize();
}

int ARMCI_Put(void *src, void *dst, int bytes, int proc)
{
	puts_++;
	return PARMCI_Put(src, dst, bytes, proc);
}

int ARMCI_Get(void *src, void *dst, int bytes, int proc)
{
	gets_++;
	return PARMCI_Get(src, dst, bytes, proc);
}

int ARMCI_Acc(int optype, void *scale, void *src, void *dst, int bytes, int proc)
{
	accs++;
	return PARMCI_Acc(optype, scale, src, dst, bytes, proc);
}

void ARMCI_Barrier(void)
{
	barriers++;
	PARMCI_Barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK_INT(inits, 1);
	void **base = check_malloc(sizeof(long));
	int peer = (me + 1) % np;
	long value = 40, scale = 2, one = 1;
	CHECK_OK(ARMCI_Put(&value, base[peer], sizeof value, peer));
	CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, &scale, &one, base[peer], sizeof one, peer));
	CHECK_OK(ARMCI_Get(base[peer], &value, sizeof value, peer));
	CHECK_INT(value, 42);
	ARMCI_Barrier();
	CHECK_OK(PARMCI_Put(&one, base[peer], sizeof one, peer));
	PARMCI_Barrier();
	CHECK_INT(*(long *)base[me], 1);
	PARMCI_Barrier();
	CHECK_OK(ARMCI_PutValueLong(7, base[peer], peer));
	CHECK_OK(PARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &value, base[peer], 1, peer));
	CHECK_INT(value, 7);
	check_free(base);
	CHECK_INT(puts_, 1);
	CHECK_INT(gets_, 1);
	CHECK_INT(accs, 1);
	CHECK_INT(barriers, 1);
	int code = check_end("interpose");
	return code || finals != 1 || barriers != 2;
}
