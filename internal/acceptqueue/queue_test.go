// SPDX-License-Identifier: BSD-3-Clause

// The queue, listeners of package net that use it, and processes that connect again.
package acceptqueue

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/testutil/leaktest"
)

func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, byte(n)}) }

// The victim is the oldest connection of the address with most places, or of several such addresses
// the oldest one.
func TestVictim(t *testing.T) {
	q := New[int](6)
	if _, ok := q.Victim(); ok {
		t.Error("an empty queue has a victim")
	}
	for conn, from := range []int{1, 2, 3, 2, 1, 2} {
		if q.Full() {
			t.Fatalf("full with %d", conn)
		}
		q.Add(conn, address(from))
	}
	if !q.Full() || q.Len() != 6 {
		t.Errorf("%d of 6 places", q.Len())
	}
	for _, want := range []int{1, 0, 3, 2, 4, 5} {
		// 2 has three; then 1 and 2 have two each; then 2 has two
		got, ok := q.Victim()
		if !ok || got != want || !q.Remove(got) || q.Remove(got) {
			t.Errorf("%d goes, not %d", got, want)
		}
	}
	if len(q.held) != 0 {
		t.Errorf("addresses are left: %v", q.held)
	}
}

// A flood from some addresses does not evict a connection from another one.
func TestFloodLeavesOthersAlone(t *testing.T) {
	q := New[int](64)
	q.Add(-1, address(9))
	for conn := range 10000 {
		if q.Full() {
			victim, _ := q.Victim()
			q.Remove(victim)
		}
		q.Add(conn, address(conn%5))
	}
	if oldest, _, _ := q.Oldest(); oldest != -1 {
		t.Error("the only connection of an address was dropped")
	}
}

// A full queue of new connections delays the listener for a moment.
func TestHold(t *testing.T) {
	q := New[int](2)
	q.Add(0, address(1))
	if hold := q.Hold(); hold != 0 {
		t.Errorf("a queue with room holds the listener up for %v", hold)
	}
	q.Add(1, address(1))
	if hold := q.Hold(); hold > Grace {
		t.Errorf("held up for %v", hold)
	}
	if time.Sleep(Grace + time.Millisecond); q.Hold() != 0 {
		t.Error("held up for longer than the grace")
	}
}

// newListeners opens the kinds of listeners that a job server has.
func newListeners(t *testing.T) map[string]net.Listener {
	t.Helper()
	leaktest.Check(t)
	all := map[string]net.Listener{}
	for network, at := range map[string]string{"unix": fmt.Sprintf("@acceptqueue-%d",
		os.Getpid()), "tcp": "127.0.0.1:0"} {
		l, err := net.Listen(network, at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		all[network] = l
	}
	return all
}

// With more connections than places the newest stay, and each leaves once.
func TestWaiting(t *testing.T) {
	const places, more = 8, 5
	for network, l := range newListeners(t) {
		w := NewWaiting(places)
		var mine, theirs []net.Conn
		for range places + more {
			c, err := net.Dial(network, l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			mine = append(mine, c)
		}
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			got, err := w.Accept(l)
			if err != nil {
				t.Fatal(err)
			}
			theirs = append(theirs, got...)
			if mine[places+more-1].SetReadDeadline(
				time.Now().Add(20 * time.Millisecond)); len(theirs) >= places {
				break
			}
		}
		for i, c := range mine {
			c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			_, err := c.Read(make([]byte, 1))
			closed := !errors.Is(err, os.ErrDeadlineExceeded)
			if closed != (i < more) && i > 0 {
				t.Errorf("%s: connection %d of %d: %v", network, i, len(mine), err)
			}
		}
		left := 0
		for _, c := range theirs {
			if w.Leave(c) {
				left++
			}
			if w.Leave(c) {
				t.Error("a connection leaves twice")
			}
			c.Close()
		}
		if left != places {
			t.Errorf("%s: %d were waiting, not %d", network, left, places)
		}
	}
}

// A listener that was closed, or of which the deadline has passed, ends Accept.
func TestAcceptEnds(t *testing.T) {
	for network, l := range newListeners(t) {
		l.(interface{ SetDeadline(time.Time) error }).SetDeadline(
			time.Now().Add(20 * time.Millisecond))
		if _, err := NewWaiting(4).Accept(l); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", network, err)
		}
		time.AfterFunc(20*time.Millisecond, func() { l.Close() })
		l.(interface{ SetDeadline(time.Time) error }).SetDeadline(time.Time{})
		if _, err := NewWaiting(4).Accept(l); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", network, err)
		}
	}
}

// Connections of another user are closed and have no place; those of this user behind them get one.
func TestOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can connect as another user")
	}
	const others = 100
	l := newListeners(t)["unix"]
	asUser(t, 65534, func() {
		for range others {
			c, err := net.Dial("unix", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
		}
	})
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := NewWaiting(4)
	got, err := w.Accept(l)
	if err != nil || len(got) != 1 || !w.Leave(got[0]) {
		t.Fatalf("%d connections were accepted: %v", len(got), err)
	}
	got[0].Close()
}

// asUser runs a function on a thread of another user, which ends with it.
func asUser(t *testing.T, id int, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(id), uintptr(id),
			0); e != 0 {
			t.Errorf("become user %d: %v", id, e)
			return
		}
		do()
	}()
	<-done
}

// Redial goes on after errors of a dropped connection, and ends with any other error.
func TestRedial(t *testing.T) {
	final := errors.New("refused")
	for _, c := range []struct {
		fails    []error
		attempts int
	}{
		{[]error{nil}, 1},
		{[]error{io.EOF, syscall.ECONNRESET, syscall.EAGAIN, io.ErrUnexpectedEOF,
			syscall.EPIPE, os.ErrDeadlineExceeded, nil}, 7},
		{[]error{final}, 1},
		{[]error{fmt.Errorf("at first: %w", io.EOF), final}, 2},
		{[]error{syscall.ECONNREFUSED}, 1},
	} {
		n := 0
		err := Redial(10*time.Second, nil, func(patience time.Time) error {
			n++
			if wait := time.Until(patience); wait <= 0 || wait > 10*time.Second {
				t.Errorf("attempt %d may wait for %v", n, wait)
			}
			return c.fails[n-1]
		})
		if n != c.attempts || err != c.fails[n-1] {
			t.Errorf("%v: %d attempts, %v", c.fails, n, err)
		}
	}
}

// Redial ends at its limit with the error of an attempt that had enough time, or by stop.
func TestRedialGivesUp(t *testing.T) {
	n, late := 0, 0
	err := Redial(time.Second, nil, func(patience time.Time) error {
		if n++; n > 2 && time.Until(patience) < firstPatience {
			late++ // it may have no time for an answer
			return os.ErrDeadlineExceeded
		}
		return io.EOF
	})
	if !errors.Is(err, io.EOF) || n < 3 || late == 0 {
		t.Errorf("%d attempts, %d of them late: %v", n, late, err)
	}
	n = 0
	if err := Redial(time.Minute, func() bool { return n == 2 },
		func(time.Time) error { n++; return io.EOF }); err != io.EOF {
		t.Errorf("stopped after %d attempts: %v", n, err)
	}
}
