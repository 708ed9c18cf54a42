// SPDX-License-Identifier: BSD-3-Clause

// A process that does not read for longer than the timeout: its connections stay while its kernel
// answers, and only if they are looked at.
package rawsock

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const watchTimeout = time.Second // the shortest that sockets have

// filled returns both ends of a connection, of which the second has not read what fills all
// buffers.
func filled(t *testing.T) (from, to int) {
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

func failed(fd int) error {
	e, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && e != 0 {
		err = unix.Errno(e)
	}
	return err
}

// lookFor looks at a connection for so long, and tells how far apart two looks were at most, and
// why another one has ended meanwhile that was not looked at.
func (w *Watch) lookFor(d time.Duration, watched, left int) (gap time.Duration, end error) {
	start := time.Now()
	for last := start; last.Sub(start) < d; time.Sleep(WatchPeriod(watchTimeout)) {
		now := time.Now()
		w.Look(watched, watchTimeout, now)
		gap, last = max(gap, now.Sub(last)), now
		if end == nil {
			end = failed(left)
		}
	}
	return gap, end
}

// A connection that is looked at too seldom ends all the same: on a machine that stands still for
// so long the test begins again.
func TestWatch(t *testing.T) {
	for tries := 5; ; tries-- {
		watched, reader := filled(t)
		left, _ := filled(t)
		var w Watch
		gap, end := w.lookFor(5*watchTimeout, watched, left)
		if gap > 3*WatchPeriod(watchTimeout) && tries > 1 {
			t.Logf("the process stood still for %v", gap)
			continue
		}
		if err := failed(watched); err != nil {
			t.Errorf("the connection has ended although the other kernel answers: %v",
				err)
		}
		if end != unix.ETIMEDOUT {
			t.Errorf("without Watch it goes on: %v", end)
		}
		w.readsAgain(t, watched, reader)
		return
	}
}

// readsAgain expects that the usual timeout holds again when the process reads again.
func (w *Watch) readsAgain(t *testing.T, watched, reader int) {
	t.Helper()
	for b := make([]byte, 1<<20); ; { // it reads again
		if _, err := Receive(reader, b); err == unix.EAGAIN {
			if Unsent(watched) == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	w.Look(watched, watchTimeout, time.Now())
	if ms, err := unix.GetsockoptInt(watched, unix.IPPROTO_TCP,
		unix.TCP_USER_TIMEOUT); err != nil || ms != 1000 {
		t.Errorf("afterwards the timeout is %d ms, %v", ms, err)
	}
}
