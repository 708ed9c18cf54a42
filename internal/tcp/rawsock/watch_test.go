// SPDX-License-Identifier: BSD-3-Clause

// A process that does not read for longer than the timeout: its connections stay while its kernel
// answers, and only if they are checked.
package rawsock

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const watchTimeout = time.Second // the shortest that sockets have

// newFullConnection returns both ends of a connection, of which the second does not read and all
// buffers are full.
func newFullConnection(t *testing.T) (from, to int) {
	ln, at, err := Listen(loopback, "")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ln)
	if from, err = Connect(at, "", watchTimeout, time.Now().Add(10*time.Second)); err != nil {
		t.Fatal(err)
	}
	WaitFor(ln, unix.POLLIN, time.Now().Add(10*time.Second))
	if to, _, err = unix.Accept4(ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(from); unix.Close(to) })
	for b := make([]byte, 64<<10); err == nil; {
		_, err = Send(from, b)
		if err == unix.EAGAIN {
			err = WaitFor(from, unix.POLLOUT, time.Now().Add(100*time.Millisecond))
		}
	}
	return from, to
}

func socketError(fd int) error {
	e, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && e != 0 {
		err = unix.Errno(e)
	}
	return err
}

// checkFor checks a connection for the time d. It returns the longest gap between two checks, and
// why a connection that was not checked has ended meanwhile.
func (w *Watch) checkFor(d time.Duration, watched, left int) (gap time.Duration, end error) {
	start := time.Now()
	for last := start; last.Sub(start) < d; time.Sleep(WatchPeriod(watchTimeout)) {
		now := time.Now()
		w.Check(watched, watchTimeout, now)
		gap, last = max(gap, now.Sub(last)), now
		if end == nil {
			end = socketError(left)
		}
	}
	return gap, end
}

// A connection to a process that does not read outlives its timeout while it is checked. One that
// is checked too seldom ends all the same: if the machine stands still, the test begins again.
func TestWatchKeepsStoppedPeer(t *testing.T) {
	for tries := 5; ; tries-- {
		watched, reader := newFullConnection(t)
		left, _ := newFullConnection(t)
		var w Watch
		gap, end := w.checkFor(5*watchTimeout, watched, left)
		if gap > 3*WatchPeriod(watchTimeout) && tries > 1 {
			t.Logf("the process stood still for %v", gap)
			continue
		}
		if err := socketError(watched); err != nil {
			t.Errorf("the connection has ended although the other kernel answers: %v",
				err)
		}
		if end != unix.ETIMEDOUT {
			t.Errorf("without Watch it goes on: %v", end)
		}
		w.expectRestored(t, watched, reader)
		return
	}
}

// expectRestored checks that the usual timeout is set again when the process reads again.
func (w *Watch) expectRestored(t *testing.T, watched, reader int) {
	t.Helper()
	for b := make([]byte, 1<<20); ; { // it reads again
		if _, err := Receive(reader, b); err == unix.EAGAIN {
			if n, _ := UnackedBytes(watched); n == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	w.Check(watched, watchTimeout, time.Now())
	if ms, err := unix.GetsockoptInt(watched, unix.IPPROTO_TCP,
		unix.TCP_USER_TIMEOUT); err != nil || ms != 1000 {
		t.Errorf("afterwards the timeout is %d ms, %v", ms, err)
	}
}
