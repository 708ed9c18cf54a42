// SPDX-License-Identifier: BSD-3-Clause
// Turns a source of public functions into its inner copy (profile_calls.h): functions get the names
// that profiled_NAME calls, the state is front_inner, nothing is exported, and entering Go is
// noted. inner_*.c include it, then the source. What is not recorded is left out of the copy, by
// #ifndef FRONT_INNER in the source.
#define FRONT_INNER
#include "front.h"
#include "go.h"

#undef PUBLIC
#undef WEAK
#undef WEAK_AS
#define PUBLIC __attribute__((unused))
#define WEAK(name) struct front_inner_copy
#define WEAK_AS(name, strong) struct front_inner_copy

#define PARMCI_Put inner_Put
#define PARMCI_NbPut inner_NbPut
#define PARMCI_Get inner_Get
#define PARMCI_NbGet inner_NbGet
#define PARMCI_Acc inner_Acc
#define PARMCI_NbAcc inner_NbAcc
#define PARMCI_PutValueInt inner_PutValueInt
#define PARMCI_NbPutValueInt inner_NbPutValueInt
#define PARMCI_GetValueInt inner_GetValueInt
#define PARMCI_PutValueLong inner_PutValueLong
#define PARMCI_NbPutValueLong inner_NbPutValueLong
#define PARMCI_GetValueLong inner_GetValueLong
#define PARMCI_PutValueFloat inner_PutValueFloat
#define PARMCI_NbPutValueFloat inner_NbPutValueFloat
#define PARMCI_GetValueFloat inner_GetValueFloat
#define PARMCI_PutValueDouble inner_PutValueDouble
#define PARMCI_NbPutValueDouble inner_NbPutValueDouble
#define PARMCI_GetValueDouble inner_GetValueDouble
#define PARMCI_PutS inner_PutS
#define PARMCI_NbPutS inner_NbPutS
#define PARMCI_GetS inner_GetS
#define PARMCI_NbGetS inner_NbGetS
#define PARMCI_AccS inner_AccS
#define PARMCI_NbAccS inner_NbAccS
#define PARMCI_Put_flag inner_Put_flag
#define PARMCI_PutS_flag inner_PutS_flag
#define PARMCI_PutS_flag_dir inner_PutS_flag_dir
#define PARMCI_PutV inner_PutV
#define PARMCI_NbPutV inner_NbPutV
#define PARMCI_GetV inner_GetV
#define PARMCI_NbGetV inner_NbGetV
#define PARMCI_AccV inner_AccV
#define PARMCI_NbAccV inner_NbAccV
#define PARMCI_Rmw inner_Rmw
#define ARMCIX_Atomic inner_Atomic
#define ARMCIX_Event_add inner_Event_add
#define ARMCIX_Event_raise inner_Event_raise
#define PARMCI_Lock inner_Lock
#define PARMCI_Unlock inner_Unlock
#define ARMCIX_Lock_hdl inner_Lock_hdl
#define ARMCIX_Trylock_hdl inner_Trylock_hdl
#define ARMCIX_Unlock_hdl inner_Unlock_hdl
#define PARMCI_Wait inner_Wait
#define PARMCI_Test inner_Test
#define PARMCI_WaitProc inner_WaitProc
#define PARMCI_WaitAll inner_WaitAll
#define PARMCI_Fence inner_Fence
#define PARMCI_AllFence inner_AllFence
#define PARMCI_GroupFence inner_GroupFence
#define PARMCI_Barrier inner_Barrier
#define parmci_msg_barrier inner_msg_barrier
#define parmci_msg_group_barrier inner_group_barrier
#define parmci_notify inner_notify
#define parmci_notify_wait inner_notify_wait
#define armci_msg_snd inner_snd
#define armci_msg_rcv inner_rcv
#define armci_msg_rcvany inner_rcvany
#define armci_msg_bcast inner_bcast
#define armci_msg_bcast_scope inner_bcast_scope
#define armci_msg_group_bcast_scope inner_group_bcast_scope
#define front_gop inner_gop
// Not recorded by itself, but with a state.
bool inner_front_collect(int kind, void *local, void *remote, int bytes, int proc, void *hdl);
#define front_collect inner_front_collect
bool inner_front_coalesce(int kind, void *local, void *remote, int bytes, int proc, void *hdl);
#define front_coalesce inner_front_coalesce

// What follows enters Go.
#define armcigo_all_fence(...) (profile_entered_go = true, armcigo_all_fence(__VA_ARGS__))
#define armcigo_atomic(...) (profile_entered_go = true, armcigo_atomic(__VA_ARGS__))
#define armcigo_barrier(...) (profile_entered_go = true, armcigo_barrier(__VA_ARGS__))
#define armcigo_bcast(...) (profile_entered_go = true, armcigo_bcast(__VA_ARGS__))
#define armcigo_check_flag(...) (profile_entered_go = true, armcigo_check_flag(__VA_ARGS__))
#define armcigo_event_add(...) (profile_entered_go = true, armcigo_event_add(__VA_ARGS__))
#define armcigo_fatal(...) (profile_entered_go = true, armcigo_fatal(__VA_ARGS__))
#define armcigo_fence(...) (profile_entered_go = true, armcigo_fence(__VA_ARGS__))
#define armcigo_gop(...) (profile_entered_go = true, armcigo_gop(__VA_ARGS__))
#define armcigo_group_barrier(...) (profile_entered_go = true, armcigo_group_barrier(__VA_ARGS__))
#define armcigo_group_fence(...) (profile_entered_go = true, armcigo_group_fence(__VA_ARGS__))
#define armcigo_lock(...) (profile_entered_go = true, armcigo_lock(__VA_ARGS__))
#define armcigo_lock_hdl(...) (profile_entered_go = true, armcigo_lock_hdl(__VA_ARGS__))
#define armcigo_notify(...) (profile_entered_go = true, armcigo_notify(__VA_ARGS__))
#define armcigo_notify_wait(...) (profile_entered_go = true, armcigo_notify_wait(__VA_ARGS__))
#define armcigo_op(...) (profile_entered_go = true, armcigo_op(__VA_ARGS__))
#define armcigo_rcv(...) (profile_entered_go = true, armcigo_rcv(__VA_ARGS__))
#define armcigo_rmw(...) (profile_entered_go = true, armcigo_rmw(__VA_ARGS__))
#define armcigo_snd(...) (profile_entered_go = true, armcigo_snd(__VA_ARGS__))
#define armcigo_tell_notified(...) (profile_entered_go = true, armcigo_tell_notified(__VA_ARGS__))
#define armcigo_test(...) (profile_entered_go = true, armcigo_test(__VA_ARGS__))
#define armcigo_trylock_hdl(...) (profile_entered_go = true, armcigo_trylock_hdl(__VA_ARGS__))
#define armcigo_unlock(...) (profile_entered_go = true, armcigo_unlock(__VA_ARGS__))
#define armcigo_unlock_hdl(...) (profile_entered_go = true, armcigo_unlock_hdl(__VA_ARGS__))
#define armcigo_wait(...) (profile_entered_go = true, armcigo_wait(__VA_ARGS__))
#define armcigo_wait_all(...) (profile_entered_go = true, armcigo_wait_all(__VA_ARGS__))
#define armcigo_wait_request(...) (profile_entered_go = true, armcigo_wait_request(__VA_ARGS__))
#define armcigo_wait_proc(...) (profile_entered_go = true, armcigo_wait_proc(__VA_ARGS__))
