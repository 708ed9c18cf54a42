// SPDX-License-Identifier: BSD-3-Clause

// Batches: contiguous puts or gets to one rank that C (capi) records without entering Go. Go opens
// a batch, which says what may be recorded, and closes it when it takes what was. One user is
// aggregate handles (this file and aggregate.go), the other nonblocking calls that are coalesced
// (coalesce.go).
package core

import (
	"math"
	"runtime"
	"sync/atomic"

	"libarmci/internal/transport"
)

const (
	batchCapacity = 1024 // transfers
	numBatches    = 8    // for aggregate handles
)

// Batch is transfers of one kind to one rank, with the remote side in one known region. C has it as
// struct front_batch, and adds to it if it can take busy.
type Batch struct {
	busy atomic.Uint32 // a lock for what follows
	// owner of an aggregate's batch is the address of the handle, 0 if none uses the batch. Of
	// a coalescer's batch it is the number that handles of its operations get, 0 if these have
	// none.
	owner         atomic.Uintptr
	kind, proc    int32
	maxBytes      int32 // bytes of one transfer
	count         int32
	lo, size      uintptr // the region; size is 0 while the batch is closed
	bytesLeft     uintptr // bytes that may still be added
	local, remote [batchCapacity]uintptr
	bytes         [batchCapacity]int32
}

// lock locks the batch against C, which holds it for some nanoseconds.
func (b *Batch) lock() {
	for !b.busy.CompareAndSwap(0, 1) {
		runtime.Gosched() // C holds it for some nanoseconds
	}
}

func (b *Batch) unlock() { b.busy.Store(0) }

// openFor lets C add transfers of o's kind and rank in the region e, of up to `most` bytes each and
// room bytes together. The caller holds the batch's lock.
func (b *Batch) openFor(o *Op, e extent, most int32, room uintptr) {
	b.kind, b.proc, b.maxBytes, b.bytesLeft = int32(o.Kind), int32(o.Proc), most, room
	b.lo, b.size = e.lo, e.hi-e.lo
}

// addTransfer adds a contiguous operation, which the caller has checked, as C does; false: the
// batch has no room for it. The caller holds the batch's lock.
func (b *Batch) addTransfer(o *Op) bool {
	x := &o.Xfer
	n, at := uintptr(x.Count[0]), x.Remote.Base-b.lo
	if b.kind != int32(o.Kind) || b.proc != int32(o.Proc) || b.count >= batchCapacity ||
		x.Count[0] > b.maxBytes || n > b.bytesLeft || at >= b.size || n > b.size-at {
		return false
	}
	b.local[b.count], b.remote[b.count], b.bytes[b.count] = x.Local.Base, x.Remote.Base,
		x.Count[0]
	b.bytesLeft -= n
	b.count++
	return true
}

// closeInto closes the batch and makes o one operation of its transfers. The lists of o are the
// batch's memory: the caller, which holds the batch's lock, copies them before it unlocks.
func (b *Batch) closeInto(o *Op) {
	n := int(b.count)
	o.Kind, o.Proc, o.remoteKnown = Kind(b.kind), int(b.proc), true
	b.count, b.size = 0, 0
	if n == 1 {
		o.Xfer.Local.Base, o.Xfer.Remote.Base = b.local[0], b.remote[0]
		o.Xfer.Count = b.bytes[:1]
		return
	}
	o.Xfer.Vector = o.Segments()
	for i := 0; i < n; {
		end := i + 1
		for end < n && b.bytes[end] == b.bytes[i] {
			end++
		}
		o.Xfer.Vector = append(o.Xfer.Vector, transport.Segments{Local: b.local[i:end],
			Remote: b.remote[i:end], Bytes: int(b.bytes[i])})
		i = end
	}
}

// Batches are for C to add to; empty if all ranks are on this node. Their address does not change.
func (ag *aggregates) Batches() []Batch { return ag.batches }

// assignBatch returns a batch for the handle at an address, nil if it is in use. The address
// determines which, so that C finds it, too. The caller holds ag.mu.
func (ag *aggregates) assignBatch(handle uintptr) *Batch {
	if len(ag.batches) == 0 {
		return nil
	}
	b := &ag.batches[handle>>3%numBatches]
	if !b.owner.CompareAndSwap(0, handle) {
		return nil
	}
	return b
}

// openBatch opens the batch of an aggregate for transfers like o, which the caller has checked, if
// o is contiguous and its remote region known. The caller holds ag.mu.
func (ag *aggregates) openBatch(a *aggregate, o *Op) {
	x, b := &o.Xfer, a.batch
	if b == nil || !o.remoteKnown || o.Kind == Acc || x.Vector != nil || len(x.Count) != 1 {
		return
	}
	if e, found := ag.rt.regionManager.remote.findExtent(transport.Rank(o.Proc),
		x.Remote.Base); found {
		b.lock()
		b.openFor(o, e, math.MaxInt32, math.MaxInt)
		b.unlock()
	}
}

// drainBatch adds the transfers of the batch to the aggregate, and closes the batch. The caller
// holds aggregates.mu.
func (a *aggregate) drainBatch() {
	b := a.batch
	if b == nil {
		return
	}
	b.lock()
	defer b.unlock()
	if b.count > 0 {
		o := NewOp()
		b.closeInto(o)
		a.addCopy(o)
		o.Release()
	}
	b.size = 0
}

// closeBatches closes all batches, since memory of other ranks is about to be freed. It locks
// ag.mu.
func (ag *aggregates) closeBatches() {
	ag.rt.coalescing.postCoalesced(everyRank)
	ag.mu.Lock()
	defer ag.mu.Unlock()
	for _, a := range ag.byHandle {
		a.drainBatch()
	}
}
