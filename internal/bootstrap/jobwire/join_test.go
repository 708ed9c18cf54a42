// SPDX-License-Identifier: BSD-3-Clause

// A process whose connection is dropped before it has proved itself comes again; a refusal is
// final.
package jobwire

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve listens and does with the nth connection, counted from 1, what it is told.
func serve(t *testing.T, network, addr string, do func(n int, conn net.Conn)) string {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 1; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			do(n, conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return l.Addr().String()
}

// Join connects again after connections that end before the hello is answered.
func TestJoinComesAgain(t *testing.T) {
	secret := NewSecret()
	for network, at := range map[string]string{"unix": NewAddress(), "tcp": "127.0.0.1:0"} {
		met := make(chan int, 1)
		addr := serve(t, network, at, func(n int, conn net.Conn) {
			switch {
			case n == 2: // after the challenge
				Write(conn, Challenge, NewNonce())
			case n == 3: // after the hello
				Write(conn, Challenge, NewNonce())
				Read(conn, Link)
			case n == 4 && network == "tcp":
				// silence, until the other end has lost patience
				conn.SetReadDeadline(time.Now().Add(time.Minute))
				if _, err := conn.Read(make([]byte, 1)); errors.Is(err,
					os.ErrDeadlineExceeded) {
					t.Error("a silent server is waited for")
				}
			case n > 4:
				if _, _, err := AcceptHello(conn, secret, Link,
					func() bool { return true }); err == nil {
					met <- n
				}
			}
		})
		conn, err := Join(addr, 20*time.Second, secret, Link, 1, 2)
		if err != nil {
			t.Errorf("%s: %v", network, err)
			continue
		}
		conn.Close()
		if n := <-met; n != 5 {
			t.Errorf("%s: met with connection %d", network, n)
		}
	}
}

// Join ends after a refusal, if there is no listener, and at its limit.
func TestJoinGivesUp(t *testing.T) {
	var refusing atomic.Int32
	addr := serve(t, "unix", NewAddress(), func(_ int, conn net.Conn) {
		refusing.Add(1)
		Write(conn, Challenge, NewNonce())
		Read(conn, Hello)
		Write(conn, Refused, []byte("wrong secret"))
	})
	begin := time.Now()
	if _, err := Join(addr, time.Minute, NewSecret(), Hello, 0, 1); err == nil ||
		!strings.Contains(err.Error(), "wrong secret") {
		t.Errorf("a refusal: %v", err)
	}
	if _, err := Join(NewAddress(), time.Minute, NewSecret(), Hello, 0, 1); err == nil {
		t.Error("nothing listens there")
	}
	if took := time.Since(begin); refusing.Load() != 1 || took > 30*time.Second {
		t.Errorf("%d connections in %v", refusing.Load(), took)
	}
	closing := serve(t, "unix", NewAddress(), func(int, net.Conn) {})
	if _, err := Join(closing, 500*time.Millisecond, NewSecret(), Hello, 0, 1); !errors.Is(err,
		io.EOF) &&
		!strings.Contains(err.Error(), "reset") {
		t.Errorf("closed connections: %v", err)
	}
}
