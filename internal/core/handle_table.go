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

// request is an open operation and its description. Entries are reused when their last user has
// dropped them.
type request struct {
	completion
	op       Op
	tr       transport.Transport
	proc     int
	implicit bool
	// answered is called once, before done is set; nil: it is not. Of the thread that posts the
	// request until that is posted, then of fail.
	answered func()

	// Under the table's lock.
	refs    int      // references of goroutines that start or wait for it
	removed bool     // from the table
	next    *request // of the same handle, started after it
	last    *request // of a handle's first operation: its last one
	earlier error    // of the handle's operations before this one, which are complete
}

func newRequest() *request {
	p := &request{}
	p.finish = func(err error) { p.fail(p.op.failure(err)) }
	return p
}

// fail completes a request with an error, or without (nil). Afterwards it may be reused.
func (p *request) fail(err error) {
	if p.answered != nil {
		p.answered()
		p.answered = nil
	}
	p.err = err
	p.done.Store(true)
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
	p.next, p.last, p.earlier, p.removed = nil, nil, nil, false
	p.op.Scale = transport.Scale{}
	requests.Put(p)
}

// failed is the first error of a complete operation and those of its handle before it.
func (p *request) failed() error {
	if p.earlier != nil {
		return p.earlier
	}
	return p.err
}

// handles is the table of open operations, by number.
type handles struct {
	mu       sync.Mutex
	next     int32
	explicit map[int32]*request // the first open operation of each handle
	implicit map[int32]*request
	// Entries of explicit and of implicit; C reads them.
	open, openImplicit *atomic.Int32
}

// init starts the numbers at a random place, so that garbage is unlikely to name a live operation.
func (h *handles) init() {
	h.explicit, h.implicit = map[int32]*request{}, map[int32]*request{}
	h.open, h.openImplicit = new(atomic.Int32), new(atomic.Int32)
	h.next = rand.Int32()
}

// add gives an operation its number: that of the handle, whose content is given, if operations are
// open under it; else a new one.
func (h *handles) add(p *request, content int32) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.last = p
	if p.implicit {
		id := h.unused()
		h.implicit[id] = p
		h.openImplicit.Store(int32(len(h.implicit)))
		return id
	}
	var first *request
	if content != Done {
		first = h.explicit[content]
	}
	if first == nil {
		id := h.unused()
		h.explicit[id] = p
		h.open.Store(int32(len(h.explicit)))
		return id
	}
	first.last.next, first.last = p, p
	for first != p && first.refs == 0 && first.done.Load() {
		// a handle that is used for long keeps few operations
		next := first.next
		h.remove(content, first)
		first = next
	}
	return content
}

// unused returns a number that no handle has, and no request of the C fast path.
func (h *handles) unused() int32 {
	for {
		if h.next++; transport.FastRequest(h.next) {
			h.next = math.MinInt32
		}
		if h.first(h.next) == nil && h.next != Done {
			return h.next
		}
	}
}

// first returns the first open operation of a number, nil if there is none.
func (h *handles) first(id int32) *request {
	if p := h.explicit[id]; p != nil {
		return p
	}
	return h.implicit[id]
}

// remove takes a complete operation, the first of its number, out. It may be reused if there is no
// reference.
func (h *handles) remove(id int32, p *request) {
	switch next := p.next; {
	case p.implicit:
		delete(h.implicit, id)
		h.openImplicit.Store(int32(len(h.implicit)))
	case next == nil:
		delete(h.explicit, id)
		h.open.Store(int32(len(h.explicit)))
	default:
		next.last, next.earlier = p.last, p.failed()
		h.explicit[id] = next
	}
	p.removed = true
	if p.refs == 0 {
		p.free()
	}
}

func (p *request) free() {
	if p.err == nil { // after an error the transport may still use it
		p.release()
	}
}

// find returns the first open operation of a number with a reference for the caller; nil if there
// is none.
func (h *handles) find(id int32) *request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refer(id)
}

func (h *handles) refer(id int32) *request {
	p := h.first(id)
	if p != nil {
		p.refs++
	}
	return p
}

// unref drops a reference of an operation.
func (h *handles) unref(p *request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.refs--
	if p.refs == 0 && p.removed {
		p.free()
	}
}

// over drops the reference of an operation that is complete, and removes it. It returns what find
// does.
func (h *handles) over(id int32, p *request) *request {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.refs--
	if p.removed { // by another thread
		if p.refs == 0 {
			p.free()
		}
		return h.refer(id)
	}
	next := p.next
	h.remove(id, p)
	if next != nil {
		next.refs++
	}
	return next
}

// content is what a handle holds after a call that leaves nothing open.
func (h *handles) content(before int32) int32 {
	if before == Done || h.open.Load() == 0 {
		return Done
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.explicit[before] == nil {
		return Done
	}
	return before
}
