// SPDX-License-Identifier: BSD-3-Clause

// Connections that are given back and made again: nothing is lost, doubled or overtaken, whatever
// happens meanwhile.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/transport/pipe"
	"libarmci/internal/transport/transporttest"
)

// newBounded opens nodes of so many ranks each, whose data servers and origins have hardly any
// connections, and give them back as often as they can.
func newBounded(t testing.TB, o pipe.Options, most int, ranks ...int) *transporttest.Ends {
	e := newEnds(t, pipe.New(o), func(o *Options) { o.Connections = most }, ranks...)
	for _, tr := range e.Open {
		tr.(*Transport).conns.restless.Store(true)
	}
	return e
}

// boundedNetworks are those that connections come and go over.
var boundedNetworks = map[string]pipe.Options{
	"plain": {},
	"small": {MaxFrame: 4096, Credits: 4, Room: 64 << 10, Divide: true,
		Delay: 50 * time.Microsecond, Defer: true},
	"device": {Direct: true, Atomics: true, Shared: true, MaxFrame: 16 << 10, Credits: 16},
	"device, delays": {Direct: true, Atomics: true, Shared: true, MaxFrame: 16 << 10,
		Credits: 16, Delay: 100 * time.Microsecond,
		Divide: true},
	"device, sources": {Direct: true, Atomics: true, MaxFrame: 16 << 10, Credits: 16},
}

// The conformance suite with hardly any connections.
func TestConformanceBounded(t *testing.T) {
	for name, o := range boundedNetworks {
		t.Run(name, func(t *testing.T) {
			e := newBounded(t, o, 1, 2, 1, 2)
			e.Conform(t)
			expectParted(t, e)
		})
	}
}

// Random operations of all ranks.
func TestMixBounded(t *testing.T) {
	for name, o := range boundedNetworks {
		t.Run(name, func(t *testing.T) {
			for most, ranks := range [][]int{{2, 1}, {1, 1, 1, 1}, {2, 1, 1, 2}} {
				// 0: no bound
				e := newBounded(t, o, most, ranks...)
				if e.Mix(t, uint64(most), 200); most > 0 {
					expectParted(t, e)
				}
			}
		})
	}
}

// expectParted checks that connections have come and gone.
func expectParted(t *testing.T, e *transporttest.Ends) {
	t.Helper()
	parted, again := int64(0), int64(0)
	for _, tr := range e.Open {
		parted += tr.(*Transport).conns.counts.released.Load()
		again += tr.(*Transport).conns.counts.reconnected.Load()
	}
	if t.Logf("%d connections were given back, %d made again", parted, again); again == 0 {
		t.Error("no connection was given back and made again")
	}
}

// TestPartsOnce: a connection that has been given back meanwhile is not given back a second time:
// the node would take that for a frame behind the last one.
func TestPartsOnce(t *testing.T) {
	_, ends, u := newUser(t, pipe.Options{}, nil)
	if err := u.once(1); err != nil {
		t.Fatal(err)
	}
	g := u.tr.(*Transport).routes.targets[1]
	if err := g.lockConnected(); err != nil {
		t.Fatal(err)
	}
	l := g.link.Load()
	g.startRelease(l)
	for end := time.Now().Add(patience); l.state.Load() != linkReleased &&
		time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		l.poller.pollOnce()
	}
	sent := g.tx.sentFrames
	if g.startRelease(l); g.tx.sentFrames != sent || l.state.Load() != linkReleased {
		t.Errorf("%d frames follow the last one, and the connection is in state %d, not %d",
			g.tx.sentFrames-sent, l.state.Load(), linkReleased)
	}
	g.mu.Unlock()
	if err := u.once(2); err != nil {
		t.Error(err)
	}
	if l := ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}
