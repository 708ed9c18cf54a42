// SPDX-License-Identifier: BSD-3-Clause

// The methods of an Endpoint: sending frames, and the end of a connection.
package pipe

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// usable says why nothing can be sent. The caller has the net's lock.
func (e *end) usable() error {
	switch {
	case e.closed:
		return transport.ErrClosed
	case e.why != nil:
		return e.why
	case e.conn.broken != nil:
		return e.conn.broken
	case e.peer.closed:
		return errClosed
	}
	return nil
}

// Send copies the frame. Deferred are small frames only, as everywhere.
func (e *end) Send(head []byte, body *kernel.Cursor, nbody int64,
	when transport.When) (deferred bool, err error) {
	p := &parcel{head: bytes.Clone(head)}
	n := len(head) + int(nbody)
	if most := e.conn.net.opts.MaxFrame; len(head) > transport.MaxHead || most > 0 && n > most {
		return false, fmt.Errorf("a frame with a head of %d bytes and a body of %d; the "+
			"most is %d", len(head), n-len(head), most)
	}
	if nbody > 0 {
		p.from, p.n = *body, nbody
		body.Skip(nbody)
	}
	if e.target {
		return false, e.answer(p)
	}
	p.copyBody()
	net := e.conn.net
	net.mu.Lock()
	defer net.mu.Unlock()
	if err := e.usable(); err != nil {
		return false, err
	}
	if net.opts.Defer && when != transport.Now && n <= e.fabric.cfg.Eager {
		e.late = append(e.late, p)
		return true, nil
	}
	if e.full() {
		net.mu.Unlock()
		e.fabric.cfg.Await(e.self, func() bool {
			net.mu.Lock()
			defer net.mu.Unlock()
			return !e.full()
		})
		net.mu.Lock()
		if err := e.usable(); err != nil {
			return false, err
		}
	}
	e.sendLate()
	e.push(p)
	return false, nil
}

// copyBody takes the body out of the memory it is in.
func (p *parcel) copyBody() {
	if p.n > 0 {
		p.body = make([]byte, p.n)
		p.from.Pack(p.body)
	}
}

// sendLate sends what was put off. The caller has the net's lock.
func (e *end) sendLate() {
	late := e.late
	e.late = nil
	for _, p := range late {
		e.push(p)
	}
}

// Flush sends what was put off as far as there is room.
func (e *end) Flush() (left bool) {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	for len(e.late) > 0 && !e.full() {
		p := e.late[0]
		e.late = e.late[1:]
		e.push(p)
	}
	return len(e.late) > 0
}

// answer is Send at the target's end: the body is copied now or when Poll comes to it, which calls
// Sent in both cases.
func (e *end) answer(p *parcel) error {
	net := e.conn.net
	net.mu.Lock()
	if err := e.usable(); err != nil {
		net.mu.Unlock()
		return err
	}
	p.owed = true
	e.out = append(e.out, p)
	e.owed++
	now := len(e.out) == 1 && !e.full() && net.rnd.IntN(2) == 0
	net.mu.Unlock()
	if now {
		e.depart()
	}
	return nil
}

// depart sends the oldest frame of a target's end. Meanwhile it stays in the list, so that no other
// one overtakes it.
func (e *end) depart() {
	mu := &e.conn.net.mu
	mu.Lock()
	if len(e.out) == 0 {
		mu.Unlock()
		return
	}
	p := e.out[0]
	mu.Unlock()
	body := p.n > 0
	p.copyBody()
	mu.Lock()
	if len(e.out) == 0 { // lost meanwhile
		mu.Unlock()
		return
	}
	e.out = e.out[1:]
	if p.owed {
		e.owed--
	}
	e.push(p)
	mu.Unlock()
	if body {
		e.receiver.Sent()
	}
}

// Post keeps the slices.
func (e *end) Post(head, body []byte) {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	e.out = append(e.out, &parcel{head: head, body: body})
	e.source.ring()
}

func (e *end) MaxFrame() int { return e.conn.net.opts.MaxFrame }

func (e *end) Source() transport.Source { return e.source }

// Pulse finds a peer that has vanished.
func (e *end) Pulse() {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	if e.peer.fabric.gone || e.fabric.gone {
		e.conn.fail(errSilent)
	}
}

func (e *end) Break() {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	e.conn.fail(errBroken)
}

// Close sends what is left, if it may linger, and waits until nobody calls the receiver.
func (e *end) Close(linger time.Duration) {
	net := e.conn.net
	net.mu.Lock()
	defer net.mu.Unlock()
	if e.closed {
		return
	}
	if linger > 0 && e.conn.broken == nil {
		e.sendLate()
		for _, p := range e.out {
			if e.why == nil { // else the memory is not ours any more
				p.copyBody()
			}
			if int64(len(p.body)) >= p.n {
				e.push(p)
			}
		}
		e.out = nil
	}
	for end := time.Now().Add(linger); e.open > 0 && e.conn.broken == nil &&
		time.Now().Before(end); {
		net.mu.Unlock()
		time.Sleep(20 * time.Microsecond)
		net.mu.Lock()
	}
	e.closed = true
	if linger == 0 {
		e.conn.fail(errClosed)
	}
	tell := e.abandon()
	e.source.ends = slices.DeleteFunc(e.source.ends,
		func(other *end) bool { return other == e })
	e.peer.source.ring()
	net.mu.Unlock()
	for _, do := range tell {
		do()
	}
	if !e.target { // a target's end is closed by who polls, or when nobody does
		e.source.calling.Lock()
		e.source.calling.Unlock()
	}
	net.mu.Lock()
	if f := e.fabric; !e.target && len(e.source.ends) == 0 {
		f.sources = slices.DeleteFunc(f.sources,
			func(s *source) bool { return s == e.source })
		if f.shared == e.source {
			f.shared = nil
		}
	}
}
