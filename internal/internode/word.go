// SPDX-License-Identifier: BSD-3-Clause

// Words of arena memory that the device writes behind the data before them, as it does notify
// counters.
package internode

import (
	"errors"

	"libarmci/internal/transport"
)

// WritesWords tells whether a device writes words whole, and without a thread of the peer.
func (t *Transport) WritesWords() bool { return t.direct != nil && !t.info.Bytewise }

// WriteWord writes a word of a peer's memory behind everything that I have stored there; or the
// peer's handler gets the message, where a write would overtake something, or no device reaches the
// word.
func (t *Transport) WriteWord(peer transport.Peer, addr uintptr, value uint32,
	m transport.Msg) (written bool, err error) {
	g, err := t.target(peer)
	if err != nil {
		return false, err
	}
	if err := g.lock(); err != nil {
		return false, err
	}
	defer g.mu.Unlock()
	if written, err = g.writeWord(addr, value); written || err != nil {
		return written, err
	}
	// The next one can be a write when this has been handled.
	h := header{kind: kindSend, what: m.Kind, flags: flagAck, rank: uint32(t.peers[peer].Rank),
		arg: uint64(len(m.Body))}
	err = g.sendParts(nil, &h, &m, transport.Now)
	g.counters.sent = g.sent
	g.dropFast()
	return false, err
}

// writeWord writes a word by the device; false: it cannot, or frames are on their way that have to
// be handled first: those that store, and messages, since some of core's store, too. The caller has
// the lock.
func (g *target) writeWord(addr uintptr, value uint32) (written bool, err error) {
	w, ok := g.ep.(transport.WordEndpoint)
	if !ok || !g.reached(max(g.stored, g.counters.messages)) {
		return false, nil
	}
	r, err := g.key(addr, nil)
	if errors.Is(err, transport.ErrNotNative) || errors.Is(err, transport.ErrBadAddr) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := w.WriteWord(addr, r.Key, value); err != nil {
		return false, g.failPosting(err)
	}
	return true, nil
}
