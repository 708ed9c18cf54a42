// SPDX-License-Identifier: BSD-3-Clause

// Operations with a small request: read-modify-write, messages, calls.
package internode

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/transport"
)

// RMW changes a word of 4 or 8 bytes: by the node's server with the atomics of its processors; or,
// of words that were declared for it, by the devices. The two are not atomic with respect to each
// other, so the server refuses what is the devices' and tells how far that reaches.
func (t *Transport) RMW(peer transport.Peer, x *transport.RMW) error {
	if !x.Valid() {
		return fmt.Errorf("read-modify-write operation %d of %d bytes: %w", x.Op, x.Bytes,
			transport.ErrNotNative)
	}
	g, err := t.target(peer)
	if err != nil {
		return err
	}
	if x.Bytes == 8 && g.declared.Find(x.Addr) != nil {
		return g.atomic(x)
	}
	h := header{kind: kindRMW, rank: uint32(t.peers[peer].Rank), addr: uint64(x.Addr),
		what: uint8(x.Op), arg: uint64(x.Operand)}
	if x.Bytes == 8 {
		h.flags |= flagWide
	}
	r, err := g.change(h, x)
	if r == nil || err != nil {
		return err
	}
	found, err := r.wait()
	switch {
	case err != nil:
		return err
	case found.device.Direct && t.direct != nil:
		g.declared.Add(found.device)
		return g.atomic(x)
	case found.device.Direct:
		return fmt.Errorf("the word at %#x belongs to devices: %w", x.Addr,
			transport.ErrNotNative)
	}
	x.Old = found.old
	g.tellPeer(peer)
	return nil
}

// tellPeer has C ask the node for the next one.
func (g *target) tellPeer(peer transport.Peer) {
	fast, rank := g.t.fast, g.t.peers[peer].Rank
	if fast == nil || fast.KnowsPeer(rank) || g.lock() != nil {
		return
	}
	fast.CachePeer(g.ep, rank)
	g.mu.Unlock()
}

// change sends a read-modify-write. r gets the answer; it is nil if none is wanted. Where the word
// may turn out to be a device's, there is always one.
func (g *target) change(h header, x *transport.RMW) (r *request, err error) {
	if err := g.lock(); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	if !x.Posted || x.Bytes == 8 && g.t.DeviceAtomics() {
		if r, err = g.open(nil, kindOld); err != nil {
			return nil, err
		}
	}
	if err = g.credit(); err == nil {
		when := transport.Now
		if r == nil {
			if h.flags |= g.storing(true); h.flags&flagAck == 0 {
				when = transport.Burst
			}
		}
		err = g.send(r, &h, g.operands(x), nil, 0, when)
	}
	if r != nil {
		r.finish(err)
		err = nil // the waiter gets it
	}
	return r, err
}

// operands describes the word of a compare-and-swap, whose header has no room for both operands.
func (g *target) operands(x *transport.RMW) *chunk {
	if x.Op != transport.CompareAndSwap {
		return nil
	}
	compare := g.posting.scale[:compareBytes]
	binary.LittleEndian.PutUint64(compare, uint64(x.Compare))
	c := &g.chunk
	c.flags, c.addr, c.bytes, c.desc, c.scale = 0, uint64(x.Addr), 0, c.desc[:0], compare
	return c
}

// DeviceAtomics tells whether this process's device has any.
func (t *Transport) DeviceAtomics() bool { return t.direct != nil && t.direct.Atomics() }

// atomic changes a word by the devices.
func (g *target) atomic(x *transport.RMW) error {
	if err := g.lock(); err != nil {
		return err
	}
	defer g.mu.Unlock()
	far, err := g.key(x.Addr, nil)
	if err == nil {
		err = g.settle()
	}
	if err != nil {
		return err
	}
	if x.Op == transport.FetchAdd {
		x.Old, err = g.direct.Atomic(transport.AtomicAdd, x.Addr, far.Key, x.Operand, 0)
		return g.deviceError(err)
	}
	for guess := x.Compare; ; guess = x.Old {
		// another rank has changed it each time this goes round
		x.Old, err = g.direct.Atomic(transport.AtomicCompareSwap, x.Addr, far.Key,
			x.Value(guess), guess)
		if err != nil || x.Old == guess || x.Op == transport.CompareAndSwap {
			return g.deviceError(err)
		}
	}
}

