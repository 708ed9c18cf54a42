// SPDX-License-Identifier: BSD-3-Clause

// The stand-ins are tested like real transports: the conformance suite over Fake, and the
// properties that tests of core need beyond it (completions can be held, operations are reordered,
// peers can die).
package transporttest

import (
	"errors"
	"slices"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// openFakes opens a Net of n ends with memory for the conformance suite.
func openFakes(t *testing.T, n int, o Options) (*Net, []*End) {
	leaktest.Check(t)
	c := NewCluster(n)
	net := NewNet(n, o)
	t.Cleanup(c.Close)
	t.Cleanup(net.Close)
	all := make([]*End, n)
	for i := range all {
		mem, err := c.Node(i).AllocatePopulated(MemBytes)
		if err != nil {
			t.Fatal(err)
		}
		in := &Inbox{}
		all[i] = &End{Transport: net.Open(i, in.Handle), Control: c.Node(i),
			Ranks: c.Node(i).Ranks(), Self: i, Mem: mem, Inbox: in}
	}
	return net, all
}

// TestConformance shows that a Fake passes the conformance suite of transports.
func TestConformance(t *testing.T) {
	for name, o := range map[string]Options{
		"unordered": {Seed: 1},
		"ordered":   {Seed: 2, Ordered: true, Eager: 256},
		"slow wire": {Seed: 4, Pause: 100 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			_, all := openFakes(t, 3, o)
			served := make(chan error, 2)
			for _, e := range all[1:] {
				go func() { served <- Serve(e) }()
			}
			Run(t, all[0])
			for range all[1:] {
				if err := <-served; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// connectFakes opens two connected ends. The scratch words of the first are 1, 2, 3 ...
func connectFakes(t *testing.T, o Options) (*Net, *End, *End) {
	net, all := openFakes(t, 2, o)
	for _, e := range all {
		if err := e.Transport.Connect(e.peerAddrs()); err != nil {
			t.Fatal(err)
		}
	}
	words := unsafe.Slice((*int64)(unsafe.Pointer(&all[0].memory(scratchAt, 8)[0])), 64)
	for i := range words {
		words[i] = int64(i + 1)
	}
	return net, all[0], all[1]
}

// TestHold shows that operations stay open from Hold to Release.
func TestHold(t *testing.T) {
	net, a, b := connectFakes(t, Options{})
	net.Hold()
	done := make(chan error, 1)
	x := contiguous(a.Mem+scratchAt, b.Mem, 8)
	x.Done = func(err error) { done <- err }
	if err := a.Transport.Put(1, x); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
		t.Fatal("complete while held")
	case <-time.After(20 * time.Millisecond):
	}
	net.Release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := a.Transport.Fence(1); err != nil || b.memory(0, 1)[0] != 1 {
		t.Errorf("%v, byte %d", err, b.memory(0, 1)[0])
	}
}

// TestReorders shows that operations that are open together complete in another order than they
// were posted in.
func TestReorders(t *testing.T) {
	net, a, b := connectFakes(t, Options{Seed: 5})
	net.Hold()
	var order []int
	for i := range 20 {
		x := contiguous(a.Mem+scratchAt+uintptr(8*i), b.Mem+uintptr(8*i), 8)
		x.Done = func(error) { order = append(order, i) }
		if err := a.Transport.Put(1, x); err != nil {
			t.Fatal(err)
		}
	}
	net.Release()
	if err := a.Transport.Fence(1); err != nil {
		t.Fatal(err)
	}
	if len(order) != 20 || slices.IsSorted(order) {
		t.Errorf("local completions: %v", order)
	}
}

// TestKill shows that open and later operations to a dead end fail with ErrPeerDead.
func TestKill(t *testing.T) {
	net, a, b := connectFakes(t, Options{})
	net.Hold()
	done := make(chan error, 1)
	x := contiguous(a.Mem+scratchAt, b.Mem, 8)
	x.Done = func(err error) { done <- err }
	a.Transport.Put(1, x)
	net.Kill(1)
	net.Release()
	if err := <-done; !errors.Is(err, transport.ErrPeerDead) {
		t.Errorf("open put: %v", err)
	}
	for what, err := range map[string]error{
		"put": a.Transport.Put(1, x), "fence": a.Transport.Fence(1),
		"send": a.Transport.Send(1, transport.Msg{}),
	} {
		if !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCloseFailsWhatIsOpen shows that open and later operations of a closed end fail with
// ErrClosed.
func TestCloseFailsWhatIsOpen(t *testing.T) {
	net, a, b := connectFakes(t, Options{})
	net.Hold()
	done := make(chan error, 1)
	x := contiguous(a.Mem+scratchAt, b.Mem, 8)
	x.Done = func(err error) { done <- err }
	a.Transport.Put(1, x)
	a.Transport.Close()
	if err := <-done; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("open put: %v", err)
	}
	if err := a.Transport.Put(1, x); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("put after close: %v", err)
	}
}

// TestOwns shows that Options.Owns decides which addresses are bad.
func TestOwns(t *testing.T) {
	_, a, b := connectFakes(t,
		Options{Owns: func(_ transport.Peer, _ uintptr, n int64) bool { return n < 64 }})
	for n, want := range map[int]error{32: nil, 64: transport.ErrBadAddr} {
		x := contiguous(a.Mem+scratchAt, b.Mem, n)
		err := waitTransfer(a.putTo(1),
			x)
		if late := a.Transport.Fence(1); err == nil {
			// of a store that was locally complete at once
			err = late
		}
		if !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestFlaky shows that each method of a Flaky fails when the test wants it, before the call or at
// local completion.
func TestFlaky(t *testing.T) {
	_, a, b := connectFakes(t, Options{})
	broken := errors.New("broken")
	now := ""
	f := &Flaky{Transport: a.Transport, Fail: func(what string, p transport.Peer) error {
		if what == now {
			return broken
		}
		return nil
	}}
	scale := int32(1)
	calls := map[string]func() error{
		"connect": func() error { return f.Connect(a.peerAddrs()) },
		"put":     func() error { return f.Put(1, contiguous(a.Mem+scratchAt, b.Mem, 8)) },
		"get":     func() error { return f.Get(1, contiguous(a.Mem+scratchAt, b.Mem, 8)) },
		"acc": func() error {
			return f.Acc(1, contiguous(a.Mem+scratchAt, b.Mem, 8),
				transport.Scale{Value: unsafe.Pointer(&scale)})
		},
		"rmw":      func() error { return f.RMW(1, &transport.RMW{Bytes: 8, Addr: b.Mem}) },
		"send":     func() error { return f.Send(1, transport.Msg{}) },
		"fence":    func() error { return f.Fence(1) },
		"progress": func() error { _, err := f.Progress(0); return err },
	}
	for name, call := range calls {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		now = name
		if err := call(); !errors.Is(err, broken) {
			t.Errorf("%s is to fail: %v", name, err)
		}
		now = ""
	}
	f.FailLater = func(string, transport.Peer) error { return broken }
	for _, start := range []func(*transport.Xfer) error{
		func(x *transport.Xfer) error { return f.Put(1, x) },
		func(x *transport.Xfer) error { return f.Get(1, x) },
	} {
		if err := waitTransfer(start, contiguous(a.Mem+scratchAt, b.Mem,
			8)); !errors.Is(err,
			broken) {
			t.Errorf("local completion: %v", err)
		}
	}
}
