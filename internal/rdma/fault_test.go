// SPDX-License-Identifier: BSD-3-Clause

// Faults: peers that die, stop, leave or are others than they say. No operation hangs, the loss is
// reported once, and what is no fault is survived.
package rdma

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/internode"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

const testTimeout = 20 * time.Second // far more than anything here takes

func contiguousXfer(local, remote uintptr, n int) *transport.Xfer {
	return &transport.Xfer{Local: transport.Section{Base: local},
		Remote: transport.Section{Base: remote},
		Count:  []int32{int32(n)}}
}

// getWord reads a word of the peer, which must succeed.
func (c *localRank) getWord(p *transporttest.Process) {
	c.T.Helper()
	get := transporttest.Started(c.Get, contiguousXfer(c.base, p.Base, 8))
	if err := c.Within(get); err != nil {
		c.T.Fatal(err)
	}
}

// expectFailures: whatever is tried now fails.
func (c *localRank) expectFailures(p *transporttest.Process, why error) {
	c.T.Helper()
	get := transporttest.Started(c.Get, contiguousXfer(c.base, p.Base, 8))
	if err := c.Within(get); !errors.Is(err, why) {
		c.T.Errorf("a get afterwards: %v", err)
	}
	put := transporttest.Started(c.Put, contiguousXfer(c.base, p.Base, 100000))
	if err := c.Within(put); !errors.Is(err, why) {
		c.T.Errorf("a put afterwards: %v", err)
	}
	if err := c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}); !errors.Is(err, why) {
		c.T.Errorf("a read-modify-write afterwards: %v", err)
	}
	if err := c.Send(1, transport.Msg{Kind: 1}); !errors.Is(err, why) {
		c.T.Errorf("a message afterwards: %v", err)
	}
}

// TestOwnDeviceNamed: the error of a request that failed because of the own device names the
// device.
func TestOwnDeviceNamed(t *testing.T) {
	skipWithoutDevice(t)
	f := openJob(t, nil, 0, 1).fabrics[0]
	for status, own := range map[int32]bool{5: true, 12: false, 19: true} {
		// flushed, no answer, fatal
		if err := f.device.RequestError(&qp.Completion{Status: status}); strings.Contains(
			err.Error(), "device "+f.device.Name()) != own {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

// TestIdlePeerKilled: a process that does nothing notices that a peer was killed.
func TestIdlePeerKilled(t *testing.T) {
	skipWithoutDevice(t)
	p := transporttest.StartPeer(t)
	c := newLocalRank(t, p.Addr, nil)
	c.getWord(p)
	p.Signal(syscall.SIGKILL)
	c.ExpectLoss("rank 1 (host there)")
	c.expectFailures(p, transport.ErrPeerDead)
}

// TestPeerKilledMeanwhile: an open read-modify-write fails when the peer is killed.
func TestPeerKilledMeanwhile(t *testing.T) {
	skipWithoutDevice(t)
	p := transporttest.StartPeer(t)
	c := newLocalRank(t, p.Addr, nil)
	c.getWord(p)
	p.Stop()
	open := make(chan error, 1)
	go func() { open <- c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}) }()
	time.Sleep(50 * time.Millisecond)
	p.Signal(syscall.SIGKILL)
	if err := c.Within(open); !errors.Is(err, transport.ErrPeerDead) {
		t.Errorf("the open read-modify-write: %v", err)
	}
	c.ExpectLoss("rank 1 (host there)")
	c.expectFailures(p, transport.ErrPeerDead)
}

// TestPeerStopped: the memory of a stopped peer is written and read; requests to its data server
// wait until the peer continues.
func TestPeerStopped(t *testing.T) {
	skipWithoutDevice(t)
	p := transporttest.StartPeer(t)
	c := newLocalRank(t, p.Addr, nil)
	c.getWord(p)
	p.Stop()
	mine := memoryAt(c.base, 200000)
	for i := range 100000 {
		mine[i] = byte(i * 3)
	}
	if err := c.Within(transporttest.Started(c.Put,
		contiguousXfer(c.base, p.Base+64, 100000))); err != nil {
		t.Fatal(err)
	}
	if err := c.Fence(1); err != nil {
		t.Fatal(err)
	}
	if err := c.Within(transporttest.Started(c.Get,
		contiguousXfer(c.base+100000, p.Base+64, 100000))); err != nil {
		t.Fatal(err)
	}
	if string(mine[:100000]) != string(mine[100000:]) {
		t.Error("other bytes came back")
	}
	open := make(chan error, 1)
	go func() { open <- c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}) }()
	time.Sleep(3 * peerTimeout / 4)
	c.ExpectNoLoss()
	p.Signal(syscall.SIGCONT)
	if err := c.Within(open); err != nil {
		t.Error(err)
	}
}

// TestPeerLeaves: a peer that closes its transport is not reported as lost.
func TestPeerLeaves(t *testing.T) {
	skipWithoutDevice(t)
	p := transporttest.StartPeer(t)
	c := newLocalRank(t, p.Addr, nil)
	c.getWord(p)
	p.End()
	time.Sleep(3 * peerTimeout / 4)
	c.ExpectNoLoss()
	c.expectFailures(p, transport.ErrPeerDead)
	c.ExpectNoLoss()
}

// TestNobodyAnswers: a connection to a process that has ended, or that has another secret, fails
// after the timeout.
func TestNobodyAnswers(t *testing.T) {
	skipWithoutDevice(t)
	for _, change := range []func(*transporttest.Process, *internode.Options){
		func(p *transporttest.Process, o *internode.Options) { p.End() },
		func(p *transporttest.Process,
			o *internode.Options) {
			o.Secret = []byte("another")
		},
	} {
		p := transporttest.StartPeer(t)
		c := newLocalRank(t, p.Addr, func(o *internode.Options) { change(p, o) })
		c.expectFailures(p, transport.ErrPeerDead)
		c.ExpectLoss("does not answer")
	}
}

// TestClosedMeanwhile: an open operation fails when the transport is closed.
func TestClosedMeanwhile(t *testing.T) {
	skipWithoutDevice(t)
	p := transporttest.StartPeer(t)
	c := newLocalRank(t, p.Addr, nil)
	c.getWord(p)
	p.Stop()
	open := make(chan error, 1)
	go func() { open <- c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}) }()
	time.Sleep(50 * time.Millisecond)
	c.Close()
	if err := c.Within(open); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("the open read-modify-write: %v", err)
	}
	p.Signal(syscall.SIGCONT)
	c.expectFailures(p, transport.ErrClosed)
	c.ExpectNoLoss()
}
