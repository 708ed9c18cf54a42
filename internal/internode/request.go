// SPDX-License-Identifier: BSD-3-Clause

// The request table of a target: what this process has asked for and not got yet. Entries are used
// again, so that a small operation allocates nothing; an entry's number travels with the request
// and comes back with the answer.
package internode

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// parts counts the parts of something that have not ended, and keeps the first error.
type parts struct {
	open atomic.Int32
	err  atomic.Pointer[error]
}

// Add is told of more parts.
func (p *parts) Add(n int32) { p.open.Add(n) }

// end ends a part; true if it was the last one.
func (p *parts) end(err error) (last bool) {
	if err != nil {
		first := err // a copy: err itself would always be allocated
		p.err.CompareAndSwap(nil, &first)
	}
	return p.open.Add(-1) == 0
}

func (p *parts) failure() error {
	if e := p.err.Load(); e != nil {
		return *e
	}
	return nil
}

// request is an operation whose end is told. Its parts are answers to come, direct
// transfers, and one while it is being posted. It is the Completion of its direct transfers.
type request struct {
	parts
	g       *target
	poller  *poller         // where its answers come from
	id      uint64          // place in the table, and how often it was used
	x       *transport.Xfer // may be nil
	later   bool            // no caller waits: x.Done tells, or replied
	want    kind            // of its answers, if they are no refusals
	answers atomic.Int32    // frames that were sent and will be answered
	done    atomic.Bool     // the fields below are final

	into    kernel.Cursor     // where data goes (get)
	list    [2][]kernel.Group // both sides of vector data, which cursors walk
	room    int64             // bytes of it that have not begun to come
	large   bool              // it should be received straight to where it goes
	release func()            // ends the lending of local memory
	replied func(body []byte, err error)
	result
}

// result is what came, besides data.
type result struct {
	message                 // reply
	old     int64           // what was there (rmw)
	device  transport.Range // whose word it is (rmw)
}

// table is the requests of a target that are open.
type table struct {
	mu    sync.Mutex
	all   []*request
	free  []*request
	large atomic.Int32 // open ones with much data to come
	held  atomic.Int32 // claimed by the thread that receives their answer
	gone  error        // the target is lost: nothing may be opened
}

const placeBits = 32

// open makes an entry with one part: being posted. x may be nil. The target has been connected.
func (g *target) open(x *transport.Xfer, want kind) (*request, error) {
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
	r.x, r.later, r.want, r.poller = x, x != nil && x.Later, want, g.poller
	r.room, r.large, r.release, r.replied, r.result = 0, false, nil, nil, result{}
	r.err.Store(nil)
	r.answers.Store(0)
	r.parts.open.Store(1)
	r.done.Store(false)
	if r.later {
		g.poller.later.Add(1)
	}
	return r, nil
}

// openCall is open for a call, which is nonblocking if m.Replied gets the reply.
func (g *target) openCall(m *transport.Msg) (*request, error) {
	r, err := g.open(nil, kindReply)
	if err == nil && m.Replied != nil {
		r.replied, r.later = m.Replied, true
		r.poller.later.Add(1)
	}
	return r, err
}

// expect adds an answer to come. It is called before the frame is sent.
func (r *request) expect() {
	r.Add(1)
	r.answers.Add(1)
}

// Done ends a direct transfer. An error means that the connection is lost.
func (r *request) Done(err error) {
	if err != nil {
		err = r.g.loss(err)
	}
	r.finish(err)
}

// finish ends a part. With the last one the request is complete, and x belongs to the caller again.
func (r *request) finish(err error) {
	if !r.end(err) {
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
	x, err, p, replied, body := r.x, r.failure(), r.poller, r.replied, r.body
	g.release(r)
	p.later.Add(-1)
	switch {
	case replied == nil:
		x.Finish(err)
	case err != nil:
		replied(nil, err)
	default:
		replied(body, nil)
	}
}

// claim takes one of the answers to come; false if there is none, perhaps because the target was
// lost meanwhile.
func (r *request) claim() bool {
	for n := r.answers.Load(); n > 0; n = r.answers.Load() {
		if r.answers.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// take is the open request of an answer that has begun to come, nil if there is none. It stays open
// until the taker says taken or gives it back, even if the target is lost meanwhile: memory is
// being written to.
func (g *target) take(id uint64) *request {
	t := &g.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := id&(1<<placeBits-1) - 1; i < uint64(len(t.all)) {
		if r := t.all[i]; r.id == id && r.claim() {
			t.held.Add(1)
			return r
		}
	}
	return nil
}

// taken ends the part of a request that was taken.
func (r *request) taken(err error) {
	r.finish(err)
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

// empty tells whether nothing is open.
func (t *table) empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.free) == len(t.all)
}

// wait blocks until a request is complete, and gives it back.
func (r *request) wait() (result, error) {
	if !r.done.Load() {
		r.poller.await(r.done.Load)
	}
	found, err := r.result, r.failure()
	r.g.release(r)
	return found, err
}

// failRequests ends all answers to come with an error and lets nothing new in. Direct transfers are
// ended by the fabric.
func (g *target) failRequests(err error) {
	t := &g.table
	t.mu.Lock()
	t.gone = err
	all := slices.Clone(t.all)
	t.mu.Unlock()
	for _, r := range all {
		for r.claim() {
			r.finish(err)
		}
	}
}

// message is a message or a reply, which comes in parts, in order, where frames are bounded.
type message struct {
	body []byte
	got  int
	lent *[mostLent]byte // body, if that is lent to its handler and then used again
}

// mostLent bounds the messages whose memory is used again. A larger one is rare.
const mostLent = 64<<10 + transport.MaxMessageHead

var bodies = sync.Pool{New: func() any { return new([mostLent]byte) }}

// part is where the next n bytes go. A part's header has its place in addr, and the bytes of all in
// arg. lend: the whole message may be lent to its handler.
func (m *message) part(h *header, n int64, lend bool) ([]byte, error) {
	if h.arg > maxMessage || h.addr != uint64(m.got) || h.addr > h.arg ||
		uint64(n) > h.arg-h.addr || n == 0 && h.arg > 0 ||
		m.got > 0 && uint64(len(m.body)) != h.arg {
		return nil, fmt.Errorf("%w: a part of %d bytes of a message at %d of %d",
			errProtocol, n, h.addr, h.arg)
	}
	switch {
	case m.got > 0:
	case lend && h.arg <= mostLent:
		m.lent = bodies.Get().(*[mostLent]byte)
		m.body = m.lent[:h.arg]
	default:
		m.body = make([]byte, h.arg)
	}
	part := m.body[m.got:][:n]
	m.got += int(n)
	return part, nil
}

// whole tells whether all of it has come.
func (m *message) whole() bool { return m.got == len(m.body) }

// handle hands a whole message to a handler, and begins another.
func (m *message) handle(t *Transport, from, to transport.Rank, kind uint8, reply func([]byte)) {
	whole := *m
	*m = message{}
	t.opt.Handle(from, to, transport.Msg{Kind: kind, Body: whole.body, Lent: whole.lent != nil},
		reply)
	if whole.lent != nil {
		bodies.Put(whole.lent)
	}
}
