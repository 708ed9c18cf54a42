// SPDX-License-Identifier: BSD-3-Clause

// Go's side of teams, messages, notify counters and mutexes: one call of C each. No algorithm is
// here.
package shm

// #include <stdlib.h>
// #include "shm.h"
// static inline uint64_t mutex_bytes(void) { return sizeof(struct shm_mutex); }
// static inline uint32_t mutex_owner(struct shm_mutex *m) { return atomic_load(&m->owner); }
// static inline struct shm_mutex *rank_mutex(int local) { return &shm.rank[local].own; }
// // What is passed by value is not on Go's heap: messages are frequent.
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
// static inline void lock(struct shm_mutex *m, uint32_t who) { shm_lock(m, who); }
// static inline void unlock(struct shm_mutex *m) { shm_unlock(m); }
import "C"

import (
	"fmt"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// team implements transport.Team. room is C memory for gathered data, so that calls need not be
// checked for Go pointers.
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

// AttachTeam joins a team whose context a member has allocated.
func (m *Node) AttachTeam(s transport.TeamStart, members []int, me int) transport.Team {
	return m.attachTeam(s, members, me)
}

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

// Send sends a message to a rank of the node; it may wait for the receiver when the message is
// large.
func (m *Node) Send(to int, tag int64, body []byte) {
	C.shm_send(C.int(to), C.int64_t(tag), unsafe.Pointer(unsafe.SliceData(body)),
		C.size_t(len(body)))
}

// Deliver is Send on behalf of a rank of another node. Without wait it never blocks.
func (m *Node) Deliver(to int, from transport.Rank, tag, total int64, body []byte, wait bool) bool {
	l := C.struct_shm_message{from: C.int(from), tag: C.int64_t(tag),
		nbytes: C.size_t(len(body)), total: C.size_t(total)}
	return bool(C.deliver(C.int(to), l, unsafe.Pointer(unsafe.SliceData(body)), C.bool(wait)))
}

// SetBacklogged says whether messages for a local rank wait for room.
func (m *Node) SetBacklogged(local int, yes bool) {
	C.shm_set_backlogged(C.int(local), C.bool(yes))
}

// Recv receives the oldest message with a tag from a rank, or from any (-1).
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

// Arrived tells whether a message with a tag has come from a rank, or from any (-1), and can be
// received.
func (m *Node) Arrived(from transport.Rank, tag int64) bool {
	return bool(C.shm_arrived(C.int(from), C.int64_t(tag)))
}

// Notify raises the counter that a rank of the job has at a rank of the node, and returns it.
func (m *Node) Notify(to int, from transport.Rank) uint32 {
	return uint32(C.shm_notify(C.int(to), C.int(from)))
}

// NotifySent notes that a device has written a counter of mine; true: that rank has asked to be
// told.
func (m *Node) NotifySent(to transport.Rank, count uint32) bool {
	return bool(C.shm_notify_sent(C.int(to), C.uint32_t(count)))
}

// NotifyAsk has a rank of the node tell a rank of another one; true: what it waits for has been
// sent.
func (m *Node) NotifyAsk(local int, by transport.Rank, want uint32) bool {
	return bool(C.shm_notify_ask(C.int(local), C.int(by), C.uint32_t(want)))
}

// Notified wakes who waits for a counter at a rank of the node, if it has come so far.
func (m *Node) Notified(to int, from transport.Rank, want uint32) bool {
	return bool(C.shm_notified(C.int(to), C.int(from), C.uint32_t(want)))
}

// Counters is where the notify counters of all ranks of the node are.
func (m *Node) Counters() (lo uintptr, n int64) {
	var bytes C.uint64_t
	at := C.shm_counters(&bytes)
	return uintptr(at), int64(bytes)
}

// NotifySoon looks for a counter and receives what comes from other nodes, without sleeping.
func (m *Node) NotifySoon(from transport.Rank, want uint32) bool {
	return bool(C.shm_notify_look(C.int(from), C.uint32_t(want)))
}

// notifySoon is what C calls first (capi/notify.c). For tests.
func (m *Node) notifySoon(from transport.Rank, want uint32) bool {
	var got C.uint32_t
	return bool(C.shm_notify_soon(C.int(from), C.uint32_t(want), &got))
}

// NotifyWait waits until a rank has notified this one often enough.
func (m *Node) NotifyWait(from transport.Rank, want uint32) uint32 {
	return uint32(C.shm_notify_wait(C.int(from), C.uint32_t(want)))
}

func mutexAt(addr uintptr) *C.struct_shm_mutex {
	return (*C.struct_shm_mutex)(kernel.Ptr(addr))
}

// MutexBytes is the size of a mutex.
func (m *Node) MutexBytes() int64 { return int64(C.mutex_bytes()) }

// RankMutex is a mutex that every rank has.
func (m *Node) RankMutex(local int) uintptr {
	return uintptr(unsafe.Pointer(C.rank_mutex(C.int(local))))
}

// Lock waits for a mutex.
func (m *Node) Lock(addr uintptr, who transport.Rank) { C.lock(mutexAt(addr), C.uint32_t(who+1)) }

// LockSoon is Lock that waits for a few microseconds at most. If it fails, the caller is in the
// queue and must call LockQueued.
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

// MutexOwner tells who holds a mutex.
func (m *Node) MutexOwner(addr uintptr) (transport.Rank, bool) {
	w := C.mutex_owner(mutexAt(addr))
	return transport.Rank(int(w) - 1), w != 0
}
