// SPDX-License-Identifier: BSD-3-Clause

// A connection: two ends, and the frames on their way between them. Each end's next event is chosen
// here.
package pipe

import (
	"fmt"
	"slices"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// conn is a connection. The net's lock guards the rest.
type conn struct {
	net    *Net
	ends   [2]*endpoint // the origin's, the target's
	broken error        // why the connection is broken; nil: it is not
	// frames of the origin that the target has not handled
	unhandled int
}

// parcel is an arrival at an end: a frame, or the completion of a direct transfer.
type parcel struct {
	due        time.Time // it arrives then, and not before
	noticed    bool      // it had arrived when Attend was called
	head, body []byte
	source     kernel.Cursor // the memory of the body, nbytes of it, until body is a copy
	nbytes     int64
	blocksHead bool   // a target's end calls no BeginFrame before it has sent this
	afterMark  uint64 // it arrives after these Writes have taken effect
	completion func() // nil: a frame
}

// endState is the state of an end.
type endState int

const (
	endOpen    endState = iota // frames are sent and received
	endRefused                 // the receiver has refused a frame, and Lost is to be called
	endLost                    // Lost has been called
	endClosed                  // Close has begun: the receiver is not called any more
)

// endpoint is an Endpoint of either end.
type endpoint struct {
	conn     *conn
	peer     *endpoint
	fabric   *fabric
	source   *source
	self     bothEnds // this one, or the directEndpoint around it
	target   bool     // it is the target's end
	to       transport.Rank
	receiver transport.Receiver // set under the net's lock; nil: not accepted yet
	reading  frameReading       // of the thread that polls

	// Under the net's lock:
	state    endState
	refusal  error // the receiver's error, of endRefused
	arrivals arrivals
	outgoing outgoing
	writes   deviceWrites
}

// bothEnds has the methods of both kinds of ends.
type bothEnds interface {
	transport.OriginEndpoint
	transport.TargetEndpoint
}

// frameReading is the destination of the frame that is being received.
type frameReading struct {
	body   transport.Body
	stored int // bytes of the body that the receiver has
}

// arrivals is what arrives at an end.
type arrivals struct {
	current     *parcel   // the frame whose BeginFrame has been called, until EndFrame
	frames      []*parcel // in order, those behind current
	bytes       int       // of all these frames, current included
	completions []*parcel // in any order
}

// outgoing are frames that an end has not sent yet.
type outgoing struct {
	deferred []*parcel // origin's end: frames that Send has delayed
	queued   []*parcel // target's end: frames that have not left
	blocking int       // target's end: Sends and Writes before which no BeginFrame comes
}

// deviceWrites are the direct transfers of an end.
type deviceWrites struct {
	open       int      // requests that the device has not carried out
	lastMark   uint64   // of the last Write
	incomplete []uint64 // marks of Writes: one for each request that is not reported
	pending    []uint64 // the same, for each request that has not taken effect
}

// newConn makes a connection of fabric f to fabric t. The target's end has no receiver yet.
func (n *Net) newConn(f, t *fabric, to transport.Rank, r transport.Receiver) *conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &conn{net: n}
	if f.shared == nil || !n.opts.Shared {
		f.shared = f.newSource()
	}
	a := &endpoint{conn: c, fabric: f, source: f.shared, to: to, receiver: r}
	b := &endpoint{conn: c, fabric: t, source: t.server, to: f.cfg.Me, target: true}
	a.peer, b.peer, c.ends = b, a, [2]*endpoint{a, b}
	for _, e := range c.ends {
		e.self = e
		if n.opts.Direct {
			e.self = &directEndpoint{e}
		}
		e.source.endpoints = append(e.source.endpoints, e)
	}
	return c
}

// discard closes a connection that the target has refused, or whose handshake has failed.
func (c *conn) discard() {
	c.ends[0].Close(0)
	c.net.mu.Lock()
	refused := c.ends[1].receiver == nil
	c.net.mu.Unlock()
	if refused {
		c.ends[1].Close(0)
	}
}

