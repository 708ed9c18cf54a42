// SPDX-License-Identifier: BSD-3-Clause

// Batches: contiguous puts or gets under an aggregate handle that are like the one before, as most are. C (capi) records
// them here without entering Go; this file decides what C may record.
package core

import (
	"runtime"
	"sync/atomic"

	"libarmci/internal/transport"
)

const (
	batchCapacity = 1024 // transfers
	numBatches    = 8
)

// Batch is transfers of one kind, rank and size, whose remote side lies in one known region. C knows it as struct
// front_batch, and adds to it if it can take busy.
type Batch struct {
	busy              atomic.Uint32  // a lock for what follows
	handle            atomic.Uintptr // address of the handle that uses the batch, 0: none
	kind, proc, bytes int32
	n                 int32
	lo, span          uintptr // a transfer may begin at remote addresses lo to lo+span; no addresses: it is closed
	local, remote     [batchCapacity]uintptr
}

func (b *Batch) lock() {
	for !b.busy.CompareAndSwap(0, 1) {
		runtime.Gosched() // C holds it for some nanoseconds
	}
}

func (b *Batch) unlock() { b.busy.Store(0) }

// Batches are for C to add to; empty if all ranks are on this node. Their address does not change.
func (r *Runtime) Batches() []Batch { return r.aggregates.batches }

// assign gives the handle at an address the batch of its hash, by which C finds it, too, if that is free.
func (s *aggregates) assign(handle uintptr) *Batch {
	if len(s.batches) == 0 {
		return nil
	}
	b := &s.batches[handle>>3%numBatches]
	if !b.handle.CompareAndSwap(0, handle) {
		return nil
	}
	return b
}

// openBatch opens the batch of an aggregate for transfers like o, which has been checked, if it is contiguous and known.
func (r *Runtime) openBatch(a *aggregate, o *Op) {
	x, b := &o.Xfer, a.batch
	if b == nil || !o.known || o.Kind == Acc || x.Vector != nil || len(x.Count) != 1 {
		return
	}
	e, found := r.remote.find(transport.Rank(o.Proc), x.Remote.Base)
	if n := uintptr(x.Count[0]); found && n <= e.hi-e.lo {
		b.lock()
		b.kind, b.proc, b.bytes = int32(o.Kind), int32(o.Proc), x.Count[0]
		b.lo, b.span = e.lo, e.hi-e.lo-n+1
		b.unlock()
	}
}

// drain moves what C has added to the aggregate, and closes the batch.
func (a *aggregate) drain() {
	b := a.batch
	if b == nil {
		return
	}
	b.lock()
	defer b.unlock()
	if b.n > 0 {
		o := NewOp()
		o.Kind, o.Proc, o.known = Kind(b.kind), int(b.proc), true
		o.Xfer.Vector = append(o.Segments(), transport.Segments{Local: b.local[:b.n], Remote: b.remote[:b.n], Bytes: int(b.bytes)})
		a.add(o)
		o.Release()
	}
	b.n, b.span = 0, 0
}

// closeBatches closes all batches: memory of other ranks is about to be freed.
func (r *Runtime) closeBatches() {
	r.aggregates.mu.Lock()
	defer r.aggregates.mu.Unlock()
	for _, a := range r.aggregates.set {
		a.drain()
	}
}
