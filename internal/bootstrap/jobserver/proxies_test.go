// SPDX-License-Identifier: BSD-3-Clause

// Which proxies a server admits, and too many connections that prove nothing.
package jobserver

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/testutil/leaktest"
)

// Proxies are only let in where hosts are expected, with their own kind of proof, and strangers not
// in any number.
func TestProxies(t *testing.T) {
	leaktest.Check(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	attached := make(chan int, 1)
	s := NewRemote(2, 0, func(int, int, []int) {}, func(host int, conn net.Conn) {
		conn.Close()
		attached <- host
	}, []net.Listener{l, l})
	t.Cleanup(func() { s.Close() })
	greet := func(kind jobwire.Kind, secret jobwire.Secret, number, of int) error {
		conn, err := jobwire.Dial(s.Addr(1), patience)
		if err != nil {
			return err
		}
		defer conn.Close()
		return jobwire.Greet(conn, secret, kind, number, of)
	}
	if err := greet(jobwire.Attach, s.Secret(), 1, 2); err != nil || <-attached != 1 {
		t.Errorf("a proxy: %v", err)
	}
	if err := greet(jobwire.Hello, s.Secret(), 0, 2); err != nil {
		t.Errorf("a rank: %v", err)
	}
	for what, err := range map[string]error{
		"other secret": greet(jobwire.Attach, jobwire.NewSecret(), 1, 2),
		"no such host": greet(jobwire.Attach, s.Secret(), 2, 2),
		"other number": greet(jobwire.Attach, s.Secret(), 1, 3),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "refused: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	checkCrowd(t, s)
}

// checkCrowd checks that the oldest of too many silent connections are closed, so that a rank that
// connects later is admitted.
func checkCrowd(t *testing.T, s *Server) {
	var silent []net.Conn
	for range 2*s.size + strangers + 10 {
		conn, err := net.Dial("tcp", s.Addr(0))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := jobwire.Read(conn, jobwire.Challenge); err != nil {
			t.Fatalf("the newest of %d connections is closed: %v", len(silent)+1, err)
		}
		silent = append(silent, conn)
	}
	conn, err := jobwire.Dial(s.Addr(0), patience)
	if err == nil {
		defer conn.Close()
		err = jobwire.Greet(conn, s.Secret(), jobwire.Hello, 1, 2)
	}
	if err != nil {
		t.Errorf("a rank behind a crowd: %v", err)
	}
	for i, conn := range silent[:5] {
		conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) &&
			!errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("silent connection %d is still open: %v", i, err)
		}
	}
}

// A server of this machine knows no proxies.
func TestNoProxies(t *testing.T) {
	s, _ := startServer(t, 1)
	conn := dial(t, s)
	challenge := receive(t, conn, jobwire.Challenge)
	send(t, conn, jobwire.Attach, jobwire.NewHello(s.secret, jobwire.Attach, challenge.Payload,
		0, 1))
	if _, err := jobwire.Read(conn, jobwire.Welcome, jobwire.Refused); err == nil {
		t.Error("a proxy was let in")
	}
}