// breakWith breaks the connection: frames on their way are lost. The caller holds the net's lock.
func (c *conn) breakWith(err error) {
	if c.broken != nil {
		return
	}
	c.broken = err
	for _, e := range c.ends {
		e.arrivals.frames, e.arrivals.bytes = nil, 0
		e.outgoing = outgoing{}
		e.source.wakeWaiters()
		signal(e.fabric.device.wakeUp)
	}
}

// lossReason is the error with which Lost is to be called; nil: it is not, or not any more. The
// caller holds the net's lock.
func (e *endpoint) lossReason() error {
	switch {
	case e.state >= endLost || e.receiver == nil:
	case e.state == endRefused:
		return e.refusal
	case e.conn.broken != nil:
		return e.conn.broken
	case e.peer.state == endClosed && len(e.arrivals.frames) == 0 && e.arrivals.current == nil:
		return errClosed
	}
	return nil
}

// peerHasLeft tells whether the peer has closed the connection while its last frames have not been
// read. The caller holds the net's lock.
func (e *endpoint) peerHasLeft(now time.Time) bool {
	in := e.arrivals.frames
	return e.peer.state == endClosed && e.state < endLost && len(in) > 0 &&
		!in[0].due.After(now)
}

// eachArrival calls do for all frames and completions that are on their way or have arrived.
func (e *endpoint) eachArrival(do func(*parcel)) {
	for _, p := range e.arrivals.frames {
		do(p)
	}
	for _, p := range e.arrivals.completions {
		do(p)
	}
}

// nextEvent chooses what happens next at this end. The caller holds the net's lock; it calls the
// result, if that is not nil, without it.
func (e *endpoint) nextEvent(now time.Time) func() {
	if e.state >= endLost || e.receiver == nil {
		return nil
	}
	for i, p := range e.arrivals.completions {
		if !p.due.After(now) || e.conn.broken != nil {
			return func() { e.reportCompletion(i) }
		}
	}
	if err := e.lossReason(); err != nil {
		if e.writes.open+len(e.arrivals.completions) > 0 { // Lost follows those
			return nil
		}
		return func() { e.reportLoss(err) }
	}
	in := e.arrivals.frames
	switch {
	case e.arrivals.current != nil:
		return e.continueFrame
	case len(e.outgoing.queued) > 0 && !e.peerIsFull():
		return e.sendQueued
	case len(in) > 0 && !in[0].due.After(now) && e.outgoing.blocking == 0 &&
		!reachesMark(e.peer.writes.pending, in[0].afterMark):
		return e.beginFrame
	}
	return nil
}

// transmit sends a frame on its way. The caller holds the net's lock.
func (e *endpoint) transmit(p *parcel) {
	to := e.peer
	if e.conn.broken != nil || to.state == endClosed || e.fabric.vanished ||
		to.fabric.vanished {
		return
	}
	if !e.target {
		e.conn.takeCredit()
	}
	p.due, p.afterMark = e.conn.net.arrivalTime(), e.writes.lastMark
	in := &to.arrivals
	if n := len(in.frames); n > 0 && in.frames[n-1].due.After(p.due) {
		p.due = in.frames[n-1].due
	}
	in.frames = append(in.frames, p)
	in.bytes += len(p.head) + len(p.body)
	to.source.wakeWaiters()
	e.conn.net.countFrame(e.conn)
}

// takeCredit counts a frame of the origin, which must not send more than there are credits. A
// goodbye needs none. The caller holds the net's lock.
func (c *conn) takeCredit() {
	c.unhandled++
	if most := c.net.opts.Credits; most > 0 && c.unhandled > most+1 {
		panic(fmt.Sprintf("%d frames are on their way, with %d credits", c.unhandled, most))
	}
}

