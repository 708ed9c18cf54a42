// SPDX-License-Identifier: BSD-3-Clause

// Tests of the job server with bare frames: admission of ranks, when an exchange
// ends, and what a rank that misbehaves gets. The library's own end of the
// connection is tested in package bootstrap.

package jobserver

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"

	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/testutil/leaktest"
)

// patience is far more than anything takes, on a busy machine as well.
const patience = 60 * time.Second

// abortion is a call of AbortFunc.
type abortion struct{ rank, status, lost int }

// startServer starts a server, and records the aborts.
func startServer(t *testing.T, size int) (*Server, chan abortion) {
	t.Helper()
	leaktest.Check(t)
	aborts := make(chan abortion, 10)
	s, err := New(size, func(rank, status int, lost []int) {
		aborts <- abortion{rank, status,
			len(lost)}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, aborts
}

func dial(t *testing.T, s *Server) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, s.listeners[0].Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// greet connects and sends the hello of a rank. It returns the answer.
func greet(t *testing.T, s *Server, secret jobwire.Secret, rank, size int) (*net.UnixConn,
	jobwire.Frame) {
	t.Helper()
	conn := dial(t, s)
	challenge, err := jobwire.Read(conn, jobwire.Challenge)
	if err != nil {
		t.Fatal(err)
	}
	send(t, conn, jobwire.Hello, jobwire.NewHello(secret, jobwire.Hello, challenge.Payload,
		rank, size))
	return conn, receive(t, conn, jobwire.Welcome, jobwire.Refused)
}

func joinRank(t *testing.T, s *Server, rank int) *net.UnixConn {
	t.Helper()
	conn, f := greet(t, s, s.secret, rank, s.size)
	if f.Kind != jobwire.Welcome {
		t.Fatalf("rank %d: %s", rank, f.Payload)
	}
	return conn
}

func send(t *testing.T, conn *net.UnixConn, kind jobwire.Kind, payload []byte) {
	t.Helper()
	if err := jobwire.Write(conn, kind, payload); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, conn *net.UnixConn, kinds ...jobwire.Kind) jobwire.Frame {
	t.Helper()
	f, err := jobwire.Read(conn, kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func refusedWith(t *testing.T, f jobwire.Frame, part string) {
	t.Helper()
	if f.Kind != jobwire.Refused || !strings.Contains(string(f.Payload), part) {
		t.Errorf("answered with kind %d %q, want a refusal about %q", f.Kind, f.Payload,
			part)
	}
}

// Only ranks of this job with its secret are admitted, each once.
func TestAdmission(t *testing.T) {
	s, _ := startServer(t, 3)
	_, f := greet(t, s, jobwire.NewSecret(), 0, 3)
	refusedWith(t, f, "wrong secret")
	_, f = greet(t, s, s.secret, 3, 3)
	refusedWith(t, f, "not of this job")
	_, f = greet(t, s, s.secret, 1, 4)
	refusedWith(t, f, "not of this job")
	joinRank(t, s, 1)
	_, f = greet(t, s, s.secret, 1, 3)
	refusedWith(t, f, "already taken")
}

// A connection that sends garbage, or a request before its hello, is closed, and ranks still join.
func TestGarbageEndsOnlyItsConnection(t *testing.T) {
	s, _ := startServer(t, 1)
	conn := dial(t, s)
	receive(t, conn, jobwire.Challenge)
	conn.Write(bytes.Repeat([]byte("garbage "), 100))
	if _, err := jobwire.Read(conn, jobwire.Welcome, jobwire.Refused); err == nil {
		t.Error("garbage was answered")
	}
	conn = dial(t, s)
	receive(t, conn, jobwire.Challenge)
	send(t, conn, jobwire.Contribute, []byte("no hello"))
	if _, err := jobwire.Read(conn, jobwire.Collected, jobwire.Refused); err == nil {
		t.Error("an exchange before hello was answered")
	}
	joinRank(t, s, 0)
}

// requestSplit sends the question for a node.
func requestSplit(t *testing.T, conn *net.UnixConn, key string) {
	t.Helper()
	payload, err := jobwire.PackSplit(key, "link of "+key)
	if err != nil {
		t.Fatal(err)
	}
	send(t, conn, jobwire.Split, payload)
}

// splitAll joins all ranks of a job, each of which is alone on its node.
func splitAll(t *testing.T, s *Server) (conns []*net.UnixConn) {
	t.Helper()
	for rank := range s.size {
		conns = append(conns, joinRank(t, s, rank))
		requestSplit(t, conns[rank], string(rune('a'+rank)))
	}
	for _, conn := range conns {
		receive(t, conn, jobwire.Placed)
	}
	return conns
}

// Ranks with the same key form a node, and only its leader may contribute.
func TestPlaces(t *testing.T) {
	s, _ := startServer(t, 4)
	var conns []*net.UnixConn
	for rank, key := range []string{"b", "a", "b", "b"} {
		conns = append(conns, joinRank(t, s, rank))
		requestSplit(t, conns[rank], key)
	}
	for rank, want := range []struct {
		local, size int
		link        string
	}{{0, 3, "link of b"}, {0, 1, "link of a"}, {1, 3, "link of b"}, {2, 3, "link of b"}} {
		local, size, link, err := jobwire.UnpackPlaced(receive(t, conns[rank],
			jobwire.Placed).Payload)
		if err != nil || local != want.local || size != want.size || link != want.link {
			t.Errorf("rank %d is number %d of %d, %q, error %v", rank, local, size,
				link, err)
		}
	}
	send(t, conns[2], jobwire.Contribute, nil)
	refusedWith(t, receive(t, conns[2], jobwire.Refused), "leads no node")
	for _, c := range conns[:2] { // a rank that leads no node is not waited for
		send(t, c, jobwire.Contribute, []byte("node"))
	}
	for _, c := range conns[:2] {
		// its connection was closed
		refusedWith(t, receive(t, c, jobwire.Collected, jobwire.Refused), "rank 2 has left")
	}
}

// A refused rank counts as lost when it gets the refusal: no exchange of others completes after
// that.
func TestARefusedRankIsLostBeforeItHears(t *testing.T) {
	s, _ := startServer(t, 500)
	for rank := range s.size {
		conn := joinRank(t, s, rank)
		send(t, conn, jobwire.Contribute, nil)
		refusedWith(t, receive(t, conn, jobwire.Refused), "leads no node")
		if s.Connected() != 0 {
			t.Fatalf("rank %d is still connected", rank)
		}
		conn.Close()
	}
}

// If a rank sends a malformed Split, all get an error that names it.
func TestARankWithMalformedSplitIsNamed(t *testing.T) {
	s, _ := startServer(t, 2)
	a, b := joinRank(t, s, 0), joinRank(t, s, 1)
	requestSplit(t, a, "a")
	send(t, b, jobwire.Split, []byte("nonsense"))
	for _, conn := range []*net.UnixConn{a, b} {
		refusedWith(t, receive(t, conn, jobwire.Placed, jobwire.Refused),
			"rank 1 does not say")
	}
}

// An exchange fails as soon as a rank has left, also one that begins later.
func TestExchangeFailsWhenARankIsGone(t *testing.T) {
	s, _ := startServer(t, 3)
	conns := splitAll(t, s)
	send(t, conns[0], jobwire.Contribute, []byte("a"))
	conns[2].Close()
	refusedWith(t, receive(t, conns[0], jobwire.Collected, jobwire.Refused), "rank 2 has left")
	send(t, conns[1], jobwire.Contribute, []byte("b"))
	refusedWith(t, receive(t, conns[1], jobwire.Collected, jobwire.Refused), "rank 2 has left")
	send(t, conns[0], jobwire.Missing, nil)
	refusedWith(t, receive(t, conns[0], jobwire.Refused), "rank 2 has left")
}

// Split waits for a rank that has said bye, until its process has ended.
func TestSplitWaitsForARankThatMayComeAgain(t *testing.T) {
	s, _ := startServer(t, 2)
	a, b := joinRank(t, s, 0), joinRank(t, s, 1)
	send(t, b, jobwire.Bye, nil)
	receive(t, b, jobwire.Done)
	requestSplit(t, a, "a")
	b = joinRank(t, s, 1)
	requestSplit(t, b, "b")
	for _, conn := range []*net.UnixConn{a, b} {
		receive(t, conn, jobwire.Placed)
		send(t, conn, jobwire.Contribute, []byte("x"))
	}
	for _, conn := range []*net.UnixConn{a, b} {
		parts, err := jobwire.UnpackList(receive(t, conn, jobwire.Collected).Payload)
		if err != nil || len(parts) != 2 || string(parts[1]) != "x" {
			t.Errorf("got %q, error %v", parts, err)
		}
	}
	send(t, b, jobwire.Bye, nil)
	receive(t, b, jobwire.Done)
	send(t, a, jobwire.Contribute, []byte("a"))
	s.ProcessEnded(1)
	refusedWith(t, receive(t, a, jobwire.Collected, jobwire.Refused), "rank 1 has left")
}

// A rank with a second request before the answer to the first is refused.
func TestTwoContributionsAtOnceAreRefused(t *testing.T) {
	for _, second := range []jobwire.Kind{jobwire.Contribute, jobwire.Missing} {
		s, _ := startServer(t, 2)
		a := splitAll(t, s)[0]
		send(t, a, jobwire.Contribute, []byte("one"))
		send(t, a, second, nil)
		refusedWith(t, receive(t, a, jobwire.Collected, jobwire.Refused), "two")
		s.Close()
	}
}

// What the leaders send is not kept beyond the limit, and all are told.
func TestExchangeTooLarge(t *testing.T) {
	const size = jobwire.MaxCollected/jobwire.MaxContribution + 1
	s, _ := startServer(t, size)
	conns := splitAll(t, s)
	mine := make([]byte, jobwire.MaxContribution)
	for _, conn := range conns {
		send(t, conn, jobwire.Contribute, mine)
	}
	for _, conn := range conns {
		refusedWith(t, receive(t, conn, jobwire.Collected, jobwire.Refused), "too large")
		send(t, conn, jobwire.Contribute, nil) // the next one is not
	}
	for _, conn := range conns {
		receive(t, conn, jobwire.Collected)
	}
}

// An abort during an exchange is passed on before it is answered.
func TestAbortIsHeardDuringAnExchange(t *testing.T) {
	s, aborts := startServer(t, 3)
	a, b := joinRank(t, s, 0), joinRank(t, s, 1)
	requestSplit(t, a, "a")
	s.ProcessEnded(2)
	send(t, b, jobwire.Abort, jobwire.PackStatus(9))
	receive(t, b, jobwire.Done)
	select {
	case got := <-aborts:
		if got != (abortion{1, 9, 1}) {
			t.Errorf("heard %+v", got)
		}
	default:
		t.Error("answered before the abort was told")
	}
}

// A rank that does not read its answers, which are larger than a socket's buffer, delays no other
// rank.
func TestARankThatDoesNotReadDelaysNoOther(t *testing.T) {
	s, _ := startServer(t, 2)
	conns := splitAll(t, s)
	deaf, good := conns[0], conns[1]
	mine := make([]byte, jobwire.MaxContribution)
	for range 3 { // each answer is larger than a socket's buffer
		send(t, good, jobwire.Contribute, mine)
		send(t, deaf, jobwire.Contribute, mine)
		receive(t, good, jobwire.Collected)
	}
}

// Close ends connections of ranks and of processes that have not proved themselves.
func TestCloseEndsEverything(t *testing.T) {
	s, _ := startServer(t, 2)
	a, silent := joinRank(t, s, 0), dial(t, s)
	receive(t, silent, jobwire.Challenge)
	requestSplit(t, a, "a")
	s.Close()
	if _, err := jobwire.Read(a, jobwire.Placed, jobwire.Refused); err == nil {
		if _, err = jobwire.Read(a, jobwire.Placed); err == nil {
			t.Error("the connection is still open")
		}
	}
}
