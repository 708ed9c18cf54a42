// SPDX-License-Identifier: BSD-3-Clause

// Giving connections back, so that their number stays bounded in large jobs (bound.go). The steps:
//
//	server   asks an origin to part (kindRelease), or the origin has too many connections itself
//	origin   when nothing is open and nothing was posted for a moment: says that it parts (kindPart); now nothing is posted
//	server   has handled all that was sent; sends messages to this origin by other ways from now on, and says so (kindParted)
//	origin   closes the connection, and connects again when it next has something to send
//
// kindPart comes behind everything that was sent, and kindParted behind every answer and message,
// so nothing is lost, doubled or overtaken, and kindParted confirms all stores. What the origin
// knows of the node's memory stays. A node is not asked whether it agrees: an origin that wants to
// go on while it is parting waits for kindParted.
//
// This is the origin's side. The progress thread parts, since the caller computes, perhaps.
package internode

import (
	"time"

	"libarmci/internal/transport"
)

const (
	leastQuiet = 300 * time.Microsecond // about what it costs to connect again
	mostQuiet  = 40 * time.Millisecond
	// a process that connects again so soon should have waited
	regretTime = 50 * time.Millisecond
)

// quiet is for how long nothing must have been posted before a connection counts as idle: longer
// each time that it was given back too early. So where all connections are in use there are more
// than there should be, but they do not come and go all the time.
type quiet struct {
	steps  int // it is doubled so often
	parted time.Time
}

// again notes that the connection is made again.
func (q *quiet) again(now time.Time) {
	if now.Sub(q.parted) < regretTime {
		q.steps++
	} else {
		q.steps /= 2
	}
}

// time is how long it is.
func (q *quiet) time() time.Duration {
	return min(leastQuiet<<min(q.steps, 20), mostQuiet)
}

// release is told that a connection should be given back when it is idle. Any thread.
func (h *thread) release(l *link) {
	if l.state.Load() != linked || l.asked.Swap(true) {
		return
	}
	h.mu.Lock()
	h.asked = append(h.asked, l)
	h.mu.Unlock()
	h.wake()
}

// closeSoon has a connection closed.
func (h *thread) closeSoon(l *link) {
	h.mu.Lock()
	h.parted = append(h.parted, l)
	h.mu.Unlock()
	h.wake()
}

// part gives back what can be, and closes what was.
func (h *thread) part() {
	h.mu.Lock()
	asked, closing := h.asked, h.parted
	h.asked, h.parted = nil, nil
	h.mu.Unlock()
	if len(asked) > 0 {
		now := time.Now()
		rest := asked[:0]
		h.due = now.Add(askAgain)
		for _, l := range asked {
			if now.Before(l.due) && l.state.Load() != parted ||
				l.answer.g.partIfIdle(l, now) {
				rest = append(rest, l)
				if l.due.Before(h.due) {
					h.due = l.due
				}
			}
		}
		h.mu.Lock()
		h.asked = append(rest, h.asked...)
		h.mu.Unlock()
	}
	h.closeParted(closing)
}

// closeParted closes connections that were given back, as far as the list goes and what was added
// meanwhile.
func (h *thread) closeParted(list []*link) {
	for _, l := range list {
		h.t.free(l)
	}
}

// partIfIdle gives a connection back that was asked for; false when it has been, or when it is
// needed.
func (g *target) partIfIdle(l *link, now time.Time) (later bool) {
	l.due = now.Add(leastQuiet)
	if !g.mu.TryLock() {
		return true
	}
	defer g.mu.Unlock()
	state := l.state.Load() // once: a thread that polls may make it parted at any moment
	switch wait := g.t.quietTime(&g.quiet); {
	case g.link.Load() != l || g.broken.Load() != nil || g.t.closing.Load():
		return false
	case state == parted:
		g.detach(l)
		return false
	case state == parting:
	case l.until.IsZero():
		l.seen, l.since, l.until, l.due = g.uses, now, now.Add(askAgain), now.Add(wait)
	case now.After(l.until): // the server asks again if it wants it back
		l.until = time.Time{}
		l.asked.Store(false)
		return false
	case l.seen != g.uses:
		l.seen, l.since, l.due = g.uses, now, now.Add(wait)
	case now.Sub(l.since) >= wait && g.idle():
		g.part(l)
	}
	return true
}

// quietTime is how long nothing must have been posted.
func (t *Transport) quietTime(q *quiet) time.Duration {
	if t.restless.Load() {
		return leastQuiet
	}
	return q.time()
}

// idle tells whether nothing is open at a target. C may no longer post anything there. The caller
// has the lock.
func (g *target) idle() bool {
	g.poller.pollOnce() // no other thread does, perhaps
	if credits := uint64(g.t.info.Credits); credits > 0 && g.sent-g.handled.Load() >= credits {
		return false // kindPart would have to wait
	}
	if g.queue.length.Load() > 0 || g.deferred.Load() || !g.table.empty() ||
		g.waitedFor(&g.sleepers) {
		return false
	}
	g.dropFast()
	if g.t.fast != nil {
		g.t.fast.DropPeers(g.ep)
	}
	return (g.t.fast == nil || !g.t.fast.EndpointOpen(g.ep)) &&
		(g.direct == nil || g.direct.Reached(g.direct.Mark()))
}

// part tells the node that nothing follows on a connection, once. The caller has the lock.
func (g *target) part(l *link) {
	if l.state.Load() != linked || g.credit() != nil {
		return
	}
	l.state.Store(parting) // only the holder of the lock changes linked
	l.poller.asleep.Add(1) // the thread polls until the answer has come
	g.t.counts.parted.Add(1)
	if g.send(nil, &header{kind: kindPart, rank: uint32(g.server)}, nil, nil, 0,
		transport.Now) == nil {
		g.t.thread.attend(l.poller)
	}
}

// waitedFor tells whether a thread sleeps until a message comes: over the connection, if there is
// one, by which also the node's death is noticed.
func (g *target) waitedFor(who *int32) bool {
	g.connects.Lock()
	defer g.connects.Unlock()
	return *who > 0
}

// shed is told of a new connection of this process.
func (t *Transport) shed(g *target) {
	for _, other := range t.outgoing.join(g) {
		if l := other.link.Load(); l != nil {
			t.thread.release(l)
		}
	}
}

// usesOf changes when a target is used.
func usesOf(g *target) uint32 {
	if !g.mu.TryLock() { // it is used just now
		return g.met.Add(1)
	}
	defer g.mu.Unlock()
	return g.uses + g.met.Load()
}
