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
func (h *handleTable) CountHandles(explicit, implicit *atomic.Int32) {
	explicit.Store(0)
	implicit.Store(0)
	h.explicitCount, h.implicitCount = explicit, implicit
}

// Start posts an operation and returns its number: Done for a store that is locally complete
// already. implicit operations are completed by WaitProc, WaitAll or a fence. The descriptors of o
// may be reused at once.
func (r *Runtime) Start(o *Op, implicit bool) (int32, error) {
	return r.startOperation(o, implicit, Done)
}

// StartUnder is Start for a handle with this content, under which other operations may be open. It
// returns the new content.
func (r *Runtime) StartUnder(content int32, o *Op) (int32, error) {
	return r.startOperation(o, false, content)
}

// startOperation is Start and StartUnder; content is that of the handle, Done if there is none.
func (r *Runtime) startOperation(o *Op, implicit bool, content int32) (int32, error) {
	if transport.FastRequest(content) { // an operation of Go's does not join one of C's
		if err := r.internode.waitFastRequest(content); err != nil {
			return Done, err
		}
		content = Done
	}
	nonEmpty, err := r.checkOp(o)
	if err == nil && nonEmpty {
		err = r.verifyRemote(o)
	}
	if err != nil || !nonEmpty {
		return r.handleTable.contentAfter(content), err
	}
	to := r.route(transport.Rank(o.Proc))
	o.Xfer.Later = true
	s := r.coalescing.coalescerFor(o, to.iface)
	if s != nil {
		if number, collected := s.collectOp(o, implicit, content); collected {
			return number, nil
		}
	}
	r.coalescing.postCoalesced(o.Proc)
	if to.fast != nil {
		defer r.addFastRange(o)
	}
	if to.completesAtOnce(o) {
		o.Xfer.Done = nil
		return r.handleTable.contentAfter(content), r.postOp(o)
	}
	p := requests.Get().(*request)
	p.proc, p.implicit, p.transport = o.Proc, implicit, to.tr
	p.copyOp(o)
	if s != nil && o.Kind == Get {
		s.expectAnswer(p)
	}
	if implicit {
		return r.startImplicit(p)
	}
	if err := r.postOp(&p.op); err != nil { // the transport may still use it
		p.complete(err)
		return r.handleTable.contentAfter(content), err
	}
	return r.handleTable.addRequest(p, content), nil
}

// startImplicit enters an operation in the table before it posts it, so that another thread's
// WaitAll waits for it.
func (r *Runtime) startImplicit(p *request) (int32, error) {
	p.refs = 1
	id := r.handleTable.addRequest(p, Done)
	if err := r.postOp(&p.op); err != nil {
		p.complete(err)
		r.handleTable.finishFirst(id, p)
		return Done, err
	}
	if p.op.Kind == Get {
		r.traffic.countPosted(p.proc) // a fence waits for it too
	}
	r.handleTable.unrefRequest(p)
	return id, nil
}

// Wait completes the operations of a number, in order, and returns their first error. Each is
// removed when it is complete, not earlier, since another thread's WaitAll must wait for it, too.
func (r *Runtime) Wait(id int32) (err error) {
	if transport.FastRequest(id) {
		return r.internode.waitFastRequest(id)
	}
	for p := r.handleTable.refFirst(id); p != nil; p = r.handleTable.finishFirst(id, p) {
		if !p.done.Load() {
			r.coalescing.postCoalesced(everyRank)
		}
		p.waitDone(p.transport)
		err = p.firstError()
	}
	return err
}

// Test tells whether the operations of a number are complete; the complete ones at the front are
// removed.
func (r *Runtime) Test(id int32) (over bool, err error) {
	if transport.FastRequest(id) {
		return r.internode.testFastRequest(id)
	}
	for p := r.handleTable.refFirst(id); p != nil; p = r.handleTable.finishFirst(id, p) {
		if !p.done.Load() {
			r.coalescing.postCoalesced(everyRank)
			p.transport.Progress(0)
		}
		if !p.done.Load() {
			r.handleTable.unrefRequest(p)
			return false, nil
		}
		err = p.firstError()
	}
	return true, err
}

// WaitProc completes the implicit operations to one rank.
func (r *Runtime) WaitProc(proc int) error {
	if err := r.checkRank("proc", proc); err != nil {
		return err
	}
	r.coalescing.postCoalesced(proc)
	return r.waitImplicit(func(p *request) bool { return p.proc == proc })
}

// WaitAll completes all implicit operations.
func (r *Runtime) WaitAll() error {
	r.coalescing.postCoalesced(everyRank)
	return r.waitImplicit(func(*request) bool { return true })
}

// waitImplicit completes C's implicit requests and those of Go that want selects. It returns the
// first error.
func (r *Runtime) waitImplicit(want func(*request) bool) error {
	first := r.internode.waitFastRequest(transport.FastImplicit)
	r.handleTable.mu.Lock()
	if len(r.handleTable.implicitOps) == 0 {
		r.handleTable.mu.Unlock()
		return first
	}
	var ids []int32
	for id, p := range r.handleTable.implicitOps {
		if want(p) {
			ids = append(ids, id)
		}
	}
	r.handleTable.mu.Unlock()
	for _, id := range ids {
		if err := r.Wait(id); err != nil && first == nil {
			first = err
		}
	}
	return first
}
