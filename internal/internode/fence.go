// SPDX-License-Identifier: BSD-3-Clause

// Fences. A device's write has taken effect when the fabric says so (Reached). A store by frames
// has taken effect when the server says that it has handled the frame, which each answer does; so
// has an ordered message. Often there is nothing to ask, then. Else all servers are asked before
// the first answer is waited for.
package internode

import (
	"cmp"
	"math/rand/v2"

	"libarmci/internal/transport"
)

// fenceMark is how far a target must come before a fence is complete.
type fenceMark struct {
	target *target
	link   *link  // the connection; nil: there is none
	frames uint64 // frames that must have been handled
	writes uint64 // the device's writes, as DirectEndpoint.Mark counts them
}

// Fence waits until all earlier stores and messages to these peers have taken effect. It begins
// with any peer, so that ranks that fence at once do not all ask the same one first.
func (t *Transport) Fence(ps ...transport.Peer) (first error) {
	var one [1]fenceMark // so that a fence of one peer allocates nothing
	var seen []bool
	marks, begin := one[:0], 0
	if len(ps) > 1 {
		seen, begin = make([]bool, len(t.routes.targets)), rand.IntN(len(ps))
	}
	for i := range ps {
		g, err := t.targetOf(ps[(begin+i)%len(ps)])
		if err == nil && (seen == nil || !seen[g.index]) {
			var m fenceMark
			if m, err = g.startFence(); err == nil {
				marks = append(marks, m)
			}
			if seen != nil {
				seen[g.index] = true
			}
		}
		first = cmp.Or(first, err)
	}
	for _, m := range marks {
		first = cmp.Or(first, m.wait())
	}
	return first
}

// startFence records what has been posted, and asks the server for an acknowledgement where that is
// needed. It locks mu if so. The caller waits for the mark.
func (g *target) startFence() (m fenceMark, err error) {
	m.target = g
	if err := g.loss.err(); err != nil && !g.loss.goodbye.Load() {
		return m, err
	}
	// before the rest: a sender may send what is queued meanwhile
	queued := g.queue.length.Load() > 0
	l := g.link.Load()
	if l == nil && !queued {
		return m, nil
	}
	m.frames = g.progress.fenceFrame.Load()
	releasing := l != nil && l.state.Load() != linkOpen // its acknowledgement is a fence
	if queued || !g.hasHandled(m.frames) && !releasing {
		if err := g.lockConnected(); err != nil { // sends what is queued, too
			return m, err
		}
		m.frames = g.progress.fenceFrame.Load()
		err = g.requestAck(m.frames)
		g.mu.Unlock()
		if err != nil {
			return m, err
		}
	} else if g.mu.TryLock() {
		g.tx.fences.recordFence()
		g.mu.Unlock()
	}
	if m.link = g.link.Load(); m.link != nil && m.link.direct != nil {
		m.writes = m.link.direct.Mark()
	}
	return m, nil
}

// requestAck sees to it that the server tells when it has handled a frame, and so all before it.
// The caller holds mu.
func (g *target) requestAck(number uint64) error {
	g.tx.fences.recordFence()
	if g.hasHandled(number) {
		return nil
	}
	if g.tx.ackRequested >= number { // the request may have been deferred
		if g.tx.deferral.pending.Load() {
			g.tx.deferral.recordPiggybacked()
			g.tx.flushDeferred()
		}
		return nil
	}
	if err := g.acquireCredit(); err != nil {
		return err
	}
	g.tx.ackRequested = g.tx.sentFrames
	h := header{kind: kindFence, flags: flagAck, rank: uint32(g.serverRank)}
	return g.sendFrame(nil, &h, nil, nil, 0, transport.Now)
}

// recordFence adapts the prediction of fences: where this one is for one store, the next store asks
// for its acknowledgement itself.
func (f *fencePattern) recordFence() {
	if f.stores > 0 {
		f.afterEach, f.stores = f.stores == 1, 0
	}
}

// wait blocks until the target has come as far as the mark. It returns what the server has refused
// meanwhile.
func (m fenceMark) wait() (err error) {
	g := m.target
	if err = g.loss.err(); err == nil && m.link != nil && !m.hasTakenEffect() {
		err = g.awaitUnlocked(m.link.poller, m.hasTakenEffect)
	}
	if err != nil && !g.loss.goodbye.Load() {
		return err
	}
	if e := g.loss.refusal.Swap(nil); e != nil {
		return *e
	}
	return nil
}

// hasTakenEffect reports whether the target has come as far as the mark. What was sent before a
// connection was released has taken effect.
func (m fenceMark) hasTakenEffect() bool {
	return m.target.hasHandled(m.frames) && (m.link == nil || m.link.direct == nil ||
		m.link.direct.Reached(m.writes) || m.link.state.Load() == linkReleased)
}
