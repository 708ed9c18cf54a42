// SPDX-License-Identifier: BSD-3-Clause

// The lane (package lane) as a part of this transport: it uses the queue pairs of the wires for small puts and gets of
// memory that this process has been told of, while nothing that was stored by message is on its way there.
package rdma

import (
	"fmt"

	"libarmci/internal/rdma/lane"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

func (c *client) openLane() (err error) {
	if c.t.opt.Contiguous == buffered || c.t.opt.Contiguous == zerocopy { // forced
		return nil
	}
	if c.room, err = newPool(c.h.domain, 1, pageBytes); err != nil {
		return err
	}
	var sleep *verbs.Channel
	if c.t.spin <= 1 {
		sleep = c.h.channel
	}
	c.lane = lane.Open(c.h.cq, sleep, c.room.addr(0), c.room.region.LKey, inlineBytes)
	return nil
}

// Learn tells that an address lies in memory [lo, hi) of a peer that it has told this process of.
func (t *Transport) Learn(p transport.Peer, addr, lo, hi uintptr) {
	w, err := t.wire(p)
	if err != nil || t.client.lane == nil || w.lock() != nil {
		return
	}
	defer w.unlock()
	if k := w.keys.find(addr); k != nil && k.direct && w.settled() && w.pair.Inline >= lane.RoomBytes {
		t.client.lane.Learn(int(t.peers[p].Rank), addr, max(lo, k.lo), min(hi, k.hi), k.key, w.pair)
		w.learnt = true
	}
}

// Forget tells that memory of a peer is no more.
func (t *Transport) Forget(p transport.Peer) { t.client.lane.ForgetRank(int(t.peers[p].Rank)) }

// unlearn closes the lane to a node. The caller has the lock.
func (w *wire) unlearn() {
	if w.learnt {
		w.c.lane.ForgetPair(w.pair)
		w.learnt = false
	}
}

// Await waits for a get that C has posted and left to Go.
func (t *Transport) Await(p transport.Peer) error {
	w, err := t.wire(p)
	if err != nil {
		return err
	}
	t.client.await(func() bool { return t.client.lane.Answered() || w.broken.Load() != nil })
	if e := w.broken.Load(); e != nil {
		return *e
	}
	if !t.client.lane.Here() {
		return fmt.Errorf("a get of the lane: %w", transport.ErrPeerDead)
	}
	return nil
}

var _ transport.Lane = (*Transport)(nil)
var _ [transport.LaneBytes]byte = [lane.RoomBytes]byte{} // C has the same number
