// SPDX-License-Identifier: BSD-3-Clause

// Batches: contiguous puts or gets under an aggregate handle that are like the one before, which is what most are. The
// front door's C half writes them down here without entering Go; what may be written down is decided here.
package core

import (
	"runtime"
	"sync/atomic"

	"libarmci/internal/transport"
)

const (
	batchRoom  = 1024 // transfers
	numBatches = 8
)

// Batch is transfers of one kind, rank and size, whose remote side lies in one region that this rank has been told of.
// C, which knows it as struct front_batch, adds to it if nobody else is at it.
type Batch struct {
	busy              atomic.Uint32  // held to read or change what follows
	handle            atomic.Uintptr // whose it is, 0: nobody's
	kind, proc, bytes int32
	n                 int32
	lo, span          uintptr // remote addresses from lo on that a transfer may begin at: none if it is closed
	local, remote     [batchRoom]uintptr
}

func (b *Batch) lock() {
	for !b.busy.CompareAndSwap(0, 1) {
		runtime.Gosched() // C holds it for some nanoseconds
	}
}

func (b *Batch) unlock() { b.busy.Store(0) }

// Batches is what C adds to; empty if all ranks are on this node. It stays where it is.
func (r *Runtime) Batches() []Batch { return r.aggregates.batches }

// claim gives the handle at an address a batch, if that of its place, which C finds likewise, is free.
func (s *aggregates) claim(handle uintptr) *Batch {
	if len(s.batches) == 0 {
		return nil
	}
	b := &s.batches[handle>>3%numBatches]
	if !b.handle.CompareAndSwap(0, handle) {
		return nil
	}
	return b
}

// allow opens the batch of an aggregate for transfers like one that has been checked, if it is of the usual kind.
func (r *Runtime) allow(a *aggregate, o *Op) {
	x, b := &o.Xfer, a.batch
	if b == nil || !x.Known || o.Kind == Acc || x.Vector != nil || len(x.Count) != 1 {
		return
	}
	e, found := r.known.around(transport.Rank(o.Proc), x.Remote.Base)
	if n := uintptr(x.Count[0]); found && n <= e.hi-e.lo {
		b.lock()
		b.kind, b.proc, b.bytes = int32(o.Kind), int32(o.Proc), x.Count[0]
		b.lo, b.span = e.lo, e.hi-e.lo-n+1
		b.unlock()
	}
}

// absorb takes what C has added, and closes the batch.
func (a *aggregate) absorb() {
	b := a.batch
	if b == nil {
		return
	}
	b.lock()
	defer b.unlock()
	if b.n > 0 {
		o := NewOp()
		o.Kind, o.Proc, o.Xfer.Known = Kind(b.kind), int(b.proc), true
		o.Xfer.Vector = append(o.Segments(), transport.Segments{Local: b.local[:b.n], Remote: b.remote[:b.n], Bytes: int(b.bytes)})
		a.add(o)
		o.Release()
	}
	b.n, b.span = 0, 0
}

// closeBatches is for when memory of other ranks is no longer what it was.
func (r *Runtime) closeBatches() {
	r.aggregates.mu.Lock()
	defer r.aggregates.mu.Unlock()
	for _, a := range r.aggregates.set {
		a.absorb()
	}
}
