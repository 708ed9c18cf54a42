// SPDX-License-Identifier: BSD-3-Clause

// Operations with a small request: read-modify-write, messages, calls.
package internode

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/transport"
)

// RMW changes a word of 4 or 8 bytes. The node's server does that, with the atomics of its
// processors; or the devices do, if the word was declared for them. The two are not atomic with
// respect to each other. So the server refuses words of the devices, and says how far their memory
// reaches.
func (t *Transport) RMW(peer transport.Peer, x *transport.RMW) error {
	if !x.Valid() {
		return fmt.Errorf("read-modify-write operation %d of %d bytes: %w", x.Op, x.Bytes,
			transport.ErrNotNative)
	}
	g, err := t.targetOf(peer)
	if err != nil {
		return err
	}
	if x.Bytes == 8 && g.keys.deviceWords.Find(x.Addr) != nil {
		return g.deviceRMW(x)
	}
	h := header{kind: kindRMW, rank: uint32(t.routes.peers[peer].Rank), addr: uint64(x.Addr),
		what: uint8(x.Op), arg: uint64(x.Operand)}
	if x.Bytes == 8 {
		h.flags |= flagWide
	}
	r, err := g.sendRMW(h, x)
	if r == nil || err != nil {
		return err
	}
	found, err := r.wait()
	switch {
	case err != nil:
		return err
	case found.deviceRange.Direct && t.direct != nil:
		g.keys.deviceWords.AddRanges(found.deviceRange)
		return g.deviceRMW(x)
	case found.deviceRange.Direct:
		return fmt.Errorf("the word at %#x belongs to devices: %w", x.Addr,
			transport.ErrNotNative)
	}
	x.Old = found.oldValue
	g.openFastMessages(peer)
	return nil
}

// openFastMessages lets C ask the node's server for the next read-modify-write. It locks mu.
func (g *target) openFastMessages(peer transport.Peer) {
	fast, rank := g.t.fast, g.t.routes.peers[peer].Rank
	if fast == nil || fast.KnowsPeer(rank) || g.lockConnected() != nil {
		return
	}
	fast.CachePeer(g.tx.ep, rank)
	g.mu.Unlock()
}

// sendRMW sends a read-modify-write. r gets the answer; it is nil if none is wanted. A word that
// may turn out to be a device's always has one. It locks mu.
func (g *target) sendRMW(h header, x *transport.RMW) (r *request, err error) {
	if err := g.lockConnected(); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	if !x.Posted || x.Bytes == 8 && g.t.DeviceAtomics() {
		if r, err = g.openRequest(nil, kindOld); err != nil {
			return nil, err
		}
	}
	if err = g.acquireCredit(); err == nil {
		when := transport.Now
		if r == nil {
			if h.flags |= g.recordStore(true); h.flags&flagAck == 0 {
				when = transport.Burst
			}
		}
		err = g.sendFrame(r, &h, g.tx.buf.describeCompare(x), nil, 0, when)
	}
	if r != nil {
		r.finishPart(err)
		err = nil // r.wait returns it
	}
	return r, err
}

// describeCompare adds to the frame of a compare-and-swap the value to compare with, for which the
// header has no room. It returns nil for other operations. The caller holds the target's mu.
func (b *sendBuffers) describeCompare(x *transport.RMW) *chunk {
	if x.Op != transport.CompareAndSwap {
		return nil
	}
	compare := b.xfer.operandOf[:compareBytes]
	binary.LittleEndian.PutUint64(compare, uint64(x.Compare))
	c := &b.chunk
	c.flags, c.addr, c.bytes, c.desc, c.operand = 0, uint64(x.Addr), 0, c.desc[:0], compare
	return c
}

// DeviceAtomics reports whether this process's device has atomics.
func (t *Transport) DeviceAtomics() bool { return t.direct != nil && t.direct.Atomics() }

// deviceRMW changes a word by the devices. It locks mu.
func (g *target) deviceRMW(x *transport.RMW) error {
	if err := g.lockConnected(); err != nil {
		return err
	}
	defer g.mu.Unlock()
	far, err := g.lookupKey(x.Addr, nil)
	if err == nil {
		err = g.awaitStores(g.tx.lastStore)
	}
	if err != nil {
		return err
	}
	if x.Op == transport.FetchAdd {
		x.Old, err = g.tx.direct.Atomic(transport.AtomicAdd, x.Addr, far.Key, x.Operand, 0)
		return g.checkDeviceError(err)
	}
	for guess := x.Compare; ; guess = x.Old {
		// another rank has changed the word since the guess, each time that this repeats
		x.Old, err = g.tx.direct.Atomic(transport.AtomicCompareSwap, x.Addr, far.Key,
			x.Value(guess), guess)
		if err != nil || x.Old == guess || x.Op == transport.CompareAndSwap {
			return g.checkDeviceError(err)
		}
	}
}

