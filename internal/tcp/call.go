// SPDX-License-Identifier: BSD-3-Clause

// Operations with a small request: read-modify-write, messages, calls.
package tcp

import (
	"fmt"

	"libarmci/internal/transport"
)

// RMW is carried out by the node's server.
func (t *Transport) RMW(peer transport.Peer, r *transport.RMW) error {
	if r.Op > transport.Swap || r.Bytes != 4 && r.Bytes != 8 {
		return fmt.Errorf("read-modify-write %d of %d bytes: %w", r.Op, r.Bytes, transport.ErrNotNative)
	}
	h := header{Kind: kindRMW, Addr: uint64(r.Addr), Bytes: uint64(r.Operand)}
	if r.Op == transport.Swap {
		h.Flags |= flagSwap
	}
	if r.Bytes == 8 {
		h.Flags |= flagWide
	}
	_, old, err := t.ask(peer, h, nil, kindOld)
	r.Old = old
	return err
}

// Send posts a message. A loose one goes the other way, to the process itself, if that is connected to this one: there
// whoever waits for it reads it, so that no server has to run in between.
func (t *Transport) Send(peer transport.Peer, m transport.Msg) error {
	w, err := t.messageWire(peer, m)
	if err != nil {
		return err
	}
	if m.Loose {
		if c := t.server.client(t.peers[peer].Rank); c != nil {
			c.tell(m)
			return nil
		}
	}
	h := header{Kind: kindSend, Flags: m.Kind, Rank: uint32(t.peers[peer].Rank), Bytes: uint64(len(m.Body))}
	return w.say(&h, m.Body, nil)
}

// Call posts a message and waits for the reply to it.
func (t *Transport) Call(peer transport.Peer, m transport.Msg) ([]byte, error) {
	if _, err := t.messageWire(peer, m); err != nil {
		return nil, err
	}
	body, _, err := t.ask(peer, header{Kind: kindCall, Flags: m.Kind, Bytes: uint64(len(m.Body))}, m.Body, kindReply)
	return body, err
}

func (t *Transport) messageWire(peer transport.Peer, m transport.Msg) (*wire, error) {
	if len(m.Body) > maxMsg {
		return nil, fmt.Errorf("message of %d bytes to peer %d: %w", len(m.Body), peer, transport.ErrTooLong)
	}
	return t.wire(peer)
}

// ask sends a frame and waits for the answer.
func (t *Transport) ask(peer transport.Peer, h header, body []byte, answer kind) (reply []byte, old int64, err error) {
	w, err := t.wire(peer)
	if err != nil {
		return nil, 0, err
	}
	p, err := w.table.open(nil, awaited, answer)
	if err != nil {
		return nil, 0, err
	}
	h.Rank, h.ID = uint32(t.peers[peer].Rank), p.id
	w.say(&h, body, p) // if it fails, p is told
	w.await(p)
	reply, old, err = p.body, p.old, p.err
	w.table.release(p)
	return reply, old, err
}

// say sends a frame without descriptors. p, if not nil, is who expects the answer.
func (w *wire) say(h *header, body []byte, p *pending) error {
	if err := w.lock(); err != nil {
		return err
	}
	defer w.mu.Unlock()
	if err := w.room(headerBytes); err != nil {
		return err
	}
	w.out = h.append(w.out)
	if h.Kind == kindSend {
		w.stores.Add(1)
	}
	if p != nil {
		p.stores = w.stores.Load()
		p.asked.Store(true)
		if h.Kind != kindCall { // a reply may take any time
			w.asked.Store(p.stores)
		}
	}
	w.burst.end()
	if len(body) <= cap(w.out)-len(w.out) {
		w.out = append(w.out, body...)
		return w.flush()
	}
	w.from.setBytes(body)
	return w.sendAll(&w.from, int64(len(body)))
}
