// SPDX-License-Identifier: BSD-3-Clause

// The request table of a target: what this process has asked for and not got yet. Entries are used again, so that a small
// operation allocates nothing; an entry's number travels with the request and comes back with the answer.
package internode

import (
	"sync"
	"sync/atomic"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// request is an operation whose end somebody is told. Its parts are answers to come, direct transfers, and one while
// it is being posted.
type request struct {
	g       *target
	id      uint64          // place in the table, and how often it was used
	x       *transport.Xfer // may be nil
	later   bool            // nobody waits: x.Done tells
	want    kind            // of its answers, if they are no refusals
	parts   atomic.Int32
	answers atomic.Int32 // frames that were sent and will be answered
	done    atomic.Bool  // the fields below are final
	err     atomic.Pointer[error]

	into    kernel.Cursor     // where data goes (get)
	list    [2][]kernel.Group // both sides of vector data, which cursors walk
	room    int64             // bytes of it that have not begun to come
	large   bool              // it should be received straight to where it goes
	body    []byte            // what came (call, ranges)
	got     int               // bytes of body so far
	old     int64             // what was there (rmw)
	device  transport.Range
	release func() // ends the lending of local memory
}

// table is the requests of a target that are open.
type table struct {
	mu    sync.Mutex
	all   []*request
	free  []*request
	large atomic.Int32 // open ones with much data to come
	held  atomic.Int32 // taken
	gone  error        // the target is lost: nothing may be opened
}

const placeBits = 32

// open makes an entry with one part: being posted. The target has been connected.
func (g *target) open(x *transport.Xfer, later bool, want kind) (*request, error) {
	t := &g.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone != nil {
		return nil, t.gone
	}
	var r *request
	if n := len(t.free); n > 0 {
		r = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		r = &request{g: g, id: uint64(len(t.all) + 1)}
		t.all = append(t.all, r)
	}
	r.id += 1 << placeBits
	r.x, r.later, r.want = x, later, want
	r.room, r.large, r.body, r.got, r.release, r.device = 0, false, nil, 0, nil, transport.Range{}
	r.err.Store(nil)
	r.answers.Store(0)
	r.parts.Store(1)
	r.done.Store(false)
	if later {
		g.seat.later.Add(1)
	}
	return r, nil
}

// expect adds an answer to come. It is called before the frame is sent.
func (r *request) expect() {
	r.parts.Add(1)
	r.answers.Add(1)
}

// Done ends a part. The first error stays. With the last part the request is complete, and x belongs to the caller again.
func (r *request) Done(err error) {
	if err != nil {
		first := err // a copy: err itself would always be allocated
		r.err.CompareAndSwap(nil, &first)
	}
	if r.parts.Add(-1) > 0 {
		return
	}
	g := r.g
	if r.release != nil {
		r.release()
	}
	if r.large {
		g.table.large.Add(-1)
	}
	if !r.later {
		r.done.Store(true)
		return
	}
	x, err := r.x, r.failure()
	r.done.Store(true)
	g.release(r)
	g.seat.later.Add(-1)
	if x != nil {
		x.Finish(err)
	}
}

// failure is the request's error, nil if there is none.
func (r *request) failure() error {
	if e := r.err.Load(); e != nil {
		return *e
	}
	return nil
}

// answered ends one of the answers to come; false if there is none, because the target was lost meanwhile.
func (r *request) answered(err error) bool {
	for n := r.answers.Load(); n > 0; n = r.answers.Load() {
		if r.answers.CompareAndSwap(n, n-1) {
			r.Done(err)
			return true
		}
	}
	return false
}

// take is the open request of an answer that has begun to come, nil if there is none. It stays open until the taker
// says taken or gives it back, even if the target is lost meanwhile: memory is being written to.
func (g *target) take(id uint64) *request {
	t := &g.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := id&(1<<placeBits-1) - 1; i < uint64(len(t.all)) {
		if r := t.all[i]; r.id == id {
			for n := r.answers.Load(); n > 0; n = r.answers.Load() {
				if r.answers.CompareAndSwap(n, n-1) {
					t.held.Add(1)
					return r
				}
			}
		}
	}
	return nil
}

// taken ends the part of a request that was taken.
func (r *request) taken(err error) {
	r.Done(err)
	r.g.table.held.Add(-1)
}

// giveBack expects the answer again: more of it is to come.
func (r *request) giveBack() {
	t := &r.g.table
	t.mu.Lock()
	gone := t.gone
	if gone == nil {
		r.answers.Add(1)
		t.held.Add(-1)
	}
	t.mu.Unlock()
	if gone != nil {
		r.taken(gone)
	}
}

// release makes a complete entry available again.
func (g *target) release(r *request) {
	g.table.mu.Lock()
	r.x = nil
	g.table.free = append(g.table.free, r)
	g.table.mu.Unlock()
}

// wait blocks until a request is complete and returns its error. The request is still the caller's.
func (r *request) wait() error {
	if !r.done.Load() {
		r.g.seat.await(r.done.Load)
	}
	return r.failure()
}

// failRequests ends all answers to come with an error and lets nothing new in. Direct transfers are ended by the fabric.
func (g *target) failRequests(err error) {
	t := &g.table
	t.mu.Lock()
	if t.gone == nil {
		t.gone = err
	}
	all := append([]*request(nil), t.all...)
	t.mu.Unlock()
	for _, r := range all {
		for n := r.answers.Swap(0); n > 0; n-- {
			r.Done(err)
		}
	}
}
