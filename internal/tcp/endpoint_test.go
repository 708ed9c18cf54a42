// SPDX-License-Identifier: BSD-3-Clause

// The end of a connection while something is being sent.
package tcp

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/transport"
)

// A frame that the socket has taken is sent, although the peer has acted on it, and left, before
// Send returns: here the thread that receives it, and then ends the connection, runs on the
// sender's core as soon as the frame is there, and before the sender goes on.
func TestSentBeforeTheEnd(t *testing.T) {
	f := newServer(t, nil).dial(t, 2).endpoint.fabric
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	var core unix.CPUSet
	core.Set(allowedCore(t))
	gone := errors.New("the peer has left")
	for range 20 {
		end := &endpoint{socket: f.newSocket(pair[0]), fabric: f}
		end.tx.out = &end.out
		ready, done := make(chan error), make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // never unlocked: the thread ends with its priority
			unix.SchedSetaffinity(0, &core)
			ready <- unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr,
				Policy: unix.SCHED_FIFO, Priority: 1}, 0)
			var b [256]byte
			unix.Read(pair[1], b[:])
			end.breakCause.Store(&gone)
		}()
		if err := <-ready; err != nil {
			unix.Write(pair[0], []byte{0})
			<-done
			t.Skipf("no thread may have a real-time priority here: %v", err)
		}
		sent := make(chan error)
		go func() {
			runtime.LockOSThread()
			unix.SchedSetaffinity(0, &core)
			_, err := end.Send([]byte("head"), nil, 0, transport.Now)
			sent <- err
		}()
		if err := <-sent; err != nil {
			t.Fatalf("sending what has arrived: %v", err)
		}
		<-done
	}
}

// An origin that blocks in Send receives answers meanwhile: this server does not read on before its
// answers have left, and no other thread reads them.
func TestReceivesWhileItSends(t *testing.T) {
	const times, n, buffer = 16, 1 << 20, 64 << 10
	s := newServer(t, nil)
	c := newClient(t, 2, func(f *fabric) {
		f.Receive = func(e transport.OriginEndpoint) bool {
			e.Source().Poll(1)
			return true
		}
	})
	e, err := c.fabric.Dial(0, s.fabric.Info().Addr, c)
	if err != nil {
		t.Fatal(err)
	}
	c.endpoint = e.(*endpoint)
	// small buffers, so that few bytes are on their way
	for _, fd := range []int{c.endpoint.fd, s.awaitConns(t, 1)[0].conn.fd} {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, buffer)
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, buffer)
	}
	late := time.AfterFunc(5*time.Second, c.endpoint.Break)
	body, sent := make([]byte, n), 0
	for ; sent < times && err == nil; sent++ {
		err = c.send([]byte{opEcho, byte(sent)}, body)
	}
	late.Stop()
	go c.pollLoop() // closing the client waits for it
	if err != nil {
		t.Fatalf("echo %d of %d: %v", sent, times, err)
	}
	for i := range times {
		if got := c.nextFrame(t); len(got) != 2+n || got[1] != byte(i) {
			t.Fatalf("answer %d has %d bytes", i, len(got))
		}
	}
}

// allowedCore is the first core that this process may use.
func allowedCore(t *testing.T) int {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	core := 0
	for !all.IsSet(core) {
		core++
	}
	return core
}

// A waiter on a core that another thread uses polls once, so that it sleeps at once. Another poll
// after a yield would take a time slice each time.
func TestPollsOnceOnBusyCore(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	e := &endpoint{socket: socket{fd: pair[0]}, rx: receiver{
		socket: streamSocket{fd: pair[0]}, atOrigin: true, handler: &client{}}}
	e.crowd.Took(time.Second, time.Now().Add(time.Hour))
	if n := e.Poll(math.MaxInt); n != 0 { // else it never returns
		t.Errorf("it found %d", n)
	}
}
