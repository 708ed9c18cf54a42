// SPDX-License-Identifier: BSD-3-Clause

// The table of open nonblocking operations. Those of one explicit handle are a list under one
// number, in the order of their calls.
package core

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"libarmci/internal/transport"
)

// request is an open operation and its description. It is reused when the last goroutine has
// dropped its reference.
type request struct {
	completion
	op        Op
	transport transport.Transport
	proc      int
	implicit  bool // it has no handle
	// onAnswer is called once, before done is set; nil: nothing is. It belongs to the thread
	// that posts the request until that has been posted, then to complete.
	onAnswer func()

	// Under the table's lock.
	refs         int      // references of goroutines that start or wait for it
	removed      bool     // it is no longer in the table
	nextOfHandle *request // the next operation of the same handle
	lastOfHandle *request // in a handle's first operation: its last one
	earlierErr   error    // first error of the handle's operations that are complete
}

func newRequest() *request {
	p := &request{}
	p.onDone = func(err error) { p.complete(p.op.wrapError(err)) }
	return p
}

// complete completes a request with an error, or without (nil). Afterwards it may be reused, so the
// caller does not use it again.
func (p *request) complete(err error) {
	if p.onAnswer != nil {
		p.onAnswer()
		p.onAnswer = nil
	}
	p.err = err
	p.done.Store(true)
}

var requests = sync.Pool{New: func() any { return newRequest() }}

// copyOp copies an operation into the request, and reuses the memory of its lists.
func (p *request) copyOp(o *Op) {
	x := p.op.Xfer
	x.Copy(&o.Xfer)
	p.op = *o
	p.op.Xfer, p.op.segments = x, nil
	p.op.Xfer.Done = p.onDone
}

func (p *request) release() {
	p.done.Store(false)
	p.nextOfHandle, p.lastOfHandle, p.earlierErr, p.removed = nil, nil, nil, false
	p.op.Scale = transport.Scale{}
	requests.Put(p)
}

// firstError is the first error among a complete operation and those of its handle before it.
func (p *request) firstError() error {
	if p.earlierErr != nil {
		return p.earlierErr
	}
	return p.err
}

// handles is the table of open operations, by number.
type handleTable struct {
	mu            sync.Mutex         // guards the rest
	lastNumber    int32              // the last that was given
	firstOfHandle map[int32]*request // the first open operation of each handle
	implicitOps   map[int32]*request
	// explicitCount and implicitCount are the lengths of the maps. They are changed under mu; C
	// reads them.
	explicitCount, implicitCount *atomic.Int32
}

// initTable prepares the table. Numbers start at a random place, so that garbage is unlikely to be
// the number of an open operation.
func (h *handleTable) initTable() {
	h.firstOfHandle, h.implicitOps = map[int32]*request{}, map[int32]*request{}
	h.explicitCount, h.implicitCount = new(atomic.Int32), new(atomic.Int32)
	h.lastNumber = rand.Int32()
}

// addRequest enters an operation and returns its number: content, if operations are open under it,
// else a new one. It locks h.mu.
func (h *handleTable) addRequest(p *request, content int32) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.lastOfHandle = p
	if p.implicit {
		id := h.unusedNumber()
		h.implicitOps[id] = p
		h.implicitCount.Store(int32(len(h.implicitOps)))
		return id
	}
	var first *request
	if content != Done {
		first = h.firstOfHandle[content]
	}
	if first == nil {
		id := h.unusedNumber()
		h.firstOfHandle[id] = p
		h.explicitCount.Store(int32(len(h.firstOfHandle)))
		return id
	}
	first.lastOfHandle.nextOfHandle, first.lastOfHandle = p, p
	for first != p && first.refs == 0 && first.done.Load() {
		// a handle that is used for long keeps few operations
		next := first.nextOfHandle
		h.removeRequest(content, first)
		first = next
	}
	return content
}

// unusedNumber returns a number of no handle, and of no request of the C fast path. The caller
// holds h.mu.
func (h *handleTable) unusedNumber() int32 {
	for {
		if h.lastNumber++; transport.FastRequest(h.lastNumber) {
			h.lastNumber = math.MinInt32
		}
		if h.firstRequest(h.lastNumber) == nil && h.lastNumber != Done {
			return h.lastNumber
		}
	}
}

// firstRequest returns the first open operation of a number, nil if there is none. The caller holds
// h.mu.
func (h *handleTable) firstRequest(id int32) *request {
	if p := h.firstOfHandle[id]; p != nil {
		return p
	}
	return h.implicitOps[id]
}

// removeRequest removes a complete operation, the first of its number. It may be reused if there is
// no reference. The caller holds h.mu.
func (h *handleTable) removeRequest(id int32, p *request) {
	switch next := p.nextOfHandle; {
	case p.implicit:
		delete(h.implicitOps, id)
		h.implicitCount.Store(int32(len(h.implicitOps)))
	case next == nil:
		delete(h.firstOfHandle, id)
		h.explicitCount.Store(int32(len(h.firstOfHandle)))
	default:
		next.lastOfHandle, next.earlierErr = p.lastOfHandle, p.firstError()
		h.firstOfHandle[id] = next
	}
	p.removed = true
	if p.refs == 0 {
		p.releaseUnlessFailed()
	}
}

// releaseUnlessFailed allows the request to be reused, unless it has failed: then the transport may
// still use it.
func (p *request) releaseUnlessFailed() {
	if p.err == nil { // after an error the transport may still use it
		p.release()
	}
}

// refFirst returns the first open operation of a number, nil if there is none. The caller must drop
// the reference, by unrefRequest or finishFirst. It locks h.mu.
func (h *handleTable) refFirst(id int32) *request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refFirstLocked(id)
}

// refFirstLocked is refFirst for a caller that holds h.mu.
func (h *handleTable) refFirstLocked(id int32) *request {
	p := h.firstRequest(id)
	if p != nil {
		p.refs++
	}
	return p
}

// unrefRequest drops a reference to an operation. It locks h.mu.
func (h *handleTable) unrefRequest(p *request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.refs--
	if p.refs == 0 && p.removed {
		p.releaseUnlessFailed()
	}
}

// finishFirst drops the reference to an operation that is complete, and removes it. It returns the
// next one of the number, with a reference as by refFirst. It locks h.mu.
func (h *handleTable) finishFirst(id int32, p *request) *request {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.refs--
	if p.removed { // by another thread
		if p.refs == 0 {
			p.releaseUnlessFailed()
		}
		return h.refFirstLocked(id)
	}
	next := p.nextOfHandle
	h.removeRequest(id, p)
	if next != nil {
		next.refs++
	}
	return next
}

// contentAfter returns the content of a handle, given that before, after a call that has completed
// its own operation. Earlier operations under the handle may still be open.
func (h *handleTable) contentAfter(before int32) int32 {
	if before == Done || h.explicitCount.Load() == 0 {
		return Done
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.firstOfHandle[before] == nil {
		return Done
	}
	return before
}
