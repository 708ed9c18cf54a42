// SPDX-License-Identifier: BSD-3-Clause

// Package fastpath is the C fast path of RDMA: C posts contiguous puts and gets and waits for them
// without entering Go (fastpath.h). This half tells C which memory it can reach, keeps C away while
// Go uses the queues, and takes what C leaves to Go. There is one fast path in a process. All
// methods of a nil Path do nothing.
package fastpath

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=gnu11
// #include "fastpath.h"
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// MostLeft is how many completions C puts aside before Go has to look.
const MostLeft = C.RDMA_FAST_STASH

// BufferBytes is the registered memory that transfers from and to unregistered memory
// need, at least.
const BufferBytes = leastBuffers * transport.FastBytes

// Of the buffers of slots.
const (
	leastBuffers = 8
	mostBuffers  = C.RDMA_FAST_BUFFERS
	mostBytes    = 8192 // of a buffer
)

// wordBytes is the length of a transfer that is one load and one store (docs/memory-model.md).
const wordBytes = 8

// leastDepth is how many work requests C may have outstanding where a queue pair has room for few.
const leastDepth = C.RDMA_FAST_PIECES

// Entries is how many work requests C may have outstanding where a queue pair has room for so many:
// as many more entries a completion queue and every queue pair need.
func Entries(mostRequests int) int {
	return min(max(mostRequests/4, leastDepth), C.RDMA_FAST_DEPTH)
}

// Path is the process's fast path; its owner is the fabric that has opened it.
type Path struct {
	changing sync.Mutex // for all below, and ranges
	leaving  []leaving
}

// Queue is the completion queue of a network, as C calls it.
type Queue interface {
	Network() unsafe.Pointer // the functions (qp.h); nil: there are none
	Handle() unsafe.Pointer
	Channel() unsafe.Pointer // with which C sleeps; nil: it does not
	Receive() unsafe.Pointer // from which messages take their buffers; nil: C receives none
}

// Limits is what a fabric's device and memory allow.
type Limits struct {
	Entries int     // work requests, as Entries has returned
	Inline  int     // bytes of the longest put whose data travels in its request
	Piece   int     // most bytes of a request
	Width   int     // most places of local memory in a request
	Buffers uintptr // registered memory
	Bytes   int     // of it
	Key     uint32  // of it
	In      *Incoming
	Arena   uintptr // local memory that is registered when it is first used
	Size    int64   // of it
	Sleep   bool    // waits sleep
	Parts   bool    // a thread may see a part of a word that is written
	Direct  bool    // local memory need not be registered
}

var (
	taken   atomic.Bool
	held    = word(&C.rdma_fast.held)
	busy    = word(&C.rdma_fast.busy)
	stores  = word(&C.rdma_fast.stores)
	ended   = word(&C.rdma_fast.ended)
	stashed = word(&C.rdma_fast.stashed)
	look    = word(&C.rdma_fast.look)
	open    = word(&C.rdma_fast.open)
)

// word is an atomic word of C.
func word[T any](p *T) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(p)) }

// Open opens the fast path: nil if it is in use already, or the network has none.
func Open(queue Queue, l Limits) *Path {
	if queue.Network() == nil || !taken.CompareAndSwap(false, true) {
		return nil
	}
	p := &Path{}
	f := &C.rdma_fast
	f.network = (*C.struct_qp_network)(queue.Network())
	f.queue, f.channel = queue.Handle(), nil
	if l.Sleep {
		f.channel = queue.Channel()
	}
	f.everywhere = C.struct_rdma_fast_local{}
	if l.Direct {
		f.everywhere.bytes = ^C.uintptr_t(0)
	}
	n := min(max(l.Bytes/mostBytes, leastBuffers), mostBuffers, l.Entries/2)
	f.buffers = C.struct_rdma_fast_local{lo: C.uintptr_t(l.Buffers),
		bytes: C.uintptr_t(l.Bytes), lkey: C.uint32_t(l.Key)}
	f.buffer_count, f.buffer_bytes = C.uint32_t(n), C.uint32_t(min(l.Bytes/n, mostBytes))
	word(&f.shortest).Store(0)
	if l.Parts {
		word(&f.shortest).Store(wordBytes + 1)
	}
	word(&f.longest_inline).Store(uint32(min(l.Inline, transport.FastBytes)))
	p.receiveFrom(queue.Receive(), l.In)
	f.piece, f.width = C.uint32_t(l.Piece), C.uint32_t(l.Width)
	f.arena, f.arena_bytes = C.uintptr_t(l.Arena), C.uintptr_t(l.Size)
	f.put_costs, f.get_costs = C.struct_rdma_fast_costs{}, C.struct_rdma_fast_costs{}
	C.rdma_fast_reset(C.uint32_t(l.Entries))
	stashed.Store(0)
	look.Store(0)
	p.drop(func(int, unsafe.Pointer) bool { return true })
	p.dropPeers(func(unsafe.Pointer) bool { return true })
	p.dropSpans(func(int) bool { return true })
	clear(f.locals[:])
	clear(f.watched[:])
	f.watch = nil
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
	p.AcquireQueues()
	open.Store(0)
	p.ReleaseQueues()
}

