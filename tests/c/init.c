// SPDX-License-Identifier: BSD-3-Clause
// init.c - start and end of the library: rank and size before ARMCI_Init, counted Init and
// Finalize, calls that must be harmless at odd times. It must not test data movement beyond what
// shows that the library is alive.
#include "check.h"

static void before_init(int *argc, char ***argv)
{
	CHECK_INT(ARMCI_Initialized(), 0);
	ARMCI_Set_shm_limit(64UL << 20);
	armci_msg_init(argc, argv);
	me = armci_msg_me();
	np = armci_msg_nproc();
	CHECK(np >= 1);
	CHECK(me >= 0 && me < np);
	CHECK_INT(ARMCI_Initialized(), 0);
}

static void alive(void)
{
	void **base = check_malloc(sizeof(int));
	int peer = (me + 1) % np, value = 1000 + me;
	CHECK_OK(ARMCI_Put(&value, base[peer], sizeof value, peer));
	ARMCI_Barrier();
	CHECK_INT(*(int *)base[me], 1000 + (me + np - 1) % np);
	check_free(base);
}

static void counted(int *argc, char ***argv)
{
	CHECK_OK(ARMCI_Init());
	CHECK_INT(ARMCI_Initialized(), 1);
	CHECK_INT(armci_msg_me(), me);
	CHECK_INT(armci_msg_nproc(), np);
	CHECK_OK(ARMCI_Init());
	CHECK_OK(ARMCI_Init_args(argc, argv));
	alive();
	ARMCI_Finalize();
	CHECK_INT(ARMCI_Initialized(), 1);
	ARMCI_Finalize();
	CHECK_INT(ARMCI_Initialized(), 1);
	alive();
}

static void timer(void)
{
	double a = armci_timer(), b = a;
	while (b - a < 0.002) {
		double c = armci_timer();
		CHECK(c >= b);
		b = c;
	}
	CHECK(b - a < 5);
}

static void copy(void)
{
	char from[] = "source", to[] = "target";
	ARMCI_Copy(from, to, 3);
	CHECK(strcmp(to, "souget") == 0);
}

int main(int argc, char **argv)
{
	before_init(&argc, &argv);
	counted(&argc, &argv);
	timer();
	copy();
	ARMCI_Cleanup();
	ARMCI_Cleanup();
	ARMCI_Finalize();
	CHECK_INT(ARMCI_Initialized(), 0);
	ARMCI_Finalize();
	CHECK_INT(ARMCI_Initialized(), 0);
	if (me == 0)
		printf("ok init (%d ranks)\n", np);
	armci_msg_finalize();
	return 0;
}
