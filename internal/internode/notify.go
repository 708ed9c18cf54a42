// SPDX-License-Identifier: BSD-3-Clause

// Notifications by the device: a notify counter of the target has one writer, so the origin's
// device writes it, on the same connection as the data before it. Who looks at the counter sees it
// without the data server's help.
package internode

import "libarmci/internal/transport"

// Whose ranges kindRanges asks for where it does not give the address of an allocation.
const (
	scratchRanges = 0
	counterRanges = 1
)

// counters is the memory of a node's notify counters.
type counters struct {
	asked bool
	at    transport.Range // Hi = 0: no device reaches them
	sent  uint64          // the frame of the latest notification that was a message
	// The frame of the latest ordered message that was no call. Some of core's store, which a
	// write of the device must not overtake, except those of notify counters.
	messages uint64
}

// Notifies tells whether there is a device that may write counters.
func (t *Transport) Notifies() bool { return t.direct != nil }

// Notify raises my counter at a peer: by a write, or by a message where that would overtake
// something.
func (t *Transport) Notify(peer transport.Peer, kind uint8, count uint32) (at uintptr, err error) {
	g, err := t.target(peer)
	if err != nil {
		return 0, err
	}
	if err := g.lock(); err != nil {
		return 0, err
	}
	defer g.mu.Unlock()
	rank := t.peers[peer].Rank
	if at, err = g.writeCounter(rank, count); at != 0 || err != nil {
		return at, err
	}
	// The next one can be a write when this has been handled.
	h := header{kind: kindSend, what: kind, flags: flagAck, rank: uint32(rank)}
	err = g.sendParts(nil, &h, &transport.Msg{}, transport.Now)
	g.counters.sent = g.sent
	g.dropFast()
	return 0, err
}

// writeCounter writes my notify counter at a rank, and says where that is. 0: no device reaches it,
// or frames are on their way that have to be handled first: those that store, and an earlier
// notification. The caller has the lock.
func (g *target) writeCounter(rank transport.Rank, count uint32) (uintptr, error) {
	w, ok := g.ep.(transport.WordEndpoint)
	if !ok || !g.reached(max(g.stored, g.counters.sent)) {
		return 0, nil
	}
	addr, err := g.counter(rank)
	if err != nil || addr == 0 {
		return 0, err
	}
	if err := w.WriteWord(addr, g.counters.at.Key, count); err != nil {
		return 0, g.failPosting(err)
	}
	if g.t.fast != nil { // the next one is C's
		all := g.counters.at
		whole := transport.Span{Lo: all.Lo, Hi: all.Hi}
		g.t.fast.CacheRange(g.ep, rank, addr, all, whole, g.serves)
		g.learnt = true
	}
	return addr, nil
}

// counter is the address of my notify counter at a rank, 0 if no device reaches it. The caller has
// the lock.
func (g *target) counter(rank transport.Rank) (uintptr, error) {
	c, o := &g.counters, &g.t.opt
	if !c.asked {
		list, err := g.askRanges(counterRanges, nil)
		if err != nil {
			return 0, err
		}
		c.asked = true
		if len(list) == 1 && list[0].Direct {
			c.at = list[0]
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
	addr := c.at.Lo + 4*uintptr(local*world+int(o.Me))
	if c.at.Hi == 0 || addr+4 > c.at.Hi {
		return 0, nil
	}
	return addr, nil
}

// counterRange is the registered memory of this node's counters.
func (t *Transport) counterRange() []transport.Range {
	lo, n := t.opt.Node.Counters()
	if n == 0 {
		return nil
	}
	list := t.direct.Expose(lo, n)
	if len(list) != 1 {
		return nil
	}
	return []transport.Range{{Lo: lo, Hi: min(lo+uintptr(n), list[0].Hi), Key: list[0].Key,
		Direct: list[0].Direct}}
}

var _ transport.Notifier = (*Transport)(nil)
