// SPDX-License-Identifier: BSD-3-Clause

// What may happen while a connection is given back: each of it at the worst moment.
package internode

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/bootstrap/leaktest"
	"libarmci/internal/transport"
	"libarmci/internal/transport/pipe"
	"libarmci/internal/transport/transporttest"
)

// giveBack has a rank give its connection to a node back, and waits until it has said that it
// parts, or has parted, if it is to wait.
func giveBack(t testing.TB, tr transport.Transport, node int, until int32) {
	t.Helper()
	l := tr.(*Transport).routes.targets[node].link.Load()
	if l == nil {
		t.Fatal("there is no connection")
	}
	giveLinkBack(t, tr, l, until)
}

// giveLinkBack is giveBack of a connection that may have been given back before.
func giveLinkBack(t testing.TB, tr transport.Transport, l *link, until int32) {
	t.Helper()
	u := tr.(*Transport)
	u.conns.restless.Store(true)
	u.thread.requestRelease(l)
	for end := time.Now().Add(patience); l.state.Load() < until; time.Sleep(
		50 * time.Microsecond) {
		if u.thread.requestRelease(l); time.Now().After(end) {
			t.Fatal("the connection is not given back")
		}
	}
}

// closed waits until a rank has no connection to a node any more, and has closed those it had.
func closed(t testing.TB, tr transport.Transport, node int) {
	t.Helper()
	u := tr.(*Transport)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(
		50 * time.Microsecond) {
		pollers := 0
		for range u.pollers.bySource.Range {
			pollers++
		}
		if u.routes.targets[node].link.Load() == nil && pollers == 0 {
			return
		}
	}
	t.Fatal("the connection is not closed")
}

// TestGivenBack: a connection that was given back is closed at both ends, and made again when it is
// used; keys and counters go on.
func TestGivenBack(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			_, ends, u := newUser(t, o, func(o *Options) { o.Connections = 100 })
			server := ends.Open[1].(*Transport).server
			for i := range 30 {
				if err := u.once(i); err != nil {
					t.Fatal(err)
				}
				if i%5 != 0 {
					continue
				}
				giveBack(t, u.tr, 1, linkReleased)
				closed(t, u.tr, 1)
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

// TestUsedWhileParting: operations that begin while the connection is being given back go over the
// next one, behind all before.
func TestUsedWhileParting(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			_, ends, u := newUser(t, o, nil)
			u.tr.(*Transport).conns.restless.Store(true)
			if err := u.once(1); err != nil {
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
			expectParted(t, ends)
		})
	}
}

// heldTest is a rank and a server that does not answer who parts until it is told to.
type heldTest struct {
	t    *testing.T
	net  *pipe.Net
	ends *transporttest.Ends
	s    *stranger
	post func(kind)  // sends a frame to the rank
	say  chan func() // which answers who parts
}

func newHeld(t *testing.T) *heldTest {
	leaktest.Check(t)
	h := &heldTest{t: t, net: pipe.New(pipe.Options{}), say: make(chan func(), 1)}
	ends, found := newMixed(t, h.net, nil, 2, 1)
	h.ends, h.s = ends, found[1]
	handled := uint32(0)
	h.s.serve = func(_ *stranger, e transport.TargetEndpoint, f reply) {
		handled++
		answer := header{kind: kindReply, id: f.id, handled: handled}
		h.post = func(k kind) { e.Post((&header{kind: k}).append(nil), nil) }
		if f.kind == kindReleaseStart {
			answer.kind, handled = kindReleaseAck, 0
			h.say <- func() { e.Post(answer.append(nil), nil) }
			return
		}
		if f.id != 0 {
			e.Post(answer.append(nil), nil)
		}
	}
	if err := h.call(); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *heldTest) call() error {
	_, err := h.ends.Open[0].Call(1, transport.Msg{})
	return err
}

// calls calls from another thread.
func (h *heldTest) calls() chan error {
	called := make(chan error, 1)
	go func() { called <- h.call() }()
	return called
}

// parts has the rank say that it parts, and returns what answers that.
func (h *heldTest) parts() (answer func()) {
	h.t.Helper()
	giveBack(h.t, h.ends.Open[0], 1, linkReleasing)
	return <-h.say
}

// end waits for the end of a call.
func (h *heldTest) end(called chan error) error {
	h.t.Helper()
	select {
	case err := <-called:
		return err
	case <-time.After(patience):
		h.t.Fatal("the call hangs")
		return nil
	}
}

