// SPDX-License-Identifier: BSD-3-Clause

// The hello over a connection: both sides prove that they know the job's secret before anything
// else.
//
//	server -> client  challenge: a hello that proves nothing
//	client -> server  hello, sealed with the challenge
//	server -> client  hello, sealed with the client's, as target or, to one that proves nothing, as refusal
//
// The accept queue (package acceptqueue) is where connections wait at the server until they have
// proved themselves, each for a short time. A client whose connection ends before it has got an
// answer connects again; after a refusal it gives up.
package tcp

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

const (
	helloTime = 5 * time.Second // for the server's side of it
	asServer  = "challenge"
	byOrigin  = "origin"
	byTarget  = "target"
	// a proof that a client's hello was refused, of no use for anything else
	asRefusal = "refusal"
)

var helloBytes = transport.HelloBytes(0)

// newChallenge is the server's first word.
func (f *fabric) newChallenge() []byte {
	h := transport.Hello{From: f.Me, Nonce: transport.NewNonce()}
	return h.Seal(nil, asServer, nil)
}

// introduce is the client's side of the hello on a connected socket. It waits for the challenge
// until patience, and for the answer until deadline.
func (f *fabric) introduce(fd int, server transport.Rank, patience, deadline time.Time) error {
	challenge, answer := make([]byte, helloBytes), make([]byte, helloBytes)
	err := rawsock.ReceiveAll(fd, challenge, patience)
	var theirs transport.Hello
	if err == nil {
		err = theirs.Unseal(challenge, nil, asServer, nil)
	}
	if err == nil && theirs.From != server {
		err = fmt.Errorf("the server there is of rank %d", theirs.From)
	}
	if err != nil {
		return err
	}
	mine := transport.Hello{From: f.Me, To: server, Nonce: transport.NewNonce()}
	sealed := mine.Seal(f.Secret, byOrigin, challenge)
	if err = rawsock.SendAll(fd, sealed, deadline); err == nil {
		err = rawsock.ReceiveAll(fd, answer, deadline)
	}
	if err == nil && theirs.Unseal(answer, f.Secret, asRefusal, sealed) == nil {
		return fmt.Errorf("refused by rank %d", server)
	}
	if err == nil {
		err = theirs.Unseal(answer, f.Secret, byTarget, sealed)
	}
	return err
}

// admit checks a client's hello at the server and gives the answer to it, which is a refusal if
// there is an error.
func (f *fabric) admit(sealed, challenge []byte) (client transport.Rank, answer []byte, err error) {
	var theirs transport.Hello
	err = theirs.Unseal(sealed, f.Secret, byOrigin, challenge)
	if err == nil && (theirs.To != f.Me || f.NodeOf(theirs.From) < 0) {
		err = fmt.Errorf("rank %d looks for the server of rank %d", theirs.From, theirs.To)
	}
	role := byTarget
	if err != nil {
		role = asRefusal
	}
	mine := transport.Hello{From: f.Me, To: theirs.From, Nonce: transport.NewNonce()}
	return theirs.From, mine.Seal(f.Secret, role, sealed), err
}

const (
	maxPeers = 256
	lookTime = 200 * time.Millisecond // how often the times are looked at
)

// peer is a connection that has proved nothing.
type peer struct {
	fd               int
	challenge, hello []byte
	n                int // bytes of hello that have arrived
}

// lookAt is the longest time until the queue has to be looked at again; negative: any. The queue
// belongs to the thread that polls.
func (l *listener) lookAt() time.Duration {
	switch {
	case l.paused:
		return acceptqueue.Grace
	case l.peers.Len() > 0:
		return lookTime
	}
	return -1
}

// acceptSome takes connections from the kernel. While the queue is full of connections that have
// come just now, and while the system has no room for more, it leaves them there for a moment.
func (l *listener) acceptSome() {
	if l.peers.Hold() > 0 {
		l.pause()
		return
	}
	came, err := acceptqueue.Drain(l.f.ln, maxPeers)
	for _, c := range came {
		l.enter(c)
	}
	if err != nil && err != unix.EAGAIN && !l.makeRoom() {
		log.WarnOnce("accept",
			"cannot accept connections of other nodes: %v (ulimit -n): trying again",
			err)
		l.pause()
	}
}

// pause has connections wait in the kernel until expire.
func (l *listener) pause() {
	l.paused = true
	l.control(unix.EPOLL_CTL_DEL, l.f.ln, 0)
}

// makeRoom drops a connection from the queue unless it has proved itself by now; false if none
// waits.
func (l *listener) makeRoom() bool {
	p, ok := l.peers.Victim()
	if ok {
		l.hear(p.fd)
		l.leave(p)
	}
	return ok
}

// enter puts a connection into the queue and sends it the challenge.
func (l *listener) enter(c acceptqueue.Accepted) {
	for l.peers.Full() {
		l.makeRoom()
	}
	p := &peer{fd: c.FD, challenge: l.f.newChallenge(), hello: make([]byte, helloBytes)}
	n, _ := rawsock.Send(p.fd, p.challenge)
	if n < helloBytes || l.control(unix.EPOLL_CTL_ADD, p.fd, unix.EPOLLIN) != nil {
		unix.Close(p.fd)
		return
	}
	l.peers.Add(p, c.From)
}

// leave closes a connection that has not left yet.
func (l *listener) leave(p *peer) {
	if l.peers.Remove(p) {
		unix.Close(p.fd)
	}
}

// hear takes what a peer says.
func (l *listener) hear(fd int) {
	p, ok := l.peers.Find(func(p *peer) bool { return p.fd == fd })
	if !ok {
		return
	}
	n, err := rawsock.Receive(fd, p.hello[p.n:])
	p.n += n
	if err == unix.EAGAIN || err == nil && p.n < helloBytes {
		return
	}
	l.control(unix.EPOLL_CTL_DEL, fd, 0)
	l.peers.Remove(p)
	if err != nil || l.adopt(p) != nil {
		unix.Close(fd)
	}
}

// expire closes connections that have waited too long, and ends a pause.
func (l *listener) expire(now time.Time) {
	for p, since, ok := l.peers.Oldest(); ok &&
		now.Sub(since) > helloTime; p, since, ok = l.peers.Oldest() {
		l.leave(p)
	}
	if l.paused && l.peers.Hold() == 0 {
		l.paused = l.control(unix.EPOLL_CTL_ADD, l.f.ln, unix.EPOLLIN) != nil
	}
}
