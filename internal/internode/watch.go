// SPDX-License-Identifier: BSD-3-Clause

// Messages from a node's data server to this process (kindTell): who waits for one polls for a while, then the progress
// thread does.
package internode

import (
	"time"

	"libarmci/internal/transport"
)

// Watch looks for a message from a peer's node until met says that it has come, or for a while. Then messages are received
// without the caller's help until it calls end.
func (t *Transport) Watch(peer transport.Peer, met func() bool) (end func()) {
	g := t.at[peer]
	if !g.live.Load() || g.look(met) {
		return func() {}
	}
	p, begin := g.poller, time.Now()
	p.asleep.Add(1)
	p.driven.Store(false) // by me
	t.thread.attend(p)
	return func() {
		p.asleep.Add(-1)
		g.watching.slept(time.Since(begin))
	}
}

// look polls until met; false if that does not come soon.
func (g *target) look(met func() bool) bool {
	for tries := int32(0); tries < g.watching.now.Load(); tries++ {
		if met() {
			g.watching.paid()
			return true
		}
		if g.broken.Load() == nil {
			g.poller.driven.Store(true)
			if g.poller.pollOnce() {
				tries = 0
				continue
			}
		}
		yield()
	}
	return met()
}

var _ transport.Watcher = (*Transport)(nil)
