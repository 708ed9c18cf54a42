// SPDX-License-Identifier: BSD-3-Clause

// Package lane is the short way of small blocking puts and gets over RDMA: C posts and waits for them without Go
// (lane.h). This half says what may be reached, keeps C away while Go is at the queues, and takes what C leaves to it.
// There is one lane in a process. All methods of a nil Lane do nothing.
package lane

// #cgo CFLAGS: -O2 -fvisibility=hidden -Wall -Wextra -Werror -std=gnu11
// #include "lane.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/rdma/verbs"
)

// Entries of queues that are the lane's: of a completion queue, and of every queue pair.
const Entries = C.LANE_DEPTH + 1

// RoomBytes is the registered memory that gets want.
const RoomBytes = C.LANE_BYTES

// Lane is the process's lane, of whoever has opened it.
type Lane struct{}

var (
	taken   atomic.Bool
	held    = word(&C.lane.held)
	busy    = word(&C.lane.busy)
	pending = word(&C.lane.pending)
	get     = word(&C.lane.get)
	stashed = word(&C.lane.stashed)
	open    = word(&C.lane.open)
)

// word is an atomic word of C.
func word[T any](p *T) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(p)) }

// Open makes the lane: nil if there is one already. inline is how many bytes a put may have. With a channel waits sleep.
func Open(queue *verbs.Completions, sleep *verbs.Channel, room uintptr, key uint32, inline int) *Lane {
	if !taken.CompareAndSwap(false, true) {
		return nil
	}
	l := &Lane{}
	C.lane.queue = (*C.struct_vb_cq)(queue.Handle())
	C.lane.channel = nil
	if sleep != nil {
		C.lane.channel = (*C.struct_vb_channel)(sleep.Handle())
	}
	C.lane.room = C.uintptr_t(room)
	C.lane.lkey, C.lane.longest = C.uint32_t(key), C.uint32_t(min(inline, RoomBytes))
	pending.Store(0)
	get.Store(C.LANE_IDLE)
	stashed.Store(0)
	l.Forget(func(int, unsafe.Pointer) bool { return true })
	open.Store(1)
	return l
}

// Close ends it. What is open is still waited for by Go.
func (l *Lane) Close() {
	if l == nil {
		return
	}
	l.Enter()
	open.Store(0)
	l.Leave()
}

// Free lets the next one open a lane, when the queues of this one are gone.
func (l *Lane) Free() {
	if l != nil {
		taken.Store(false)
	}
}

// Enter says that Go is at the queues, and waits until C is not. It may be called more than once.
func (l *Lane) Enter() {
	if l == nil {
		return
	}
	busy.Add(1)
	for held.Load() != 0 {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// Leave ends what Enter began.
func (l *Lane) Leave() {
	if l != nil {
		busy.Add(^uint32(0))
	}
}

// Learn tells that [lo, hi), around an address, is memory of a rank that pair reaches. Between Enter and Leave.
func (l *Lane) Learn(rank int, addr, lo, hi uintptr, key uint32, pair *verbs.Pair) {
	if l != nil {
		C.lane.ways[(uint32(rank)^uint32(addr>>22))%C.LANE_WAYS] = C.struct_lane_way{rank: C.int(rank), rkey: C.uint32_t(key),
			lo: C.uintptr_t(lo), bytes: C.uintptr_t(hi - lo), pair: (*C.struct_vb_qp)(pair.Handle())}
	}
}

// ForgetRank forgets the memory of a rank, ForgetPair what a queue pair reaches: nothing is posted there any more.
func (l *Lane) ForgetRank(rank int) {
	l.Forget(func(r int, _ unsafe.Pointer) bool { return r == rank })
}

// ForgetPair see ForgetRank.
func (l *Lane) ForgetPair(pair *verbs.Pair) {
	l.Forget(func(_ int, p unsafe.Pointer) bool { return p == pair.Handle() })
}

// Forget forgets what some says.
func (l *Lane) Forget(some func(rank int, pair unsafe.Pointer) bool) {
	if l == nil {
		return
	}
	l.Enter()
	defer l.Leave()
	for i := range C.lane.ways {
		if w := &C.lane.ways[i]; some(int(w.rank), unsafe.Pointer(w.pair)) {
			*w = C.struct_lane_way{rank: -1}
		}
	}
}

// Left takes the completion that C has found and left to Go, if there is one. Between Enter and Leave.
func (l *Lane) Left() (e verbs.Completion, some bool) {
	if l == nil || stashed.Load() == 0 {
		return e, false
	}
	e = *(*verbs.Completion)(unsafe.Pointer(&C.lane.stash))
	stashed.Store(0)
	return e, true
}

// Mine tells whether a completion is of a request of the lane's, and if so deals with it.
func (l *Lane) Mine(e *verbs.Completion) bool {
	switch {
	case l == nil:
	case e.ID == C.LANE_PUT:
		pending.Add(^uint32(0))
		return true
	case e.ID == C.LANE_GET && e.Status == 0:
		get.Store(C.LANE_HERE)
		return true
	case e.ID == C.LANE_GET:
		get.Store(C.LANE_FAILED)
		return true
	}
	return false
}

// Clear tells whether no put is open.
func (l *Lane) Clear() bool { return l == nil || pending.Load() == 0 }

// Answered tells whether no get is open.
func (l *Lane) Answered() bool { return l == nil || get.Load() != C.LANE_ASKED }

// Here tells whether the data of the get that was open has come.
func (l *Lane) Here() bool { return l != nil && get.Load() == C.LANE_HERE }
