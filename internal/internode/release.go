// SPDX-License-Identifier: BSD-3-Clause

// Graceful release of connections, so that their number stays bounded in large jobs (connlimit.go).
// The steps:
//
//	server   asks an origin to release (kindReleaseRequest), or the origin has too many itself
//	origin   waits until nothing is open and nothing was posted for a moment; then it says that
//	         no frame follows (kindReleaseStart), and posts nothing more
//	server   has handled all that was sent; messages to this origin take other ways from now on;
//	         it says so (kindReleaseAck)
//	origin   closes the connection, and connects again when it next has something to send
//
// kindReleaseStart comes behind all frames that were sent, and kindReleaseAck behind each answer
// and message. So nothing is lost, doubled or overtaken, and kindReleaseAck confirms all stores.
// The keys of the node's memory stay valid. An origin that wants to post while it is releasing
// waits for kindReleaseAck.
//
// This is the origin's side. The progress thread releases connections, since callers may be
// computing.
package internode

import (
	"time"

	"libarmci/internal/transport"
)

const (
	minIdleTime = 300 * time.Microsecond // about what it costs to connect again
	maxIdleTime = 40 * time.Millisecond
	// a process that connects again after a shorter time should have waited
	earlyReconnect = 50 * time.Millisecond
)

// idlePeriod is how long nothing must have been posted before a connection counts as idle. It
// doubles each time that a connection was released too early, so that connections do not come and
// go all the time where all of them are in use.
type idlePeriod struct {
	doublings  int
	releasedAt time.Time
}

// recordReconnect adapts the period when the connection is made again: it doubles if that is soon
// after the release, else it is halved.
func (q *idlePeriod) recordReconnect(now time.Time) {
	if now.Sub(q.releasedAt) < earlyReconnect {
		q.doublings++
	} else {
		q.doublings /= 2
	}
}

// length returns the period.
func (q *idlePeriod) length() time.Duration {
	return min(minIdleTime<<min(q.doublings, 20), maxIdleTime)
}

// requestRelease has a connection released when it is idle. Any thread may call it; it locks the
// thread's mu.
func (h *progressThread) requestRelease(l *link) {
	if l.state.Load() != linkOpen || l.releaseAsked.Swap(true) {
		return
	}
	h.mu.Lock()
	h.releases = append(h.releases, l)
	h.mu.Unlock()
	h.wakeIfAsleep()
}

// queueClose has the progress thread close a released connection. It locks the thread's mu.
func (h *progressThread) queueClose(l *link) {
	h.mu.Lock()
	h.closing = append(h.closing, l)
	h.mu.Unlock()
	h.wakeIfAsleep()
}

// processReleases releases idle connections of those that were asked for, and closes the released
// ones.
func (h *progressThread) processReleases() {
	h.mu.Lock()
	asked, closing := h.releases, h.closing
	h.releases, h.closing = nil, nil
	h.mu.Unlock()
	if len(asked) > 0 {
		now := time.Now()
		rest := asked[:0]
		h.releaseDue = now.Add(askAgain)
		for _, l := range asked {
			if now.Before(l.nextLook) && l.state.Load() != linkReleased ||
				l.releaseIfIdle(l.receiver.target, now) {
				rest = append(rest, l)
				if l.nextLook.Before(h.releaseDue) {
					h.releaseDue = l.nextLook
				}
			}
		}
		h.mu.Lock()
		h.releases = append(rest, h.releases...)
		h.mu.Unlock()
	}
	h.closeReleased(closing)
}

// closeReleased closes connections.
func (h *progressThread) closeReleased(list []*link) {
	for _, l := range list {
		h.t.pollers.closeLink(l)
	}
}

