// SPDX-License-Identifier: BSD-3-Clause

// Faults as a client meets them: peers that die, stop or leave. No operation hangs, the loss is told once, and what is
// no fault is survived.
package tcp

import (
	"bytes"
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/bootstrap/leaktest"
	"libarmci/internal/transport"
	"libarmci/internal/transport/transporttest"
)

// client is rank 0 of two, with memory of its own.
type client struct {
	*Transport
	transporttest.Caller
	g *ground
}

const patience = 10 * time.Second // far more than anything here takes

// newClient opens rank 0; rank 1 is at addr.
func newClient(t testing.TB, addr string, change func(*Options)) *client {
	t.Helper()
	g, err := newGround(peerMemory)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{g: g, Caller: transporttest.Caller{T: t, Patience: patience, Losses: make(chan string, 10)}}
	o := alone(0, g)
	o.Lost = func(rank transport.Rank, reason string) { c.Losses <- reason }
	if change != nil {
		change(&o)
	}
	if c.Transport, err = Open(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		unix.Munmap(memory(g.base, peerMemory))
	})
	if err := c.Connect([]transport.PeerAddr{{Rank: 0}, {Rank: 1, Addr: []byte(addr)}}); err != nil {
		t.Fatal(err)
	}
	return c
}

func plain(local, remote uintptr, n int) *transport.Xfer {
	return &transport.Xfer{Local: transport.Section{Base: local}, Remote: transport.Section{Base: remote}, Count: []int32{int32(n)}}
}

// A killed peer is noticed by a client that is waiting and by one that is not, and everything fails from then on.
func TestPeerKilled(t *testing.T) {
	for _, waiting := range []bool{false, true} {
		leaktest.Check(t)
		p := transporttest.StartPeer(t)
		c := newClient(t, string(p.Addr), nil)
		if err := c.Within(transporttest.Started(c.Get, plain(c.g.base, p.Base, 8))); err != nil {
			t.Fatal(err)
		}
		var open chan error
		if waiting {
			p.Stop()
			open = transporttest.Started(c.Get, plain(c.g.base, p.Base, 8))
		}
		p.Signal(syscall.SIGKILL)
		c.ExpectLoss("connection")
		if waiting {
			if err := c.Within(open); !errors.Is(err, transport.ErrPeerDead) {
				t.Errorf("the open get ended with %v", err)
			}
		}
		if err := c.Within(transporttest.Started(c.Put, plain(c.g.base, p.Base, 8))); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("a put afterwards: %v", err)
		}
		if err := c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("a read-modify-write afterwards: %v", err)
		}
		if err := c.Fence(1); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("a fence afterwards: %v", err)
		}
		p.End()
	}
}

// A peer that is stopped for a while is survived, whatever is open at that time, and nothing is lost or changed.
func TestPeerStopped(t *testing.T) {
	leaktest.Check(t)
	p := transporttest.StartPeer(t)
	c := newClient(t, string(p.Addr), nil)
	const n = 8 << 20 // more than the sockets hold
	mine := memory(c.g.base, 2*n)
	for i := range n {
		mine[i] = byte(i * i >> 8)
	}
	if err := c.Within(transporttest.Started(c.Get, plain(c.g.base+n, p.Base, 8))); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	put := transporttest.Started(c.Put, plain(c.g.base, p.Base, n))
	call := make(chan error, 1)
	go func() {
		_, err := c.Call(1, transport.Msg{Body: []byte("?")})
		call <- err
	}()
	time.Sleep(time.Second)
	if len(put)+len(call) > 0 {
		t.Error("what a stopped process has not done is said to be done")
	}
	p.Signal(syscall.SIGCONT)
	for _, done := range []chan error{put, call, transporttest.Started(c.Get, plain(c.g.base+n, p.Base, n))} {
		if err := c.Within(done); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(mine[:n], mine[n:]) {
		t.Error("what was put is not what is there")
	}
	c.ExpectNoLoss()
}

// A peer that leaves with a goodbye is not lost; what is asked of it afterwards fails.
func TestPeerLeaves(t *testing.T) {
	leaktest.Check(t)
	p := transporttest.StartPeer(t)
	c := newClient(t, string(p.Addr), nil)
	if err := c.Within(transporttest.Started(c.Get, plain(c.g.base, p.Base, 8))); err != nil {
		t.Fatal(err)
	}
	p.End()
	var err error
	for end := time.Now().Add(patience); err == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		err = c.Within(transporttest.Started(c.Get, plain(c.g.base, p.Base, 8)))
	}
	if !errors.Is(err, transport.ErrPeerDead) {
		t.Errorf("a get from a peer that has left: %v", err)
	}
	c.ExpectNoLoss()
}

// What is open when the client closes its transport fails.
func TestCloseWithOpen(t *testing.T) {
	leaktest.Check(t)
	p := transporttest.StartPeer(t)
	c := newClient(t, string(p.Addr), nil)
	if err := c.Within(transporttest.Started(c.Get, plain(c.g.base, p.Base, 8))); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	later := plain(c.g.base, p.Base, 1<<20)
	later.Later = true
	open := []chan error{transporttest.Started(c.Get, plain(c.g.base, p.Base, 8)), transporttest.Started(c.Get, later)}
	time.Sleep(50 * time.Millisecond)
	c.Close()
	for _, done := range open {
		if err := c.Within(done); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("an open get ended with %v", err)
		}
	}
	if err := c.Put(1, plain(c.g.base, p.Base, 8)); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("a put after Close: %v", err)
	}
	p.Signal(syscall.SIGCONT)
	c.ExpectNoLoss()
}

// Whoever is just sending when a rank leaves does not keep the goodbye from its peers.
func TestGoodbyeWhileSending(t *testing.T) {
	j := newJob(t, nil, 1, 1)
	j.ConnectAll(t)
	there, here := j.Alloc(t, 1, 64), j.Alloc(t, 0, 64)
	if err := <-transporttest.Started(j.tr[0].Put, plain(here, there, 8)); err != nil {
		t.Fatal(err)
	}
	w := j.tr[0].wires[1]
	w.mu.Lock()
	closed := make(chan error)
	go func() { closed <- j.tr[0].Close() }()
	time.Sleep(10 * time.Millisecond)
	w.mu.Unlock()
	<-closed
	time.Sleep(20 * time.Millisecond)
	for _, l := range j.Losses() {
		t.Errorf("nobody was lost, but %s", l)
	}
}

// A silent host is noticed by the kernel, which has been told when.
func TestTimeoutIsSet(t *testing.T) {
	leaktest.Check(t)
	p := transporttest.StartPeer(t)
	c := newClient(t, string(p.Addr), func(o *Options) { o.Timeout = 4 * time.Second })
	if err := c.Within(transporttest.Started(c.Get, plain(c.g.base, p.Base, 8))); err != nil {
		t.Fatal(err)
	}
	fd := c.wires[1].fd
	ms, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	alive, err2 := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE)
	if err != nil || err2 != nil || ms != 4000 || alive != 1 {
		t.Errorf("timeout %d ms, %v; keepalive %d, %v", ms, err, alive, err2)
	}
}
