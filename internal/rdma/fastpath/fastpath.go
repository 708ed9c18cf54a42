// SPDX-License-Identifier: BSD-3-Clause

// Package fastpath is the C fast path of RDMA: C posts small blocking puts and gets and waits for them without entering
// Go (fastpath.h). This half tells C which memory it can reach, keeps C away while Go uses the queues, and takes what C
// leaves to Go. There is one fast path in a process. All methods of a nil Path do nothing.
package fastpath

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=gnu11
// #include "fastpath.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"libarmci/internal/rdma/qp"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// Entries is how many work requests C may have outstanding: as many more entries a completion queue and every queue pair need.
const Entries = C.RDMA_FAST_DEPTH + 1

// MostLeft is how many completions C puts aside before Go has to look.
const MostLeft = C.RDMA_FAST_STASH

// RoomBytes is the registered memory that gets need.
const RoomBytes = transport.FastBytes

// Path is the process's fast path; who has opened it owns it.
type Path struct{}

var (
	taken   atomic.Bool
	held    = word(&C.rdma_fast.held)
	busy    = word(&C.rdma_fast.busy)
	pending = word(&C.rdma_fast.pending)
	get     = word(&C.rdma_fast.get)
	stashed = word(&C.rdma_fast.stashed)
	look    = word(&C.rdma_fast.look)
	open    = word(&C.rdma_fast.open)
)

// word is an atomic word of C.
func word[T any](p *T) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(p)) }

// Open opens the fast path: nil if it is in use already. room and key name RoomBytes of registered memory; inline is the
// longest put. sleep: waits sleep.
func Open(queue verbs.Handles, sleep bool, room uintptr, key uint32, inline int) *Path {
	if !taken.CompareAndSwap(false, true) {
		return nil
	}
	p := &Path{}
	C.rdma_fast.queue = (*C.struct_vb_cq)(queue.Handle())
	C.rdma_fast.channel = nil
	if sleep {
		C.rdma_fast.channel = (*C.struct_vb_channel)(queue.Channel().Handle())
	}
	C.rdma_fast.buffer = C.uintptr_t(room)
	C.rdma_fast.lkey, C.rdma_fast.longest = C.uint32_t(key), C.uint32_t(min(inline, RoomBytes))
	pending.Store(0)
	get.Store(C.RDMA_FAST_IDLE)
	stashed.Store(0)
	look.Store(0)
	p.drop(func(int, unsafe.Pointer) bool { return true })
	open.Store(1)
	C.rdma_fast_publish(true)
	return p
}

// Close closes it to C. Go still waits for what is outstanding.
func (p *Path) Close() {
	if p == nil {
		return
	}
	C.rdma_fast_publish(false)
	p.Enter()
	open.Store(0)
	p.Leave()
}

// Free allows the next Open, when the queues of this one are gone.
func (p *Path) Free() {
	if p != nil {
		taken.Store(false)
	}
}

// Enter takes the queues for Go and waits until C does not use them. Several goroutines may have entered.
func (p *Path) Enter() {
	if p == nil {
		return
	}
	busy.Add(1)
	for held.Load() != 0 {
		wait.Yield()
	}
}

// Leave undoes one Enter.
func (p *Path) Leave() {
	if p != nil {
		busy.Add(^uint32(0))
	}
}

// AddRange caches that pair and key reach [lo, hi), around addr, of a rank.
func (p *Path) AddRange(rank int, addr, lo, hi uintptr, key uint32, pair unsafe.Pointer) {
	if p != nil {
		p.Enter()
		defer p.Leave()
		ways := unsafe.Slice(C.rdma_fast_place(C.int(rank), C.uintptr_t(addr)), C.RDMA_FAST_WAYS)
		if w := &ways[0]; int(w.rank) != rank || uintptr(w.lo) != lo {
			copy(ways[1:], ways) // what was added last but one is left
		}
		ways[0] = C.struct_rdma_fast_range{rank: C.int(rank), rkey: C.uint32_t(key),
			lo: C.uintptr_t(lo), bytes: C.uintptr_t(hi - lo), pair: (*C.struct_vb_qp)(pair)}
	}
}

// DropRank drops the ranges of a rank: C posts nothing there any more.
func (p *Path) DropRank(rank transport.Rank) {
	p.drop(func(r int, _ unsafe.Pointer) bool { return r == int(rank) })
}

// DropPair drops the ranges that a queue pair reaches.
func (p *Path) DropPair(pair unsafe.Pointer) {
	p.drop(func(_ int, via unsafe.Pointer) bool { return via == pair })
}

func (p *Path) drop(some func(rank int, pair unsafe.Pointer) bool) {
	if p == nil {
		return
	}
	p.Enter()
	defer p.Leave()
	for i := range C.rdma_fast.ranges {
		if w := &C.rdma_fast.ranges[i]; some(int(w.rank), unsafe.Pointer(w.pair)) {
			*w = C.struct_rdma_fast_range{rank: -1}
		}
	}
}

// Left takes the completions that C has put aside for Go, in their order, and returns how many. Call it between Enter and
// Leave. There is room for MostLeft.
func (p *Path) Left(into []qp.Completion) int {
	if p == nil || stashed.Load() == 0 {
		return 0
	}
	n := copy(into, (*[MostLeft]qp.Completion)(unsafe.Pointer(&C.rdma_fast.stash))[:stashed.Load()])
	stashed.Store(0)
	look.Store(0)
	return n
}

// Mine reports whether C has posted the request of a completion, and if so completes it.
func (p *Path) Mine(e *qp.Completion) bool {
	switch {
	case p == nil:
	case e.ID == C.RDMA_FAST_PUT:
		pending.Add(^uint32(0))
		return true
	case e.ID == C.RDMA_FAST_GET && e.Status == 0:
		get.Store(C.RDMA_FAST_HERE)
		return true
	case e.ID == C.RDMA_FAST_GET:
		get.Store(C.RDMA_FAST_FAILED)
		return true
	}
	return false
}

// Clear reports whether no put of C's is outstanding.
func (p *Path) Clear() bool { return p == nil || pending.Load() == 0 }

// GetOpen reports whether a get that C has left to Go is outstanding.
func (p *Path) GetOpen() bool { return p != nil && get.Load() == C.RDMA_FAST_ASKED }

// GetDone reports whether its data has arrived.
func (p *Path) GetDone() bool { return p != nil && get.Load() == C.RDMA_FAST_HERE }
