// SPDX-License-Identifier: BSD-3-Clause

// Aggregate handles: small puts or gets are collected under one handle. The wait carries them out
// as one vector operation per target and size. A handle is identified by its address, since its
// content may be garbage.
package core

import (
	"slices"
	"sync"
	"sync/atomic"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// aggregates are the aggregate handles of this process and what each has collected.
type aggregates struct {
	rt       *Runtime
	mu       sync.Mutex // guards byHandle
	byHandle map[uintptr]*aggregate
	nonEmpty atomic.Bool // byHandle is not empty
	batches  []Batch     // of the first handles, by their addresses
}

// aggregate is the operations of one handle, in order. Consecutive ones of one kind and target
// become one vector operation. aggregates.mu guards it.
type aggregate struct {
	ops   []*Op
	batch *Batch // later operations, recorded by C; nil if there are none
}

// mostBlocks: a strided operation of up to this many blocks is split into segments; a larger one is
// kept as it is.
const mostBlocks = 64

// collected are operations that own the memory of their lists, for reuse.
var collected = sync.Pool{New: func() any { return new(Op) }}

// appendOp appends an operation like o, without its transfer, which the caller fills in. The caller
// holds aggregates.mu.
func (a *aggregate) appendOp(o *Op) *Op {
	c := collected.Get().(*Op)
	x := c.Xfer
	*c = *o
	c.Xfer, c.segments = x, nil
	a.ops = append(a.ops, c)
	return c
}

// addCopy adds a copy of an operation, which the caller has checked, to the last one or as a new
// one. The caller holds aggregates.mu.
func (a *aggregate) addCopy(o *Op) {
	x := &o.Xfer
	if o.Kind == Acc || x.Vector == nil &&
		kernel.Volume(x.Count)/int64(x.Count[0]) > mostBlocks {
		a.appendOp(o).Xfer.Copy(x)
		return
	}
	var to *transport.Xfer
	if n := len(a.ops); n > 0 && a.ops[n-1].Kind == o.Kind && a.ops[n-1].Proc == o.Proc &&
		a.ops[n-1].Xfer.Vector != nil {
		to = &a.ops[n-1].Xfer
		a.ops[n-1].remoteKnown = a.ops[n-1].remoteKnown && o.remoteKnown
	} else {
		to = &a.appendOp(o).Xfer
		*to = transport.Xfer{Vector: to.Vector[:0]}
	}
	for _, s := range x.Vector {
		to.Vector = appendSegments(to.Vector, s.Bytes, s.Local, s.Remote)
	}
	switch {
	case x.Vector != nil:
	case len(x.Count) == 1:
		local, remote := [1]uintptr{x.Local.Base}, [1]uintptr{x.Remote.Base}
		to.Vector = appendSegments(to.Vector, int(x.Count[0]), local[:], remote[:])
	default:
		to.Vector = appendRuns(to.Vector, x)
	}
}

// appendSegments appends segments of nbytes: to the last descriptor if its size is the same, else
// to a new one. It reuses the memory of former descriptors of the list. local and remote have equal
// lengths and are copied. The caller holds aggregates.mu.
func appendSegments(v []transport.Segments, nbytes int, local,
	remote []uintptr) []transport.Segments {
	if n := len(v); n == 0 || v[n-1].Bytes != nbytes {
		v = slices.Grow(v, 1)[:n+1]
		v[n].Bytes, v[n].Local, v[n].Remote = nbytes, v[n].Local[:0], v[n].Remote[:0]
	}
	s := &v[len(v)-1]
	s.Local, s.Remote = append(s.Local, local...), append(s.Remote, remote...)
	return v
}

// SetAggregate marks the handle at an address as collecting; false if it was already.
func (ag *aggregates) SetAggregate(handle uintptr) bool {
	ag.mu.Lock()
	defer ag.mu.Unlock()
	if ag.byHandle == nil {
		ag.byHandle = map[uintptr]*aggregate{}
	}
	if ag.byHandle[handle] != nil {
		return false
	}
	ag.byHandle[handle] = &aggregate{batch: ag.assignBatch(handle)}
	ag.nonEmpty.Store(true)
	return true
}

// UnsetAggregate carries out what was collected and ends the marking; false if there was none.
func (ag *aggregates) UnsetAggregate(handle uintptr) (bool, error) {
	err := ag.WaitAggregate(handle)
	ag.mu.Lock()
	defer ag.mu.Unlock()
	a := ag.byHandle[handle]
	if a == nil {
		return false, err
	}
	delete(ag.byHandle, handle)
	ag.nonEmpty.Store(len(ag.byHandle) > 0)
	if a.batch != nil {
		a.drainBatch()
		a.batch.owner.Store(0)
		a.batch = nil
	}
	return true, err
}

// Collect adds an operation to the handle at an address; false: the handle is not marked, and the
// caller executes the operation. Accumulates are executed at once, behind what was collected
// before.
func (ag *aggregates) Collect(handle uintptr, o *Op) (bool, error) {
	if !ag.nonEmpty.Load() {
		return false, nil
	}
	ag.mu.Lock()
	a := ag.byHandle[handle]
	ag.mu.Unlock()
	if a == nil {
		return false, nil
	}
	nonEmpty, err := ag.rt.checkOp(o)
	if err != nil || !nonEmpty {
		return true, err
	}
	ag.mu.Lock()
	a.drainBatch()
	a.addCopy(o)
	ag.openBatch(a, o)
	ag.mu.Unlock()
	if o.Kind == Acc {
		return true, ag.WaitAggregate(handle)
	}
	return true, nil
}

// WaitAggregate executes what a handle has collected and returns the first error; the handle stays
// marked.
func (ag *aggregates) WaitAggregate(handle uintptr) error {
	ag.mu.Lock()
	a := ag.byHandle[handle]
	var ops []*Op
	if a != nil {
		a.drainBatch()
		ops, a.ops = a.ops, nil
	}
	ag.mu.Unlock()
	var first error
	for _, o := range ops {
		err := ag.rt.Do(o)
		if err == nil { // else the transport may still use it
			o.Scale = transport.Scale{}
			collected.Put(o)
		} else if first == nil {
			first = err
		}
	}
	if ops != nil {
		clear(ops)
		ag.mu.Lock()
		if a.ops == nil {
			a.ops = ops[:0]
		}
		ag.mu.Unlock()
	}
	return first
}

// FlushAggregates executes what all handles have collected, and returns the first error.
func (ag *aggregates) FlushAggregates() error {
	ag.mu.Lock()
	if len(ag.byHandle) == 0 {
		ag.mu.Unlock()
		return nil
	}
	var all []uintptr
	for h := range ag.byHandle {
		all = append(all, h)
	}
	ag.mu.Unlock()
	var first error
	for _, h := range all {
		if err := ag.WaitAggregate(h); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// appendRuns appends a strided transfer as segments that are contiguous on both sides.
func appendRuns(v []transport.Segments, x *transport.Xfer) []transport.Segments {
	var local, remote kernel.Cursor
	var room [mostBlocks]kernel.Run
	local.SetStrided(x.Local.Base, x.Count, x.Local.Stride)
	remote.SetStrided(x.Remote.Base, x.Count, x.Remote.Stride)
	for _, r := range kernel.Runs(&local, &remote, room[:0], local.Left()) {
		v = appendSegments(v, r.Bytes, []uintptr{r.Local}, []uintptr{r.Remote})
	}
	return v
}
