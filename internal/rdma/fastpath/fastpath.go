// SPDX-License-Identifier: BSD-3-Clause

// Package fastpath is the C fast path of RDMA: C posts contiguous puts and gets and waits for them
// without entering Go (fastpath.h). The Go half fills C's tables of memory that it can reach, keeps
// C away while Go uses the queues, and takes the completions that C stashes for Go. There is one
// fast path in a process. All methods of a nil Path do nothing.
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

// MaxStashed is how many completions C stashes before Go has to take them.
const MaxStashed = C.RDMA_FAST_STASH

// BufferBytes is the registered memory that transfers from and to unregistered memory
// need, at least.
const BufferBytes = leastBuffers * transport.FastBytes

// Of the buffers of slots.
const (
	leastBuffers = 8
	mostBuffers  = C.RDMA_FAST_BUFFERS
	mostBytes    = 8192 // of a buffer
)

// wordBytes is the length of a transfer that other threads see as one store (docs/memory-model.md).
const wordBytes = 8

// leastDepth is how many work requests C may have in flight where a queue pair has room for few.
const leastDepth = C.RDMA_FAST_PIECES

// Entries returns how many work requests C may have in flight where a queue pair has room for
// mostRequests. The completion queue and every queue pair need as many entries besides Go's.
func Entries(mostRequests int) int {
	return min(max(mostRequests/4, leastDepth), C.RDMA_FAST_DEPTH)
}

// Path is the process's fast path; its owner is the fabric that has opened it.
type Path struct {
	// guards droppedEntries, and changes of C's tables of ranges, peers and spans
	changeMu sync.Mutex

	droppedEntries []droppedEntry // that C still uses
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
	Entries     int     // work requests, as Entries has returned
	MaxInline   int     // bytes of the longest put whose data travels in its request
	MaxRequest  int     // bytes of a request
	MaxPieces   int     // pieces of local memory in a request
	Buffers     uintptr // registered memory for the slots' buffers
	BufferBytes int     // of it
	BufferKey   uint32  // of it
	Incoming    *Incoming
	Arena       uintptr // local memory that Go registers when it is first used
	ArenaBytes  int64   // of it
	WaitsSleep  bool    // waits sleep instead of polling
	// Bytewise: other threads may see a part of a word that the device writes.
	Bytewise     bool
	Unregistered bool // local memory need not be registered
}

var (
	pathInUse      atomic.Bool
	cHolds         = atomicWord(&C.rdma_fast.held_by_c)
	goUsers        = atomicWord(&C.rdma_fast.users_in_go)
	storesInFlight = atomicWord(&C.rdma_fast.stores_in_flight)
	overCount      = atomicWord(&C.rdma_fast.over_count)
	stashCount     = atomicWord(&C.rdma_fast.stash_count)
	goMustPoll     = atomicWord(&C.rdma_fast.go_must_poll)
	pathOpen       = atomicWord(&C.rdma_fast.open)
)

// atomicWord is an atomic word of C.
func atomicWord[T any](p *T) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(p)) }

// Open opens the fast path; nil if it is in use already, or the network has none. The caller closes
// it, and frees it when the queues have been destroyed.
func Open(queue Queue, l Limits) *Path {
	if queue.Network() == nil || !pathInUse.CompareAndSwap(false, true) {
		return nil
	}
	p := &Path{}
	f := &C.rdma_fast
	f.network = (*C.struct_qp_network)(queue.Network())
	f.queue, f.channel = queue.Handle(), nil
	if l.WaitsSleep {
		f.channel = queue.Channel()
	}
	f.everywhere = C.struct_rdma_fast_local{}
	if l.Unregistered {
		f.everywhere.bytes = ^C.uintptr_t(0)
	}
	n := min(max(l.BufferBytes/mostBytes, leastBuffers), mostBuffers, l.Entries/2)
	f.buffers = C.struct_rdma_fast_local{lo: C.uintptr_t(l.Buffers),
		bytes: C.uintptr_t(l.BufferBytes), lkey: C.uint32_t(l.BufferKey)}
	f.buffer_count, f.buffer_bytes = C.uint32_t(n), C.uint32_t(min(l.BufferBytes/n, mostBytes))
	atomicWord(&f.shortest).Store(0)
	if l.Bytewise {
		atomicWord(&f.shortest).Store(wordBytes + 1)
	}
	atomicWord(&f.longest_inline).Store(uint32(min(l.MaxInline, transport.FastBytes)))
	p.receiveFrom(queue.Receive(), l.Incoming)
	f.piece, f.width = C.uint32_t(l.MaxRequest), C.uint32_t(l.MaxPieces)
	f.arena, f.arena_bytes = C.uintptr_t(l.Arena), C.uintptr_t(l.ArenaBytes)
	f.put_costs, f.get_costs = C.struct_rdma_fast_costs{}, C.struct_rdma_fast_costs{}
	C.rdma_fast_reset(C.uint32_t(l.Entries))
	stashCount.Store(0)
	goMustPoll.Store(0)
	p.dropRangesWhere(func(int, unsafe.Pointer) bool { return true })
	p.dropPeersWhere(func(unsafe.Pointer) bool { return true })
	p.dropSpansWhere(func(int) bool { return true })
	clear(f.locals[:])
	clear(f.watched[:])
	f.watch = nil
	pathOpen.Store(1)
	C.rdma_fast_publish(true)
	return p
}

