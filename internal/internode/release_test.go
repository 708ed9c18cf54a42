// SPDX-License-Identifier: BSD-3-Clause

// Connections that are released and made again: nothing is lost, doubled or overtaken.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
)

// newLimited opens nodes of so many ranks each that have at most so many connections, and release
// them as often as they can. With a cost model they do not measure for seconds.
func newLimited(t testing.TB, o pipe.Options, most int, model string,
	ranks ...int) *transporttest.Ends {
	e := newEnds(t, pipe.New(o), func(o *Options) { o.Connections, o.Model = most, model },
		ranks...)
	for _, tr := range e.Open {
		tr.(*Transport).conns.restless.Store(true)
	}
	return e
}

// limitedNetworks are the networks over which connections come and go.
var limitedNetworks = map[string]pipe.Options{
	"plain": {},
	"small": {MaxFrame: 4096, Credits: 4, Room: 64 << 10, Divide: true,
		Delay: 50 * time.Microsecond, Defer: true},
	"device": {Direct: true, Atomics: true, Shared: true, MaxFrame: 16 << 10, Credits: 16},
	"device, delays": {Direct: true, Atomics: true, Shared: true, MaxFrame: 16 << 10,
		Credits: 16, Delay: 100 * time.Microsecond,
		Divide: true},
	"device, sources": {Direct: true, Atomics: true, MaxFrame: 16 << 10, Credits: 16},
}

// TestConformanceLimited runs the conformance suite with hardly any connections.
func TestConformanceLimited(t *testing.T) {
	for name, o := range limitedNetworks {
		t.Run(name, func(t *testing.T) {
			model := someModel
			if name == "device" {
				model = "" // it is measured over connections that come and go
			}
			e := newLimited(t, o, 1, model, 2, 1, 2)
			e.Conform(t)
			expectReleased(t, e)
		})
	}
}

// TestMixLimited runs random operations of all ranks with hardly any connections.
func TestMixLimited(t *testing.T) {
	for name, o := range limitedNetworks {
		t.Run(name, func(t *testing.T) {
			for most, ranks := range [][]int{{2, 1}, {1, 1, 1, 1}, {2, 1, 1, 2}} {
				// 0: no bound
				e := newLimited(t, o, most, someModel, ranks...)
				if e.Mix(t, uint64(most), 200); most > 0 {
					expectReleased(t, e)
				}
			}
		})
	}
}

// expectReleased checks that connections have come and gone.
func expectReleased(t *testing.T, e *transporttest.Ends) {
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

// TestReleaseStartsOnce shows that a connection that was released meanwhile is not released a
// second time: the node would take that for a frame behind the last one.
func TestReleaseStartsOnce(t *testing.T) {
	_, ends, u := newUser(t, pipe.Options{}, nil)
	if err := u.operate(1); err != nil {
		t.Fatal(err)
	}
	g := u.tr.(*Transport).routes.targets[1]
	if err := g.lockConnected(); err != nil {
		t.Fatal(err)
	}
	l := g.link.Load()
	l.startRelease(g)
	for end := time.Now().Add(patience); l.state.Load() != linkReleased &&
		time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		l.poller.pollOnce()
	}
	sent := g.tx.sentFrames
	if l.startRelease(g); g.tx.sentFrames != sent || l.state.Load() != linkReleased {
		t.Errorf("%d frames follow the last one, and the connection is in state %d, not %d",
			g.tx.sentFrames-sent, l.state.Load(), linkReleased)
	}
	g.mu.Unlock()
	if err := u.operate(2); err != nil {
		t.Error(err)
	}
	if l := ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}
