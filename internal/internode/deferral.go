// SPDX-License-Identifier: BSD-3-Clause

// Frames that the endpoint has deferred, to send them with the next one; and when they leave if no
// next one comes.
package internode

import (
	"sync/atomic"
	"time"
)

// deferral is about frames that the endpoint has deferred, to send them with the next one. It is
// changed under the target's mu; pending and due are read without it.
type deferral struct {
	piggybacked int          // how often the caller lately came in time for deferred frames
	pending     atomic.Bool  // the endpoint has deferred frames
	due         atomic.Int64 // when the progress thread sends them, in ns since began
}

// A caller that defers a frame usually sends another one soon, such as a notification, which takes
// the first along. Then the progress thread is better left asleep. Where all frames were taken
// along lately, even an alarm each millisecond costs a tenth of the time of a put with
// notification.
const (
	usuallyPiggybacked = 4 // from this value of piggybacked on the caller is waited for
	maxPiggybacked     = 32
	longFlushDelay     = time.Millisecond
	longestFlushDelay  = 8 * time.Millisecond // where piggybacked is maxPiggybacked
)

// flushDelay returns how long the progress thread leaves deferred frames or queued stores to the
// caller.
func flushDelay(taken int) time.Duration {
	if taken == maxPiggybacked {
		return longestFlushDelay
	}
	return longFlushDelay
}

// recordDeferral records that the last frame was deferred, and has the progress thread flush it in
// time; or that it took deferred frames along. The caller holds mu.
func (g *target) recordDeferral(deferred bool) {
	g.tx.deferral.pending.Store(deferred)
	if deferred {
		g.t.routes.anyDeferred.Store(true)
	}
	if !deferred {
		g.tx.deferral.recordPiggybacked()
		return
	}
	d := g.t.info.Tick
	if g.tx.deferral.piggybacked >= usuallyPiggybacked {
		d = flushDelay(g.tx.deferral.piggybacked)
	}
	g.tx.deferral.due.Store(g.t.thread.scheduleFlush(d))
}

// recordPiggybacked records that the caller came in time for deferred frames.
func (d *deferral) recordPiggybacked() {
	d.piggybacked = min(d.piggybacked+1, maxPiggybacked)
}

// flushDeferred sends deferred frames as far as that does not block. The caller holds the target's
// mu.
func (s *sendState) flushDeferred() {
	if s.deferral.pending.Load() {
		s.deferral.pending.Store(s.ep.Flush())
	}
}

// tryFlush sends deferred frames unless another thread holds mu. It reports whether some are left.
func (g *target) tryFlush() (left bool) {
	if g.tx.deferral.pending.Load() && g.mu.TryLock() {
		g.tx.flushDeferred()
		g.mu.Unlock()
	}
	return g.tx.deferral.pending.Load() && g.loss.failure.Load() == nil
}

// flushIfDue sends deferred frames that no caller has sent in time. The progress thread calls it,
// and again after the returned time; negative: nothing is left.
func (g *target) flushIfDue(now int64) (left time.Duration) {
	if !g.tx.deferral.pending.Load() {
		return -1
	}
	if due := g.tx.deferral.due.Load(); due > now {
		return time.Duration(due - now)
	}
	if g.mu.TryLock() {
		g.tx.deferral.piggybacked /= 4
		g.mu.Unlock()
	}
	if g.tryFlush() {
		return g.t.info.Tick
	}
	return -1
}

// flushAll sends the deferred frames of all targets. A caller that is about to wait calls it, since
// it sends no further frame that would take them along.
func (s *routes) flushAll() {
	if !s.anyDeferred.Load() || !s.anyDeferred.Swap(false) {
		return
	}
	for _, g := range s.targets {
		if g.tryFlush() {
			s.anyDeferred.Store(true)
		}
	}
}