// releaseIfIdle starts the release of a connection that was asked for, if the target has been idle
// for long enough. It reports whether the progress thread must look again: false when the release
// is complete, or is no longer wanted. It only tries to lock the target's mu.
func (l *link) releaseIfIdle(g *target, now time.Time) (later bool) {
	l.nextLook = now.Add(minIdleTime)
	if !g.mu.TryLock() {
		return true
	}
	defer g.mu.Unlock()
	state := l.state.Load() // once: a polling thread may set linkReleased at any moment
	switch wait := g.t.conns.idleTimeOf(&g.tx.idle); {
	case g.link.Load() != l || g.loss.failure.Load() != nil || g.t.life.closing.Load():
		return false
	case state == linkReleased:
		l.detach(g)
		return false
	case state == linkReleasing:
	case l.giveUpAt.IsZero():
		l.seenUses, l.idleSince, l.giveUpAt, l.nextLook = g.tx.useCount, now,
			now.Add(askAgain), now.Add(wait)
	case now.After(l.giveUpAt): // the server asks again if it must
		l.giveUpAt = time.Time{}
		l.releaseAsked.Store(false)
		return false
	case l.seenUses != g.tx.useCount:
		l.seenUses, l.idleSince, l.nextLook = g.tx.useCount, now, now.Add(wait)
	case now.Sub(l.idleSince) >= wait && g.isIdle():
		l.startRelease(g)
	}
	return true
}

// idleTimeOf returns how long nothing must have been posted before a release.
func (c *connections) idleTimeOf(q *idlePeriod) time.Duration {
	if c.restless.Load() {
		return minIdleTime
	}
	return q.length()
}

// isIdle reports whether nothing is open at a target. It takes the keys from the C fast path, which
// may no longer post there. The caller holds mu.
func (g *target) isIdle() bool {
	g.tx.poller.pollOnce() // perhaps no other thread does
	if credits := uint64(g.t.info.Credits); credits > 0 &&
		g.tx.sentFrames-g.progress.handledFrames.Load() >= credits {
		return false // startRelease would have to wait for a credit
	}
	if g.queue.length.Load() > 0 || g.tx.deferral.pending.Load() || !g.requests.isEmpty() ||
		g.watch.hasWaiters(&g.watch.sleepers) {
		return false
	}
	g.closeFastPath()
	if g.t.fast != nil {
		g.t.fast.DropPeers(g.tx.ep)
	}
	return (g.t.fast == nil || !g.t.fast.HasOpenRequests(g.tx.ep)) &&
		(g.tx.direct == nil || g.tx.direct.Reached(g.tx.direct.Mark()))
}

// startRelease tells the server that no frame follows on the connection, once. The caller holds the
// target's mu and has found the target idle.
func (l *link) startRelease(g *target) {
	if l.state.Load() != linkOpen || g.acquireCredit() != nil {
		return
	}
	l.state.Store(linkReleasing) // linkOpen is changed under mu only
	l.poller.sleepers.Add(1)     // so the progress thread polls for the acknowledgement
	g.t.conns.counts.released.Add(1)
	h := header{kind: kindReleaseStart, rank: uint32(g.serverRank)}
	if g.sendFrame(nil, &h, nil, nil, 0, transport.Now) == nil {
		g.t.thread.requestAttentionNow(l.poller)
	}
}

// hasWaiters reports whether sleepers or connectors, of which count is one, is not zero. A message
// comes over the connection, if there is one, and so does the notice of the node's death. It locks
// mu.
func (w *watchState) hasWaiters(count *int32) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *count > 0
}

// limitOutgoing counts a new connection of this process, and has others released if there are too
// many.
func (h *progressThread) limitOutgoing(g *target) {
	for _, other := range h.t.conns.outgoing.addConn(g) {
		if l := other.link.Load(); l != nil {
			h.requestRelease(l)
		}
	}
}

// useCountOf returns a number that changes when a target is used. It does not wait for mu.
func useCountOf(g *target) uint32 {
	if !g.mu.TryLock() { // a thread is posting
		return g.contendedPosts.Add(1)
	}
	defer g.mu.Unlock()
	return g.tx.useCount + g.contendedPosts.Load()
}
