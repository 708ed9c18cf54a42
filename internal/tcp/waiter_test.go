// SPDX-License-Identifier: BSD-3-Clause

// What a waiter that polls the listener looks at, what it sleeps in, and what it leaves in sockets.
package tcp

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

// readable waits until there is input at a descriptor, for a while.
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

// The descriptors of a waiter tell when there is something to poll for: that of looks is the same
// while it is diverted from the data server's thread, that of sleeps also hears Interrupt.
func TestDescriptorsOfWaiter(t *testing.T) {
	s := newServer(t, nil)
	c := s.dial(t, 2)
	c.echo(t, 1, 100) // it has proved itself
	s.halt()          // the test polls from now on
	defer s.end()
	for s.l.Ready() < 0 { // in the middle of something
		s.l.Poll(1)
		runtime.Gosched()
	}
	ready, sleepIn := s.l.Ready(), s.l.SleepIn()
	if readable(t, ready, 0) {
		t.Error("there is input though nothing has come")
	}
	var events [4]unix.EpollEvent
	unix.EpollWait(sleepIn, events[:], 0) // takes the interruption by halt
	s.l.Interrupt()
	if !readable(t, sleepIn, patience) {
		t.Error("Interrupt does not wake the waiter")
	}
	unix.EpollWait(sleepIn, events[:], 0)
	if readable(t, sleepIn, 0) {
		t.Error("the waiter is woken though nothing has come")
	}
	if _, err := rawsock.Send(c.e.fd, []byte{0}); err != nil { // a part of a frame
		t.Fatal(err)
	}
	if !readable(t, ready, patience) || !readable(t, sleepIn, patience) {
		t.Error("what comes is not told to the waiter")
	}
	if s.l.Poll(1) == 0 {
		t.Error("Poll has not found what came")
	}
}

// What a waiter has received stays in the socket, unconfirmed, until it polls again or leaves: its
// caller's reply goes first. No frame comes twice.
func TestWaiterConfirmsLater(t *testing.T) {
	s := newServer(t, nil)
	c := s.dial(t, 2)
	c.echo(t, 1, 100)
	s.halt()
	defer s.end()
	for s.l.Ready() < 0 {
		s.l.Poll(1)
		runtime.Gosched()
	}
	end := s.ends(t, 1)[0]
	there := func() int {
		n, err := unix.IoctlGetInt(end.c.fd, unix.SIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	receive := func(i byte) {
		t.Helper()
		data := []byte{i, i, i, i, i, i, i, i}
		body := cursorOf(data, len(data), 1)
		_, err := c.e.Send([]byte{opPut}, &body, int64(len(data)), transport.Now)
		if err != nil {
			t.Fatal(err)
		}
		if !readable(t, s.l.Ready(), patience) || s.l.Poll(1) == 0 || s.mem[7] != i {
			t.Fatalf("put %d has not been received", i)
		}
	}
	s.l.Divert(true)
	for i := byte(1); i < 4*mostSilent; i++ {
		if receive(i); there() == 0 {
			t.Errorf("put %d has been confirmed at once", i)
		}
		s.mem[7] = 0
	}
	if n := s.l.Poll(1); n != 0 || there() != 0 || s.mem[7] != 0 {
		t.Errorf("the next poll has moved %d bytes and left %d", n, there())
	}
	receive(100)
	s.l.Divert(false)
	if there() != 0 || readable(t, s.l.Ready(), 0) {
		t.Error("what the waiter has received wakes the data server's thread")
	}
	if receive(101); there() != 0 {
		t.Error("the data server's thread leaves what it has received in the socket")
	}
}
