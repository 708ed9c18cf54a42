// SPDX-License-Identifier: BSD-3-Clause

// Notifications by the device. A notify counter of the target has one writer, so the origin's
// device writes it, on the same connection as the data before it. A thread that polls the counter
// needs no help of the data server.
package internode

import "libarmci/internal/transport"

// What kindRanges asks for instead of the address of an allocation.
const (
	scratchRangesID = 0
	counterRangesID = 1
)

// counterState is what an origin knows of a node's notify counters, and of messages that a write of
// the device must not overtake. The target's mu guards it.
type counterState struct {
	asked      bool            // memory is valid
	memory     transport.Range // Hi = 0: no device reaches the counters
	lastNotify uint64          // frame of the last notification that was a message
	// frame of the last ordered message that was no call: some of core's store, except those of
	// notify counters
	lastMessage uint64
}

// Notifies reports whether there is a device that may write counters.
func (t *Transport) Notifies() bool { return t.direct != nil }

// Notify raises this rank's counter at a peer. A write of the device does that, or a message where
// the write would overtake a store. It returns the address of the counter, or 0 if it sent a
// message.
func (t *Transport) Notify(peer transport.Peer, kind uint8, count uint32) (at uintptr, err error) {
	g, err := t.targetOf(peer)
	if err != nil {
		return 0, err
	}
	if err := g.lockConnected(); err != nil {
		return 0, err
	}
	defer g.mu.Unlock()
	rank := t.routes.peers[peer].Rank
	if at, err = g.writeCounter(rank, count); at != 0 || err != nil {
		return at, err
	}
	// acknowledged: the next notification can be a write when this frame has been handled
	h := header{kind: kindSend, what: kind, flags: flagAck, rank: uint32(rank)}
	err = g.sendMessageFrames(nil, &h, &transport.Msg{}, transport.Now)
	g.tx.counters.lastNotify = g.tx.sentFrames
	g.closeFastPath()
	return 0, err
}

// writeCounter writes this rank's notify counter at a rank, and returns its address. It returns 0
// if no device reaches it, or if frames must be handled first: stores, updates, and an earlier
// notification.
// The caller holds mu.
func (g *target) writeCounter(rank transport.Rank, count uint32) (uintptr, error) {
	w, ok := g.tx.ep.(transport.WordEndpoint)
	if !ok || !g.hasHandled(max(g.tx.lastStore, g.tx.lastUpdate, g.tx.counters.lastNotify)) {
		return 0, nil
	}
	addr, err := g.counterAddr(rank)
	if err != nil || addr == 0 {
		return 0, err
	}
	if err := w.WriteWord(addr, g.tx.counters.memory.Key, count); err != nil {
		return 0, g.failAfterReading(err)
	}
	if g.t.fast != nil { // C sends the next notification
		all := g.tx.counters.memory
		whole := transport.Span{Lo: all.Lo, Hi: all.Hi}
		g.t.fast.CacheRange(g.tx.ep, rank, addr, all, whole, g.progress.server)
		g.tx.fastPathOpen = true
	}
	return addr, nil
}

// counterAddr returns the address of this rank's notify counter at a rank, or 0 if no device
// reaches it. It asks the server once, so it may poll. The caller holds mu.
func (g *target) counterAddr(rank transport.Rank) (uintptr, error) {
	c, o := &g.tx.counters, &g.t.opt
	if !c.asked {
		list, err := g.askRanges(counterRangesID, nil)
		if err != nil {
			return 0, err
		}
		c.asked = true
		if len(list) == 1 && list[0].Direct {
			c.memory = list[0]
		}
	}
	world, local := 0, 0
	for n, ranks := range o.Nodes {
		world += len(ranks)
		if n == g.node {
			for local < len(ranks) && ranks[local] != rank {
				local++
			}
		}
	}
	addr := c.memory.Lo + 4*uintptr(local*world+int(o.Me))
	if c.memory.Hi == 0 || addr+4 > c.memory.Hi {
		return 0, nil
	}
	return addr, nil
}

// counterRange returns the registered memory of this node's counters.
func (o *origin) counterRange() []transport.Range {
	t := o.server.t
	lo, n := t.opt.Node.Counters()
	if n == 0 {
		return nil
	}
	list := t.direct.RegisterForPeers(lo, n)
	if len(list) != 1 {
		return nil
	}
	return []transport.Range{{Lo: lo, Hi: min(lo+uintptr(n), list[0].Hi), Key: list[0].Key,
		Direct: list[0].Direct}}
}

var _ transport.Notifier = (*Transport)(nil)
