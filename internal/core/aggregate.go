// SPDX-License-Identifier: BSD-3-Clause

// Aggregate handles: small puts or gets collected under one handle and carried out, at the wait, as one vector
// operation per target and size. Known by the handle's address, since its content may be garbage.
package core

import (
	"sync"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

type aggregates struct {
	mu  sync.Mutex
	set map[uintptr]*aggregate
}

// aggregate collects operations in the order they came: those of one kind and target that follow each other are one.
type aggregate struct {
	ops []*Op
}

// mostBlocks is up to how many blocks a strided operation is taken apart: a larger one stays what it is.
const mostBlocks = 64

// add takes a copy of an operation that has been checked.
func (a *aggregate) add(o *Op) {
	x := &o.Xfer
	if o.Kind == Acc || x.Vector == nil && kernel.Volume(x.Count)/int64(x.Count[0]) > mostBlocks {
		c := *o
		c.Xfer = *x.Clone()
		a.ops = append(a.ops, &c)
		return
	}
	var to *transport.Xfer
	if n := len(a.ops); n > 0 && a.ops[n-1].Kind == o.Kind && a.ops[n-1].Proc == o.Proc && a.ops[n-1].Xfer.Vector != nil {
		to = &a.ops[n-1].Xfer
		to.Known = to.Known && x.Known
	} else {
		a.ops = append(a.ops, &Op{Kind: o.Kind, Proc: o.Proc, Suffix: o.Suffix, Xfer: transport.Xfer{Known: x.Known}})
		to = &a.ops[n].Xfer
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

// appendSegments adds segments, to the last descriptor where the size is the same.
func appendSegments(v []transport.Segments, nbytes int, local, remote []uintptr) []transport.Segments {
	if n := len(v); n == 0 || v[n-1].Bytes != nbytes {
		v = append(v, transport.Segments{Bytes: nbytes})
	}
	s := &v[len(v)-1]
	s.Local, s.Remote = append(s.Local, local...), append(s.Remote, remote...)
	return v
}

// SetAggregate marks the handle at an address as collecting; false if it was already.
func (r *Runtime) SetAggregate(handle uintptr) bool {
	r.aggregates.mu.Lock()
	defer r.aggregates.mu.Unlock()
	if r.aggregates.set == nil {
		r.aggregates.set = map[uintptr]*aggregate{}
	}
	if r.aggregates.set[handle] != nil {
		return false
	}
	r.aggregates.set[handle] = &aggregate{}
	return true
}

// UnsetAggregate carries out what was collected and ends the marking; false if there was none.
func (r *Runtime) UnsetAggregate(handle uintptr) (bool, error) {
	err := r.WaitAggregate(handle)
	r.aggregates.mu.Lock()
	defer r.aggregates.mu.Unlock()
	_, was := r.aggregates.set[handle]
	delete(r.aggregates.set, handle)
	return was, err
}

// Collect adds an operation to the handle at an address; false if that handle does not collect. Accumulates are
// carried out at once, in order with what was collected before.
func (r *Runtime) Collect(handle uintptr, o *Op) (bool, error) {
	r.aggregates.mu.Lock()
	a := r.aggregates.set[handle]
	r.aggregates.mu.Unlock()
	if a == nil {
		return false, nil
	}
	some, err := r.check(o)
	if err != nil || !some {
		return true, err
	}
	r.aggregates.mu.Lock()
	a.add(o)
	r.aggregates.mu.Unlock()
	if o.Kind == Acc {
		return true, r.WaitAggregate(handle)
	}
	return true, nil
}

// WaitAggregate carries out what a handle has collected; it stays marked.
func (r *Runtime) WaitAggregate(handle uintptr) error {
	r.aggregates.mu.Lock()
	a := r.aggregates.set[handle]
	var ops []*Op
	if a != nil {
		ops, a.ops = a.ops, nil
	}
	r.aggregates.mu.Unlock()
	var first error
	for _, o := range ops {
		if err := r.Do(o); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// FlushAggregates carries out everything collected under any handle.
func (r *Runtime) FlushAggregates() error {
	r.aggregates.mu.Lock()
	if len(r.aggregates.set) == 0 {
		r.aggregates.mu.Unlock()
		return nil
	}
	var all []uintptr
	for h := range r.aggregates.set {
		all = append(all, h)
	}
	r.aggregates.mu.Unlock()
	var first error
	for _, h := range all {
		if err := r.WaitAggregate(h); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// appendRuns adds a strided transfer's blocks.
func appendRuns(v []transport.Segments, x *transport.Xfer) []transport.Segments {
	var blocks transport.Segments
	walk(x, func(local, remote uintptr) {
		blocks.Local = append(blocks.Local, local)
		blocks.Remote = append(blocks.Remote, remote)
	})
	return appendSegments(v, int(x.Count[0]), blocks.Local, blocks.Remote)
}

// walk visits the blocks of Count[0] bytes: the kernel walks both sides as shapes whose rows never touch.
func walk(x *transport.Xfer, visit func(local, remote uintptr)) {
	n := kernel.Volume(x.Count) / int64(x.Count[0])
	index := make([]int32, len(x.Count))
	local, remote := x.Local.Base, x.Remote.Base
	for range n {
		visit(local, remote)
		for l := 1; l < len(index); l++ {
			local += uintptr(x.Local.Stride[l-1])
			remote += uintptr(x.Remote.Stride[l-1])
			if index[l]++; index[l] < x.Count[l] {
				break
			}
			local -= uintptr(x.Local.Stride[l-1]) * uintptr(index[l])
			remote -= uintptr(x.Remote.Stride[l-1]) * uintptr(index[l])
			index[l] = 0
		}
	}
}
