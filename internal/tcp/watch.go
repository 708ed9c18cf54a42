// SPDX-License-Identifier: BSD-3-Clause

// Messages that come the other way, from a node's server to this process: who waits for one looks for it himself, for a
// while; then the engine does. Nothing here acts on a message.
package tcp

import (
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// watched is who waits for a message on a wire.
type watched struct {
	asleep atomic.Int32 // who has stopped looking
	polls  atomic.Int32 // how often it lately paid to look, less the most
}

// expects tells whether something is to come that nobody reads who waits for it.
func (w *wire) expects() bool { return w.table.later.Load() > 0 || w.watched.asleep.Load() > 0 }

// Watch looks for a message on the wire to a peer's node.
func (t *Transport) Watch(p transport.Peer, met func() bool) (end func()) {
	w := t.at[p]
	if w == nil || w.look(met) {
		return func() {}
	}
	w.watched.asleep.Add(1)
	begin := time.Now()
	if w.live.Load() {
		w.driven.Store(false) // by me
		t.engine.attend(w)
	}
	return func() {
		w.watched.asleep.Add(-1)
		w.overslept(time.Since(begin))
	}
}

// look reads the wire until met; false if that does not come soon.
func (w *wire) look(met func() bool) bool {
	most := w.t.polls + int(w.watched.polls.Load())
	for tries := 0; tries < most; tries++ {
		if met() {
			w.watched.polls.Store(0)
			return true
		}
		if w.live.Load() && w.broken.Load() == nil && w.role.TryLock() {
			w.driven.Store(true)
			got, err := w.receive()
			if err != nil {
				w.fail(err)
			}
			w.leave()
			if got {
				tries = 0
				continue
			}
		}
		yield()
	}
	return met()
}

// overslept is told how long it took after looking had been given up: if that was hardly longer than it takes to wake,
// looking would have been better.
func (w *wire) overslept(d time.Duration) {
	if d < wakeTime {
		w.watched.polls.Store(0)
		return
	}
	most := w.t.polls + int(w.watched.polls.Load())
	w.watched.polls.Store(int32(max(most/2, leastPolls) - w.t.polls))
}

var _ transport.Watcher = (*Transport)(nil)
