// SPDX-License-Identifier: BSD-3-Clause

// Fences. A device's write has taken effect when the fabric says so (Reached). What was stored by
// frames has taken effect when the node says that it has handled so many of them, which every
// answer does; so has a message for a handler, unless it is unordered. So often there is nothing to
// ask; else all nodes are asked before the first is waited for.
package internode

import (
	"cmp"
	"math/rand/v2"

	"libarmci/internal/transport"
)

// mark is how far a target has to come.
type mark struct {
	g      *target
	l      *link // the connection; nil: there is none
	frames uint64
	writes uint64
}

// Fence waits until all earlier stores and messages to these peers have taken effect. It begins
// with any peer: when everybody fences, not all begin with the same.
func (t *Transport) Fence(ps ...transport.Peer) (first error) {
	var one [1]mark // a fence of one peer allocates nothing
	var seen []bool
	marks, begin := one[:0], 0
	if len(ps) > 1 {
		seen, begin = make([]bool, len(t.targets)), rand.IntN(len(ps))
	}
	for i := range ps {
		g, err := t.target(ps[(begin+i)%len(ps)])
		if err == nil && (seen == nil || !seen[g.number]) {
			var m mark
			if m, err = g.mark(); err == nil {
				marks = append(marks, m)
			}
			if seen != nil {
				seen[g.number] = true
			}
		}
		first = cmp.Or(first, err)
	}
	for _, m := range marks {
		first = cmp.Or(first, m.wait())
	}
	return first
}

// mark notes what has been posted, and asks the node where it must.
func (g *target) mark() (m mark, err error) {
	m.g = g
	if err := g.lost(); err != nil && !g.bye.Load() {
		return m, err
	}
	l := g.link.Load()
	if l == nil && g.queue.length.Load() == 0 {
		return m, nil
	}
	m.frames = g.posted.Load()
	parts := l != nil && l.state.Load() != linked // which is a fence
	if g.queue.length.Load() > 0 || !g.reached(m.frames) && !parts {
		if err := g.lock(); err != nil { // which sends what is queued
			return m, err
		}
		m.frames = g.posted.Load()
		err = g.askFence(m.frames)
		g.mu.Unlock()
		if err != nil {
			return m, err
		}
	} else if g.mu.TryLock() {
		g.countFence()
		g.mu.Unlock()
	}
	if m.l = g.link.Load(); m.l != nil && m.l.direct != nil {
		m.writes = m.l.direct.Mark()
	}
	return m, nil
}

// askFence sees to it that the node tells when a frame has been handled, and all before it. The
// caller has the lock.
func (g *target) askFence(number uint64) error {
	g.countFence()
	if g.reached(number) {
		return nil
	}
	if g.told >= number { // it will, if it gets what was put off
		g.sendDeferred()
		return nil
	}
	if err := g.credit(); err != nil {
		return err
	}
	g.told = g.sent
	return g.send(nil, &header{kind: kindFence, flags: flagAck, rank: uint32(g.server)}, nil,
		nil, 0, transport.Now)
}

// countFence looks at what a fence is for: where it is for one transfer, the next one is expected
// to be fenced too, and asks for that itself. The caller has the lock.
func (g *target) countFence() {
	if g.stores > 0 {
		g.fenced, g.stores = g.stores == 1, 0
	}
}

// wait blocks until the target has come so far, and tells what the node has refused meanwhile.
func (m mark) wait() (err error) {
	g := m.g
	if err = g.lost(); err == nil && m.l != nil && !m.reached() {
		err = g.awaitAt(m.l.poller, m.reached)
	}
	if err != nil && !g.bye.Load() {
		return err
	}
	if e := g.refused.Swap(nil); e != nil {
		return *e
	}
	return nil
}

// reached tells whether it has. What was sent before a connection was given back has taken effect.
func (m mark) reached() bool {
	return m.g.reached(m.frames) && (m.l == nil || m.l.direct == nil ||
		m.l.direct.Reached(m.writes) || m.l.state.Load() == parted)
}
