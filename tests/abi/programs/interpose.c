// interpose.c - a program may define ARMCI_ names itself and reach the library through PARMCI_: the profiling
// interface. Checked are calls from the program and that the library's own calls do not take the detour.
// SPDX-License-Identifier: BSD-3-Clause
#include <armci.h>
#include <parmci.h>
#include <stdio.h>
#include <stdlib.h>

static int inits, puts_seen, gets, barriers, finals;

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
	puts_seen++;
	return PARMCI_Put(src, dst, bytes, proc);
}

int ARMCI_Get(void *src, void *dst, int bytes, int proc)
{
	gets++;
	return PARMCI_Get(src, dst, bytes, proc);
}

void ARMCI_Barrier(void)
{
	barriers++;
	PARMCI_Barrier();
}

static void want(const char *what, int got, int expected)
{
	if (got != expected) {
		fprintf(stderr, "%s: %d, expected %d\n", what, got, expected);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	want("ARMCI_Init", ARMCI_Init(), 0);
	int me = armci_msg_me(), np = armci_msg_nproc(), peer = (me + 1) % np, out = 7 + me, in = 0;
	void **base = malloc(sizeof(void *) * (size_t)np);
	if (base == NULL)
		return 1;
	want("ARMCI_Malloc", ARMCI_Malloc(base, sizeof(int)), 0);
	want("ARMCI_Put", ARMCI_Put(&out, base[peer], sizeof out, peer), 0);
	ARMCI_Barrier();
	want("ARMCI_Get", ARMCI_Get(base[peer], &in, sizeof in, peer), 0);
	want("the value read back", in, out);
	want("ARMCI_Free", ARMCI_Free(base[me]), 0);
	ARMCI_Finalize();
	want("calls of ARMCI_Init", inits, 1);
	want("calls of ARMCI_Put", puts_seen, 1);
	want("calls of ARMCI_Get", gets, 1);
	want("calls of ARMCI_Barrier", barriers, 1);
	want("calls of ARMCI_Finalize", finals, 1);
	armci_msg_finalize();
	free(base);
	if (me == 0)
		puts("ok interpose");
	return 0;
}