// Free allows the next Open, when the queues of this one are gone.
func (p *Path) Free() {
	if p != nil {
		p.reap(true)
		taken.Store(false)
	}
}

// Enter takes the queues for Go and waits until C does not use them. Several goroutines may have
// entered.
func (p *Path) AcquireQueues() {
	if p == nil {
		return
	}
	busy.Add(1)
	for held.Load() != 0 {
		wait.Yield()
	}
}

// Leave undoes one Enter.
func (p *Path) ReleaseQueues() {
	if p != nil {
		busy.Add(^uint32(0))
	}
}

// KnowsRange reports whether C knows memory around an address of a rank.
func (p *Path) KnowsRange(rank transport.Rank, addr uintptr) bool {
	if p == nil {
		return false
	}
	at := uintptr(rank) ^ addr>>C.RDMA_FAST_RANGE_SHIFT
	at = at * C.RDMA_FAST_WAYS % C.RDMA_FAST_RANGES
	for i := range uintptr(C.RDMA_FAST_WAYS) { // one that is being changed does no harm
		w := &C.rdma_fast.ranges[at+i]
		if w.rank == C.int(rank) && addr-uintptr(w.lo) < uintptr(w.bytes) {
			return true
		}
	}
	return false
}

// AddRange caches that pair, base and key reach a part [lo, hi), around addr, of an allocation of a
// rank. server is that of the rank's node.
func (p *Path) AddRange(rank int, addr, lo, hi uintptr, whole transport.Span, base uintptr,
	key uint64, pair unsafe.Pointer, server transport.Server) {
	if p == nil {
		return
	}
	p.change(func() {
		ways := unsafe.Slice(C.rdma_fast_place(C.int(rank), C.uintptr_t(addr)),
			C.RDMA_FAST_WAYS)
		if w := &ways[0]; int(w.rank) != rank || uintptr(w.lo) != lo {
			copy(ways[1:], ways) // what was added last but one is left
		}
		ways[0] = C.struct_rdma_fast_range{rank: C.int(rank), rkey: C.uint64_t(key),
			base: C.uintptr_t(base), lo: C.uintptr_t(lo), bytes: C.uintptr_t(hi - lo),
			pair: pair, server: (*C.struct_fast_server)(server.Handle()),
			whole_lo: C.uintptr_t(whole.Lo), whole_hi: C.uintptr_t(whole.Hi)}
	})
}

// AddLocal caches that key is that of local memory [lo, hi), around addr, which stays registered.
func (p *Path) AddLocal(addr, lo, hi uintptr, key uint32) {
	if p == nil {
		return
	}
	l := &C.rdma_fast.locals[addr>>C.RDMA_FAST_LOCAL_SHIFT%C.RDMA_FAST_LOCALS]
	// If it is being changed it is not there yet.
	if uintptr(l.lo) == lo && uintptr(l.bytes) == hi-lo {
		return
	}
	p.change(func() {
		*l = C.struct_rdma_fast_local{lo: C.uintptr_t(lo), bytes: C.uintptr_t(hi - lo),
			lkey: C.uint32_t(key)}
	})
}

