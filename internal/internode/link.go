// SPDX-License-Identifier: BSD-3-Clause

// A connection of a target, from the time it is made until it is closed: on first use, and again on
// the next use after it was given back (part.go).
package internode

import (
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// link is a connection. Its constants are set before it becomes the target's.
type link struct {
	ep     transport.OriginEndpoint
	direct transport.DirectEndpoint // ep, if it is one
	poller *poller                  // where ep's frames come from
	answer answer                   // the frame that is coming; of the poller's owner

	state atomic.Int32 // linked, parting or parted
	asked atomic.Bool  // the thread's list has it (part.go)

	// Of the progress thread.
	seen  uint32    // uses of the target when it was last looked at
	since time.Time // when they were seen to change
	until time.Time // when it stops waiting for the target to be idle
	due   time.Time // when to look again
}

// States of a link.
const (
	linked  = iota
	parting // the node has been told that nothing follows
	// the node has said so, too: all that was sent has taken effect, and nothing comes any more
	parted
)

// ready connects a target that is not connected, and refuses a lost one. The caller has the lock.
func (g *target) ready() error {
	g.uses++
	err := g.lost()
	if l := g.link.Load(); err != nil || l != nil && l.state.Load() == linked {
		return err
	}
	return g.connect()
}

// connect makes a connection, when the one before has been given back.
func (g *target) connect() error {
	before := g.link.Load()
	if before != nil {
		if err := g.await(
			func() bool { return before.state.Load() == parted }); err != nil {
			return err
		}
		g.detach(before)
	}
	l := new(link)
	l.answer.g, l.answer.l, l.answer.base = g, l, uint32(g.sent)
	ep, err := g.dial(l)
	if err != nil {
		return g.fail(err)
	}
	l.ep, l.poller = ep, g.t.use(ep.Source())
	l.direct, _ = ep.(transport.DirectEndpoint)
	g.ep, g.direct, g.poller, g.payload = ep, l.direct, l.poller, payload(ep)
	if g.posting == nil {
		g.posting = new(transfer)
	}
	g.connects.Lock()
	g.link.Store(l)
	g.poller.asleep.Add(g.sleepers)
	g.connects.Unlock()
	g.poller.leaveToThread()
	g.t.shed(g)
	return nil
}

// A node that was connected to is there, most likely, though it may have no room for a moment:
// the next connection to it is tried again.
const (
	redials    = 3
	redialTime = 20 * time.Millisecond
)

// dial connects to the node's server.
func (g *target) dial(l *link) (ep transport.OriginEndpoint, err error) {
	tries := 1
	if g.sent > 0 {
		tries = redials
		g.t.counts.again.Add(1)
		g.quiet.again(time.Now())
	}
	for i := range tries {
		begin := time.Now()
		if ep, err = g.t.fabric.Dial(g.server, g.addr, &l.answer); err == nil ||
			g.broken.Load() != nil || g.t.closing.Load() ||
			time.Since(begin) > g.t.opt.Timeout/2 {
			return ep, err
		}
		time.Sleep(redialTime << i)
	}
	return nil, err
}

// detach ends the use of a connection that was given back; the progress thread closes it. The
// caller has the lock.
func (g *target) detach(l *link) {
	g.connects.Lock()
	g.link.Store(nil)
	l.poller.asleep.Add(-g.sleepers - 1) // and one since it is parting
	g.connects.Unlock()
	g.ep, g.direct, g.poller = nil, nil, nil
	g.watched.Store(0)
	g.quiet.parted = time.Now()
	g.t.outgoing.leave(g)
	g.t.thread.closeSoon(l)
}

// use is the poller of a source that one more connection has.
func (t *Transport) use(src transport.Source) *poller {
	t.linking.Lock()
	defer t.linking.Unlock()
	p := t.pollerOf(src)
	p.links++
	return p
}

// free closes a connection that was given back. Only the progress thread calls it, which is not at
// the source meanwhile, or the thread that has ended that.
func (t *Transport) free(l *link) {
	p := l.poller
	t.linking.Lock()
	p.links--
	last := p.links == 0
	if last {
		t.pollers.Delete(p.src)
	}
	t.linking.Unlock()
	if last {
		p.close() // nothing is open, so no thread stays there
	}
	l.ep.Close(0)
}

// await blocks until done, or until the target is lost. The caller has the lock.
func (g *target) await(done func() bool) error { return g.awaitAt(g.poller, done) }

// awaitAt is await for a caller that has not the lock.
func (g *target) awaitAt(p *poller, done func() bool) error {
	p.await(func() bool { return done() || g.broken.Load() != nil })
	return g.lost()
}
