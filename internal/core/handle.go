// SPDX-License-Identifier: BSD-3-Clause

// Nonblocking operations. A handle in the application's memory is one C int: Done, or the number of an entry here.
// Handles may hold garbage before their first use, so a number nobody gave out counts as done.
package core

import (
	"math/rand/v2"
	"sync"

	"libarmci/internal/transport"
)

// Done is the content of a handle whose operations are complete.
const Done int32 = 0

type pending struct {
	waiter
	tr       transport.Transport
	proc     int
	implicit bool
}

type handles struct {
	mu   sync.Mutex
	next int32
	open map[int32]*pending
}

// init starts the numbers at a random place, so that garbage is unlikely to name a live operation.
func (h *handles) init() {
	h.open = map[int32]*pending{}
	h.next = rand.Int32()
}

func (h *handles) add(p *pending) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		h.next++
		if _, taken := h.open[h.next]; !taken && h.next != Done {
			h.open[h.next] = p
			return h.next
		}
	}
}

func (h *handles) find(id int32) *pending {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open[id]
}

func (h *handles) forget(id int32) {
	h.mu.Lock()
	delete(h.open, id)
	h.mu.Unlock()
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
	p := &pending{proc: o.Proc, implicit: implicit, tr: to.tr}
	c := *o
	c.Xfer = *o.Xfer.Clone()
	c.Xfer.Done = func(err error) {
		p.err = c.failure(err)
		p.done.Store(true)
	}
	id := r.handles.add(p)
	if err := r.post(&c); err != nil {
		r.handles.forget(id)
		return Done, err
	}
	if implicit && o.Kind == Get {
		r.traffic.posted(o.Proc) // a fence waits for it too
	}
	return id, nil
}

// Wait completes the operation of a handle. It is forgotten only then: another thread's WaitAll must wait for it too.
func (r *Runtime) Wait(id int32) error {
	p := r.handles.find(id)
	if p == nil {
		return nil
	}
	err := p.wait(p.tr)
	r.handles.forget(id)
	return err
}

// Test tells whether the operation of a handle is complete, and then forgets it.
func (r *Runtime) Test(id int32) (bool, error) {
	p := r.handles.find(id)
	if p == nil {
		return true, nil
	}
	if !p.done.Load() {
		p.tr.Progress(0)
	}
	if !p.done.Load() {
		return false, nil
	}
	return true, r.Wait(id)
}

// WaitProc completes the implicit operations to one rank.
func (r *Runtime) WaitProc(proc int) error {
	if err := r.checkRank("proc", proc); err != nil {
		return err
	}
	return r.waitImplicit(func(p *pending) bool { return p.proc == proc })
}

// WaitAll completes all implicit operations.
func (r *Runtime) WaitAll() error { return r.waitImplicit(func(*pending) bool { return true }) }

func (r *Runtime) waitImplicit(want func(*pending) bool) error {
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
