// SPDX-License-Identifier: BSD-3-Clause

// Faults as a client meets them: peers that die, stop, leave, or talk nonsense. No operation hangs, the loss is told
// once and names the rank, and what is not a fault is survived.
package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/bootstrap/leaktest"
	"libarmci/internal/transport"
)

// client is rank 0 of two, with memory of its own.
type client struct {
	*Transport
	t    testing.TB
	g    *ground
	lost chan string
}

const patience = 10 * time.Second // far more than anything here takes

// newClient opens rank 0; rank 1 is at addr.
func newClient(t testing.TB, addr string, change func(*Options)) *client {
	t.Helper()
	g, err := newGround(peerMemory)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, g: g, lost: make(chan string, 10)}
	o := alone(0, g)
	o.Lost = func(rank transport.Rank, reason string) { c.lost <- reason }
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
func (c *client) within(done chan error) error {
	c.t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		c.t.Fatal("the operation hangs")
		return nil
	}
}

// expectLoss waits for the report of a loss with these words; there is only one.
func (c *client) expectLoss(words string) {
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

func (c *client) expectNoLoss() {
	c.t.Helper()
	select {
	case got := <-c.lost:
		c.t.Errorf("a loss was reported: %s", got)
	default:
	}
}

// A killed peer is noticed by a client that is waiting and by one that is not, and everything fails from then on.
func TestPeerKilled(t *testing.T) {
	for _, waiting := range []bool{false, true} {
		leaktest.Check(t)
		p := startPeer(t)
		c := newClient(t, p.Addr, nil)
		if err := c.within(started(c.Get, plain(c.g.base, p.Base, 8))); err != nil {
			t.Fatal(err)
		}
		var open chan error
		if waiting {
			p.stop()
			open = started(c.Get, plain(c.g.base, p.Base, 8))
		}
		p.signal(syscall.SIGKILL)
		c.expectLoss("connection")
		if waiting {
			if err := c.within(open); !errors.Is(err, transport.ErrPeerDead) {
				t.Errorf("the open get ended with %v", err)
			}
		}
		if err := c.within(started(c.Put, plain(c.g.base, p.Base, 8))); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("a put afterwards: %v", err)
		}
		if err := c.RMW(1, &transport.RMW{Bytes: 8, Addr: p.Base}); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("a read-modify-write afterwards: %v", err)
		}
		if err := c.Fence(1); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("a fence afterwards: %v", err)
		}
		p.end()
	}
}

// A peer that is stopped for a while is survived, whatever is open at that time, and nothing is lost or changed.
func TestPeerStopped(t *testing.T) {
	leaktest.Check(t)
	p := startPeer(t)
	c := newClient(t, p.Addr, func(o *Options) { o.Timeout = 2 * time.Second })
	const n = 8 << 20 // more than the sockets hold
	mine := memory(c.g.base, 2*n)
	for i := range n {
		mine[i] = byte(i * i >> 8)
	}
	if err := c.within(started(c.Get, plain(c.g.base+n, p.Base, 8))); err != nil {
		t.Fatal(err)
	}
	p.stop()
	put := started(c.Put, plain(c.g.base, p.Base, n))
	call := make(chan error, 1)
	go func() {
		_, err := c.Call(1, transport.Msg{Body: []byte("?")})
		call <- err
	}()
	time.Sleep(time.Second)
	if len(put)+len(call) > 0 {
		t.Error("what a stopped process has not done is said to be done")
	}
	p.signal(syscall.SIGCONT)
	for _, done := range []chan error{put, call, started(c.Get, plain(c.g.base+n, p.Base, n))} {
		if err := c.within(done); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(mine[:n], mine[n:]) {
		t.Error("what was put is not what is there")
	}
	c.expectNoLoss()
}

// A peer that leaves with a goodbye is not lost; what is asked of it afterwards fails.
func TestPeerLeaves(t *testing.T) {
	leaktest.Check(t)
	p := startPeer(t)
	c := newClient(t, p.Addr, nil)
	if err := c.within(started(c.Get, plain(c.g.base, p.Base, 8))); err != nil {
		t.Fatal(err)
	}
	p.end()
	var err error
	for end := time.Now().Add(patience); err == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		err = c.within(started(c.Get, plain(c.g.base, p.Base, 8)))
	}
	if !errors.Is(err, transport.ErrPeerDead) {
		t.Errorf("a get from a peer that has left: %v", err)
	}
	c.expectNoLoss()
}

