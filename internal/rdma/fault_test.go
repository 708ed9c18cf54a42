// SPDX-License-Identifier: BSD-3-Clause

// Faults: peers that die, stop, leave or are others than they say. No operation hangs, the loss is told once, and what
// is no fault is survived.
package rdma

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/transport"
)

const patience = 20 * time.Second // far more than anything here takes

func plain(local, remote uintptr, n int) *transport.Xfer {
	return &transport.Xfer{Local: transport.Section{Base: local}, Remote: transport.Section{Base: remote},
		Count: []int32{int32(n)}, Known: true}
}

// started starts a transfer and gives what it ends with.
func started(start func(transport.Peer, *transport.Xfer) error, x *transport.Xfer) chan error {
	done := make(chan error, 1)
	x.Done = func(err error) { done <- err }
	go func() {
		if err := start(1, x); err != nil {
			done <- err
		}
	}()
	return done
}

// within waits for an end that must come.
func (c *nearby) within(done chan error) error {
	c.t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		c.t.Fatal("the operation hangs")
		return nil
	}
}

// touch reads a word of the peer, which must succeed.
func (c *nearby) touch(p *peer) {
	c.t.Helper()
	if err := c.within(started(c.Get, plain(c.base, p.Base, 8))); err != nil {
		c.t.Fatal(err)
	}
}

// expectLoss waits for the report of a loss with these words; there is only one.
func (c *nearby) expectLoss(words string) {
	c.t.Helper()
	select {
	case got := <-c.lost:
		if !strings.Contains(got, words) {
			c.t.Errorf("the loss is reported as %q, expected %q", got, words)
		}
	case <-time.After(patience):
		c.t.Error("no loss was reported")
	}
	c.expectNoLoss()
}

func (c *nearby) expectNoLoss() {
	c.t.Helper()
	select {
	case got := <-c.lost:
		c.t.Errorf("a loss was reported: %s", got)
	default:
	}
}

// expectDead: whatever is tried now fails.
func (c *nearby) expectDead(p *peer, why error) {
	c.t.Helper()
	if err := c.within(started(c.Get, plain(c.base, p.Base, 8))); !errors.Is(err, why) {
		c.t.Errorf("a get afterwards: %v", err)
	}
	if err := c.within(started(c.Put, plain(c.base, p.Base, 100000))); !errors.Is(err, why) {
		c.t.Errorf("a put afterwards: %v", err)
	}
	if err := c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}); !errors.Is(err, why) {
		c.t.Errorf("a read-modify-write afterwards: %v", err)
	}
	if err := c.Send(1, transport.Msg{Kind: 1}); !errors.Is(err, why) {
		c.t.Errorf("a message afterwards: %v", err)
	}
}

// A killed peer is noticed by a client that does nothing.
func TestIdlePeerKilled(t *testing.T) {
	someDevice(t)
	p := startPeer(t)
	c := newNearby(t, p.Addr, nil)
	c.touch(p)
	p.signal(syscall.SIGKILL)
	c.expectLoss("rank 1 (host there)")
	c.expectDead(p, transport.ErrPeerDead)
}

// It is noticed by a client that waits for an answer of its server.
func TestPeerKilledMeanwhile(t *testing.T) {
	someDevice(t)
	p := startPeer(t)
	c := newNearby(t, p.Addr, nil)
	c.touch(p)
	p.stop()
	open := make(chan error, 1)
	go func() { open <- c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}) }()
	time.Sleep(50 * time.Millisecond)
	p.signal(syscall.SIGKILL)
	if err := c.within(open); !errors.Is(err, transport.ErrPeerDead) {
		t.Errorf("the open read-modify-write: %v", err)
	}
	c.expectLoss("rank 1 (host there)")
	c.expectDead(p, transport.ErrPeerDead)
}

// A stopped peer's memory is written and read all the same; what its server has to do waits until it goes on.
func TestPeerStopped(t *testing.T) {
	someDevice(t)
	p := startPeer(t)
	c := newNearby(t, p.Addr, nil)
	c.touch(p)
	p.stop()
	mine := memory(c.base, 200000)
	for i := range 100000 {
		mine[i] = byte(i * 3)
	}
	if err := c.within(started(c.Put, plain(c.base, p.Base+64, 100000))); err != nil {
		t.Fatal(err)
	}
	if err := c.Fence(1); err != nil {
		t.Fatal(err)
	}
	if err := c.within(started(c.Get, plain(c.base+100000, p.Base+64, 100000))); err != nil {
		t.Fatal(err)
	}
	if string(mine[:100000]) != string(mine[100000:]) {
		t.Error("other bytes came back")
	}
	open := make(chan error, 1)
	go func() { open <- c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}) }()
	time.Sleep(3 * c.opt.pulseEvery())
	c.expectNoLoss()
	p.signal(syscall.SIGCONT)
	if err := c.within(open); err != nil {
		t.Error(err)
	}
}

// A peer that leaves is not lost.
func TestPeerLeaves(t *testing.T) {
	someDevice(t)
	p := startPeer(t)
	c := newNearby(t, p.Addr, nil)
	c.touch(p)
	p.end()
	time.Sleep(3 * c.opt.pulseEvery())
	c.expectNoLoss()
	c.expectDead(p, transport.ErrPeerDead)
	c.expectNoLoss()
}

// Nobody is there, or one who does not share the secret: not for ever.
func TestNobodyAnswers(t *testing.T) {
	someDevice(t)
	for _, change := range []func(*peer, *Options){
		func(p *peer, o *Options) { p.end() },
		func(p *peer, o *Options) { o.Secret = []byte("another") },
	} {
		p := startPeer(t)
		c := newNearby(t, p.Addr, func(o *Options) { change(p, o) })
		c.expectDead(p, transport.ErrPeerDead)
		c.expectLoss("does not answer")
	}
}

// What is open when the transport is closed fails.
func TestClosedMeanwhile(t *testing.T) {
	someDevice(t)
	p := startPeer(t)
	c := newNearby(t, p.Addr, nil)
	c.touch(p)
	p.stop()
	open := make(chan error, 1)
	go func() { open <- c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}) }()
	time.Sleep(50 * time.Millisecond)
	c.Close()
	if err := c.within(open); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("the open read-modify-write: %v", err)
	}
	p.signal(syscall.SIGCONT)
	c.expectDead(p, transport.ErrClosed)
	c.expectNoLoss()
}
