// SPDX-License-Identifier: BSD-3-Clause

// The Go side of teams, messages, notify counters and mutexes: each method is one call of C.
package shm

// #include <stdlib.h>
// #include "shm.h"
// static inline uint64_t mutex_bytes(void) { return sizeof(struct shm_mutex); }
// static inline uint32_t mutex_owner(struct shm_mutex *m) { return atomic_load(&m->owner); }
// static inline struct shm_mutex *rank_mutex(int local) { return &shm.rank[local].own; }
// // received is returned by value, so that a frequent receive allocates nothing on Go's heap.
// struct received {
// 	struct shm_message message;
// 	int error;
// };
// static inline struct received receive(int from, int64_t tag, void *buf, size_t cap)
// {
// 	struct received r = {.message = {.from = from, .tag = tag}};
// 	r.error = shm_recv(&r.message, buf, cap);
// 	return r;
// }
// static inline bool deliver(int to, struct shm_message m, const void *buf, bool wait)
// {
// 	return shm_deliver(to, &m, buf, wait);
// }
// static inline void lock(struct shm_mutex *m, uint32_t owner) { shm_lock(m, owner); }
// static inline void unlock(struct shm_mutex *m) { shm_unlock(m); }
import "C"

import (
	"fmt"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// team implements transport.Team. room is memory of C for gathered data: cgo need not check it for
// Go pointers.
type team struct {
	h    *C.struct_shm_team
	room []byte
}

// AllocContext allocates a collective context of the node for a new team.
func (m *Node) AllocContext() (transport.TeamStart, error) {
	id := C.shm_context_alloc()
	if id < 0 {
		return transport.TeamStart{}, fmt.Errorf("%w: more than %d groups on this node",
			transport.ErrNoMemory, m.head.contexts)
	}
	var phase, step C.uint64_t
	C.shm_context_start(id, &phase, &step)
	return transport.TeamStart{Context: int64(id), Phase: uint64(phase), Step: uint64(step)},
		nil
}

// AttachTeam attaches this rank to a team. A member has allocated the context. members are local
// numbers, of which members[me] is this rank's.
func (m *Node) AttachTeam(s transport.TeamStart, members []int, me int) transport.Team {
	return m.attachTeam(s, members, me)
}

// attachTeam is AttachTeam with the type that world needs.
func (m *Node) attachTeam(s transport.TeamStart, members []int, me int) *team {
	local := make([]C.int, len(members))
	for i, l := range members {
		local[i] = C.int(l)
	}
	h := C.shm_team_attach(C.int(s.Context), C.int(len(local)), &local[0], C.int(me),
		C.uint64_t(s.Phase), C.uint64_t(s.Step))
	if h == nil {
		panic("out of memory for a group")
	}
	return &team{h, unsafe.Slice((*byte)(h.room), (len(members)+1)*C.SHM_SMALL)}
}

// World is the team of all ranks of the node.
func (m *Node) World() transport.Team { return m.world }

func (t *team) Size() int               { return int(t.h.n) }
func (t *team) Rank() int               { return int(t.h.me) }
func (t *team) Pointer() unsafe.Pointer { return unsafe.Pointer(t.h) }
func (t *team) Barrier()                { C.shm_barrier(t.h) }

func (t *team) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	C.shm_bcast(t.h, buf, C.size_t(nbytes), C.int(root))
}

func (t *team) Allgather(mine []byte) []byte {
	in, out := t.room[:len(mine)], t.room[C.SHM_SMALL:]
	copy(in, mine)
	C.shm_allgather(t.h, unsafe.Pointer(&in[0]), C.size_t(len(mine)), unsafe.Pointer(&out[0]))
	return out[:len(mine)*t.Size()]
}

func (t *team) Allreduce(x unsafe.Pointer, nelem int64, typ, red int) {
	C.shm_allreduce(t.h, x, C.size_t(nelem), C.int(typ), C.int(red))
}

func (t *team) Release(last bool) {
	if last {
		C.shm_context_free(t.h.id)
	}
	C.shm_team_detach(t.h)
	*t = team{}
}

// Send sends a message to a rank of the node. It waits for the receiver if the ring is full.
func (m *Node) Send(to int, tag int64, body []byte) {
	C.shm_send(C.int(to), C.int64_t(tag), unsafe.Pointer(unsafe.SliceData(body)),
		C.size_t(len(body)))
}

// Deliver is Send on behalf of a rank of another node. Without wait it never blocks, and returns
// false if there is no room or another thread is sending there.
func (m *Node) Deliver(to int, from transport.Rank, tag, total int64, body []byte, wait bool) bool {
	l := C.struct_shm_message{from: C.int(from), tag: C.int64_t(tag),
		nbytes: C.size_t(len(body)), total: C.size_t(total)}
	return bool(C.deliver(C.int(to), l, unsafe.Pointer(unsafe.SliceData(body)), C.bool(wait)))
}

// SetBacklogged records whether messages of other nodes for a local rank are queued for lack of
// room. Then C does not deliver later ones ahead of them.
func (m *Node) SetBacklogged(local int, yes bool) {
	C.shm_set_backlogged(C.int(local), C.bool(yes))
}

