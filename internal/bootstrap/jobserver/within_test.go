// SPDX-License-Identifier: BSD-3-Clause

// A server in rank 0 of a job that another launcher has started.
package jobserver

import (
	"net"
	"testing"
	"time"

	"libarmci/internal/bootstrap/jobwire"
)

// startWithin starts a server in a rank, to which all ranks connect. The channel gets ranks that
// are lost.
func startWithin(t *testing.T, size int) (*Server, []net.Conn, chan int) {
	t.Helper()
	l, err := net.Listen("unix", jobwire.NewAddress())
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan int, size)
	s := NewWithin(size, 0, func(int, int, []int) {}, func(rank int) { lost <- rank },
		[]net.Listener{l})
	t.Cleanup(func() { s.Close() })
	ranks := make([]net.Conn, size)
	for r := range ranks {
		if ranks[r], err = jobwire.Dial(s.Addr(0), patience); err == nil {
			err = jobwire.Greet(ranks[r], s.Secret(), jobwire.Hello, r, size)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ranks[r].Close() })
	}
	return s, ranks, lost
}

func await[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("no %s", what)
	}
	return v
}

// A connection that ends without a bye is reported as a lost rank.
func TestARankWithoutByeIsLost(t *testing.T) {
	s, ranks, lost := startWithin(t, 3)
	ranks[1].Close()
	if r := await(t, "loss", lost); r != 1 {
		t.Errorf("rank %d is lost, not 1", r)
	}
	if s.AwaitOthers(time.Millisecond) {
		t.Error("no other rank, although rank 2 is connected")
	}
	time.AfterFunc(20*time.Millisecond, func() { ranks[2].Close() })
	if !s.AwaitOthers(patience) {
		t.Error("rank 2 is still connected")
	}
}

// Empty is closed after the bye of the last rank, and no rank is lost.
func TestEmptyWhenAllHaveLeft(t *testing.T) {
	s, ranks, lost := startWithin(t, 3)
	for r, c := range ranks {
		select {
		case <-s.Empty():
			t.Fatalf("empty before rank %d has left", r)
		default:
		}
		if err := jobwire.Write(c, jobwire.Bye, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := jobwire.Read(c, jobwire.Done); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "end", s.Empty())
	if len(lost) > 0 {
		t.Errorf("rank %d is lost after its bye", <-lost)
	}
}

// After a bye an exchange of the others fails.
func TestAByeFailsLaterExchanges(t *testing.T) {
	_, ranks, _ := startWithin(t, 2)
	if err := jobwire.Write(ranks[1], jobwire.Bye, nil); err != nil {
		t.Fatal(err)
	}
	place, _ := jobwire.PackSplit("a", "b")
	if err := jobwire.Write(ranks[0], jobwire.Split, place); err != nil {
		t.Fatal(err)
	}
	f, err := jobwire.Read(ranks[0], jobwire.Placed, jobwire.Refused)
	if err != nil || f.Kind != jobwire.Refused ||
		string(f.Payload) != "rank 1 has left the job" {
		t.Errorf("%v, error %v", f, err)
	}
}

// Finish sends the status to all ranks but 0.
func TestFinishTellsAllButRankZero(t *testing.T) {
	s, ranks, _ := startWithin(t, 3)
	s.Finish(7)
	for _, c := range ranks[1:] {
		f, err := jobwire.Read(c, jobwire.Finish)
		if err != nil || jobwire.UnpackStatus(f.Payload) != 7 {
			t.Errorf("%v, error %v", f, err)
		}
	}
	ranks[0].SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if f, err := jobwire.Read(ranks[0], jobwire.Finish); err == nil {
		t.Errorf("rank 0 gets %v", f)
	}
}
