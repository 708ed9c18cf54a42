// SPDX-License-Identifier: BSD-3-Clause

// Events while a connection is released, each of them at the worst moment.
package internode

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/testutil/eventually"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// releaseLinkOf has a rank release its connection to a node, and waits for a state of the link.
func releaseLinkOf(t testing.TB, tr transport.Transport, node int, until int32) {
	t.Helper()
	l := tr.(*Transport).routes.targets[node].link.Load()
	if l == nil {
		t.Fatal("there is no connection")
	}
	releaseLink(t, tr, l, until)
}

// releaseLink is releaseLinkOf for a link that may have been released before.
func releaseLink(t testing.TB, tr transport.Transport, l *link, until int32) {
	t.Helper()
	u := tr.(*Transport)
	u.conns.restless.Store(true)
	u.thread.requestRelease(l)
	eventually.True(t, func() bool {
		if l.state.Load() >= until {
			return true
		}
		u.thread.requestRelease(l)
		return false
	}, "the connection is not given back")
}

// awaitLinksClosed waits until a rank has no connection to a node any more, and has closed those it
// had.
func awaitLinksClosed(t testing.TB, tr transport.Transport, node int) {
	t.Helper()
	u := tr.(*Transport)
	eventually.True(t, func() bool {
		pollers := 0
		for range u.pollers.bySource.Range {
			pollers++
		}
		return u.routes.targets[node].link.Load() == nil && pollers == 0
	}, "the connection is not closed")
}

// TestReleasedConnectionIsMadeAgain shows that a released connection is closed at both ends and
// made again on the next use, and that keys and counters go on.
func TestReleasedConnectionIsMadeAgain(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			_, ends, u := newUser(t, o, func(o *Options) { o.Connections = 100 })
			server := ends.Open[1].(*Transport).server
			for i := range 30 {
				if err := u.operate(i); err != nil {
					t.Fatal(err)
				}
				if i%5 != 0 {
					continue
				}
				releaseLinkOf(t, u.tr, 1, linkReleased)
				awaitLinksClosed(t, u.tr, 1)
				for end := time.Now().Add(patience); ; time.Sleep(
					50 * time.Microsecond) {
					if now, _, _, _ := server.limit.counts(); now == 0 {
						break
					} else if time.Now().After(end) {
						t.Fatalf("the server has %d connections", now)
					}
				}
				if err := u.tr.Fence(1); err != nil ||
					u.tr.(*Transport).routes.targets[1].link.Load() != nil {
					t.Fatalf("a fence with nothing to wait for: %v", err)
				}
			}
			if l := ends.Losses(); len(l) > 0 {
				t.Error(l)
			}
		})
	}
}

// TestPostsWhileReleasing shows that operations that begin during a release go over the next
// connection, behind all before.
func TestPostsWhileReleasing(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			_, ends, u := newUser(t, o, nil)
			u.tr.(*Transport).conns.restless.Store(true)
			if err := u.operate(1); err != nil {
				t.Fatal(err)
			}
			stop, again := make(chan struct{}), make(chan struct{})
			go func() { // asks all the time
				defer close(again)
				for {
					select {
					case <-stop:
						return
					default:
					}
					tr := u.tr.(*Transport)
					if l := tr.routes.targets[1].link.Load(); l != nil {
						tr.thread.requestRelease(l)
					}
					time.Sleep(20 * time.Microsecond)
				}
			}()
			made, end := &u.tr.(*Transport).conns.counts.reconnected,
				time.Now().Add(patience)
			for i := 0; i < 300 || made.Load() == 0 && time.Now().Before(end); i++ {
				mine := memory(u.mine, 8)
				copy(mine, fmt.Sprintf("%08d", i))
				var got [8]byte
				if err := u.tr.Put(1, plain(u.mine, u.there, 8)); err != nil {
					t.Fatal(err)
				}
				if i%3 == 0 {
					if err := u.tr.Fence(1); err != nil {
						t.Fatal(err)
					}
					copy(got[:], memory(u.there, 8))
				} else {
					x := plain(u.mine+64, u.there, 8)
					if err := done(t, u.tr.Get, x); err != nil {
						t.Fatal(err)
					}
					copy(got[:], memory(u.mine+64, 8))
				}
				if !bytes.Equal(got[:], mine) {
					t.Fatalf("put %d: %q is there", i, got)
				}
				if i%2 == 0 {
					time.Sleep(time.Duration(i%7) * 150 * time.Microsecond)
				}
			}
			close(stop)
			<-again
			expectReleased(t, ends)
		})
	}
}

// TestPostWaitsForRelease shows that a caller that posts during a release waits for the
// acknowledgement.
func TestPostWaitsForRelease(t *testing.T) {
	h := newHeldRelease(t)
	answer := h.beginRelease()
	called := h.callAsync()
	h.expectBlocked(called)
	answer()
	if err := h.awaitCall(called); err != nil {
		t.Error(err)
	}
}

