// SPDX-License-Identifier: BSD-3-Clause

// The request table of a target: operations of this process that are not complete. Slots are used
// again, so that a small operation allocates nothing. A slot's number and generation travel as the
// id of the request and come back with the answer.
package internode

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// completion counts the open parts of an operation, and keeps the first error.
type completion struct {
	open atomic.Int32
	err  atomic.Pointer[error]
}

// AddParts opens n more parts.
func (p *completion) AddParts(n int32) { p.open.Add(n) }

// completePart closes a part. It returns true for the last one; the caller then completes the
// operation.
func (p *completion) completePart(err error) (last bool) {
	if err != nil {
		first := err // a copy: err itself would always be allocated
		p.err.CompareAndSwap(nil, &first)
	}
	return p.open.Add(-1) == 0
}

// firstError returns the first error of a part, or nil.
func (p *completion) firstError() error {
	if e := p.err.Load(); e != nil {
		return *e
	}
	return nil
}

// request is an operation that completes later. Its parts are the answers that are due, its direct
// transfers, and one part while it is being posted. It is the transport.Completion of its direct
// transfers.
type request struct {
	completion
	target     *target
	poller     *poller         // polls the source of its answers
	id         uint64          // slot number in the low bits, generation in the high bits
	xfer       *transport.Xfer // nil: not a transfer
	unattended bool            // no caller waits: xfer.Done or replied is called at the end
	wantKind   kind            // of its answers, unless they are refusals
	answersDue atomic.Int32    // frames that will be answered
	done       atomic.Bool     // result and the first error are final

	dest       getDest
	endLending func()                       // ends the lending of local memory; may be nil
	replied    func(body []byte, err error) // gets the reply of an unattended call
	result
}

// getDest is where the data of a get goes.
type getDest struct {
	cursor   kernel.Cursor
	vectors  [2][]kernel.Group // both sides of vector data, which cursors walk
	bytesDue int64             // bytes that no frame has begun to bring
	large    bool              // received straight to its place, not through a buffer
}

// result is what an answer brings besides data.
type result struct {
	message                     // the reply of a call
	oldValue    int64           // a read-modify-write: the value before
	deviceRange transport.Range // a read-modify-write: memory that only devices change
}

// requestTable is the requests of a target.
type requestTable struct {
	largeOpen atomic.Int32 // open requests with much data to come
	claimed   atomic.Int32 // requests that the receiving thread has claimed

	mu      sync.Mutex // guards the rest
	all     []*request // by slot
	unused  []*request // of these, those that may be opened
	lostErr error      // the target is lost: no request may be opened
}

// slotBits is how many bits of an id are the slot's number plus 1.
const slotBits = 32

// openRequest returns a request with one part, which the caller ends with finishPart when it has
// posted. x may be nil. It locks the table's mu; the caller holds the target's mu and has connected
// it.
func (g *target) openRequest(x *transport.Xfer, want kind) (*request, error) {
	t := &g.requests
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lostErr != nil {
		return nil, t.lostErr
	}
	var r *request
	if n := len(t.unused); n > 0 {
		r = t.unused[n-1]
		t.unused = t.unused[:n-1]
	} else {
		r = &request{target: g, id: uint64(len(t.all) + 1)}
		t.all = append(t.all, r)
	}
	r.id += 1 << slotBits
	r.xfer, r.unattended, r.wantKind, r.poller = x, x != nil && x.Later, want, g.tx.poller
	r.dest.bytesDue, r.dest.large = 0, false
	r.endLending, r.replied, r.result = nil, nil, result{}
	r.err.Store(nil)
	r.answersDue.Store(0)
	r.completion.open.Store(1)
	r.done.Store(false)
	if r.unattended {
		g.tx.poller.unattended.Add(1)
	}
	return r, nil
}

// openAnswered is openRequest for a call or an update. It is nonblocking if replied is not nil,
// which then gets the reply of the call.
func (g *target) openAnswered(want kind, replied func([]byte, error)) (*request, error) {
	r, err := g.openRequest(nil, want)
	if err == nil && replied != nil {
		r.replied, r.unattended = replied, true
		r.poller.unattended.Add(1)
	}
	return r, err
}

// expectAnswer opens a part for an answer that will come. It is called before the frame is sent.
func (r *request) expectAnswer() {
	r.AddParts(1)
	r.answersDue.Add(1)
}

// CompletePart ends a direct transfer. An error means that the connection is lost.
func (r *request) CompletePart(err error) {
	if err != nil {
		err = r.target.lossError(err)
	}
	r.finishPart(err)
}

