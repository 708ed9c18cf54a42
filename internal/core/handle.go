// SPDX-License-Identifier: BSD-3-Clause

// Nonblocking operations. A handle in the application's memory is one C int: Done, or the number of an entry here.
// Handles may hold garbage before their first use, so an unknown number counts as done.
package core

import (
	"math/rand/v2"
	"sync"

	"libarmci/internal/transport"
)

// Done is the content of a handle whose operations are complete.
const Done int32 = 0

// request is an open operation and its description. Entries are reused when their last user has dropped them.
type request struct {
	completion
	op       Op
	tr       transport.Transport
	proc     int
	implicit bool
	refs     int // references of goroutines that start or wait for it; under the lock
}

func newRequest() *request {
	p := &request{}
	p.finish = func(err error) {
		p.err = p.op.failure(err)
		p.done.Store(true)
	}
	return p
}

var requests = sync.Pool{New: func() any { return newRequest() }}

// describe copies an operation into the memory of the entry's former one.
func (p *request) describe(o *Op) {
	x := p.op.Xfer
	x.Copy(&o.Xfer)
	p.op = *o
	p.op.Xfer, p.op.segments = x, nil
	p.op.Xfer.Done = p.finish
}

func (p *request) release() {
	p.done.Store(false)
	p.op.Scale = transport.Scale{}
	requests.Put(p)
}

type handles struct {
	mu   sync.Mutex
	next int32
	open map[int32]*request
}

// init starts the numbers at a random place, so that garbage is unlikely to name a live operation.
func (h *handles) init() {
	h.open = map[int32]*request{}
	h.next = rand.Int32()
}

// add gives an operation a number. The caller holds a reference.
func (h *handles) add(p *request) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.refs = 1
	for {
		h.next++
		if _, taken := h.open[h.next]; !taken && h.next != Done {
			h.open[h.next] = p
			return h.next
		}
	}
}

// find returns an open operation with a reference for the caller; nil if there is none of this number.
func (h *handles) find(id int32) *request {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.open[id]
	if p != nil {
		p.refs++
	}
	return p
}

// unref drops a reference. An operation that is complete is removed.
func (h *handles) unref(id int32, p *request, over bool) {
	h.mu.Lock()
	if over && h.open[id] == p {
		delete(h.open, id)
	}
	p.refs--
	free := p.refs == 0 && h.open[id] != p
	h.mu.Unlock()
	if free && p.err == nil { // after an error the transport may still use it
		p.release()
	}
}

// Start posts an operation and returns the content for its handle: Done for a store that is locally complete already.
// implicit operations are completed by WaitProc, WaitAll or a fence. The descriptors of o may be reused at once.
func (r *Runtime) Start(o *Op, implicit bool) (int32, error) {
	some, err := r.check(o)
	if err != nil || !some {
		return Done, err
	}
	if err := r.verify(o); err != nil {
		return Done, err
	}
	to := &r.routes[o.Proc]
	o.Xfer.Later = true
	if to.atOnce(o) {
		o.Xfer.Done = nil
		return Done, r.post(o)
	}
	p := requests.Get().(*request)
	p.proc, p.implicit, p.tr = o.Proc, implicit, to.tr
	p.describe(o)
	id := r.handles.add(p)
	if err = r.post(&p.op); err != nil {
		p.err = err
		p.done.Store(true) // for WaitAll
	}
	r.handles.unref(id, p, err != nil)
	if err != nil {
		return Done, err
	}
	if implicit && o.Kind == Get {
		r.traffic.posted(o.Proc) // a fence waits for it too
	}
	return id, nil
}

// Wait completes the operation of a handle, then removes it; not earlier, since another thread's WaitAll must wait for it too.
func (r *Runtime) Wait(id int32) error {
	p := r.handles.find(id)
	if p == nil {
		return nil
	}
	err := p.wait(p.tr)
	r.handles.unref(id, p, true)
	return err
}

// Test tells whether the operation of a handle is complete; if so it is removed.
func (r *Runtime) Test(id int32) (bool, error) {
	p := r.handles.find(id)
	if p == nil {
		return true, nil
	}
	if !p.done.Load() {
		p.tr.Progress(0)
	}
	if !p.done.Load() {
		r.handles.unref(id, p, false)
		return false, nil
	}
	err := p.err
	r.handles.unref(id, p, true)
	return true, err
}

// WaitProc completes the implicit operations to one rank.
func (r *Runtime) WaitProc(proc int) error {
	if err := r.checkRank("proc", proc); err != nil {
		return err
	}
	return r.waitImplicit(func(p *request) bool { return p.proc == proc })
}

// WaitAll completes all implicit operations.
func (r *Runtime) WaitAll() error { return r.waitImplicit(func(*request) bool { return true }) }

func (r *Runtime) waitImplicit(want func(*request) bool) error {
	r.handles.mu.Lock()
	if len(r.handles.open) == 0 {
		r.handles.mu.Unlock()
		return nil
	}
	var ids []int32
	for id, p := range r.handles.open {
		if p.implicit && want(p) {
			ids = append(ids, id)
		}
	}
	r.handles.mu.Unlock()
	var first error
	for _, id := range ids {
		if err := r.Wait(id); err != nil && first == nil {
			first = err
		}
	}
	return first
}