// waits fails if a call ends although the node has not answered yet.
func (h *heldTest) waits(called <-chan error) {
	h.t.Helper()
	select {
	case err := <-called:
		h.t.Fatalf("the call does not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
}

// TestPartingWaits: who wants to go on waits for the node's word.
func TestPartingWaits(t *testing.T) {
	h := newHeld(t)
	answer := h.parts()
	called := h.calls()
	h.waits(called)
	answer()
	if err := h.end(called); err != nil {
		t.Error(err)
	}
}

// TestFenceWhileParting: parting confirms what was stored before, and a fence makes no connection
// for that.
func TestFenceWhileParting(t *testing.T) {
	h := newHeld(t)
	if err := h.ends.Open[0].Put(1, plain(h.ends.Alloc(t, 0, 8), h.ends.Alloc(t, 1, 8),
		8)); err != nil {
		t.Fatal(err)
	}
	answer := h.parts()
	fenced := make(chan error, 1)
	go func() { fenced <- h.ends.Open[0].Fence(1) }()
	h.waits(fenced)
	answer()
	if err := h.end(fenced); err != nil {
		t.Error(err)
	}
	closed(t, h.ends.Open[0], 1)
}

// TestLostWhileParting: the node dies before it has answered: it is lost for who uses it, and told
// once.
func TestLostWhileParting(t *testing.T) {
	for _, waits := range []bool{true, false} {
		h := newHeld(t)
		h.parts()
		var called chan error
		if waits {
			called = h.calls()
			time.Sleep(5 * time.Millisecond)
		}
		h.net.Break(0, 1, 0)
		if losses(t, h.ends); !waits {
			called = h.calls()
		}
		if err := h.end(called); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("the call ended with: %v", err)
		}
		if l := h.ends.Losses(); len(l) != 1 {
			t.Error(l)
		}
		h.ends.CloseAll()
	}
}

// TestLostWhenParted: a node that dies when the connection has been given back is missed by who
// uses it next.
func TestLostWhenParted(t *testing.T) {
	for name, o := range networks() {
		t.Run(name, func(t *testing.T) {
			net, ends, u := newUser(t, o, nil)
			if err := u.once(1); err != nil {
				t.Fatal(err)
			}
			giveBack(t, u.tr, 1, linkReleased)
			net.Vanish(1)
			time.Sleep(5 * time.Millisecond)
			if l := ends.Losses(); len(l) > 0 {
				t.Errorf("before anybody uses it: %v", l)
			}
			u.expectLost(t, ends, []error{u.once(1)}, "nobody answers")
		})
	}
}

// TestCloseWhileParting: Close waits for nobody, and nobody is lost.
func TestCloseWhileParting(t *testing.T) {
	for _, waits := range []bool{false, true} {
		h := newHeld(t)
		h.parts()
		var called chan error
		if waits {
			called = h.calls()
			time.Sleep(5 * time.Millisecond)
		}
		transporttest.Returns(t, "Close", func() { h.ends.Open[0].Close() })
		if waits {
			if err := h.end(called); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("the call ended with: %v", err)
			}
		}
		if l := h.ends.Losses(); len(l) > 0 {
			t.Error(l)
		}
		h.ends.CloseAll()
	}
}

// TestNodeLeavesWhileParting: its goodbye crosses: nobody is lost, neither then nor when it is
// used.
func TestNodeLeavesWhileParting(t *testing.T) {
	h := newHeld(t)
	h.parts()
	h.post(kindGoodbye)
	g := h.ends.Open[0].(*Transport).routes.targets[1]
	for end := time.Now().Add(patience); !g.loss.goodbye.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the goodbye is not heard")
		}
	}
	h.s.Close()
	if err := h.call(); !errors.Is(err, transport.ErrPeerDead) {
		t.Errorf("a call to a node that has left: %v", err)
	}
	if l := h.ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}

// flaky refuses to connect, some times.
type flaky struct {
	transport.Fabric
	dials *atomic.Int32
}

func (f *flaky) Dial(to transport.Rank, addr []byte,
	r transport.Receiver) (transport.OriginEndpoint, error) {
	if n := f.dials.Add(1); n == 2 || n == 3 {
		return nil, errors.New("no room")
	}
	return f.Fabric.Dial(to, addr, r)
}

// TestConnectsAgainLater: a node that has no room for a moment is not lost.
func TestConnectsAgainLater(t *testing.T) {
	net := pipe.New(pipe.Options{})
	var dials atomic.Int32
	ends := transporttest.NewEnds(t, []int{1, 1},
		func(info transport.OpenInfo) (transport.Transport, error) {
			d := net.Driver()
			if info.Me == 0 {
				d.Open = func(c transport.FabricConfig) (transport.Fabric, error) {
					f, err := net.Open(c)
					return &flaky{f, &dials}, err
				}
			}
			return Open(d, options(info, nil))
		})
	ends.ConnectAll(t)
	for range 2 {
		if _, err := ends.Open[0].Call(1, transport.Msg{}); err != nil {
			t.Fatal(err)
		}
		giveBack(t, ends.Open[0], 1, linkReleased)
	}
	if l := ends.Losses(); len(l) > 0 || dials.Load() != 4 {
		t.Errorf("connected %d times, %v", dials.Load(), l)
	}
}

// TestReleaseCrosses: requests to give a connection back that come while it is being given back, or
// behind that, or for one that is busy, do no harm.
func TestReleaseCrosses(t *testing.T) {
	h := newHeld(t)
	for range 10 {
		answer := h.parts()
		h.post(kindReleaseRequest)
		answer()
		h.post(kindReleaseRequest)
		for range 3 {
			if err := h.call(); err != nil {
				t.Fatal(err)
			}
			h.post(kindReleaseRequest)
		}
	}
	if l := h.ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}