// TestFenceWhileReleasing shows that a release confirms earlier stores, and that a fence makes no
// connection for that.
func TestFenceWhileReleasing(t *testing.T) {
	h := newHeldRelease(t)
	if err := h.ends.Open[0].Put(1, plain(h.ends.Alloc(t, 0, 8), h.ends.Alloc(t, 1, 8),
		8)); err != nil {
		t.Fatal(err)
	}
	answer := h.beginRelease()
	fenced := make(chan error, 1)
	go func() { fenced <- h.ends.Open[0].Fence(1) }()
	h.expectBlocked(fenced)
	answer()
	if err := h.awaitCall(fenced); err != nil {
		t.Error(err)
	}
	awaitLinksClosed(t, h.ends.Open[0], 1)
}

// TestLossWhileReleasing shows that a node that dies before its acknowledgement is lost for its
// callers, and reported once.
func TestLossWhileReleasing(t *testing.T) {
	for _, waits := range []bool{true, false} {
		h := newHeldRelease(t)
		h.beginRelease()
		var called chan error
		if waits {
			called = h.callAsync()
			time.Sleep(5 * time.Millisecond)
		}
		h.net.Break(0, 1, 0)
		if losses(t, h.ends); !waits {
			called = h.callAsync()
		}
		if err := h.awaitCall(called); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("the call ended with: %v", err)
		}
		if l := h.ends.Losses(); len(l) != 1 {
			t.Error(l)
		}
		h.ends.CloseAll()
	}
}

// TestLossAfterRelease shows that the next caller notices that a node has died after the release.
func TestLossAfterRelease(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			net, ends, u := newUser(t, o, nil)
			if err := u.operate(1); err != nil {
				t.Fatal(err)
			}
			releaseLinkOf(t, u.tr, 1, linkReleased)
			net.Vanish(1)
			time.Sleep(5 * time.Millisecond)
			if l := ends.Losses(); len(l) > 0 {
				t.Errorf("before anybody uses it: %v", l)
			}
			u.expectLost(t, ends, []error{u.operate(1)}, "nobody answers")
		})
	}
}

// TestCloseWhileReleasing shows that Close does not wait for an acknowledgement, and no loss is
// reported.
func TestCloseWhileReleasing(t *testing.T) {
	for _, waits := range []bool{false, true} {
		h := newHeldRelease(t)
		h.beginRelease()
		var called chan error
		if waits {
			called = h.callAsync()
			time.Sleep(5 * time.Millisecond)
		}
		transporttest.Returns(t, "Close", func() { h.ends.Open[0].Close() })
		if waits {
			if err := h.awaitCall(called); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("the call ended with: %v", err)
			}
		}
		if l := h.ends.Losses(); len(l) > 0 {
			t.Error(l)
		}
		h.ends.CloseAll()
	}
}

// TestGoodbyeCrossesRelease shows that a goodbye that crosses a release is no loss, neither then
// nor on the next use.
func TestGoodbyeCrossesRelease(t *testing.T) {
	h := newHeldRelease(t)
	h.beginRelease()
	h.sendKind(kindGoodbye)
	g := h.ends.Open[0].(*Transport).routes.targets[1]
	eventually.True(t, g.loss.goodbye.Load, "the goodbye is not heard")
	h.s.Close()
	if err := h.callNode(); !errors.Is(err, transport.ErrPeerDead) {
		t.Errorf("a call to a node that has left: %v", err)
	}
	if l := h.ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}

// flakyFabric refuses to connect, some times.
type flakyFabric struct {
	transport.Fabric
	dials *atomic.Int32
}

func (f *flakyFabric) Dial(to transport.Rank, addr []byte,
	r transport.Receiver) (transport.OriginEndpoint, error) {
	if n := f.dials.Add(1); n == 2 || n == 3 {
		return nil, errors.New("no room")
	}
	return f.Fabric.Dial(to, addr, r)
}

// TestConnectIsRetried shows that a node that has no room for a moment is not lost.
func TestConnectIsRetried(t *testing.T) {
	net := pipe.New(pipe.Options{})
	var dials atomic.Int32
	ends := transporttest.NewEnds(t, []int{1, 1},
		func(info transport.OpenInfo) (transport.Transport, error) {
			d := net.Driver()
			if info.Me == 0 {
				d.Open = func(c transport.FabricConfig) (transport.Fabric, error) {
					f, err := net.Open(c)
					return &flakyFabric{f, &dials}, err
				}
			}
			return Open(d, options(info, nil))
		})
	ends.ConnectAll(t)
	for range 2 {
		if _, err := ends.Open[0].Call(1, transport.Msg{}); err != nil {
			t.Fatal(err)
		}
		releaseLinkOf(t, ends.Open[0], 1, linkReleased)
	}
	if l := ends.Losses(); len(l) > 0 || dials.Load() != 4 {
		t.Errorf("connected %d times, %v", dials.Load(), l)
	}
}

// TestReleaseRequestsCross shows that requests to release a connection do no harm during a release,
// after it, or while the connection is busy.
func TestReleaseRequestsCross(t *testing.T) {
	h := newHeldRelease(t)
	for range 10 {
		answer := h.beginRelease()
		h.sendKind(kindReleaseRequest)
		answer()
		h.sendKind(kindReleaseRequest)
		for range 3 {
			if err := h.callNode(); err != nil {
				t.Fatal(err)
			}
			h.sendKind(kindReleaseRequest)
		}
	}
	if l := h.ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}
