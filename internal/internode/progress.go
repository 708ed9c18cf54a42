// SPDX-License-Identifier: BSD-3-Clause

// Progress by callers: who waits for operations that nobody waited for so far, or for a message
// from a node's data server (kindTell), polls himself, which is faster than to be told by the
// progress thread.
package internode

import (
	"time"

	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// Progress sends what was put off, deals with what has come, and returns how often it found
// something. With a limit it waits until then, at most so long, and not longer than something is
// open.
func (t *Transport) Progress(limit time.Duration) (int, error) {
	var begin, deadline time.Time
	for {
		found, open, p := t.look(limit > 0)
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

// look polls every source once on which something is open, of which p polls one. all: queued stores
// are sent, too.
func (t *Transport) look(all bool) (found, open int, p *poller) {
	for _, g := range t.targets {
		g.flush()
		if g.queue.length.Load() > 0 {
			open++
			if all && g.lock() == nil { // which sends them
				g.mu.Unlock()
				found++
			}
		}
	}
	for _, next := range t.pollers.Range {
		if next := next.(*poller); next.later.Load() > 0 {
			open++
			p = next
			p.driven.Store(true)
			if p.pollOnce() {
				found++
			}
		}
	}
	return found, open, p
}

// connectAfter is how often a thread waits for messages of a node that come by this node's data
// server before it connects to that node, so that they come straight.
const connectAfter = 4

// Watch looks for a message from a peer's node until met says that it has come, or for a while.
// Then messages are received without the caller's help until it calls end.
func (t *Transport) Watch(peer transport.Peer, met func() bool, mayConnect bool) (end func()) {
	g := t.at[peer]
	if g.link.Load() == nil && mayConnect && len(g.addr) > 0 && !met() &&
		g.watched.Add(1) > connectAfter && !t.closing.Load() && g.lock() == nil {
		g.mu.Unlock() // lock has connected
	}
	if l := g.link.Load(); l != nil && (g.look(l, met) || g.sleepAtLink(l, met)) {
		return func() {}
	}
	t.flushAll()
	begin := time.Now()
	l := g.sleep(1, mayConnect)
	if l != nil {
		l.poller.driven.Store(false) // by me
		t.thread.attend(l.poller)
	}
	return func() {
		if g.sleep(-1, mayConnect); l != nil {
			g.watching.Slept(time.Since(begin))
		}
	}
}

// sleep counts who has stopped looking; nil if there is no connection yet, over which messages may
// soon come.
func (g *target) sleep(change int32, mayConnect bool) *link {
	g.connects.Lock()
	defer g.connects.Unlock()
	g.sleepers += change
	if mayConnect {
		g.missing += change
	}
	l := g.link.Load()
	if l != nil {
		l.poller.asleep.Add(change)
	}
	return l
}

// look polls a connection until met; false if that does not come soon.
func (g *target) look(l *link, met func() bool) (found bool) {
	var v transport.Visit
	var crowd wait.Crowd
	defer func() { g.t.LeaveIncoming(&v, found) }()
	looks, vain := g.watching.Begin(0), 0
	for {
		if met() {
			g.watching.Paid()
			return true
		}
		straight := g.isStraight(l)
		if straight { // else messages come by the node's server
			l.poller.driven.Store(true)
			if l.poller.pollOnce() {
				g.cameStraight.Store(true)
				looks.Renew(&g.watching)
				continue
			}
		}
		vain++
		if (!straight || vain > receiveAfter) && g.t.PollIncoming(&v) > 0 {
			g.cameStraight.Store(false)
			looks.Renew(&g.watching)
			continue
		}
		if !looks.Yield(&crowd) {
			return met()
		}
	}
}

func (g *target) isStraight(l *link) bool {
	return g.broken.Load() == nil && l.state.Load() != parted
}

// linkSleep is how long a waiter sleeps where only its connection wakes it: then the progress
// thread receives, and the waiter sleeps where another library of the program may go on now and
// then.
var linkSleep = time.Millisecond // tests change it

// sleepAtLink sleeps until something comes on a connection, as the last messages did, until met;
// false if that does not come soon.
func (g *target) sleepAtLink(l *link, met func() bool) (found bool) {
	p := l.poller
	if !g.cameStraight.Load() || !p.tryAcquire() {
		return false
	}
	defer p.release()
	begin := time.Now()
	p.letRun(begin)
	for now := begin; !met(); now = time.Now() {
		left := linkSleep - now.Sub(begin)
		if left <= 0 || !g.isStraight(l) {
			return false
		}
		p.src.Sleep(left)
		p.poll(1)
	}
	g.watching.Slept(time.Since(begin))
	return true
}

var _ transport.Watcher = (*Transport)(nil)
