// SPDX-License-Identifier: BSD-3-Clause

// What a waiter that polls the listener looks at, and what it sleeps in.
package tcp

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
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
