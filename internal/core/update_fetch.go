// SPDX-License-Identifier: BSD-3-Clause

// Nonblocking updates that fetch from other nodes: many are on their way at once, and each is an
// open operation of the table of handles until its messages have been answered.
package core

import (
	"sync/atomic"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// StartUpdate is Update for a caller that needs Old later. It returns when Data may be overwritten,
// with a number as Start does for an implicit operation. Old is there when that was waited for, and
// after WaitProc, WaitAll or a fence. then, if it is not nil, is called before that, once, from any
// goroutine; not after an error.
func (r *Runtime) StartUpdate(u *Update, then func()) (int32, error) {
	if u.Old != nil && !r.Topo.SameNode(transport.Rank(u.Proc)) {
		size, err := r.prepareUpdate(u)
		if err != nil {
			return Done, err
		}
		if size > 0 {
			return r.remoteUpdates.startFetch(u, size, then), nil
		}
	} else if err := r.Update(u); err != nil {
		return Done, err
	}
	if then != nil {
		then()
	}
	return Done, nil
}

// pendingFetch is an open update that fetches.
type pendingFetch struct {
	request *request
	parts   atomic.Int32          // unanswered messages, and one until all have been sent
	err     atomic.Pointer[error] // the first error, nil: none so far
	then    func()                // called at the end unless there was an error; may be nil
}

// startFetch enters an update, which has been checked, as an operation and sends its messages.
func (ru *remoteUpdates) startFetch(u *Update, size int, then func()) (id int32) {
	p := requests.Get().(*request)
	p.proc, p.implicit, p.transport, p.refs = u.Proc, true,
		ru.rt.route(transport.Rank(u.Proc)).tr, 1
	f := &pendingFetch{request: p, then: then}
	f.parts.Store(1)
	id = ru.rt.handleTable.addRequest(p, Done)
	f.completePart(ru.sendFetch(f, u, size))
	ru.rt.traffic.countPosted(u.Proc) // a fence waits for it, too
	ru.rt.handleTable.unrefRequest(p)
	return id
}

// sendFetch sends the messages of an update. Its error is the error of the operation, for the wait.
func (ru *remoteUpdates) sendFetch(f *pendingFetch, u *Update, size int) error {
	old, proc, to := u.Old, u.Proc, ru.rt.route(transport.Rank(u.Proc))
	return forEachMessage(u, size, func(message []byte, first kernel.Segment,
		bytes int64) error {
		part := old[:bytes]
		old = old[bytes:]
		f.parts.Add(1)
		replied := func(answer []byte, err error) {
			f.completePart(storeFetched(proc, part, answer, err, first))
		}
		m := transport.Msg{Kind: msgUpdate, Body: message, Replied: replied}
		if _, err := to.tr.Call(to.peer, m); err != nil {
			f.parts.Add(-1)
			return updateError(proc, err)
		}
		return nil
	})
}

// completePart completes a part; the last one completes the operation, with the first error.
func (f *pendingFetch) completePart(err error) {
	if err != nil {
		f.err.CompareAndSwap(nil, &err)
	}
	if f.parts.Add(-1) > 0 {
		return
	}
	e := f.err.Load()
	if e != nil {
		f.request.complete(*e)
		return
	}
	if f.then != nil {
		f.then()
	}
	f.request.complete(nil)
}

// storeFetched copies an answer to old. A target that does not own the memory, which begins at
// first, sends an empty answer.
func storeFetched(proc int, old, answer []byte, err error, first kernel.Segment) error {
	switch {
	case err != nil:
		return updateError(proc, err)
	case len(answer) != len(old):
		return argErr(CodeAddress, "target", "%d bytes at %#x are not memory of rank %d",
			len(old), first.Addr, proc)
	}
	copy(old, answer)
	return nil
}