// Recv receives the oldest message with a tag from a rank, or from any rank (-1). ErrTooLong: the
// message does not fit into body and remains to be received.
func (m *Node) Recv(from transport.Rank, tag int64, body []byte) (transport.Received, error) {
	into := unsafe.Pointer(unsafe.SliceData(body))
	r := C.receive(C.int(from), C.int64_t(tag), into, C.size_t(len(body)))
	got := &r.message
	l := transport.Received{From: transport.Rank(got.from), Bytes: int(got.nbytes),
		Total: int(got.total)}
	if r.error != 0 {
		return l, transport.ErrTooLong
	}
	return l, nil
}

// Arrived reports whether Recv of a message with a tag from a rank, or any rank (-1), would return
// at once.
func (m *Node) Arrived(from transport.Rank, tag int64) bool {
	return bool(C.shm_arrived(C.int(from), C.int64_t(tag)))
}

// Notify adds one to the counter of rank from at local rank to, wakes that rank, and returns the
// counter.
func (m *Node) Notify(to int, from transport.Rank) uint32 {
	return uint32(C.shm_notify(C.int(to), C.int(from)))
}

// NotifySent records that a device has been asked to write this rank's counter at rank to. True:
// that rank has left a mark, and the caller must send it the count.
func (m *Node) NotifySent(to transport.Rank, count uint32) bool {
	return bool(C.shm_notify_sent(C.int(to), C.uint32_t(count)))
}

// NotifyAsk leaves the mark of a waiter, rank by of another node, at local rank local. True: the
// awaited count has already been written, and the caller must send it to the waiter.
func (m *Node) NotifyAsk(local int, by transport.Rank, want uint32) bool {
	return bool(C.shm_notify_ask(C.int(local), C.int(by), C.uint32_t(want)))
}

// Notified wakes local rank to if the counter of rank from there has reached want; else it returns
// false.
func (m *Node) Notified(to int, from transport.Rank, want uint32) bool {
	return bool(C.shm_notified(C.int(to), C.int(from), C.uint32_t(want)))
}

// Counters returns the address range of the notify counters of all ranks of the node.
func (m *Node) Counters() (lo uintptr, n int64) {
	var bytes C.uint64_t
	at := C.shm_counters(&bytes)
	return uintptr(at), int64(bytes)
}

// NotifySoon polls a counter, and receives from other nodes meanwhile, without sleeping.
func (m *Node) NotifySoon(from transport.Rank, want uint32) bool {
	return bool(C.shm_notify_poll(C.int(from), C.uint32_t(want)))
}

// notifySoon is the first step of a wait in C (capi/notify.c). For tests.
func (m *Node) notifySoon(from transport.Rank, want uint32) bool {
	var got C.uint32_t
	return bool(C.shm_notify_soon(C.int(from), C.uint32_t(want), &got))
}

// NotifyWait waits until rank from has notified this rank want times, and returns the count.
func (m *Node) NotifyWait(from transport.Rank, want uint32) uint32 {
	return uint32(C.shm_notify_wait(C.int(from), C.uint32_t(want)))
}

func mutexAt(addr uintptr) *C.struct_shm_mutex {
	return (*C.struct_shm_mutex)(kernel.Ptr(addr))
}

// MutexBytes is the size of a mutex.
func (m *Node) MutexBytes() int64 { return int64(C.mutex_bytes()) }

// RankMutex returns the address of the mutex that belongs to a local rank.
func (m *Node) RankMutex(local int) uintptr {
	return uintptr(unsafe.Pointer(C.rank_mutex(C.int(local))))
}

// Lock waits for a mutex.
func (m *Node) Lock(addr uintptr, who transport.Rank) { C.lock(mutexAt(addr), C.uint32_t(who+1)) }

// LockSoon is Lock that waits for a few microseconds at most. If it returns false, the caller is in
// the queue and must call LockQueued with the ticket.
func (m *Node) LockSoon(addr uintptr, who transport.Rank) (ticket uint32, got bool) {
	var t C.uint32_t
	got = bool(C.shm_lock_soon(mutexAt(addr), C.uint32_t(who+1), &t))
	return uint32(t), got
}

// LockQueued waits for a mutex with the ticket of LockSoon.
func (m *Node) LockQueued(addr uintptr, who transport.Rank, ticket uint32) {
	C.shm_lock_queued(mutexAt(addr), C.uint32_t(who+1), C.uint32_t(ticket))
}

// TryLock takes a mutex if it is free and its queue is empty.
func (m *Node) TryLock(addr uintptr, who transport.Rank) bool {
	return bool(C.shm_trylock(mutexAt(addr), C.uint32_t(who+1)))
}

// Unlock releases a mutex.
func (m *Node) Unlock(addr uintptr) { C.unlock(mutexAt(addr)) }

// PassOn: see transport.Mutexes.
func (m *Node) PassOn(addr uintptr, to transport.Rank) bool {
	return bool(C.shm_pass_on(mutexAt(addr), C.uint32_t(to+1)))
}

// MutexOwner returns the rank that holds a mutex; false: it is free.
func (m *Node) MutexOwner(addr uintptr) (transport.Rank, bool) {
	w := C.mutex_owner(mutexAt(addr))
	return transport.Rank(int(w) - 1), w != 0
}
