// SPDX-License-Identifier: BSD-3-Clause

// Strangers: connections of processes that do not belong to the job are refused, and delay no
// other connection.
package tcp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// A client with another secret or for another rank is refused, and so are random bytes.
func TestStrangersAreRefused(t *testing.T) {
	s := newServer(t, nil)
	s.configure(func() {
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
		fd := s.rawConnect()
		err := clientHello(fd, c.secret, c.server, c.client)
		if err == nil || c.server == 1 && !strings.Contains(err.Error(), "rank 0") {
			t.Errorf("%+v passes: %v", c, err)
		}
		unix.Close(fd)
	}
	for n := range 40 {
		fd := s.rawConnect()
		junk := make([]byte, helloBytes+helloBytes*n)
		for i := range junk {
			junk[i] = byte(rand.Uint32())
		}
		rawsock.ReceiveAll(fd, junk[:helloBytes], testDeadline())
		if rawsock.SendAll(fd, junk, testDeadline()); n > 0 {
			checkRefused(t, fd, junk)
		} else {
			unix.Close(fd)
		}
	}
	c := s.dialRaw(2)
	c.checkEcho()
	c.closeWithGoodbye()
}

// The proof of one connection is not valid for another.
func TestReplayedHello(t *testing.T) {
	s := newServer(t, nil)
	fd, other := s.rawConnect(), s.rawConnect()
	first, second, answer := make([]byte, helloBytes), make([]byte, helloBytes),
		make([]byte, helloBytes)
	if err := rawsock.ReceiveAll(fd, first, testDeadline()); err != nil {
		t.Fatal(err)
	}
	rawsock.ReceiveAll(other, second, testDeadline())
	h := transport.Hello{From: 2, Nonce: transport.NewNonce(),
		Extra: new(streamPoint).encode()}
	sealed := h.Seal([]byte("secret"), roleOrigin, first)
	rawsock.SendAll(other, sealed, testDeadline())
	checkRefused(t, other, sealed)
	rawsock.SendAll(fd, sealed, testDeadline())
	var theirs transport.Hello
	if err := rawsock.ReceiveAll(fd, answer, testDeadline()); err != nil ||
		theirs.Unseal(answer, []byte("secret"), roleTarget, sealed) != nil {
		t.Errorf("the true one is refused: %v", err)
	}
	again := h.Seal([]byte("secret"), roleOrigin, second)
	if theirs.Unseal(answer, []byte("secret"), roleTarget, again) == nil {
		t.Error("an answer is good for another hello")
	}
	(&rawClient{t, fd}).closeWithGoodbye()
}

// Connections that prove nothing delay no client, whatever bytes they send, and are closed in the
// end.
func TestStrangersDoNotDelay(t *testing.T) {
	for _, say := range []int{0, 1, helloBytes - 1} {
		t.Run(fmt.Sprint(say), func(t *testing.T) {
			s := newServer(t, nil)
			c := s.dialRaw(2)
			var held []int
			defer func() {
				for _, fd := range held {
					unix.Close(fd)
				}
			}()
			slow := 0
			for range 4 {
				for range 2 * maxUnproven {
					held = append(held, s.rawConnect())
					rawsock.SendAll(held[len(held)-1], make([]byte, say),
						testDeadline())
				}
				// a connection that has proved itself is not disturbed
				c.checkEcho()
				begin := time.Now()
				s.dialRaw(3).closeWithGoodbye()
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
			c.closeWithGoodbye()
			for _, fd := range held[:len(held)-maxUnproven] {
				if err := rawsock.ReceiveAll(fd, make([]byte, helloBytes+1),
					testDeadline()); err == nil || err == rawsock.ErrTimeout {
					t.Fatalf("a stranger's connection is not closed when "+
						"others come: %v", err)
				}
			}
		})
	}
}

// A client is silent until it has the challenge. Strangers that have sent all but the last byte of
// a hello are evicted before it.
func TestSilentClientAmongTalkers(t *testing.T) {
	s := newServer(t, nil)
	talk := func(n int) {
		for range n {
			fd := s.rawConnect()
			t.Cleanup(func() { unix.Close(fd) })
			rawsock.SendAll(fd, make([]byte, helloBytes-1), testDeadline())
		}
	}
	talk(maxUnproven)
	fd := s.rawConnect()
	challenge, answer := make([]byte, helloBytes), make([]byte, helloBytes)
	rawsock.ReceiveAll(fd, challenge, testDeadline())
	talk(maxUnproven / 2)
	h := transport.Hello{From: 2, Nonce: transport.NewNonce(),
		Extra: new(streamPoint).encode()}
	sealed := h.Seal([]byte("secret"), roleOrigin, challenge)
	rawsock.SendAll(fd, sealed, testDeadline())
	var theirs transport.Hello
	err := rawsock.ReceiveAll(fd, answer, testDeadline())
	if err != nil || theirs.Unseal(answer, []byte("secret"), roleTarget, sealed) != nil {
		t.Errorf("the client was dropped before connections that were there before it: %v",
			err)
	}
	(&rawClient{t, fd}).closeWithGoodbye()
}

// A hello that has arrived counts, though it has not been read when its place in the queue is
// needed.
func TestUnreadHelloCountsAtEviction(t *testing.T) {
	s := newServer(t, nil)
	fd := s.rawConnect()
	challenge, answer := make([]byte, helloBytes), make([]byte, helloBytes)
	rawsock.ReceiveAll(fd, challenge, testDeadline())
	h := transport.Hello{From: 2, Nonce: transport.NewNonce(),
		Extra: new(streamPoint).encode()}
	sealed := h.Seal([]byte("secret"), roleOrigin, challenge)
	s.polling.Lock() // it finds the connections of others before the proof
	for range maxUnproven {
		defer unix.Close(s.rawConnect())
	}
	rawsock.SendAll(fd, sealed, testDeadline())
	s.polling.Unlock()
	if err := rawsock.ReceiveAll(fd, answer, testDeadline()); err != nil {
		t.Errorf("a proof was dropped: %v", err)
	}
	(&rawClient{t, fd}).closeWithGoodbye()
}

// A client connects again if its connections are closed before they have proved themselves.
func TestDroppedClientConnectsAgain(t *testing.T) {
	leaktest.Check(t)
	var dropped atomic.Int32
	addr := startImpostor(t, func(fd int) {
		stage := dropped.Add(1) % 3
		if stage > 0 {
			rawsock.SendAll(fd, challengeOf(0), testDeadline())
		}
		if stage > 1 {
			rawsock.ReceiveAll(fd, make([]byte, helloBytes), testDeadline())
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
	err := other.connect(s.fabric.addr, 0)
	if err == nil || !strings.Contains(err.Error(), "no proof") ||
		strings.Contains(err.Error(), "attempts") {
		t.Errorf("another secret: %v", err)
	}
	stray := newClient(t, 4, nil)
	if err := stray.connect(s.fabric.addr, 0); err == nil ||
		!strings.Contains(err.Error(), "refused by rank 0") {
		t.Errorf("a rank that does not exist: %v", err)
	}
}

// The kernel notices a silent host: its timeout is set at both ends.
func TestTimeoutIsSet(t *testing.T) {
	s := newServer(t, func(f *fabric) { f.Timeout = 4 * time.Second })
	c := newClient(t, 2, func(f *fabric) { f.Timeout = 4 * time.Second })
	if err := c.connect(s.fabric.addr, 0); err != nil {
		t.Fatal(err)
	}
	for _, fd := range []int{c.endpoint.fd, s.awaitConns(t, 1)[0].conn.fd} {
		ms, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		alive, err2 := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE)
		if err != nil || err2 != nil || ms != 4000 || alive != 1 {
			t.Errorf("timeout %d ms, %v; keepalive %d, %v", ms, err, alive, err2)
		}
	}
}

// resetConnection ends a connection with a reset, while another thread may be in a receive.
func resetConnection(fd int) {
	none := unix.RawSockaddr{Family: unix.AF_UNSPEC}
	unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&none)),
		unix.SizeofSockaddrInet4)
}

// An origin that ends after its hello, before the answer can be sent: the data server hears of the
// loss, and the socket is closed.
func TestOriginEndsBeforeAnswer(t *testing.T) {
	s := newServer(t, nil)
	fd := s.rawConnect()
	defer unix.Close(fd)
	s.configure(func() {
		s.refuse = func(transport.Rank) error {
			resetConnection(fd)
			return nil
		}
	})
	if err := clientHello(fd, "secret", 0, 1); err == nil {
		t.Error("the origin has an answer")
	}
	end := s.awaitConns(t, 1)[0]
	if err := s.lossOf(t, end); err == nil {
		t.Error("the connection is lost without a cause")
	}
	for deadline := testDeadline(); ; time.Sleep(time.Millisecond) {
		s.listener.mu.Lock()
		open := len(s.listener.conns)
		s.listener.mu.Unlock()
		if open == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are left", open)
		}
	}
}
