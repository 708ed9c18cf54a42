// SPDX-License-Identifier: BSD-3-Clause

// Messages from a node's data server to this process (kindTell): who waits for one polls for a while, then the progress
// thread does.
package internode

import (
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// watched is how a target's messages are waited for.
type watched struct {
	fewer atomic.Int32 // looks that lately did not pay
}

// Watch looks for a message from a peer's node until met says that it has come, or for a while. Then messages are received
// without the caller's help until it calls end.
func (t *Transport) Watch(p transport.Peer, met func() bool) (end func()) {
	g := t.at[p]
	if g == nil || !g.live.Load() || g.look(met) {
		return func() {}
	}
	s, begin := g.seat, time.Now()
	s.asleep.Add(1)
	s.driven.Store(false) // by me
	t.thread.attend(s)
	return func() {
		s.asleep.Add(-1)
		g.overslept(time.Since(begin))
	}
}

// look polls until met; false if that does not come soon.
func (g *target) look(met func() bool) bool {
	most := g.seat.looks.most - int(g.watched.fewer.Load())
	for tries := 0; tries < most; tries++ {
		if met() {
			g.watched.fewer.Store(0)
			return true
		}
		if g.broken.Load() == nil && g.seat.tryTake() {
			g.seat.driven.Store(true)
			found := g.seat.poll(1) > 0
			g.seat.leave()
			if found {
				tries = 0
				continue
			}
		}
		yield()
	}
	return met()
}

// overslept is told how long a message took after looking had been given up.
func (g *target) overslept(d time.Duration) {
	most := g.seat.looks.most
	l := looks{most: most, now: most - int(g.watched.fewer.Load())}
	l.slept(d)
	g.watched.fewer.Store(int32(most - l.now))
}

var _ transport.Watcher = (*Transport)(nil)
