// SPDX-License-Identifier: BSD-3-Clause

// The methods of an Endpoint: sending frames, and closing a connection.
package pipe

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// sendError is why nothing can be sent, nil if it can. The caller holds the net's lock.
func (e *endpoint) sendError() error {
	switch {
	case e.state == endClosed:
		return transport.ErrClosed
	case e.refusal != nil:
		return e.refusal
	case e.conn.broken != nil:
		return e.conn.broken
	case e.peer.state == endClosed:
		return errClosed
	}
	return nil
}

// Send copies the frame at the origin's end. Only small frames are deferred, as in other fabrics.
func (e *endpoint) Send(head []byte, body *kernel.Cursor, nbody int64,
	when transport.When) (deferred bool, err error) {
	p := &parcel{head: bytes.Clone(head)}
	n := len(head) + int(nbody)
	if most := e.conn.net.opts.MaxFrame; len(head) > transport.MaxHead || most > 0 && n > most {
		return false, fmt.Errorf("a frame with a head of %d bytes and a body of %d; the "+
			"most is %d", len(head), n-len(head), most)
	}
	if nbody > 0 {
		p.source, p.nbytes = *body, nbody
		body.Skip(nbody)
	}
	if e.target {
		return false, e.sendFromTarget(p)
	}
	p.copyBody()
	net := e.conn.net
	net.mu.Lock()
	defer net.mu.Unlock()
	if err := e.sendError(); err != nil {
		return false, err
	}
	if net.opts.Defer && when != transport.Now && n <= e.fabric.cfg.Eager {
		e.outgoing.deferred = append(e.outgoing.deferred, p)
		return true, nil
	}
	if e.peerIsFull() {
		net.mu.Unlock()
		e.fabric.cfg.Await(e.self, func() bool {
			net.mu.Lock()
			defer net.mu.Unlock()
			return !e.peerIsFull() || e.peer.fabric.vanished
		})
		net.mu.Lock()
		if e.peer.fabric.vanished { // what is on its way is not acknowledged
			e.conn.breakWith(errSilent)
		}
		if err := e.sendError(); err != nil {
			return false, err
		}
	}
	e.sendDeferred()
	e.transmit(p)
	return false, nil
}

// copyBody copies the body out of the sender's memory.
func (p *parcel) copyBody() {
	if p.nbytes > 0 {
		p.body = make([]byte, p.nbytes)
		p.source.Pack(p.body)
	}
}

// sendDeferred sends all deferred frames. The caller holds the net's lock.
func (e *endpoint) sendDeferred() {
	deferred := e.outgoing.deferred
	e.outgoing.deferred = nil
	for _, p := range deferred {
		e.transmit(p)
	}
}

// Flush sends deferred frames while the peer has room.
func (e *endpoint) Flush() (left bool) {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	out := &e.outgoing
	for len(out.deferred) > 0 && !e.peerIsFull() {
		p := out.deferred[0]
		out.deferred = out.deferred[1:]
		e.transmit(p)
	}
	return len(out.deferred) > 0
}

// sendFromTarget is Send at the target's end. The body is copied now, or by a later Poll; Sent is
// called in both cases.
func (e *endpoint) sendFromTarget(p *parcel) error {
	net, out := e.conn.net, &e.outgoing
	net.mu.Lock()
	if err := e.sendError(); err != nil {
		net.mu.Unlock()
		return err
	}
	p.blocksHead = true
	out.queued = append(out.queued, p)
	out.blocking++
	now := len(out.queued) == 1 && !e.peerIsFull() && net.rnd.IntN(2) == 0
	net.mu.Unlock()
	if now {
		e.sendQueued()
	}
	return nil
}

// sendQueued sends the oldest queued frame of a target's end, and calls Sent if it has a body.
// While the body is copied the frame stays in the queue, so that no other frame overtakes it.
func (e *endpoint) sendQueued() {
	mu, out := &e.conn.net.mu, &e.outgoing
	mu.Lock()
	if len(out.queued) == 0 {
		mu.Unlock()
		return
	}
	p := out.queued[0]
	mu.Unlock()
	p.copyBody()
	mu.Lock()
	if len(out.queued) == 0 { // the connection has been broken meanwhile
		mu.Unlock()
		return
	}
	out.queued = out.queued[1:]
	if p.blocksHead {
		out.blocking--
	}
	e.transmit(p)
	mu.Unlock()
	if p.nbytes > 0 {
		e.receiver.Sent()
	}
}

// Post keeps the slices.
func (e *endpoint) Post(head, body []byte) {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	e.outgoing.queued = append(e.outgoing.queued, &parcel{head: head, body: body})
	e.source.wakeWaiters()
}

func (e *endpoint) MaxFrame() int { return e.conn.net.opts.MaxFrame }

func (e *endpoint) Source() transport.Source { return e.source }

// Pulse breaks the connection if the peer has vanished, or an origin itself: what the data server
// of a process that has vanished sends tells nothing to its origins.
func (e *endpoint) Pulse() {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	if e.peer.fabric.vanished || e.fabric.vanished && !e.target {
		e.conn.breakWith(errSilent)
	}
}

func (e *endpoint) Break() {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	e.conn.breakWith(errBroken)
}

// Close sends the frames that are left, unless linger is 0, and waits until no thread calls the
// receiver.
func (e *endpoint) Close(linger time.Duration) {
	net := e.conn.net
	net.mu.Lock()
	defer net.mu.Unlock()
	if e.state == endClosed {
		return
	}
	if linger > 0 && e.conn.broken == nil {
		e.sendLast()
	}
	for deadline := time.Now().Add(linger); e.writes.open > 0 && e.conn.broken == nil &&
		time.Now().Before(deadline); {
		net.mu.Unlock()
		time.Sleep(20 * time.Microsecond)
		net.mu.Lock()
	}
	e.state = endClosed
	if linger == 0 {
		e.conn.breakWith(errClosed)
	}
	reports := e.cancelRequests()
	e.source.endpoints = slices.DeleteFunc(e.source.endpoints,
		func(other *endpoint) bool { return other == e })
	e.peer.source.wakeWaiters()
	net.mu.Unlock()
	for _, report := range reports {
		report()
	}
	// A target's end is closed by the thread that polls, or when no thread does.
	if !e.target {
		e.source.receiverCall.Lock()
		e.source.receiverCall.Unlock()
	}
	net.mu.Lock()
	if f := e.fabric; !e.target && len(e.source.endpoints) == 0 {
		f.sources = slices.DeleteFunc(f.sources,
			func(s *source) bool { return s == e.source })
		if f.shared == e.source {
			f.shared = nil
		}
	}
}

// sendLast sends all frames that have not left, even if the peer has no room. The caller holds the
// net's lock.
func (e *endpoint) sendLast() {
	e.sendDeferred()
	for _, p := range e.outgoing.queued {
		// After a refusal the receiver may have reused the memory of a body.
		if e.refusal == nil {
			p.copyBody()
		}
		if int64(len(p.body)) >= p.nbytes {
			e.transmit(p)
		}
	}
	e.outgoing.queued = nil
}
