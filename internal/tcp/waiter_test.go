// SPDX-License-Identifier: BSD-3-Clause

// A waiter that polls the listener: its descriptors, and the input that it leaves in sockets.
package tcp

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

// readable waits until a descriptor has input, at most for limit.
func readable(t *testing.T, fd int, limit time.Duration) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for end := time.Now().Add(limit); ; {
		n, err := unix.Poll(fds, int(max(time.Until(end), 0)/time.Millisecond))
		if err != unix.EINTR {
			return n > 0
		}
	}
}

// The descriptors of a waiter are readable when Poll would find input. That of EpollFD is also
// readable after Interrupt.
func TestDescriptorsOfWaiter(t *testing.T) {
	s := newServer(t, nil)
	c := s.dial(t, 2)
	c.echo(t, 1, 100) // it has proved itself
	s.stopPolling()   // the test polls from now on
	defer s.closeFabric()
	for s.listener.Ready() < 0 { // in the middle of something
		s.listener.Poll(1)
		runtime.Gosched()
	}
	ready, sleepIn := s.listener.Ready(), s.listener.EpollFD()
	if readable(t, ready, 0) {
		t.Error("there is input though nothing was sent")
	}
	var events [4]unix.EpollEvent
	unix.EpollWait(sleepIn, events[:], 0) // takes the interruption by halt
	s.listener.Interrupt()
	if !readable(t, sleepIn, patience) {
		t.Error("Interrupt does not wake the waiter")
	}
	unix.EpollWait(sleepIn, events[:], 0)
	if readable(t, sleepIn, 0) {
		t.Error("the waiter is woken though nothing was sent")
	}
	if _, err := rawsock.Send(c.endpoint.fd, []byte{0}); err != nil { // a part of a frame
		t.Fatal(err)
	}
	if !readable(t, ready, patience) || !readable(t, sleepIn, patience) {
		t.Error("input does not wake the waiter")
	}
	if s.listener.Poll(1) == 0 {
		t.Error("Poll has not found the input")
	}
}

// A request that a waiter has handled stays in the socket, unacknowledged, until it polls again or
// stops: its caller's reply goes first. No frame is handled twice.
func TestWaiterConfirmsLater(t *testing.T) {
	s := newServer(t, nil)
	c := s.dial(t, 2)
	c.echo(t, 1, 100)
	s.stopPolling()
	defer s.closeFabric()
	for s.listener.Ready() < 0 {
		s.listener.Poll(1)
		runtime.Gosched()
	}
	end := s.awaitConns(t, 1)[0]
	there := func() int {
		n, err := unix.IoctlGetInt(end.conn.fd, unix.SIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	receive := func(i byte) {
		t.Helper()
		data := []byte{i, i, i, i, i, i, i, i}
		body := cursorOf(data, len(data), 1)
		_, err := c.endpoint.Send([]byte{opPut}, &body, int64(len(data)), transport.Now)
		if err != nil {
			t.Fatal(err)
		}
		if !readable(t, s.listener.Ready(), patience) || s.listener.Poll(1) == 0 ||
			s.mem[7] != i {
			t.Fatalf("put %d has not been received", i)
		}
	}
	s.listener.SetWaiterPolls(true)
	for i := byte(1); i < 4*maxUnanswered; i++ {
		if receive(i); there() == 0 {
			t.Errorf("put %d has been confirmed at once", i)
		}
		s.mem[7] = 0
	}
	if n := s.listener.Poll(1); n != 0 || there() != 0 || s.mem[7] != 0 {
		t.Errorf("the next poll has moved %d bytes and left %d", n, there())
	}
	receive(100)
	s.listener.SetWaiterPolls(false)
	if there() != 0 || readable(t, s.listener.Ready(), 0) {
		t.Error("what the waiter has received wakes the data server's thread")
	}
	if receive(101); there() != 0 {
		t.Error("the data server's thread leaves what it has received in the socket")
	}
}