// What is open when the client closes its transport fails.
func TestCloseWithOpen(t *testing.T) {
	leaktest.Check(t)
	p := startPeer(t)
	c := newClient(t, p.Addr, nil)
	if err := c.within(started(c.Get, plain(c.g.base, p.Base, 8))); err != nil {
		t.Fatal(err)
	}
	p.stop()
	later := plain(c.g.base, p.Base, 1<<20)
	later.Later = true
	open := []chan error{started(c.Get, plain(c.g.base, p.Base, 8)), started(c.Get, later)}
	time.Sleep(50 * time.Millisecond)
	c.Close()
	for _, done := range open {
		if err := c.within(done); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("an open get ended with %v", err)
		}
	}
	if err := c.Put(1, plain(c.g.base, p.Base, 8)); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("a put after Close: %v", err)
	}
	p.signal(syscall.SIGCONT)
	c.expectNoLoss()
}

// impostor listens, and does with each connection what it is told.
func impostor(t testing.TB, serve func(fd int)) string {
	t.Helper()
	ln, at, err := listen(netip.MustParseAddr("127.0.0.1"), "")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for waitFor(ln, unix.POLLIN, soon()) == nil {
			fd, _, err := unix.Accept4(ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			if err != nil {
				return
			}
			serve(fd)
			unix.Close(fd)
		}
	}()
	t.Cleanup(func() {
		unix.Shutdown(ln, unix.SHUT_RDWR)
		<-ended
		unix.Close(ln)
	})
	return at.String()
}

// welcomes does the server's side of the handshake and reads the client's first frame header.
func welcomes(t testing.TB, fd int) header {
	c := newChallenge(1)
	var p proof
	var b [headerBytes]byte
	var h header
	err := sendFull(fd, c[:], soon())
	if err == nil {
		err = recvFull(fd, p[:], soon())
	}
	_, w, e := c.admit([]byte("secret"), &p)
	if e != nil {
		t.Errorf("the client's proof: %v", e)
		return h
	}
	if err == nil {
		err = sendFull(fd, w[:], soon())
	}
	if err == nil {
		err = recvFull(fd, b[:], soon())
	}
	if err != nil {
		t.Errorf("the client's first request: %v", err)
	}
	h.decode(b[:])
	return h
}

// A server that has proved itself and then says what no server says ends the job, with a reason.
func TestNonsense(t *testing.T) {
	answer := func(h header, body string) []byte { return append(h.append(nil), body...) }
	for what, c := range map[string]struct {
		say   func(asked header) []byte
		words string
	}{
		"zeros":            {func(header) []byte { return make([]byte, 64) }, "kind 0"},
		"letters":          {func(header) []byte { return bytes.Repeat([]byte("x"), 64) }, "violation"},
		"half a header":    {func(header) []byte { return make([]byte, 7) }, "connection lost"},
		"another's answer": {func(h header) []byte { return answer(header{Kind: kindData, ID: h.ID + 1, Bytes: 8}, "12345678") }, "not asked"},
		"an old answer": {func(h header) []byte {
			return answer(header{Kind: kindData, ID: h.ID - 1<<placeBits, Bytes: 8}, "12345678")
		}, "not asked"},
		"too much data":     {func(h header) []byte { return answer(header{Kind: kindData, ID: h.ID, Bytes: 9}, "123456789") }, "not asked for"},
		"endless data":      {func(h header) []byte { return answer(header{Kind: kindData, ID: h.ID, Bytes: 1 << 63}, "") }, "violation"},
		"data for nobody":   {func(header) []byte { return answer(header{Kind: kindData, Bytes: 8}, "12345678") }, "not asked for"},
		"cut data":          {func(h header) []byte { return answer(header{Kind: kindData, ID: h.ID, Bytes: 8}, "1234") }, "connection lost"},
		"an endless reply":  {func(h header) []byte { return answer(header{Kind: kindReply, ID: h.ID, Bytes: 1 << 40}, "") }, "reply of"},
		"an endless error":  {func(h header) []byte { return answer(header{Kind: kindError, ID: h.ID, Bytes: 1 << 40}, "") }, "text of"},
		"a long descriptor": {func(h header) []byte { return answer(header{Kind: kindError, Desc: 16, ID: h.ID}, "") }, "text of"},
		"data, described":   {func(h header) []byte { return answer(header{Kind: kindData, Desc: 8, ID: h.ID, Bytes: 8}, "") }, "descriptor"},
		"the job ends":      {func(header) []byte { return answer(header{Kind: kindLost, Rank: 7, Bytes: 4}, "fire") }, "fire"},
	} {
		t.Run(what, func(t *testing.T) {
			leaktest.Check(t)
			addr := impostor(t, func(fd int) { sendFull(fd, c.say(welcomes(t, fd)), soon()) })
			me := newClient(t, addr, nil)
			if err := me.within(started(me.Get, plain(me.g.base, 4096, 8))); !errors.Is(err, transport.ErrPeerDead) {
				t.Errorf("the get ended with %v", err)
			}
			me.expectLoss(c.words)
		})
	}
}

