// SPDX-License-Identifier: BSD-3-Clause

// Notifications by the device: a notify counter of the target has one writer, so the origin's device writes it, on the same
// connection as the data before it. Who looks at the counter sees it without the data server's help; the server is told of the
// write, and wakes who sleeps.
package internode

import (
	"fmt"

	"libarmci/internal/transport"
)

// Whose ranges kindRanges asks for where it does not give the address of an allocation.
const (
	scratchRanges = 0
	counterRanges = 1
)

// kindShift is where the kind of a signal's message is, behind the target's rank.
const kindShift = 24

// counters is the memory of a node's notify counters.
type counters struct {
	asked bool
	at    transport.Range // Hi = 0: no device reaches them
}

// Notify writes my counter at a peer.
func (t *Transport) Notify(peer transport.Peer, kind uint8, count uint32) (bool, error) {
	rank := t.peers[peer].Rank
	g, err := t.target(peer)
	if err != nil || t.direct == nil || rank >= 1<<kindShift {
		return false, err
	}
	if err := g.lock(); err != nil {
		return false, err
	}
	defer g.mu.Unlock()
	s, ok := g.ep.(transport.SignalEndpoint)
	if !ok || !g.reached(g.posted.Load()) {
		return false, nil
	}
	addr, err := g.counter(rank)
	if err != nil || addr == 0 {
		return false, err
	}
	if err := g.credit(); err != nil {
		return false, err
	}
	if err := s.Signal(addr, g.counters.at.Key, count, uint32(kind)<<kindShift|uint32(rank)); err != nil {
		return false, g.failPosting(err)
	}
	return true, nil
}

// counter is the address of my notify counter at a rank, 0 if no device reaches it. The caller has the lock.
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
	return []transport.Range{{Lo: lo, Hi: min(lo+uintptr(n), list[0].Hi), Key: list[0].Key, Direct: list[0].Direct}}
}

// Signalled tells the handler that a counter has been written.
func (o *origin) Signalled(signal uint32) error {
	rank := transport.Rank(signal & (1<<kindShift - 1))
	if o.s.t.opt.Local(rank) < 0 {
		return fmt.Errorf("%w: a signal for rank %d, which is not on this node", errProtocol, rank)
	}
	o.s.t.opt.Handle(o.from, rank, transport.Msg{Kind: uint8(signal >> kindShift)}, nil)
	o.handled.Add(1)
	o.acknowledge()
	return nil
}

var (
	_ transport.Notifier       = (*Transport)(nil)
	_ transport.SignalReceiver = (*origin)(nil)
)
