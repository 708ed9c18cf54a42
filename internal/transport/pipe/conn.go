// SPDX-License-Identifier: BSD-3-Clause

// A connection: two ends, and what is on its way between them. Each end's next event is chosen
// here.
package pipe

import (
	"slices"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

type conn struct {
	net    *Net
	ends   [2]*end // the origin's, the target's
	broken error
}

// parcel is what comes at an end: a frame, or the completion of a direct transfer.
type parcel struct {
	at         time.Time // not before
	old        bool      // it had come when Attend was called
	head, body []byte
	from       kernel.Cursor // the body, n bytes of it, while it has not been copied
	n          int64
	owed       bool   // a target's end has to send it before the next Head
	mark       uint64 // it is received after the effect of these Writes
	done       func() // of a completion
}

// end is an Endpoint.
type end struct {
	conn   *conn
	peer   *end
	fabric *fabric
	source *source
	self   interface { // of either end
		transport.OriginEndpoint
		transport.TargetEndpoint
	}
	target   bool
	to       transport.Rank
	receiver transport.Receiver

	// Of who polls: the frame at hand.
	body transport.Body
	off  int

	// Under the net's lock:
	current *parcel   // its Head has been told
	in      []*parcel // frames that come, in order
	bytes   int       // of them
	done    []*parcel // completions that come, in any order
	late    []*parcel // frames that were put off
	out     []*parcel // frames of a target's end that have not left
	owed    int       // Sends and Writes of a target's end that have not left
	open    int       // requests that the device has not carried out
	mark    uint64    // the last Write
	writes  []uint64  // those that have not been told as complete
	going   []uint64  // those that have not taken effect
	why     error     // the receiver's error
	told    bool      // Lost has been called
	closed  bool
}

func (n *Net) newConn(f, t *fabric, to transport.Rank, r transport.Receiver) *conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &conn{net: n}
	if f.shared == nil || !n.opts.Shared {
		f.shared = f.newSource()
	}
	a := &end{conn: c, fabric: f, source: f.shared, to: to, receiver: r}
	b := &end{conn: c, fabric: t, source: t.server, to: f.cfg.Me, target: true}
	a.peer, b.peer, c.ends = b, a, [2]*end{a, b}
	for _, e := range c.ends {
		e.self = e
		if n.opts.Direct {
			e.self = &directEnd{e}
		}
		e.source.ends = append(e.source.ends, e)
	}
	return c
}

// drop removes a connection that has not come about.
func (c *conn) drop() {
	c.ends[0].Close(0)
	c.net.mu.Lock()
	refused := c.ends[1].receiver == nil
	c.net.mu.Unlock()
	if refused {
		c.ends[1].Close(0)
	}
}

// fail breaks the connection: what is on its way is lost. The caller has the net's lock.
func (c *conn) fail(err error) {
	if c.broken != nil {
		return
	}
	c.broken = err
	for _, e := range c.ends {
		e.in, e.late, e.out, e.bytes, e.owed = nil, nil, nil, 0, 0
		e.source.ring()
		strike(e.fabric.posted)
	}
}

// ending is why Lost is to be called, if it is.
func (e *end) ending() error {
	switch {
	case e.told || e.closed || e.receiver == nil:
	case e.why != nil:
		return e.why
	case e.conn.broken != nil:
		return e.conn.broken
	case e.peer.closed && len(e.in) == 0 && e.current == nil:
		return errClosed
	}
	return nil
}

// left tells whether the other side has closed the connection, though its last frames have not been
// read.
func (e *end) left(now time.Time) bool {
	return e.peer.closed && !e.told && len(e.in) > 0 && !e.in[0].at.After(now)
}

// each lists all that comes.
func (e *end) each(do func(*parcel)) {
	for _, p := range e.in {
		do(p)
	}
	for _, p := range e.done {
		do(p)
	}
}

