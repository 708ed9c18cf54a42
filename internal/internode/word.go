// SPDX-License-Identifier: BSD-3-Clause

// Words of the arena that the device writes behind the data before them, as it does notify
// counters.
package internode

import (
	"errors"

	"libarmci/internal/transport"
)

// WritesWords reports whether a device writes words whole, and without a thread of the peer.
func (t *Transport) WritesWords() bool { return t.direct != nil && !t.info.Bytewise }

// WriteWord writes a word of a peer's memory behind all earlier stores of this process there. Where
// the write would overtake some, or no device reaches the word, the peer's handler gets the message
// m instead, and written is false.
func (t *Transport) WriteWord(peer transport.Peer, addr uintptr, value uint32,
	m transport.Msg) (written bool, err error) {
	g, err := t.targetOf(peer)
	if err != nil {
		return false, err
	}
	if err := g.lockConnected(); err != nil {
		return false, err
	}
	defer g.mu.Unlock()
	if written, err = g.writeWord(addr, value); written || err != nil {
		return written, err
	}
	// acknowledged: the next word can be a write when this frame has been handled
	h := header{kind: kindSend, what: m.Kind, flags: flagAck,
		rank: uint32(t.routes.peers[peer].Rank),
		arg:  uint64(len(m.Body))}
	err = g.sendMessageFrames(nil, &h, &m, transport.Now)
	g.tx.counters.lastNotify = g.tx.sentFrames
	g.closeFastPath()
	return false, err
}

// writeWord writes a word by the device. It returns false if the device cannot, or if frames must
// be handled first: stores, updates, and messages, since some of core's store. The caller holds mu.
func (g *target) writeWord(addr uintptr, value uint32) (written bool, err error) {
	w, ok := g.tx.ep.(transport.WordEndpoint)
	if !ok || !g.hasHandled(max(g.tx.lastStore, g.tx.lastUpdate, g.tx.counters.lastMessage)) {
		return false, nil
	}
	r, err := g.lookupKey(addr, nil)
	if errors.Is(err, transport.ErrNotNative) || errors.Is(err, transport.ErrBadAddr) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := w.WriteWord(addr, r.Key, value); err != nil {
		return false, g.failAfterReading(err)
	}
	return true, nil
}
