// SPDX-License-Identifier: BSD-3-Clause

// A connection of a target, from the time it is made until it is closed. It is made on first use,
// and again on the next use after its release (release.go).
package internode

import (
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// link is a connection to a target. ep, direct and poller are set before target.link points to it.
type link struct {
	ep       transport.OriginEndpoint
	direct   transport.DirectEndpoint // ep, if that is one; else nil
	poller   *poller                  // polls the source of ep's frames
	receiver answerReceiver           // the frame that is coming; of the poller's owner

	state        linkState
	releaseAsked atomic.Bool // progressThread.releases has it (release.go)

	// Of the progress thread.
	seenUses  uint32    // uses of the target when it was last looked at
	idleSince time.Time // when they last changed
	giveUpAt  time.Time // when the thread stops waiting for the target to be idle
	nextLook  time.Time
}

// linkState is how far the release of a connection is. linkOpen changes under the target's mu.
type linkState struct{ atomic.Int32 }

// Values of a linkState, in the order in which a link goes through them.
const (
	linkOpen = iota // frames travel both ways
	// the server was told that no frame follows; its acknowledgement has yet to come
	linkReleasing
	// the server has acknowledged: all that was sent has taken effect, and no frame comes any
	// more
	linkReleased
)

// ensureConnected connects a target that has no open connection, and refuses a lost one. The caller
// holds mu.
func (g *target) ensureConnected() error {
	g.tx.useCount++
	err := g.loss.err()
	if l := g.link.Load(); err != nil || l != nil && l.state.Load() == linkOpen {
		return err
	}
	return g.openLink()
}

// openLink makes a connection. If one is being released, it waits until the server has acknowledged
// that. The caller holds mu.
func (g *target) openLink() error {
	before := g.link.Load()
	if before != nil {
		if err := g.awaitLocked(
			func() bool { return before.state.Load() == linkReleased }); err != nil {
			return err
		}
		before.detach(g)
	}
	l := new(link)
	l.receiver.target, l.receiver.link, l.receiver.earlierFrames = g, l, uint32(g.tx.sentFrames)
	ep, err := g.dialServer(l)
	if err != nil {
		return g.markLost(err)
	}
	l.ep, l.poller = ep, g.t.pollers.attach(ep.Source())
	l.direct, _ = ep.(transport.DirectEndpoint)
	g.tx.ep, g.tx.direct, g.tx.poller, g.tx.maxBody = ep, l.direct, l.poller, maxBody(ep)
	if g.tx.buf.xfer == nil {
		g.tx.buf.xfer = new(transfer)
	}
	g.watch.mu.Lock()
	g.link.Store(l)
	g.tx.poller.sleepers.Add(g.watch.sleepers)
	g.watch.mu.Unlock()
	g.tx.poller.leaveToThread()
	g.t.thread.limitOutgoing(g)
	return nil
}

// A node that was connected to before is there, most likely, though it may have no room for a
// moment: connecting to it is tried again.
const (
	maxDials    = 3
	redialDelay = 20 * time.Millisecond
)

// dialServer connects to the node's data server, several times if the target was connected before.
// It blocks, and sleeps between the tries. The caller holds mu meanwhile.
func (g *target) dialServer(l *link) (ep transport.OriginEndpoint, err error) {
	tries := 1
	if g.tx.sentFrames > 0 {
		tries = maxDials
		g.t.conns.counts.reconnected.Add(1)
		g.tx.idle.recordReconnect(time.Now())
	}
	for i := range tries {
		begin := time.Now()
		if ep, err = g.t.fabric.Dial(g.serverRank, g.addr, &l.receiver); err == nil ||
			g.loss.failure.Load() != nil || g.t.life.closing.Load() ||
			time.Since(begin) > g.t.opt.Timeout/2 {
			return ep, err
		}
		time.Sleep(redialDelay << i)
	}
	return nil, err
}

// detach takes a released connection from the target; the progress thread closes it. The caller
// holds the target's mu, and detach locks watch.mu.
func (l *link) detach(g *target) {
	g.watch.mu.Lock()
	g.link.Store(nil)
	l.poller.sleepers.Add(-g.watch.sleepers - 1) // and the one of startRelease
	g.watch.mu.Unlock()
	g.tx.ep, g.tx.direct, g.tx.poller = nil, nil, nil
	g.watch.unconnectedWaits.Store(0)
	g.tx.idle.releasedAt = time.Now()
	g.t.conns.outgoing.removeConn(g)
	g.t.thread.queueClose(l)
}

// attach returns the poller of a source and counts one more link for it. It locks mu.
func (s *pollerSet) attach(src transport.Source) *poller {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pollerOf(src)
	p.links++
	return p
}

// closeLink closes a released connection, and its poller if no other link has that. Only the
// progress thread calls it, which does not poll meanwhile, or Close after the thread has ended. It
// locks mu.
func (s *pollerSet) closeLink(l *link) {
	p := l.poller
	s.mu.Lock()
	if p.links--; p.links == 0 {
		p.close() // nothing is open, so no thread stays in it
		// not before: a connection that shares the source would poll it by another poller
		s.bySource.Delete(p.src)
	}
	s.mu.Unlock()
	l.ep.Close(0)
}

// awaitLocked polls until done, or until the target is lost. Meanwhile it sends deferred frames,
// and the pulses that are due, since no other thread can. The caller holds mu.
func (g *target) awaitLocked(done func() bool) error {
	for met := false; !met; {
		err := g.awaitUnlocked(g.tx.poller, func() bool {
			g.tx.flushDeferred()
			met = done()
			return met || g.progress.pulseDue.Load()
		})
		if err != nil {
			return err
		}
		if g.progress.pulseDue.Swap(false) {
			g.tx.ep.Pulse()
		}
	}
	return nil
}

// awaitUnlocked is awaitLocked for a caller that does not hold mu, and so names the poller.
func (g *target) awaitUnlocked(p *poller, done func() bool) error {
	p.pollUntil(func() bool { return done() || g.loss.failure.Load() != nil })
	return g.loss.err()
}