// next chooses what happens next at this end; nil: nothing. It is called with the net's lock, what
// it returns without.
func (e *end) next(now time.Time) func() {
	if e.told || e.closed || e.receiver == nil {
		return nil
	}
	for i, p := range e.done {
		if !p.at.After(now) || e.conn.broken != nil {
			return func() { e.complete(i) }
		}
	}
	if err := e.ending(); err != nil {
		if e.open+len(e.done) > 0 { // the device is still at it
			return nil
		}
		return func() { e.lose(err) }
	}
	switch {
	case e.current != nil:
		return e.portion
	case len(e.out) > 0 && !e.full():
		return e.depart
	case len(e.in) > 0 && !e.in[0].at.After(now) && e.owed == 0 &&
		!upTo(e.peer.going, e.in[0].mark):
		return e.begin
	}
	return nil
}

// push sends a frame on its way. The caller has the net's lock.
func (e *end) push(p *parcel) {
	to := e.peer
	if e.conn.broken != nil || to.closed || e.fabric.gone || to.fabric.gone {
		return
	}
	p.at, p.mark = e.conn.net.later(), e.mark
	if n := len(to.in); n > 0 && to.in[n-1].at.After(p.at) {
		p.at = to.in[n-1].at
	}
	to.in = append(to.in, p)
	to.bytes += len(p.head) + len(p.body)
	to.source.ring()
	e.conn.net.count(e.conn)
}

// full tells that a sender has to wait.
func (e *end) full() bool {
	room := e.conn.net.opts.Room
	return room > 0 && e.peer.bytes >= room && e.conn.broken == nil && !e.peer.closed
}

// begin tells the head of the next frame.
func (e *end) begin() {
	mu := &e.conn.net.mu
	mu.Lock()
	if len(e.in) == 0 {
		mu.Unlock()
		return
	}
	p := e.in[0]
	e.in, e.current = e.in[1:], p
	mu.Unlock()
	var err error
	e.off = 0
	if e.body, err = e.receiver.Head(p.head, int64(len(p.body))); err != nil {
		e.refuse(err)
	} else if !e.conn.net.opts.Divide {
		for e.off < len(p.body) && e.some(p, len(p.body)) {
		}
		if e.off == len(p.body) {
			e.finish(p)
		}
	}
}

// portion tells the next part of the body of the frame at hand, or its end.
func (e *end) portion() {
	mu := &e.conn.net.mu
	mu.Lock()
	p := e.current
	n := e.conn.net.rnd.IntN(1 + e.conn.net.rnd.IntN(1<<17))
	mu.Unlock()
	switch {
	case p == nil:
	case e.off < len(p.body):
		e.some(p, n)
	default:
		e.finish(p)
	}
}

// some gives about n bytes to the receiver.
func (e *end) some(p *parcel, n int) bool {
	grain := max(e.body.Grain, 1)
	part := p.body[e.off:]
	part = part[:min(len(part), max(n/grain, 1)*grain)]
	e.off += len(part)
	if e.body.Into != nil {
		e.body.Into.Unpack(part)
	} else if err := e.receiver.Data(part); err != nil {
		e.refuse(err)
		return false
	}
	return true
}

// finish ends the frame at hand.
func (e *end) finish(p *parcel) {
	mu := &e.conn.net.mu
	mu.Lock()
	e.current = nil
	if e.bytes = max(e.bytes-len(p.head)-len(p.body), 0); e.conn.net.opts.Room > 0 {
		e.peer.source.ring()
	}
	mu.Unlock()
	if err := e.receiver.End(); err != nil {
		e.refuse(err)
	}
}

// refuse ends the connection because of what the receiver says. Of what was posted before, nothing
// is taken back.
func (e *end) refuse(err error) {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	if e.why, e.current = err, nil; !e.target {
		e.conn.fail(errClosed)
	}
}

// lose tells the loss. A target's end then closes itself: what Lost has posted still leaves.
func (e *end) lose(err error) {
	e.conn.net.mu.Lock()
	if e.told, e.current = true, nil; !e.target && e.conn.broken == nil {
		e.conn.fail(err)
	}
	e.conn.net.mu.Unlock()
	e.receiver.Lost(err)
	if e.target {
		e.Close(time.Nanosecond)
	}
}

// complete tells a completion.
func (e *end) complete(i int) {
	e.conn.net.mu.Lock()
	p := e.done[i]
	e.done = slices.Delete(e.done, i, i+1)
	e.conn.net.mu.Unlock()
	p.done()
}