// change calls do while neither C nor another goroutine uses the ranges.
func (p *Path) change(do func()) {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.AcquireQueues()
	defer p.ReleaseQueues()
	do()
}

// DropRank drops the ranges of a rank: C posts nothing there any more.
func (p *Path) DropRank(rank transport.Rank) {
	if p == nil {
		return
	}
	p.drop(func(r int, _ unsafe.Pointer) bool { return r == int(rank) })
	p.dropSpans(func(r int) bool { return r == int(rank) })
}

// DropRanges drops the ranges that a queue pair reaches.
func (p *Path) DropRanges(pair unsafe.Pointer) {
	p.drop(func(_ int, via unsafe.Pointer) bool { return via == pair })
}

// DropPair has C post nothing more on a queue pair.
func (p *Path) DropPair(pair unsafe.Pointer) {
	p.DropRanges(pair)
	p.DropPeers(pair)
}

// drop empties the entries of the ranges that a function selects.
func (p *Path) drop(some func(rank int, pair unsafe.Pointer) bool) {
	if p == nil {
		return
	}
	p.change(func() {
		for i := range C.rdma_fast.ranges {
			if w := &C.rdma_fast.ranges[i]; some(int(w.rank), unsafe.Pointer(w.pair)) {
				*w = C.struct_rdma_fast_range{rank: -1}
			}
		}
	})
}

// Left takes the completions that C has put aside for Go, in their order, and returns how many.
// Call it between Enter and Leave. There is room for MostLeft.
func (p *Path) TakeStashed(into []qp.Completion) int {
	if p == nil || stashed.Load() == 0 {
		return 0
	}
	n := copy(into, (*[MostLeft]qp.Completion)(
		unsafe.Pointer(&C.rdma_fast.stash))[:stashed.Load()])
	stashed.Store(0)
	look.Store(0)
	return n
}

// Mine reports whether C has posted the request of a completion, and if so handles it. For the
// poller, as Fail and Forget.
func (p *Path) CompleteOwn(e *qp.Completion) bool {
	if p == nil || e.ID>>62 != C.RDMA_FAST_ID>>62 {
		return false
	}
	C.rdma_fast_end(C.uint64_t(e.ID), e.Status != 0)
	return true
}

// Fail fails what C has outstanding on a queue pair.
func (p *Path) FailPair(pair unsafe.Pointer) {
	if p != nil {
		C.rdma_fast_fail(pair)
	}
}

// Forget frees what was used for a queue pair that is no longer there.
func (p *Path) ForgetPair(pair unsafe.Pointer) {
	if p != nil {
		C.rdma_fast_forget(pair)
	}
}

// Ended changes when a request is over, or when no put is outstanding any more: C may have found
// that out while a thread of Go's waits for it.
func (p *Path) OverCount() uint32 {
	if p == nil {
		return 0
	}
	return ended.Load()
}

// Clear reports whether no store of C's is outstanding, and Go has seen what became of them.
func (p *Path) StoresDrained() bool { return p == nil || stores.Load() == 0 && stashed.Load() == 0 }

// Outstanding reports whether C has anything outstanding on a queue pair.
func (p *Path) Outstanding(pair unsafe.Pointer) bool {
	if p == nil {
		return false
	}
	p.AcquireQueues()
	defer p.ReleaseQueues()
	return bool(C.rdma_fast_outstanding(pair))
}

// RequestOpen reports whether a request (fast.h) is open.
func (p *Path) RequestOpen(number int32) bool {
	return p != nil && bool(C.rdma_fast_is_open(C.int32_t(number)))
}

// RequestOver reports whether nothing of a request is outstanding: it is complete, or has failed.
func (p *Path) RequestOver(number int32) bool {
	return p == nil || bool(C.rdma_fast_over(C.int32_t(number)))
}

// RequestFailure takes the failure of a request that is over, if it has failed, and the
// rank at which.
func (p *Path) RequestFailure(number int32) (rank transport.Rank, failed bool) {
	if !p.RequestOpen(number) {
		return 0, false
	}
	p.AcquireQueues()
	defer p.ReleaseQueues()
	var at C.int
	failed = bool(C.rdma_fast_failure(C.int32_t(number), &at))
	return transport.Rank(at), failed
}
