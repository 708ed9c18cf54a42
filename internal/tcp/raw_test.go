// SPDX-License-Identifier: BSD-3-Clause

// Plain sockets for tests: clients that send any bytes to a data server, and servers that pass each
// connection to a function.
package tcp

import (
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

// rawClient is a client that sends bytes.
type rawClient struct {
	t  testing.TB
	fd int
}

// rawConnect returns a connection on which nothing has been sent.
func (s *server) rawConnect() int {
	s.t.Helper()
	fd, err := rawsock.Connect(netip.MustParseAddrPort(string(s.fabric.addr)), "", time.Second,
		testDeadline())
	if err != nil {
		s.t.Fatal(err)
	}
	return fd
}

// clientHello is the client's side of the handshake with a server, by a process of this rank with
// this secret.
func clientHello(fd int, secret string, server, client transport.Rank) error {
	c := config(client, 1)
	c.Secret = []byte(secret)
	_, err := (&fabric{FabricConfig: c}).proveToServer(fd, server,
		streamPoint{id: transport.NewNonce()}, testDeadline(), testDeadline())
	return err
}

// dialRaw returns a client that has proved itself.
func (s *server) dialRaw(from transport.Rank) *rawClient {
	s.t.Helper()
	r := &rawClient{s.t, s.rawConnect()}
	if err := clientHello(r.fd, "secret", 0, from); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (r *rawClient) send(b []byte) {
	r.t.Helper()
	if err := rawsock.SendAll(r.fd, b, testDeadline()); err != nil {
		r.t.Fatal(err)
	}
}

// frame makes one.
func frame(head, body []byte) []byte { return appendFrame(nil, head, body) }

// nextFrame receives the next frame.
func (r *rawClient) nextFrame() (head, body []byte) {
	r.t.Helper()
	var b [prefixBytes]byte
	if err := rawsock.ReceiveAll(r.fd, b[:], testDeadline()); err != nil {
		r.t.Fatal(err)
	}
	h, n := parsePrefix(b[:])
	head, body = make([]byte, h), make([]byte, n)
	for _, b := range [][]byte{head, body} {
		if err := rawsock.ReceiveAll(r.fd, b, testDeadline()); err != nil {
			r.t.Fatal(err)
		}
	}
	return head, body
}

// checkEcho checks that a small request is answered.
func (r *rawClient) checkEcho() {
	r.t.Helper()
	r.send(frame([]byte{opEcho}, []byte("there?")))
	if h, b := r.nextFrame(); string(h) != string(opEcho) || string(b) != "there?" {
		r.t.Fatalf("an echo: %q %q", h, b)
	}
}

func (r *rawClient) closeWithGoodbye() {
	r.send(frame([]byte{opBye}, nil))
	unix.Close(r.fd)
}

// checkRefused checks that the server refuses a hello, which the refusal names, and closes the
// connection.
func checkRefused(t testing.TB, fd int, said []byte) {
	t.Helper()
	b := make([]byte, helloBytes+1)
	var h transport.Hello
	err := rawsock.ReceiveAll(fd, b[:helloBytes], testDeadline())
	if err == rawsock.ErrTimeout {
		t.Error("a stranger gets no answer")
	} else if err == nil {
		// else the connection was reset, since more had been said than is read
		refusal := b[:helloBytes]
		if h.Unseal(refusal, []byte("secret"), roleRefusal, said[:helloBytes]) != nil {
			t.Errorf("a stranger is answered: %x", b)
		}
	}
	checkClosed(t, fd)
}

// checkClosed checks that the server closes a connection without sending anything.
func checkClosed(t testing.TB, fd int) {
	t.Helper()
	var b [1]byte
	err := rawsock.ReceiveAll(fd, b[:], testDeadline())
	if err == nil || err == rawsock.ErrTimeout {
		t.Errorf("the server says more, or does not close the connection: %v %v", b, err)
	}
	unix.Close(fd)
}

// startImpostor listens and calls serve with each connection. It returns its address.
func startImpostor(t testing.TB, serve func(fd int)) []byte {
	t.Helper()
	ln, at, err := rawsock.Listen(loopback, "")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for rawsock.WaitFor(ln, unix.POLLIN, testDeadline()) == nil {
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

// acceptHandshake is the server's side of the handshake, as rank 0.
func acceptHandshake(t testing.TB, fd int) {
	f := &fabric{FabricConfig: config(0, 0)}
	challenge, sealed := challengeOf(0), make([]byte, helloBytes)
	rawsock.SendAll(fd, challenge, testDeadline())
	if err := rawsock.ReceiveAll(fd, sealed, testDeadline()); err != nil {
		t.Errorf("the client's hello: %v", err)
	}
	from, _, err := f.checkHello(sealed, challenge)
	if err != nil {
		t.Errorf("the client's hello: %v", err)
	}
	rawsock.SendAll(fd, f.answerHello(roleTarget, from, sealed, 0), testDeadline())
}

// challengeOf is the challenge of a rank's server.
func challengeOf(rank transport.Rank) []byte {
	return (&fabric{FabricConfig: config(rank, 0)}).newChallenge()
}