// Close keeps C out from then on. What C has in flight completes: Go polls for it.
func (p *Path) Close() {
	if p == nil {
		return
	}
	C.rdma_fast_publish(false)
	p.AcquireQueues()
	pathOpen.Store(0)
	p.ReleaseQueues()
}

// Free allows the next Open, when the queues of this one are gone.
func (p *Path) Free() {
	if p != nil {
		p.releaseDropped(true)
		pathInUse.Store(false)
	}
}

// AcquireQueues acquires the queues for Go, and waits until C does not hold them. Several
// goroutines may hold them at once. Each calls ReleaseQueues afterwards.
func (p *Path) AcquireQueues() {
	if p == nil {
		return
	}
	goUsers.Add(1)
	for cHolds.Load() != 0 {
		wait.Yield()
	}
}

// ReleaseQueues undoes one AcquireQueues.
func (p *Path) ReleaseQueues() {
	if p != nil {
		goUsers.Add(^uint32(0))
	}
}

// KnowsRange reports whether C reaches the memory at an address of a rank. Any thread may call it.
func (p *Path) KnowsRange(rank transport.Rank, addr uintptr) bool {
	if p == nil {
		return false
	}
	at := uintptr(rank) ^ addr>>C.RDMA_FAST_RANGE_SHIFT
	at = at * C.RDMA_FAST_WAYS % C.RDMA_FAST_RANGES
	for i := range uintptr(C.RDMA_FAST_WAYS) { // a wrong answer, during a change, does no harm
		w := &C.rdma_fast.ranges[at+i]
		if w.rank == C.int(rank) && addr-uintptr(w.lo) < uintptr(w.bytes) {
			return true
		}
	}
	return false
}

// AddRange tells C that pair, base and key reach a part [lo, hi), around addr, of an allocation of
// a rank. server is the data server of the rank's node.
func (p *Path) AddRange(rank int, addr, lo, hi uintptr, whole transport.Span, base uintptr,
	key uint64, pair unsafe.Pointer, server transport.Server) {
	if p == nil {
		return
	}
	p.changeTables(func() {
		ways := unsafe.Slice(C.rdma_fast_range_set(C.int(rank), C.uintptr_t(addr)),
			C.RDMA_FAST_WAYS)
		if w := &ways[0]; int(w.rank) != rank || uintptr(w.lo) != lo {
			copy(ways[1:], ways) // the oldest entry of the set is lost
		}
		ways[0] = C.struct_rdma_fast_range{rank: C.int(rank), rkey: C.uint64_t(key),
			base: C.uintptr_t(base), lo: C.uintptr_t(lo), bytes: C.uintptr_t(hi - lo),
			pair: pair, server: (*C.struct_fast_server)(server.Handle()),
			whole_lo: C.uintptr_t(whole.Lo), whole_hi: C.uintptr_t(whole.Hi)}
	})
}

// AddLocal tells C the key of local memory [lo, hi), around addr, which stays registered.
func (p *Path) AddLocal(addr, lo, hi uintptr, key uint32) {
	if p == nil {
		return
	}
	l := &C.rdma_fast.locals[addr>>C.RDMA_FAST_LOCAL_SHIFT%C.RDMA_FAST_LOCALS]
	// An entry that is being changed is another one, and is written again.
	if uintptr(l.lo) == lo && uintptr(l.bytes) == hi-lo {
		return
	}
	p.changeTables(func() {
		*l = C.struct_rdma_fast_local{lo: C.uintptr_t(lo), bytes: C.uintptr_t(hi - lo),
			lkey: C.uint32_t(key)}
	})
}

