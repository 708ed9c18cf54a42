// SPDX-License-Identifier: BSD-3-Clause
// How calls of ARMCI are recorded (../internal/recorder). While ARMCI_STATS or ARMCI_TRACE=FILE is
// on, the state `front` of the fast path stays closed, so that every public function gets to the
// line PROFILED before it would enter Go, and goes on in profiled_NAME. That takes the time and
// calls inner_NAME: the same source compiled once more (inner_*.c) with a state of its own, which
// is open. So a call that is completed in C pays nothing for this while it is off.
//
// The functions that are profiled, once as PROFILE_CALLS(CALL, VOID_CALL): name after profiled_ and
// inner_, public name in a trace, row of the table, rank it is about (-1: none or all), bytes,
// parameters and arguments. No code is here.
#ifndef ARMCI_PROFILE_CALLS_H
#define ARMCI_PROFILE_CALLS_H

#define PROFILE_CALLS(CALL, VOID_CALL) \
	CALL(int, Put, "ARMCI_Put", PROFILE_PUT, proc, positive(bytes), \
		(void *src, void *dst, int bytes, int proc), (src, dst, bytes, proc)) \
	CALL(int, NbPut, "ARMCI_NbPut", PROFILE_NBPUT, proc, positive(bytes), \
		(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl), \
		(src, dst, bytes, proc, hdl)) \
	CALL(int, Get, "ARMCI_Get", PROFILE_GET, proc, positive(bytes), \
		(void *src, void *dst, int bytes, int proc), (src, dst, bytes, proc)) \
	CALL(int, NbGet, "ARMCI_NbGet", PROFILE_NBGET, proc, positive(bytes), \
		(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl), \
		(src, dst, bytes, proc, hdl)) \
	CALL(int, Acc, "ARMCI_Acc", PROFILE_ACC, proc, positive(bytes), \
		(int optype, void *scale, void *src, void *dst, int bytes, int proc), \
		(optype, scale, src, dst, bytes, proc)) \
	CALL(int, NbAcc, "ARMCI_NbAcc", PROFILE_NBACC, proc, positive(bytes), \
		(int optype, void *scale, void *src, void *dst, int bytes, int proc, \
			armci_hdl_t *hdl), \
		(optype, scale, src, dst, bytes, proc, hdl)) \
	CALL(int, PutValueInt, "ARMCI_PutValueInt", PROFILE_PUT, proc, sizeof(src), \
		(int src, void *dst, int proc), (src, dst, proc)) \
	CALL(int, NbPutValueInt, "ARMCI_NbPutValueInt", PROFILE_NBPUT, proc, sizeof(src), \
		(int src, void *dst, int proc, armci_hdl_t *hdl), (src, dst, proc, hdl)) \
	CALL(int, GetValueInt, "ARMCI_GetValueInt", PROFILE_GET, proc, sizeof(int), \
		(void *src, int proc), (src, proc)) \
	CALL(int, PutValueLong, "ARMCI_PutValueLong", PROFILE_PUT, proc, sizeof(src), \
		(long src, void *dst, int proc), (src, dst, proc)) \
	CALL(int, NbPutValueLong, "ARMCI_NbPutValueLong", PROFILE_NBPUT, proc, sizeof(src), \
		(long src, void *dst, int proc, armci_hdl_t *hdl), (src, dst, proc, hdl)) \
	CALL(long, GetValueLong, "ARMCI_GetValueLong", PROFILE_GET, proc, sizeof(long), \
		(void *src, int proc), (src, proc)) \
	CALL(int, PutValueFloat, "ARMCI_PutValueFloat", PROFILE_PUT, proc, sizeof(src), \
		(float src, void *dst, int proc), (src, dst, proc)) \
	CALL(int, NbPutValueFloat, "ARMCI_NbPutValueFloat", PROFILE_NBPUT, proc, sizeof(src), \
		(float src, void *dst, int proc, armci_hdl_t *hdl), (src, dst, proc, hdl)) \
	CALL(float, GetValueFloat, "ARMCI_GetValueFloat", PROFILE_GET, proc, sizeof(float), \
		(void *src, int proc), (src, proc)) \
	CALL(int, PutValueDouble, "ARMCI_PutValueDouble", PROFILE_PUT, proc, sizeof(src), \
		(double src, void *dst, int proc), (src, dst, proc)) \
	CALL(int, NbPutValueDouble, "ARMCI_NbPutValueDouble", PROFILE_NBPUT, proc, sizeof(src), \
		(double src, void *dst, int proc, armci_hdl_t *hdl), (src, dst, proc, hdl)) \
	CALL(double, GetValueDouble, "ARMCI_GetValueDouble", PROFILE_GET, proc, sizeof(double), \
		(void *src, int proc), (src, proc)) \
	CALL(int, PutS, "ARMCI_PutS", PROFILE_PUTS, proc, strided_bytes(count, levels), \
		(void *src, int sstride[], void *dst, int dstride[], int count[], int levels, \
			int proc), \
		(src, sstride, dst, dstride, count, levels, proc)) \
	CALL(int, NbPutS, "ARMCI_NbPutS", PROFILE_NBPUTS, proc, strided_bytes(count, levels), \
		(void *src, int sstride[], void *dst, int dstride[], int count[], int levels, \
			int proc, armci_hdl_t *hdl), \
		(src, sstride, dst, dstride, count, levels, proc, hdl)) \
	CALL(int, GetS, "ARMCI_GetS", PROFILE_GETS, proc, strided_bytes(count, levels), \
		(void *src, int sstride[], void *dst, int dstride[], int count[], int levels, \
			int proc), \
		(src, sstride, dst, dstride, count, levels, proc)) \
	CALL(int, NbGetS, "ARMCI_NbGetS", PROFILE_NBGETS, proc, strided_bytes(count, levels), \
		(void *src, int sstride[], void *dst, int dstride[], int count[], int levels, \
			int proc, armci_hdl_t *hdl), \
		(src, sstride, dst, dstride, count, levels, proc, hdl)) \
	CALL(int, AccS, "ARMCI_AccS", PROFILE_ACCS, proc, strided_bytes(count, levels), \
		(int optype, void *scale, void *src, int sstride[], void *dst, int dstride[], \
			int count[], int levels, int proc), \
		(optype, scale, src, sstride, dst, dstride, count, levels, proc)) \
	CALL(int, NbAccS, "ARMCI_NbAccS", PROFILE_NBACCS, proc, strided_bytes(count, levels), \
		(int optype, void *scale, void *src, int sstride[], void *dst, int dstride[], \
			int count[], int levels, int proc, armci_hdl_t *hdl), \
		(optype, scale, src, sstride, dst, dstride, count, levels, proc, hdl)) \
	CALL(int, Put_flag, "ARMCI_Put_flag", PROFILE_PUT_FLAG, proc, positive(bytes), \
		(void *src, void *dst, int bytes, int *flag, int value, int proc), \
		(src, dst, bytes, flag, value, proc)) \
	CALL(int, PutS_flag, "ARMCI_PutS_flag", PROFILE_PUT_FLAG, proc, \
		strided_bytes(count, levels), \
		(void *src, int sstride[], void *dst, int dstride[], int count[], int levels, \
			int *flag, int value, int proc), \
		(src, sstride, dst, dstride, count, levels, flag, value, proc)) \
	CALL(int, PutS_flag_dir, "ARMCI_PutS_flag_dir", PROFILE_PUT_FLAG, proc, \
		strided_bytes(count, levels), \
		(void *src, int sstride[], void *dst, int dstride[], int count[], int levels, \
			int *flag, int value, int proc), \
		(src, sstride, dst, dstride, count, levels, flag, value, proc)) \
	CALL(int, PutV, "ARMCI_PutV", PROFILE_PUTV, proc, vector_bytes(v, n), \
		(armci_giov_t v[], int n, int proc), (v, n, proc)) \
	CALL(int, NbPutV, "ARMCI_NbPutV", PROFILE_NBPUTV, proc, vector_bytes(v, n), \
		(armci_giov_t v[], int n, int proc, armci_hdl_t *hdl), (v, n, proc, hdl)) \
	CALL(int, GetV, "ARMCI_GetV", PROFILE_GETV, proc, vector_bytes(v, n), \
		(armci_giov_t v[], int n, int proc), (v, n, proc)) \
	CALL(int, NbGetV, "ARMCI_NbGetV", PROFILE_NBGETV, proc, vector_bytes(v, n), \
		(armci_giov_t v[], int n, int proc, armci_hdl_t *hdl), (v, n, proc, hdl)) \
	CALL(int, AccV, "ARMCI_AccV", PROFILE_ACCV, proc, vector_bytes(v, n), \
		(int optype, void *scale, armci_giov_t v[], int n, int proc), \
		(optype, scale, v, n, proc)) \
	CALL(int, NbAccV, "ARMCI_NbAccV", PROFILE_NBACCV, proc, vector_bytes(v, n), \
		(int optype, void *scale, armci_giov_t v[], int n, int proc, armci_hdl_t *hdl), \
		(optype, scale, v, n, proc, hdl)) \
	CALL(int, Rmw, "ARMCI_Rmw", PROFILE_RMW, proc, op & 1 ? sizeof(long) : sizeof(int), \
		(int op, void *ploc, void *prem, int extra, int proc), \
		(op, ploc, prem, extra, proc)) \
	CALL(int, Atomic, "ARMCIX_Atomic", PROFILE_ATOMIC, proc, positive(bytes), \
		(int op, int bytes, void *old, void *prem, const void *operand, \
			const void *compare, int proc), \
		(op, bytes, old, prem, operand, compare, proc)) \
	CALL(int, Event_add, "ARMCIX_Event_add", PROFILE_EVENT, proc, 0, \
		(armcix_event_t * event, unsigned n, int proc), (event, n, proc)) \
	CALL(int, Event_raise, "ARMCIX_Event_raise", PROFILE_EVENT, proc, 0, \
		(armcix_event_t * event, armcix_event_t * record, int proc), \
		(event, record, proc)) \
	VOID_CALL(Lock, "ARMCI_Lock", PROFILE_LOCK, proc, 0, (int mutex, int proc), (mutex, proc)) \
	VOID_CALL(Unlock, "ARMCI_Unlock", PROFILE_UNLOCK, proc, 0, (int mutex, int proc), \
		(mutex, proc)) \
	VOID_CALL(Lock_hdl, "ARMCIX_Lock_hdl", PROFILE_LOCK, proc, 0, \
		(armcix_mutex_hdl_t hdl, int mutex, int proc), (hdl, mutex, proc)) \
	CALL(int, Trylock_hdl, "ARMCIX_Trylock_hdl", PROFILE_LOCK, proc, 0, \
		(armcix_mutex_hdl_t hdl, int mutex, int proc), (hdl, mutex, proc)) \
	VOID_CALL(Unlock_hdl, "ARMCIX_Unlock_hdl", PROFILE_UNLOCK, proc, 0, \
		(armcix_mutex_hdl_t hdl, int mutex, int proc), (hdl, mutex, proc)) \
	CALL(int, Wait, "ARMCI_Wait", PROFILE_WAIT, -1, 0, (armci_hdl_t * hdl), (hdl)) \
	CALL(int, Test, "ARMCI_Test", PROFILE_TEST, -1, 0, (armci_hdl_t * hdl), (hdl)) \
	CALL(int, WaitProc, "ARMCI_WaitProc", PROFILE_WAIT, proc, 0, (int proc), (proc)) \
	CALL(int, WaitAll, "ARMCI_WaitAll", PROFILE_WAIT, -1, 0, (void), ()) \
	VOID_CALL(Fence, "ARMCI_Fence", PROFILE_FENCE, proc, 0, (int proc), (proc)) \
	VOID_CALL(AllFence, "ARMCI_AllFence", PROFILE_FENCE, -1, 0, (void), ()) \
	VOID_CALL(GroupFence, "ARMCI_GroupFence", PROFILE_FENCE, -1, 0, (ARMCI_Group * group), \
		(group)) \
	VOID_CALL(Barrier, "ARMCI_Barrier", PROFILE_BARRIER, -1, 0, (void), ()) \
	VOID_CALL(msg_barrier, "armci_msg_barrier", PROFILE_BARRIER, -1, 0, (void), ()) \
	VOID_CALL(group_barrier, "armci_msg_group_barrier", PROFILE_BARRIER, -1, 0, \
		(ARMCI_Group * group), (group)) \
	CALL(int, notify, "armci_notify", PROFILE_NOTIFY, proc, 0, (int proc), (proc)) \
	CALL(int, notify_wait, "armci_notify_wait", PROFILE_NOTIFY_WAIT, proc, 0, \
		(int proc, int *pval), (proc, pval)) \
	VOID_CALL(snd, "armci_msg_snd", PROFILE_SEND, to, positive(len), \
		(int tag, void *buf, int len, int to), (tag, buf, len, to)) \
	VOID_CALL(rcv, "armci_msg_rcv", PROFILE_RECV, from, positive(cap), \
		(int tag, void *buf, int cap, int *len, int from), (tag, buf, cap, len, from)) \
	CALL(int, rcvany, "armci_msg_rcvany", PROFILE_RECV, -1, positive(cap), \
		(int tag, void *buf, int cap, int *len), (tag, buf, cap, len)) \
	VOID_CALL(bcast, "armci_msg_bcast", PROFILE_BCAST, -1, positive(len), \
		(void *buf, int len, int root), (buf, len, root)) \
	VOID_CALL(bcast_scope, "armci_msg_bcast_scope", PROFILE_BCAST, -1, positive(len), \
		(int scope, void *buf, int len, int root), (scope, buf, len, root)) \
	VOID_CALL(group_bcast_scope, "armci_msg_group_bcast_scope", PROFILE_BCAST, -1, \
		positive(len), (int scope, void *buf, int len, int root, ARMCI_Group *group), \
		(scope, buf, len, root, group)) \
	VOID_CALL(gop, name, PROFILE_GOP, -1, gop_bytes(n, type), \
		(const char *name, int scope, void *x, int n, char *op, int type, int group), \
		(name, scope, x, n, op, type, group))

#define PROFILE_DECLARE(type, name, public, op, proc, bytes, params, args) \
	type profiled_##name params, inner_##name params;
#define PROFILE_DECLARE_VOID(name, public, op, proc, bytes, params, args) \
	void profiled_##name params, inner_##name params;
PROFILE_CALLS(PROFILE_DECLARE, PROFILE_DECLARE_VOID)

#endif
