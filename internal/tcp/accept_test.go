// SPDX-License-Identifier: BSD-3-Clause

// Strangers at the door: whoever does not belong to the job is refused and keeps nobody out.
package tcp

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

func TestStrangers(t *testing.T) {
	s := newServer(t, nil)
	s.set(func() {
		s.refuse = func(from transport.Rank) error {
			if from == 1 {
				return errors.New("not this one")
			}
			return nil
		}
	})
	for _, c := range []struct {
		secret         string
		server, client transport.Rank
	}{{"guess", 0, 2}, {"secret", 1, 2}, {"secret", 0, 1}, {"secret", 0, 4}, {"secret", 0, 1 << 31}} {
		fd := s.connect()
		if err := hello(fd, c.secret, c.server, c.client); err == nil || c.server == 1 && !strings.Contains(err.Error(), "rank 0") {
			t.Errorf("%+v passes: %v", c, err)
		}
		unix.Close(fd)
	}
	for n := range 40 {
		fd := s.connect()
		junk := make([]byte, helloBytes+helloBytes*n)
		for i := range junk {
			junk[i] = byte(rand.Uint32())
		}
		rawsock.ReceiveAll(fd, junk[:helloBytes], soon())
		if rawsock.SendAll(fd, junk, soon()); n > 0 {
			refused(t, fd)
		} else {
			unix.Close(fd)
		}
	}
	c := s.raw(2)
	c.check()
	c.bye()
}

// What one connection has proved is worth nothing to another.
func TestReplayedHello(t *testing.T) {
	s := newServer(t, nil)
	fd, other := s.connect(), s.connect()
	first, second, answer := make([]byte, helloBytes), make([]byte, helloBytes), make([]byte, helloBytes)
	if err := rawsock.ReceiveAll(fd, first, soon()); err != nil {
		t.Fatal(err)
	}
	rawsock.ReceiveAll(other, second, soon())
	h := transport.Hello{From: 2, Nonce: transport.NewNonce()}
	sealed := h.Seal([]byte("secret"), byOrigin, first)
	rawsock.SendAll(other, sealed, soon())
	refused(t, other)
	rawsock.SendAll(fd, sealed, soon())
	var theirs transport.Hello
	if err := rawsock.ReceiveAll(fd, answer, soon()); err != nil || theirs.Unseal(answer, []byte("secret"), byTarget, sealed) != nil {
		t.Errorf("the true one is refused: %v", err)
	}
	again := h.Seal([]byte("secret"), byOrigin, second)
	if theirs.Unseal(answer, []byte("secret"), byTarget, again) == nil {
		t.Error("an answer is good for another hello")
	}
	(&raw{t, fd}).bye()
}

// Many connections that say nothing keep nobody waiting, whenever they come, and are closed in the end.
func TestIdleConnections(t *testing.T) {
	s := newServer(t, nil)
	c := s.raw(2)
	var idle []int
	defer func() {
		for _, fd := range idle {
			unix.Close(fd)
		}
	}()
	for range 8 {
		for range 2 * maxPeers {
			idle = append(idle, s.connect())
		}
		c.check() // who is in is not disturbed
		begin := time.Now()
		s.raw(3).bye()
		if took := time.Since(begin); took > 900*time.Millisecond {
			t.Errorf("with %d idle connections a hello takes %v", len(idle), took)
		}
	}
	c.bye()
	for _, fd := range idle[:len(idle)-maxPeers] {
		if err := rawsock.ReceiveAll(fd, make([]byte, helloBytes+1), soon()); err == nil || err == rawsock.ErrTimeout {
			t.Fatalf("an idle connection is not closed when others come: %v", err)
		}
	}
}

// Who says something before its place is needed keeps it.
func TestHalfAHello(t *testing.T) {
	s := newServer(t, nil)
	fd := s.connect()
	challenge, answer := make([]byte, helloBytes), make([]byte, helloBytes)
	rawsock.ReceiveAll(fd, challenge, soon())
	h := transport.Hello{From: 2, Nonce: transport.NewNonce()}
	sealed := h.Seal([]byte("secret"), byOrigin, challenge)
	rawsock.SendAll(fd, sealed[:20], soon())
	for range 3 * maxPeers {
		defer unix.Close(s.connect())
	}
	rawsock.SendAll(fd, sealed[20:], soon())
	if err := rawsock.ReceiveAll(fd, answer, soon()); err != nil || bytes.Equal(answer, make([]byte, helloBytes)) {
		t.Errorf("half a hello was sent away: %v", err)
	}
	(&raw{t, fd}).bye()
}

// A silent host is noticed by the kernel, which has been told when, at both ends.
func TestTimeoutIsSet(t *testing.T) {
	s := newServer(t, func(f *fabric) { f.Timeout = 4 * time.Second })
	c := newClient(t, 2, func(f *fabric) { f.Timeout = 4 * time.Second })
	if err := c.connect(s.f.addr, 0); err != nil {
		t.Fatal(err)
	}
	for _, fd := range []int{c.e.fd, s.ends(t, 1)[0].c.fd} {
		ms, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		alive, err2 := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE)
		if err != nil || err2 != nil || ms != 4000 || alive != 1 {
			t.Errorf("timeout %d ms, %v; keepalive %d, %v", ms, err, alive, err2)
		}
	}
}