// changeTables calls do while neither C nor another goroutine uses C's tables. It locks changeMu
// and acquires the queues.
func (p *Path) changeTables(do func()) {
	p.changeMu.Lock()
	defer p.changeMu.Unlock()
	p.AcquireQueues()
	defer p.ReleaseQueues()
	do()
}

// DropRank removes the ranges and allocations of a rank: C posts nothing there any more.
func (p *Path) DropRank(rank transport.Rank) {
	if p == nil {
		return
	}
	p.dropRangesWhere(func(r int, _ unsafe.Pointer) bool { return r == int(rank) })
	p.dropSpansWhere(func(r int) bool { return r == int(rank) })
}

// DropRanges removes the ranges that a queue pair reaches.
func (p *Path) DropRanges(pair unsafe.Pointer) {
	p.dropRangesWhere(func(_ int, via unsafe.Pointer) bool { return via == pair })
}

// DropPair removes the ranges and peers of a queue pair: C posts nothing more on it.
func (p *Path) DropPair(pair unsafe.Pointer) {
	p.DropRanges(pair)
	p.DropPeers(pair)
}

// dropRangesWhere empties the entries of the ranges that a function selects.
func (p *Path) dropRangesWhere(some func(rank int, pair unsafe.Pointer) bool) {
	if p == nil {
		return
	}
	p.changeTables(func() {
		for i := range C.rdma_fast.ranges {
			if w := &C.rdma_fast.ranges[i]; some(int(w.rank), unsafe.Pointer(w.pair)) {
				*w = C.struct_rdma_fast_range{rank: -1}
			}
		}
	})
}

// TakeStashed takes the completions that C has stashed for Go, in their order, and returns how
// many. The caller is the poller, holds the queues, and has room for MaxStashed.
func (p *Path) TakeStashed(into []qp.Completion) int {
	if p == nil || stashCount.Load() == 0 {
		return 0
	}
	n := copy(into, (*[MaxStashed]qp.Completion)(
		unsafe.Pointer(&C.rdma_fast.stash))[:stashCount.Load()])
	stashCount.Store(0)
	goMustPoll.Store(0)
	return n
}

// CompleteOwn reports whether C has posted the request of a completion, and if so handles the
// completion. Only the poller calls it, as FailPair and ForgetPair.
func (p *Path) CompleteOwn(e *qp.Completion) bool {
	if p == nil || e.ID>>62 != C.RDMA_FAST_ID>>62 {
		return false
	}
	C.rdma_fast_complete_work(C.uint64_t(e.ID), e.Status != 0)
	return true
}

// FailPair fails what C has in flight on a queue pair. The caller has called DropPair.
func (p *Path) FailPair(pair unsafe.Pointer) {
	if p != nil {
		C.rdma_fast_fail_pair(pair)
	}
}

// ForgetPair frees C's slots of a queue pair that has been destroyed.
func (p *Path) ForgetPair(pair unsafe.Pointer) {
	if p != nil {
		C.rdma_fast_forget_pair(pair)
	}
}

// OverCount changes when a request is over, or when no put is in flight any more. C may have
// handled that completion while a thread of Go's waits for it.
func (p *Path) OverCount() uint32 {
	if p == nil {
		return 0
	}
	return overCount.Load()
}

// StoresDrained reports whether no store of C's is in flight, and no completion is stashed.
func (p *Path) StoresDrained() bool {
	return p == nil || storesInFlight.Load() == 0 && stashCount.Load() == 0
}

// Outstanding reports whether C has anything in flight on a queue pair.
func (p *Path) Outstanding(pair unsafe.Pointer) bool {
	if p == nil {
		return false
	}
	p.AcquireQueues()
	defer p.ReleaseQueues()
	return bool(C.rdma_fast_pair_in_use(pair))
}

// RequestOpen reports whether a request (fast.h) is open.
func (p *Path) RequestOpen(number int32) bool {
	return p != nil && bool(C.rdma_fast_request_is_open(C.int32_t(number)))
}

// RequestEnded reports whether nothing of a request is in flight: it is complete, or has failed.
func (p *Path) RequestEnded(number int32) bool {
	return p == nil || bool(C.rdma_fast_request_is_over(C.int32_t(number)))
}

// RequestFailure takes the failure of a request that is over, and the rank at which it has failed;
// false if it has not. It closes a request that has.
func (p *Path) RequestFailure(number int32) (rank transport.Rank, failed bool) {
	if !p.RequestOpen(number) {
		return 0, false
	}
	p.AcquireQueues()
	defer p.ReleaseQueues()
	var at C.int
	failed = bool(C.rdma_fast_take_failure(C.int32_t(number), &at))
	return transport.Rank(at), failed
}