// Answers that come byte by byte are understood.
func TestSlowAnswers(t *testing.T) {
	leaktest.Check(t)
	addr := impostor(t, func(fd int) {
		h := welcomes(t, fd)
		b := append((&header{Kind: kindData, ID: h.ID, Bytes: 8}).append(nil), "12345678"...)
		for i := range b {
			sendFull(fd, b[i:i+1], soon())
			time.Sleep(time.Millisecond)
		}
		waitFor(fd, unix.POLLIN, soon())
	})
	c := newClient(t, addr, nil)
	if err := c.within(started(c.Get, plain(c.g.base, 4096, 8))); err != nil || string(memory(c.g.base, 8)) != "12345678" {
		t.Errorf("%q, %v", memory(c.g.base, 8), err)
	}
	c.expectNoLoss()
}

// A server that reads slowly gets everything, and the caller waits no longer than it takes.
func TestSlowReader(t *testing.T) {
	leaktest.Check(t)
	const n = 12 << 20
	sum := make(chan uint64, 1)
	addr := impostor(t, func(fd int) {
		if h := welcomes(t, fd); h.Bytes != n {
			t.Errorf("a put of %d bytes", h.Bytes)
		}
		total, b := uint64(0), make([]byte, 64<<10)
		for range n / len(b) {
			recvFull(fd, b, soon())
			for i := 0; i < len(b); i += 8 {
				total += binary.LittleEndian.Uint64(b[i:])
			}
			time.Sleep(time.Millisecond)
		}
		sum <- total
		waitFor(fd, unix.POLLIN, soon())
	})
	c := newClient(t, addr, nil)
	want := uint64(0)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&memory(c.g.base, n)[0])), n/8)
	for i := range words {
		words[i] = uint64(i) * 0x9e3779b97f4a7c15
		want += words[i]
	}
	x := plain(c.g.base, 4096, n)
	x.Known = true
	if err := c.within(started(c.Put, x)); err != nil {
		t.Fatal(err)
	}
	if got := <-sum; got != want {
		t.Error("other bytes have arrived than were put")
	}
}

// Who is there but is no server of this job: nobody hangs, and the reason is told.
func TestWrongServer(t *testing.T) {
	for what, c := range map[string]struct {
		serve func(fd int)
		words string
	}{
		"nothing said": {func(fd int) { waitFor(fd, unix.POLLIN, soon()) }, "no answer"},
		"gone at once": {func(int) {}, "EOF"},
		"web server":   {func(fd int) { sendFull(fd, bytes.Repeat([]byte("HTTP/1.1 "), 20), soon()) }, "not an ARMCI"},
		"another job": {func(fd int) {
			c := newChallenge(1)
			sendFull(fd, c[:], soon())
			var p proof
			recvFull(fd, p[:], soon())
			sendFull(fd, make([]byte, welcomeBytes), soon())
		}, "no proof"},
		"another rank": {func(fd int) { c := newChallenge(5); sendFull(fd, c[:], soon()) }, "of rank 5"},
	} {
		t.Run(what, func(t *testing.T) {
			leaktest.Check(t)
			me := newClient(t, impostor(t, c.serve), func(o *Options) { o.Timeout = 300 * time.Millisecond })
			if err := me.within(started(me.Put, plain(me.g.base, 4096, 8))); !errors.Is(err, transport.ErrPeerDead) {
				t.Errorf("the put ended with %v", err)
			}
			me.expectLoss(c.words)
		})
	}
	t.Run("nobody", func(t *testing.T) {
		leaktest.Check(t)
		me := newClient(t, "127.0.0.1:1", nil)
		if err := me.within(started(me.Put, plain(me.g.base, 4096, 8))); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("the put ended with %v", err)
		}
		me.expectLoss("refused")
	})
}

// A silent host is noticed by the kernel, which has been told when.
func TestTimeoutIsSet(t *testing.T) {
	leaktest.Check(t)
	p := startPeer(t)
	c := newClient(t, p.Addr, func(o *Options) { o.Timeout = 4 * time.Second })
	if err := c.within(started(c.Get, plain(c.g.base, p.Base, 8))); err != nil {
		t.Fatal(err)
	}
	fd := c.wires[1].fd
	ms, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	alive, err2 := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE)
	if err != nil || err2 != nil || ms != 4000 || alive != 1 {
		t.Errorf("timeout %d ms, %v; keepalive %d, %v", ms, err, alive, err2)
	}
}