// finishPart ends a part. With the last one the request is complete: the waiting caller frees it;
// an unattended one is freed here and its callback is called. The transfer belongs to the caller
// again.
func (r *request) finishPart(err error) {
	if !r.completePart(err) {
		return
	}
	g := r.target
	if r.endLending != nil {
		r.endLending()
	}
	if r.dest.large {
		g.requests.largeOpen.Add(-1)
	}
	if !r.unattended {
		r.done.Store(true)
		return
	}
	x, err, p, replied, body := r.xfer, r.firstError(), r.poller, r.replied, r.body
	g.requests.freeSlot(r)
	p.unattended.Add(-1)
	switch {
	case replied == nil:
		x.Finish(err)
	case err != nil:
		replied(nil, err)
	default:
		replied(body, nil)
	}
}

// claimAnswer takes one of the answers that are due. It returns false if there is none, perhaps
// because the target was lost meanwhile.
func (r *request) claimAnswer() bool {
	for n := r.answersDue.Load(); n > 0; n = r.answersDue.Load() {
		if r.answersDue.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// claim returns the open request of an answer that has begun to come, or nil. The request stays
// open until the caller calls finishClaimed or expectMore, even if the target is lost meanwhile:
// the fabric is writing to its memory. It locks mu.
func (t *requestTable) claim(id uint64) *request {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := id&(1<<slotBits-1) - 1; i < uint64(len(t.all)) {
		if r := t.all[i]; r.id == id && r.claimAnswer() {
			t.claimed.Add(1)
			return r
		}
	}
	return nil
}

// finishClaimed ends the part of a claimed request.
func (r *request) finishClaimed(err error) {
	r.finishPart(err)
	r.target.requests.claimed.Add(-1)
}

// expectMore ends the claim but not the part: another frame of the same answer is due.
func (r *request) expectMore() {
	t := &r.target.requests
	t.mu.Lock()
	gone := t.lostErr
	if gone == nil {
		r.answersDue.Add(1)
		t.claimed.Add(-1)
	}
	t.mu.Unlock()
	if gone != nil {
		r.finishClaimed(gone)
	}
}

// freeSlot makes the slot of a complete request available again.
func (t *requestTable) freeSlot(r *request) {
	t.mu.Lock()
	r.xfer = nil
	t.unused = append(t.unused, r)
	t.mu.Unlock()
}

// isEmpty reports whether no request is open.
func (t *requestTable) isEmpty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.unused) == len(t.all)
}

// wait blocks until a request is complete, and frees it. The caller does not use it afterwards.
func (r *request) wait() (result, error) {
	if !r.done.Load() {
		r.poller.pollUntil(r.done.Load)
	}
	found, err := r.result, r.firstError()
	r.target.requests.freeSlot(r)
	return found, err
}

// failAll fails all answers that are due, and lets no new request open. The fabric ends direct
// transfers. It locks mu.
func (t *requestTable) failAll(err error) {
	t.mu.Lock()
	t.lostErr = err
	all := slices.Clone(t.all)
	t.mu.Unlock()
	for _, r := range all {
		for r.claimAnswer() {
			r.finishPart(err)
		}
	}
}

// message is a message or a reply. Where frames are bounded it comes in several, in order.
type message struct {
	body     []byte
	received int              // bytes of body that have come
	pooled   *[maxPooled]byte // body's memory, if it goes back to bodyPool; else nil
}

// maxPooled bounds the messages whose memory is used again. Larger ones are rare.
const maxPooled = 64<<10 + transport.MaxMessageHead

var bodyPool = sync.Pool{New: func() any { return new([maxPooled]byte) }}

// nextPart returns where the next n bytes go. A frame's header has their offset in addr, and the
// bytes of the whole message in arg. If lend is set the handler may use the body only until it
// returns.
func (m *message) nextPart(h *header, n int64, lend bool) ([]byte, error) {
	if h.arg > maxMessage || h.addr != uint64(m.received) || h.addr > h.arg ||
		uint64(n) > h.arg-h.addr || n == 0 && h.arg > 0 ||
		m.received > 0 && uint64(len(m.body)) != h.arg {
		return nil, fmt.Errorf("%w: a part of %d bytes of a message at %d of %d",
			errProtocol, n, h.addr, h.arg)
	}
	switch {
	case m.received > 0:
	case lend && h.arg <= maxPooled:
		m.pooled = bodyPool.Get().(*[maxPooled]byte)
		m.body = m.pooled[:h.arg]
	default:
		m.body = make([]byte, h.arg)
	}
	part := m.body[m.received:][:n]
	m.received += int(n)
	return part, nil
}

// isComplete reports whether all of the message has come.
func (m *message) isComplete() bool { return m.received == len(m.body) }

// dispatch calls the job's handler with a complete message, and makes m ready for the next one.
func (m *message) dispatch(t *Transport, from, to transport.Rank, kind uint8, reply func([]byte)) {
	whole := *m
	*m = message{}
	t.opt.Handle(from, to, transport.Msg{Kind: kind, Body: whole.body,
		Lent: whole.pooled != nil},
		reply)
	if whole.pooled != nil {
		bodyPool.Put(whole.pooled)
	}
}
