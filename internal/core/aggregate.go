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

// aggregate collects operations in the order they came.
type aggregate struct {
	ops []*Op
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
	c := *o
	c.Xfer = *o.Xfer.Clone()
	r.aggregates.mu.Lock()
	a.ops = append(a.ops, &c)
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
	for len(ops) > 0 {
		n := 1
		for n < len(ops) && ops[n].Kind != Acc && ops[n].Kind == ops[0].Kind && ops[n].Proc == ops[0].Proc {
			n++
		}
		if err := r.Do(joined(ops[:n])); err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
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

// joined makes one vector operation of several operations of the same kind and target.
func joined(ops []*Op) *Op {
	if len(ops) == 1 {
		return ops[0]
	}
	all := &Op{Kind: ops[0].Kind, Proc: ops[0].Proc}
	for _, o := range ops {
		if o.Xfer.Vector != nil {
			all.Xfer.Vector = append(all.Xfer.Vector, o.Xfer.Vector...)
			continue
		}
		all.Xfer.Vector = appendRuns(all.Xfer.Vector, &o.Xfer)
	}
	return all
}

// appendRuns adds a strided transfer's blocks, to the last descriptor where the size is the same.
func appendRuns(v []transport.Segments, x *transport.Xfer) []transport.Segments {
	blocks := transport.Segments{Bytes: int(x.Count[0])}
	walk(x, func(local, remote uintptr) {
		blocks.Local = append(blocks.Local, local)
		blocks.Remote = append(blocks.Remote, remote)
	})
	if n := len(v); n > 0 && v[n-1].Bytes == blocks.Bytes {
		v[n-1].Local = append(v[n-1].Local, blocks.Local...)
		v[n-1].Remote = append(v[n-1].Remote, blocks.Remote...)
		return v
	}
	return append(v, blocks)
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