// peerIsFull tells whether a sender has to wait for room. The caller holds the net's lock.
func (e *endpoint) peerIsFull() bool {
	room := e.conn.net.opts.Room
	return room > 0 && e.peer.arrivals.bytes >= room && e.conn.broken == nil &&
		e.peer.state != endClosed
}

// beginFrame passes the head of the next frame to the receiver, and the rest, unless bodies are
// divided.
func (e *endpoint) beginFrame() {
	mu := &e.conn.net.mu
	mu.Lock()
	in := &e.arrivals
	if len(in.frames) == 0 {
		mu.Unlock()
		return
	}
	p := in.frames[0]
	in.frames, in.current = in.frames[1:], p
	mu.Unlock()
	var err error
	e.reading.stored = 0
	if e.reading.body, err = e.receiver.BeginFrame(p.head, int64(len(p.body))); err != nil {
		e.refuseFrame(err)
	} else if !e.conn.net.opts.Divide {
		for e.reading.stored < len(p.body) && e.storeBody(p, len(p.body)) {
		}
		if e.reading.stored == len(p.body) {
			e.endFrame(p)
		}
	}
}

// continueFrame passes a random part of the current frame's body to the receiver, or its end.
func (e *endpoint) continueFrame() {
	mu := &e.conn.net.mu
	mu.Lock()
	p := e.arrivals.current
	n := e.conn.net.rnd.IntN(1 + e.conn.net.rnd.IntN(1<<17))
	mu.Unlock()
	switch {
	case p == nil:
	case e.reading.stored < len(p.body):
		e.storeBody(p, n)
	default:
		e.endFrame(p)
	}
}

// storeBody passes about n bytes of the body to the receiver, in whole grains. It returns false if
// the receiver refuses them.
func (e *endpoint) storeBody(p *parcel, n int) bool {
	grain := max(e.reading.body.Grain, 1)
	n = (n + 7) &^ 7 // a block of 8 bytes is stored whole
	part := p.body[e.reading.stored:]
	part = part[:min(len(part), max(n/grain, 1)*grain)]
	e.reading.stored += len(part)
	if e.reading.body.Into != nil {
		e.reading.body.Into.Unpack(part)
	} else if err := e.receiver.Data(part); err != nil {
		e.refuseFrame(err)
		return false
	}
	return true
}

// endFrame removes the current frame, whose body has been passed on, and calls EndFrame.
func (e *endpoint) endFrame(p *parcel) {
	mu := &e.conn.net.mu
	mu.Lock()
	in := &e.arrivals
	in.current = nil
	if in.bytes = max(in.bytes-len(p.head)-len(p.body), 0); e.conn.net.opts.Room > 0 {
		e.peer.source.room = true
		e.peer.source.wakeWaiters()
	}
	if e.target {
		e.conn.unhandled--
	}
	mu.Unlock()
	if err := e.receiver.EndFrame(); err != nil {
		e.refuseFrame(err)
	}
}

// refuseFrame ends the connection because of an error of the receiver. Frames that were posted
// before still leave.
func (e *endpoint) refuseFrame(err error) {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	e.refusal, e.arrivals.current = err, nil
	e.state = max(e.state, endRefused)
	if !e.target {
		e.conn.breakWith(errClosed)
	}
}

// reportLoss calls Lost. A target's end then closes itself: frames that Lost has posted still
// leave.
func (e *endpoint) reportLoss(err error) {
	e.conn.net.mu.Lock()
	e.state, e.arrivals.current = max(e.state, endLost), nil
	if !e.target && e.conn.broken == nil {
		e.conn.breakWith(err)
	}
	e.conn.net.mu.Unlock()
	e.receiver.Lost(err)
	if e.target {
		e.Close(time.Nanosecond)
	}
}

// reportCompletion reports a completion of a direct transfer.
func (e *endpoint) reportCompletion(i int) {
	e.conn.net.mu.Lock()
	in := &e.arrivals
	p := in.completions[i]
	in.completions = slices.Delete(in.completions, i, i+1)
	e.conn.net.mu.Unlock()
	p.completion()
}