// Send posts a message. An unordered one goes over the peer's own connection to this process's data
// server, if there is one. There the waiter receives it, and no server has to run in between.
func (t *Transport) Send(peer transport.Peer, m transport.Msg) error {
	if len(m.Head) > transport.MaxMessageHead {
		return fmt.Errorf("message with a head of %d bytes, %d at most: %w", len(m.Head),
			transport.MaxMessageHead, transport.ErrTooLong)
	}
	if m.Unordered && t.server != nil && len(m.Head)+len(m.Body) <= maxMessage {
		if o := t.server.originOf(t.routes.peers[peer].Rank); o != nil && o.postMessage(m) {
			return nil
		}
	}
	if m.ToProcess {
		return transport.ErrNotNative
	}
	m.Body, m.Head = m.Joined(), nil
	_, err := t.sendMessage(peer, m, kindSend)
	return err
}

// Call posts a message and waits for the reply. With m.Replied it returns nil at once, and Replied
// gets the reply. It locks the target's mu while it posts, not while it waits.
func (t *Transport) Call(peer transport.Peer, m transport.Msg) ([]byte, error) {
	r, err := t.sendMessage(peer, m, kindCall)
	if r == nil || err != nil {
		return nil, err
	}
	found, err := r.wait()
	return found.body, err
}

// sendMessage sends a message, in several frames where these are bounded. It returns the request of
// a blocking call, for which the caller waits; nil: no caller waits for a reply. It locks the
// target's mu.
func (t *Transport) sendMessage(peer transport.Peer, m transport.Msg, k kind) (r *request,
	err error) {
	if len(m.Body) > maxMessage {
		return nil, fmt.Errorf("message of %d bytes to rank %d, %d at most: %w",
			len(m.Body), t.routes.peers[peer].Rank, maxMessage,
			transport.ErrTooLong)
	}
	g, err := t.targetOf(peer)
	if err != nil {
		return nil, err
	}
	if err := g.lockConnected(); err != nil {
		return nil, err
	}
	h := header{kind: k, what: m.Kind, rank: uint32(t.routes.peers[peer].Rank),
		arg: uint64(len(m.Body))}
	if m.Unhurried {
		h.flags |= flagUnhurried
	}
	if k == kindSend {
		err = g.sendMessageFrames(nil, &h, &m, transport.Now)
		g.mu.Unlock()
		return nil, err
	}
	if r, err = g.openAnswered(kindReply, m.Replied); err == nil {
		r.finishPart(g.sendMessageFrames(r, &h, &m, g.tx.poller.callUrgency(&m)))
	}
	p := g.tx.poller
	g.mu.Unlock()
	if m.Replied == nil || err != nil {
		return r, err
	}
	p.requestUnattended()
	return nil, nil
}

// callUrgency returns how soon the frames of a call must leave: the first of several nonblocking
// calls at once, the others together.
func (p *poller) callUrgency(m *transport.Msg) transport.When {
	if m.Replied != nil && p.unattended.Load() > 1 {
		return transport.Soon
	}
	return transport.Now
}

// sendMessageFrames sends the frames of a message. The caller holds mu.
func (g *target) sendMessageFrames(r *request, h *header, m *transport.Msg,
	when transport.When) error {
	body := m.Body
	g.tx.buf.keepAlive = body // the cursor does not, and must not point to a stack
	defer func() { g.tx.buf.keepAlive = nil }()
	c := &g.tx.buf.message
	c.SetContiguous(addressOf(body), int64(len(body)))
	for {
		if err := g.acquireCredit(); err != nil {
			return err
		}
		if !m.Unordered {
			g.progress.fenceFrame.Store(g.tx.sentFrames)
			if h.kind == kindSend {
				g.tx.counters.lastMessage = g.tx.sentFrames
			}
		}
		h.addr, h.bytes = h.arg-uint64(c.Left()), uint64(min(c.Left(), int64(g.tx.maxBody)))
		if err := g.sendFrame(r, h, nil, c, int64(h.bytes), when); err != nil ||
			c.Left() == 0 {
			return err
		}
		r = nil // one answer for all frames
	}
}