// Send posts a message. An unordered one goes straight to the process, if that is connected to this
// one's data server: there the waiter reads it, so that no server has to run in between.
func (t *Transport) Send(peer transport.Peer, m transport.Msg) error {
	if len(m.Head) > transport.MaxMessageHead {
		return fmt.Errorf("message with a head of %d bytes, %d at most: %w", len(m.Head),
			transport.MaxMessageHead, transport.ErrTooLong)
	}
	if m.Unordered && len(m.Head)+len(m.Body) <= maxMessage {
		if o := t.straight(peer); o != nil && o.tell(m) {
			return nil
		}
	}
	if m.Straight {
		return transport.ErrNotNative
	}
	m.Body, m.Head = m.Whole(), nil
	_, err := t.message(peer, m, kindSend)
	return err
}

// straight is the connection of a peer's process to this one's data server, nil if there is none.
func (t *Transport) straight(peer transport.Peer) *origin {
	if t.server == nil {
		return nil
	}
	return t.server.origin(t.peers[peer].Rank)
}

// Call posts a message and waits for the reply to it, unless m.Replied gets that.
func (t *Transport) Call(peer transport.Peer, m transport.Msg) ([]byte, error) {
	r, err := t.message(peer, m, kindCall)
	if r == nil || err != nil {
		return nil, err
	}
	found, err := r.wait()
	return found.body, err
}

// message sends a message, in parts where frames are bounded. r is the request of a blocking call;
// nil: no caller waits for a reply.
func (t *Transport) message(peer transport.Peer, m transport.Msg, k kind) (r *request, err error) {
	if len(m.Body) > maxMessage {
		return nil, fmt.Errorf("message of %d bytes to rank %d, %d at most: %w",
			len(m.Body), t.peers[peer].Rank, maxMessage,
			transport.ErrTooLong)
	}
	g, err := t.target(peer)
	if err != nil {
		return nil, err
	}
	if err := g.lock(); err != nil {
		return nil, err
	}
	h := header{kind: k, what: m.Kind, rank: uint32(t.peers[peer].Rank),
		arg: uint64(len(m.Body))}
	if m.Unhurried {
		h.flags |= flagLate
	}
	if k == kindSend {
		err = g.sendParts(nil, &h, &m, transport.Now)
		g.mu.Unlock()
		return nil, err
	}
	if r, err = g.openCall(&m); err == nil {
		r.finish(g.sendParts(r, &h, &m, g.urgencyOfCall(&m)))
	}
	p := g.poller
	g.mu.Unlock()
	if m.Replied == nil || err != nil {
		return r, err
	}
	p.attendLater()
	return nil, nil
}

// urgencyOfCall is urgency of a call's frames: the first of several nonblocking calls leaves at
// once, the others together.
func (g *target) urgencyOfCall(m *transport.Msg) transport.When {
	if m.Replied != nil && g.poller.later.Load() > 1 {
		return transport.Soon
	}
	return transport.Now
}

// sendParts sends the frames of a message. The caller has the lock.
func (g *target) sendParts(r *request, h *header, m *transport.Msg, when transport.When) error {
	body := m.Body
	g.held = body // a cursor keeps no memory alive, and has it nowhere but on the heap
	defer func() { g.held = nil }()
	c := &g.parts
	c.SetContiguous(addressOf(body), int64(len(body)))
	for {
		if err := g.credit(); err != nil {
			return err
		}
		if !m.Unordered {
			g.posted.Store(g.sent)
			if h.kind == kindSend {
				g.counters.messages = g.sent
			}
		}
		h.addr, h.bytes = h.arg-uint64(c.Left()), uint64(min(c.Left(), int64(g.payload)))
		if err := g.send(r, h, nil, c, int64(h.bytes), when); err != nil || c.Left() == 0 {
			return err
		}
		r = nil // there is one reply
	}
}
