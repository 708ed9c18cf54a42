// SPDX-License-Identifier: BSD-3-Clause
// fatal.c - calls that must end the whole job with one line, because there is no code to return:
// one per case, made by the last rank while the others wait in a barrier. run.sh looks at the line
// and the exit status.
//
//   fatal CASE      (fatal list prints "CASE FUNCTION" lines)
#include <armci.h>
#include <armcix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, np;
static char buffer[64];
static armcix_mutex_hdl_t set;

static void lock_index(void) { ARMCI_Lock(3, 0); }
static void lock_rank(void) { ARMCI_Lock(0, np); }
static void lock_none(void) { ARMCI_Destroy_mutexes(); ARMCI_Lock(0, 0); }
static void unlock_free(void) { ARMCI_Unlock(0, 0); }
static void set_wrong(void) { ARMCIX_Lock_hdl((armcix_mutex_hdl_t)buffer, 0, 0); }
static void set_index(void) { ARMCIX_Lock_hdl(set, 1, 0); }
static void set_rank(void) { ARMCIX_Trylock_hdl(set, 0, np); }
static void set_free(void) { ARMCIX_Unlock_hdl(set, 0, 0); }
static void fence_rank(void) { ARMCI_Fence(np); }
static void value_rank(void) { ARMCI_GetValueInt(buffer, -1); }
static void value_address(void) { ARMCI_GetValueDouble(buffer, 0); }
static void copy_size(void) { ARMCI_Copy(buffer, buffer + 8, -1); }
static void memget_zero(void) { armci_meminfo_t m; ARMCI_Memget(0, &m, 0); }
static void send_rank(void) { armci_msg_snd(1, buffer, 8, np); }
static void send_size(void) { armci_msg_snd(1, buffer, -8, 0); }
static void receive_room(void)
{
	armci_msg_snd(1, buffer, 16, me);
	armci_msg_rcv(1, buffer, 8, NULL, me);
}
static void reduce_operator(void) { armci_msg_gop_scope(SCOPE_NODE, buffer, 1, "mean", ARMCI_INT); }
static void reduce_type(void) { armci_msg_gop_scope(SCOPE_NODE, buffer, 1, "+", 12345); }
static void group_rank(void)
{
	int list[1] = {np};
	ARMCI_Group g;
	ARMCI_Group_create(1, list, &g);
}
static void error_text(void) { ARMCI_Error("the program gives up", 7); }
static void error_null(void) { ARMCI_Error(NULL, 0); }
static void abort_code(void) { armci_msg_abort(9); }
static void handle_in_use(void) { ARMCI_SET_AGGREGATE_HANDLE(NULL); }

static const struct way {
	const char *name, *function;
	void (*run)(void);
} ways[] = {
	{"lock-index", "ARMCI_Lock", lock_index},
	{"lock-rank", "ARMCI_Lock", lock_rank},
	{"unlock-free", "ARMCI_Unlock", unlock_free},
	{"fence-rank", "ARMCI_Fence", fence_rank},
	{"set-wrong", "ARMCIX_Lock_hdl", set_wrong},
	{"set-index", "ARMCIX_Lock_hdl", set_index},
	{"set-rank", "ARMCIX_Trylock_hdl", set_rank},
	{"set-free", "ARMCIX_Unlock_hdl", set_free},
	{"value-rank", "ARMCI_GetValueInt", value_rank},
	{"value-address", "ARMCI_GetValueDouble", value_address},
	{"copy-size", "ARMCI_Copy", copy_size},
	{"memget-zero", "ARMCI_Memget", memget_zero},
	{"send-rank", "armci_msg_snd", send_rank},
	{"send-size", "armci_msg_snd", send_size},
	{"receive-room", "armci_msg_rcv", receive_room},
	{"reduce-operator", "armci_msg_gop_scope", reduce_operator},
	{"reduce-type", "armci_msg_gop_scope", reduce_type},
	{"group-rank", "ARMCI_Group_create", group_rank},
	{"error-text", "the program gives up", error_text},
	{"error-null", "]", error_null},
	{"abort-code", "", abort_code},
	{"handle-null", "ARMCI_SET_AGGREGATE_HANDLE", handle_in_use},
	{"lock-none", "ARMCI_Lock", lock_none},
};

static int list(void)
{
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		printf("%s %s\n", ways[i].name, ways[i].function);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list();
	armci_msg_init(&argc, &argv);
	if (argc != 2 || ARMCI_Init())
		ARMCI_Error("usage: fatal CASE", 1);
	me = armci_msg_me();
	np = armci_msg_nproc();
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	set = ARMCIX_Create_mutexes_hdl(1, &world);
	if (!set || ARMCI_Create_mutexes(2))
		ARMCI_Error("no mutexes", 1);
	// collective on the way
	int alone = strcmp(argv[1], "lock-none") == 0 || strncmp(argv[1], "reduce-", 7) == 0;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (strcmp(argv[1], ways[i].name) == 0 && (me == np - 1 || alone))
			ways[i].run();
	ARMCI_Barrier();
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
