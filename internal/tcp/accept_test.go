// SPDX-License-Identifier: BSD-3-Clause

// Strangers at the door: whoever does not belong to the job is refused and keeps nobody out.
package tcp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/bootstrap/leaktest"
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
	}{{"guess", 0, 2}, {"secret", 1, 2}, {"secret", 0, 1}, {"secret", 0, 4},
		{"secret", 0, 1 << 31}} {
		fd := s.connect()
		if err := hello(fd, c.secret, c.server, c.client); err == nil || c.server == 1 &&
			!strings.Contains(err.Error(), "rank 0") {
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
			refused(t, fd, junk)
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
	first, second, answer := make([]byte, helloBytes), make([]byte, helloBytes),
		make([]byte, helloBytes)
	if err := rawsock.ReceiveAll(fd, first, soon()); err != nil {
		t.Fatal(err)
	}
	rawsock.ReceiveAll(other, second, soon())
	h := transport.Hello{From: 2, Nonce: transport.NewNonce()}
	sealed := h.Seal([]byte("secret"), byOrigin, first)
	rawsock.SendAll(other, sealed, soon())
	refused(t, other, sealed)
	rawsock.SendAll(fd, sealed, soon())
	var theirs transport.Hello
	if err := rawsock.ReceiveAll(fd, answer, soon()); err != nil ||
		theirs.Unseal(answer, []byte("secret"), byTarget, sealed) != nil {
		t.Errorf("the true one is refused: %v", err)
	}
	again := h.Seal([]byte("secret"), byOrigin, second)
	if theirs.Unseal(answer, []byte("secret"), byTarget, again) == nil {
		t.Error("an answer is good for another hello")
	}
	(&raw{t, fd}).bye()
}

// Connections that prove nothing keep no client waiting, whatever they say, and are closed in the
// end.
func TestStrangersDoNotDelay(t *testing.T) {
	for _, say := range []int{0, 1, helloBytes - 1} {
		t.Run(fmt.Sprint(say), func(t *testing.T) {
			s := newServer(t, nil)
			c := s.raw(2)
			var held []int
			defer func() {
				for _, fd := range held {
					unix.Close(fd)
				}
			}()
			slow := 0
			for range 4 {
				for range 2 * maxPeers {
					held = append(held, s.connect())
					rawsock.SendAll(held[len(held)-1], make([]byte, say),
						soon())
				}
				c.check() // a connection that has proved itself is not disturbed
				begin := time.Now()
				s.raw(3).bye()
				if took := time.Since(begin); took > 900*time.Millisecond {
					t.Logf("with %d strangers a hello takes %v", len(held),
						took)
					slow++
				}
			}
			if slow == 4 {
				// each was repeated by the kernel, after a second; a busy machine
				// may delay one
				t.Error("hellos wait for strangers")
			}
			c.bye()
			for _, fd := range held[:len(held)-maxPeers] {
				if err := rawsock.ReceiveAll(fd, make([]byte, helloBytes+1),
					soon()); err == nil || err == rawsock.ErrTimeout {
					t.Fatalf("a stranger's connection is not closed when "+
						"others come: %v", err)
				}
			}
		})
	}
}

// A client is silent until it has the challenge: strangers that have said all but the last byte of
// a hello do not outlive it.
func TestSilentClientAmongTalkers(t *testing.T) {
	s := newServer(t, nil)
	talk := func(n int) {
		for range n {
			fd := s.connect()
			t.Cleanup(func() { unix.Close(fd) })
			rawsock.SendAll(fd, make([]byte, helloBytes-1), soon())
		}
	}
	talk(maxPeers)
	fd := s.connect()
	challenge, answer := make([]byte, helloBytes), make([]byte, helloBytes)
	rawsock.ReceiveAll(fd, challenge, soon())
	talk(maxPeers / 2)
	h := transport.Hello{From: 2, Nonce: transport.NewNonce()}
	sealed := h.Seal([]byte("secret"), byOrigin, challenge)
	rawsock.SendAll(fd, sealed, soon())
	var theirs transport.Hello
	err := rawsock.ReceiveAll(fd, answer, soon())
	if err != nil || theirs.Unseal(answer, []byte("secret"), byTarget, sealed) != nil {
		t.Errorf("the client was dropped before connections that were there before it: %v",
			err)
	}
	(&raw{t, fd}).bye()
}

// A proof that has arrived counts, though it has not been read when its place is needed.
func TestProofInTheBuffer(t *testing.T) {
	s := newServer(t, nil)
	fd := s.connect()
	challenge, answer := make([]byte, helloBytes), make([]byte, helloBytes)
	rawsock.ReceiveAll(fd, challenge, soon())
	h := transport.Hello{From: 2, Nonce: transport.NewNonce()}
	sealed := h.Seal([]byte("secret"), byOrigin, challenge)
	s.polling.Lock() // it sees the connections of others before the proof
	for range maxPeers {
		defer unix.Close(s.connect())
	}
	rawsock.SendAll(fd, sealed, soon())
	s.polling.Unlock()
	if err := rawsock.ReceiveAll(fd, answer, soon()); err != nil {
		t.Errorf("a proof was dropped: %v", err)
	}
	(&raw{t, fd}).bye()
}

// A client whose connections are dropped before they have proved themselves connects again.
func TestDroppedClientConnectsAgain(t *testing.T) {
	leaktest.Check(t)
	var dropped atomic.Int32
	addr := impostor(t, func(fd int) {
		stage := dropped.Add(1) % 3
		if stage > 0 {
			rawsock.SendAll(fd, challengeOf(0), soon())
		}
		if stage > 1 {
			rawsock.ReceiveAll(fd, make([]byte, helloBytes), soon())
		}
	})
	me := newClient(t, 2, func(f *fabric) { f.Timeout = 2 * time.Second })
	begin := time.Now()
	err := me.connect(addr, 0)
	if took := time.Since(begin); err == nil || dropped.Load() < 3 || took < time.Second {
		t.Errorf("gave up after %d connections and %v: %v", dropped.Load(), took, err)
	}
}

// A refusal is final.
func TestRefusalEndsDial(t *testing.T) {
	s := newServer(t, nil)
	other := newClient(t, 2, func(f *fabric) { f.Secret = []byte("guess") })
	err := other.connect(s.f.addr, 0)
	if err == nil || !strings.Contains(err.Error(), "no proof") ||
		strings.Contains(err.Error(), "attempts") {
		t.Errorf("another secret: %v", err)
	}
	stray := newClient(t, 4, nil)
	if err := stray.connect(s.f.addr, 0); err == nil ||
		!strings.Contains(err.Error(), "refused by rank 0") {
		t.Errorf("a rank that does not exist: %v", err)
	}
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
