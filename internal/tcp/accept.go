// SPDX-License-Identifier: BSD-3-Clause

// The hello over a connection: both sides prove that they know the job's secret before anything else. It says nothing to
// who fails.
//
//	server -> client  challenge: a hello that proves nothing
//	client -> server  hello, sealed with the challenge
//	server -> client  hello, sealed with the client's
//
// The accept queue is where connections wait at the server until they have proved themselves. It has a fixed number of
// places of a fixed size, each for a short time. When it is full, the connection that has been silent for longest goes.
package tcp

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

const (
	helloTime = 5 * time.Second // for the server's side of it
	asServer  = "challenge"
	byOrigin  = "origin"
	byTarget  = "target"
)

var helloBytes = transport.HelloBytes(0)

// newChallenge is the server's first word.
func (f *fabric) newChallenge() []byte {
	h := transport.Hello{From: f.Me, Nonce: transport.NewNonce()}
	return h.Seal(nil, asServer, nil)
}

// receiveHello waits for a hello of the other side and checks it.
func receiveHello(fd int, secret []byte, role string, challenge []byte, deadline time.Time) (h transport.Hello, sealed []byte,
	err error) {
	sealed = make([]byte, helloBytes)
	if err = rawsock.ReceiveAll(fd, sealed, deadline); err == nil {
		err = h.Unseal(sealed, secret, role, challenge)
	}
	return h, sealed, err
}

// introduce is the client's side of the hello on a connected socket. It waits.
func (f *fabric) introduce(fd int, server transport.Rank, deadline time.Time) error {
	theirs, challenge, err := receiveHello(fd, nil, asServer, nil, deadline)
	if err == nil && theirs.From != server {
		err = fmt.Errorf("the server there is of rank %d", theirs.From)
	}
	if err != nil {
		return err
	}
	mine := transport.Hello{From: f.Me, To: server, Nonce: transport.NewNonce()}
	sealed := mine.Seal(f.Secret, byOrigin, challenge)
	if err = rawsock.SendAll(fd, sealed, deadline); err == nil {
		_, _, err = receiveHello(fd, f.Secret, byTarget, sealed, deadline)
	}
	return err
}

// admit checks a client's hello at the server and gives the answer to it.
func (f *fabric) admit(sealed, challenge []byte) (client transport.Rank, answer []byte, err error) {
	var theirs transport.Hello
	err = theirs.Unseal(sealed, f.Secret, byOrigin, challenge)
	if err == nil && (theirs.To != f.Me || f.NodeOf(theirs.From) < 0) {
		err = fmt.Errorf("rank %d looks for the server of rank %d", theirs.From, theirs.To)
	}
	mine := transport.Hello{From: f.Me, To: theirs.From, Nonce: transport.NewNonce()}
	return theirs.From, mine.Seal(f.Secret, byTarget, sealed), err
}

const (
	maxPeers    = 64
	acceptBatch = 16                     // accepted before those that wait are heard
	lookTime    = 200 * time.Millisecond // how often the times are looked at
)

// peer is a connection that has proved nothing.
type peer struct {
	fd               int
	since            time.Time
	challenge, hello []byte
	n                int // bytes of hello that have arrived
}

// queued tells whether times have to be looked at. The queue belongs to the thread that polls.
func (l *listener) queued() bool { return len(l.peers) > 0 || l.paused }

// acceptSome takes connections from the kernel.
func (l *listener) acceptSome() {
	for range acceptBatch {
		fd, _, err := unix.Accept4(l.f.ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
			l.enter(fd)
		case unix.EINTR, unix.ECONNABORTED:
		case unix.EAGAIN:
			return
		default:
			log.WarnOnce("accept", "cannot accept connections of other nodes: %v (ulimit -n): trying again", err)
			l.paused = true
			l.control(unix.EPOLL_CTL_DEL, l.f.ln, 0)
			return
		}
	}
}

// enter sends the challenge. If there is no place, who has said least loses its own, unless it has said more by now.
func (l *listener) enter(fd int) {
	for len(l.peers) == maxPeers {
		p := slices.MinFunc(l.peers, func(a, b *peer) int { return a.n - b.n })
		n := p.n
		if l.hear(p.fd); p.n == n {
			l.leave(p)
		}
	}
	p := &peer{fd: fd, since: time.Now(), challenge: l.f.newChallenge(), hello: make([]byte, helloBytes)}
	rawsock.Tune(fd, l.f.Timeout)
	n, _ := rawsock.Send(fd, p.challenge)
	if n < helloBytes || l.control(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN) != nil {
		unix.Close(fd)
		return
	}
	l.peers = append(l.peers, p)
}

// leave closes a connection that has not left yet.
func (l *listener) leave(p *peer) {
	if i := slices.Index(l.peers, p); i >= 0 {
		l.peers = slices.Delete(l.peers, i, i+1)
		unix.Close(p.fd)
	}
}

// hear takes what a peer says.
func (l *listener) hear(fd int) {
	i := slices.IndexFunc(l.peers, func(p *peer) bool { return p.fd == fd })
	if i < 0 {
		return
	}
	p := l.peers[i]
	n, err := rawsock.Receive(fd, p.hello[p.n:])
	p.n += n
	if err == unix.EAGAIN || err == nil && p.n < helloBytes {
		return
	}
	l.control(unix.EPOLL_CTL_DEL, fd, 0)
	l.peers = slices.Delete(l.peers, i, i+1)
	if err != nil || l.adopt(p) != nil {
		unix.Close(fd)
	}
}

// expire sends away who takes too long.
func (l *listener) expire(now time.Time) {
	for len(l.peers) > 0 && now.Sub(l.peers[0].since) > helloTime {
		l.leave(l.peers[0])
	}
	if l.paused {
		l.paused = l.control(unix.EPOLL_CTL_ADD, l.f.ln, unix.EPOLLIN) != nil
	}
}
