// SPDX-License-Identifier: BSD-3-Clause

// Progress by callers. A thread that waits for nonblocking operations, or for a message from a
// node's data server (kindMessage), polls itself, which is faster than a wake-up by the progress
// thread.
package internode

import (
	"time"

	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// Progress sends deferred frames, polls, and returns how often it found something. With a limit it
// waits for at most that long, and no longer than something is open.
func (t *Transport) Progress(limit time.Duration) (int, error) {
	var begin, deadline time.Time
	for {
		found, open := t.routes.flushPending(limit > 0)
		n, more, p := t.pollers.pollUnattended()
		found, open = found+n, open+more
		if found > 0 || limit <= 0 || open == 0 {
			return found, nil
		}
		if deadline.IsZero() {
			begin = time.Now()
			deadline = begin.Add(limit)
		}
		left := min(time.Until(deadline), time.Millisecond/time.Duration(open))
		switch {
		case left <= 0:
			return 0, nil
		case p == nil || time.Since(begin) < t.info.Patience:
			wait.Yield()
		case p.tryAcquire():
			p.src.Sleep(left)
			p.poll(1)
			p.release()
		default:
			time.Sleep(min(left, 20*time.Microsecond))
		}
	}
}

// flushPending sends deferred frames. It counts the targets with queued stores; if all is set it
// sends those, too.
func (s *routes) flushPending(all bool) (found, open int) {
	for _, g := range s.targets {
		g.tryFlush()
		if g.queue.length.Load() > 0 {
			open++
			if all && g.lockConnected() == nil { // has sent them
				g.mu.Unlock()
				found++
			}
		}
	}
	return found, open
}

// pollUnattended polls once each source on which requests are open that no caller waits for. It
// returns one of them.
func (s *pollerSet) pollUnattended() (found, open int, p *poller) {
	for _, next := range s.bySource.Range {
		if next := next.(*poller); next.unattended.Load() > 0 {
			open++
			p = next
			p.callerActive.Store(true)
			if p.pollOnce() {
				found++
			}
		}
	}
	return found, open, p
}

// waitsBeforeConnect is how often a thread waits for messages of a node that come by this node's
// data server. Then it connects to that node, so that they come over the connection.
const waitsBeforeConnect = 4

// Watch polls for a message from a peer's node until met, or for a while. If it gives up, the
// progress thread or the data server receives messages, until the caller calls end. It may lock the
// target's mu to connect.
func (t *Transport) Watch(peer transport.Peer, met func() bool, mayConnect bool) (end func()) {
	g := t.routes.byPeer[peer]
	if g.link.Load() == nil && mayConnect && len(g.addr) > 0 && !met() &&
		g.watch.unconnectedWaits.Add(1) > waitsBeforeConnect && !t.life.closing.Load() &&
		g.lockConnected() == nil {
		g.mu.Unlock() // lockConnected has connected
	}
	if l := g.link.Load(); l != nil && (l.pollForMessage(g, met) || l.sleepForMessage(g, met)) {
		return func() {}
	}
	t.routes.flushAll()
	begin := time.Now()
	l := g.countSleeper(1, mayConnect)
	if l != nil {
		t.thread.requestAttentionNow(l.poller)
	}
	return func() {
		if g.countSleeper(-1, mayConnect); l != nil {
			g.watch.patience.Slept(time.Since(begin))
		}
	}
}

// countSleeper changes the counts of threads that have stopped polling. It returns the connection
// that messages may come over, or nil. It locks watch.mu.
func (g *target) countSleeper(change int32, mayConnect bool) *link {
	g.watch.mu.Lock()
	defer g.watch.mu.Unlock()
	g.watch.sleepers += change
	if mayConnect {
		g.watch.connectors += change
	}
	l := g.link.Load()
	if l != nil {
		l.poller.sleepers.Add(change)
	}
	return l
}

// pollForMessage polls the connection, and the listener, until met. It returns false if that takes
// too long.
func (l *link) pollForMessage(g *target, met func() bool) (found bool) {
	var v transport.Visit
	var crowd wait.Crowd
	defer func() { g.t.LeaveIncoming(&v, found) }()
	looks, vain := g.watch.patience.Begin(0), 0
	for {
		if met() {
			g.watch.patience.Paid()
			return true
		}
		straight := l.carriesMessages(g)
		if straight { // else messages come by this node's server
			l.poller.callerActive.Store(true)
			if l.poller.pollOnce() {
				g.watch.cameOverLink.Store(true)
				looks.Renew(&g.watch.patience)
				continue
			}
		}
		vain++
		if (!straight || vain > roundsBeforeReceive) && g.t.PollIncoming(&v) > 0 {
			g.watch.cameOverLink.Store(false)
			looks.Renew(&g.watch.patience)
			continue
		}
		if !looks.Yield(&crowd) {
			return met()
		}
	}
}

// carriesMessages reports whether messages may come over the connection.
func (l *link) carriesMessages(g *target) bool {
	return g.loss.failure.Load() == nil && l.state.Load() != linkReleased
}

// linkSleep is how long a waiter sleeps where only its connection wakes it. Then the progress
// thread receives, and the waiter sleeps where another library of the program may run now and then.
// Tests change it.
var linkSleep = time.Millisecond

// sleepForMessage sleeps until met, if the last messages came over the connection, whose frames
// wake it. It returns false if that takes longer than linkSleep.
func (l *link) sleepForMessage(g *target, met func() bool) (found bool) {
	p := l.poller
	if !g.watch.cameOverLink.Load() || !p.tryAcquire() {
		return false
	}
	defer p.release()
	begin := time.Now()
	p.yieldIfDue(begin)
	for now := begin; !met(); now = time.Now() {
		left := linkSleep - now.Sub(begin)
		if left <= 0 || !l.carriesMessages(g) {
			return false
		}
		p.src.Sleep(left)
		p.poll(1)
	}
	g.watch.patience.Slept(time.Since(begin))
	return true
}

var _ transport.Watcher = (*Transport)(nil)
