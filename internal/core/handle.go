// SPDX-License-Identifier: BSD-3-Clause

// Nonblocking operations. A handle in the application's memory is one C int: Done, or the number of
// its open operations here. Handles may hold garbage before their first use, so an unknown number
// counts as done. Garbage that happens to be the number of another handle makes both stand for the
// same operations: a wait for one then waits for more than it must.
package core

import (
	"sync/atomic"

	"libarmci/internal/transport"
)

// Done is the content of a handle whose operations are complete.
const Done int32 = 0

// CountHandles has the number of handles with open operations kept in explicit, and of operations
// without a handle in implicit. No operation may be open.
func (r *Runtime) CountHandles(explicit, implicit *atomic.Int32) {
	explicit.Store(0)
	implicit.Store(0)
	r.handles.open, r.handles.openImplicit = explicit, implicit
}

// Start posts an operation and returns its number: Done for a store that is locally complete
// already. implicit operations are completed by WaitProc, WaitAll or a fence. The descriptors of o
// may be reused at once.
func (r *Runtime) Start(o *Op, implicit bool) (int32, error) { return r.start(o, implicit, Done) }

// StartUnder is Start for a handle with this content, under which other operations may be open. It
// returns the new content.
func (r *Runtime) StartUnder(content int32, o *Op) (int32, error) {
	return r.start(o, false, content)
}

// start is Start and StartUnder; content is the handle's, Done if there is no handle.
func (r *Runtime) start(o *Op, implicit bool, content int32) (int32, error) {
	if transport.FastRequest(content) { // an operation of Go's does not join one of C's
		if err := r.waitFast(content); err != nil {
			return Done, err
		}
		content = Done
	}
	some, err := r.check(o)
	if err == nil && some {
		err = r.verify(o)
	}
	if err != nil || !some {
		return r.handles.content(content), err
	}
	to := r.route(transport.Rank(o.Proc))
	o.Xfer.Later = true
	s := r.coalescer(o, to.way)
	if s != nil {
		if number, collected := s.collect(o, implicit, content); collected {
			return number, nil
		}
	}
	r.postCoalesced(o.Proc)
	if to.fast != nil {
		defer r.addRange(o)
	}
	if to.atOnce(o) {
		o.Xfer.Done = nil
		return r.handles.content(content), r.post(o)
	}
	p := requests.Get().(*request)
	p.proc, p.implicit, p.tr = o.Proc, implicit, to.tr
	p.describe(o)
	if s != nil && o.Kind == Get {
		s.expect(p)
	}
	if implicit {
		return r.startImplicit(p)
	}
	if err := r.post(&p.op); err != nil { // the transport may still use it
		p.fail(err)
		return r.handles.content(content), err
	}
	return r.handles.add(p, content), nil
}

// startImplicit makes an operation known before it is posted, so that another thread's WaitAll
// waits for it.
func (r *Runtime) startImplicit(p *request) (int32, error) {
	p.refs = 1
	id := r.handles.add(p, Done)
	if err := r.post(&p.op); err != nil {
		p.fail(err)
		r.handles.over(id, p)
		return Done, err
	}
	if p.op.Kind == Get {
		r.traffic.posted(p.proc) // a fence waits for it too
	}
	r.handles.unref(p)
	return id, nil
}

// Wait completes the operations of a number. Each is removed then, not earlier, since another
// thread's WaitAll must wait for it too.
func (r *Runtime) Wait(id int32) (err error) {
	if transport.FastRequest(id) {
		return r.waitFast(id)
	}
	for p := r.handles.find(id); p != nil; p = r.handles.over(id, p) {
		if !p.done.Load() {
			r.postCoalesced(everyRank)
		}
		p.wait(p.tr)
		err = p.failed()
	}
	return err
}

// Test tells whether the operations of a number are complete; those that are are removed.
func (r *Runtime) Test(id int32) (over bool, err error) {
	if transport.FastRequest(id) {
		return r.testFast(id)
	}
	for p := r.handles.find(id); p != nil; p = r.handles.over(id, p) {
		if !p.done.Load() {
			r.postCoalesced(everyRank)
			p.tr.Progress(0)
		}
		if !p.done.Load() {
			r.handles.unref(p)
			return false, nil
		}
		err = p.failed()
	}
	return true, err
}

// WaitProc completes the implicit operations to one rank.
func (r *Runtime) WaitProc(proc int) error {
	if err := r.checkRank("proc", proc); err != nil {
		return err
	}
	r.postCoalesced(proc)
	return r.waitImplicit(func(p *request) bool { return p.proc == proc })
}

// WaitAll completes all implicit operations.
func (r *Runtime) WaitAll() error {
	r.postCoalesced(everyRank)
	return r.waitImplicit(func(*request) bool { return true })
}

// waitImplicit completes C's implicit requests and those of Go that want selects.
func (r *Runtime) waitImplicit(want func(*request) bool) error {
	first := r.waitFast(transport.FastImplicit)
	r.handles.mu.Lock()
	if len(r.handles.implicit) == 0 {
		r.handles.mu.Unlock()
		return first
	}
	var ids []int32
	for id, p := range r.handles.implicit {
		if want(p) {
			ids = append(ids, id)
		}
	}
	r.handles.mu.Unlock()
	for _, id := range ids {
		if err := r.Wait(id); err != nil && first == nil {
			first = err
		}
	}
	return first
}
