// SPDX-License-Identifier: BSD-3-Clause

// Sockets of tests that speak for themselves: clients that send any bytes to a data server, and
// servers that do what they are told with whoever connects.
package tcp

import (
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

// raw is a client that sends bytes.
type raw struct {
	t  testing.TB
	fd int
}

// connect gives a connection that has said nothing.
func (s *server) connect() int {
	s.t.Helper()
	fd, err := rawsock.Connect(netip.MustParseAddrPort(string(s.f.addr)), "", time.Second,
		soon())
	if err != nil {
		s.t.Fatal(err)
	}
	return fd
}

// hello is the client's side of the handshake, by a process of this rank with this secret, meant
// for a server.
func hello(fd int, secret string, server, client transport.Rank) error {
	c := config(client, 1)
	c.Secret = []byte(secret)
	return (&fabric{FabricConfig: c}).introduce(fd, server, soon(), soon())
}

// raw gives a client that has proved itself.
func (s *server) raw(from transport.Rank) *raw {
	s.t.Helper()
	r := &raw{s.t, s.connect()}
	if err := hello(r.fd, "secret", 0, from); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (r *raw) send(b []byte) {
	r.t.Helper()
	if err := rawsock.SendAll(r.fd, b, soon()); err != nil {
		r.t.Fatal(err)
	}
}

// frame makes one.
func frame(head, body []byte) []byte { return appendFrame(nil, head, body) }

// answer takes the next frame.
func (r *raw) answer() (head, body []byte) {
	r.t.Helper()
	var b [prefixBytes]byte
	if err := rawsock.ReceiveAll(r.fd, b[:], soon()); err != nil {
		r.t.Fatal(err)
	}
	h, n := prefix(b[:])
	head, body = make([]byte, h), make([]byte, n)
	for _, b := range [][]byte{head, body} {
		if err := rawsock.ReceiveAll(r.fd, b, soon()); err != nil {
			r.t.Fatal(err)
		}
	}
	return head, body
}

// check has a small request answered.
func (r *raw) check() {
	r.t.Helper()
	r.send(frame([]byte{opEcho}, []byte("there?")))
	if h, b := r.answer(); string(h) != string(opEcho) || string(b) != "there?" {
		r.t.Fatalf("an echo: %q %q", h, b)
	}
}

func (r *raw) bye() {
	r.send(frame([]byte{opBye}, nil))
	unix.Close(r.fd)
}

// refused checks that the server closes a connection behind a refusal of what was said, which
// proves nothing else.
func refused(t testing.TB, fd int, said []byte) {
	t.Helper()
	b := make([]byte, helloBytes+1)
	var h transport.Hello
	if err := rawsock.ReceiveAll(fd, b[:helloBytes], soon()); err == rawsock.ErrTimeout {
		t.Error("a stranger gets no answer")
	} else if err == nil {
		// else the connection was reset, since more had been said than is read
		if h.Unseal(b[:helloBytes], []byte("secret"), asRefusal, said[:helloBytes]) != nil {
			t.Errorf("a stranger is answered: %x", b)
		}
	}
	closedBy(t, fd)
}

// closedBy checks that the server closes a connection without another word.
func closedBy(t testing.TB, fd int) {
	t.Helper()
	var b [1]byte
	if err := rawsock.ReceiveAll(fd, b[:], soon()); err == nil || err == rawsock.ErrTimeout {
		t.Errorf("the server says more, or does not close the connection: %v %v", b, err)
	}
	unix.Close(fd)
}

// impostor listens, and does with each connection what it is told.
func impostor(t testing.TB, serve func(fd int)) []byte {
	t.Helper()
	ln, at, err := rawsock.Listen(loopback, "")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for rawsock.WaitFor(ln, unix.POLLIN, soon()) == nil {
			fd, _, err := unix.Accept4(ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			if err != nil {
				return
			}
			serve(fd)
			unix.Close(fd)
		}
	}()
	t.Cleanup(func() {
		unix.Shutdown(ln, unix.SHUT_RDWR)
		<-ended
		unix.Close(ln)
	})
	return []byte(at.String())
}

// welcome does the server's side of the handshake, as rank 0.
func welcome(t testing.TB, fd int) {
	f := &fabric{FabricConfig: config(0, 0)}
	challenge, sealed := challengeOf(0), make([]byte, helloBytes)
	rawsock.SendAll(fd, challenge, soon())
	if err := rawsock.ReceiveAll(fd, sealed, soon()); err != nil {
		t.Errorf("the client's hello: %v", err)
	}
	_, answer, err := f.admit(sealed, challenge)
	if err != nil {
		t.Errorf("the client's hello: %v", err)
	}
	rawsock.SendAll(fd, answer, soon())
}

// challengeOf is the challenge of a rank's server.
func challengeOf(rank transport.Rank) []byte {
	return (&fabric{FabricConfig: config(rank, 0)}).newChallenge()
}
