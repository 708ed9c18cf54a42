// SPDX-License-Identifier: BSD-3-Clause

// The handshake of a connection: both sides prove that they know the job's secret before anything
// else.
//
//	server -> client  challenge: a hello that proves nothing
//	client -> server  hello, sealed with the challenge
//	server -> client  hello, sealed with the client's: target if that is valid, else refusal
//
// The client says which stream it wants to begin or to go on with, and both say how much of that
// they have received (streamPoint).
//
// Connections wait at the server, each for a short time, until they have proved themselves: in the
// accept queue (package acceptqueue). If a connection ends before the client has got an answer, the
// client connects again; after a refusal it gives up.
package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

const (
	helloTimeout  = 5 * time.Second // from the challenge to the client's whole hello
	roleChallenge = "challenge"
	roleOrigin    = "origin"
	roleTarget    = "target"
	// proves that a client's hello was refused, and nothing else
	roleRefusal = "refusal"
)

// streamPoint is where a connection begins or goes on: the extra of a hello.
type streamPoint struct {
	id       streamID
	received uint64 // bytes of the stream that the sender of the hello has received
}

// streamID names the two streams of a connection, over all its sockets. The origin chooses it.
type streamID [transport.NonceBytes]byte

const streamPointBytes = transport.NonceBytes + 8

var helloBytes = transport.HelloBytes(streamPointBytes)

// encode returns the extra of a hello.
func (p *streamPoint) encode() []byte {
	return binary.LittleEndian.AppendUint64(append([]byte(nil), p.id[:]...), p.received)
}

// decode takes the extra of a hello.
func (p *streamPoint) decode(extra []byte) error {
	if len(extra) != streamPointBytes {
		return errors.New("a hello of another length")
	}
	copy(p.id[:], extra)
	p.received = binary.LittleEndian.Uint64(extra[len(p.id):])
	return nil
}

// newChallenge is the first message of the server.
func (f *fabric) newChallenge() []byte {
	h := transport.Hello{From: f.Me, Nonce: transport.NewNonce(),
		Extra: new(streamPoint).encode()}
	return h.Seal(nil, roleChallenge, nil)
}

// proveToServer is the client's side of the handshake on a connected socket, which begins or goes
// on at a point. It waits for the challenge until patience, and for the answer until deadline. The
// result is how much of the stream the server has received. With an error the caller closes the
// socket.
func (f *fabric) proveToServer(fd int, server transport.Rank, at streamPoint, patience,
	deadline time.Time) (received uint64, err error) {
	challenge, answer := make([]byte, helloBytes), make([]byte, helloBytes)
	err = rawsock.ReceiveAll(fd, challenge, patience)
	var theirs transport.Hello
	if err == nil {
		err = theirs.Unseal(challenge, nil, roleChallenge, nil)
	}
	if err == nil && theirs.From != server {
		err = fmt.Errorf("the server there is of rank %d", theirs.From)
	}
	if err != nil {
		return 0, err
	}
	mine := transport.Hello{From: f.Me, To: server, Nonce: transport.NewNonce(),
		Extra: at.encode()}
	sealed := mine.Seal(f.Secret, roleOrigin, challenge)
	if err = rawsock.SendAll(fd, sealed, deadline); err == nil {
		err = rawsock.ReceiveAll(fd, answer, deadline)
	}
	if err == nil && theirs.Unseal(answer, f.Secret, roleRefusal, sealed) == nil {
		return 0, fmt.Errorf("refused by rank %d", server)
	}
	if err == nil {
		err = theirs.Unseal(answer, f.Secret, roleTarget, sealed)
	}
	var theirPoint streamPoint
	if err == nil {
		err = theirPoint.decode(theirs.Extra)
	}
	return theirPoint.received, err
}

// checkHello checks a client's hello at the server, and returns the rank and the point of its
// stream.
func (f *fabric) checkHello(sealed, challenge []byte) (client transport.Rank, at streamPoint,
	err error) {
	var theirs transport.Hello
	err = theirs.Unseal(sealed, f.Secret, roleOrigin, challenge)
	if err == nil && (theirs.To != f.Me || f.NodeOf(theirs.From) < 0) {
		err = fmt.Errorf("rank %d looks for the server of rank %d", theirs.From, theirs.To)
	}
	if err == nil {
		err = at.decode(theirs.Extra)
	}
	return theirs.From, at, err
}

// answerHello is the server's answer to the hello of a client: it is a refusal, or says how much of
// the stream the server has received.
func (f *fabric) answerHello(role string, client transport.Rank, sealed []byte,
	received uint64) []byte {
	at := streamPoint{received: received}
	mine := transport.Hello{From: f.Me, To: client, Nonce: transport.NewNonce(),
		Extra: at.encode()}
	return mine.Seal(f.Secret, role, sealed)
}

const (
	maxUnproven      = 256
	queueCheckPeriod = 200 * time.Millisecond // between two calls of expirePeers
)

// unprovenPeer is a connection that has not proved itself.
type unprovenPeer struct {
	fd               int
	challenge, hello []byte
	helloRead        int // bytes of hello that have arrived
}

// queueCheckDelay is the longest time until expirePeers has to be called; negative: any time.
func (l *listener) queueCheckDelay() time.Duration {
	switch {
	case l.streams.anyParked():
		return parkedCheckPeriod
	case l.acceptPaused:
		return acceptqueue.Grace
	case l.unproven.Len() > 0:
		return queueCheckPeriod
	}
	return -1
}

// acceptPending accepts connections from the kernel. While the queue is full of connections that
// have just arrived, and while the system has no descriptors, they wait in the kernel.
func (l *listener) acceptPending() {
	if l.unproven.Hold() > 0 {
		l.pauseAccept()
		return
	}
	came, err := acceptqueue.Drain(l.fabric.listenFD, maxUnproven)
	for _, c := range came {
		l.challengePeer(c)
	}
	if err != nil && err != unix.EAGAIN && !l.evictPeer() {
		log.WarnOnce("accept",
			"cannot accept connections of other nodes: %v (ulimit -n): trying again",
			err)
		l.pauseAccept()
	}
}

// pauseAccept lets connections wait in the kernel until expirePeers.
func (l *listener) pauseAccept() {
	l.acceptPaused = true
	l.epollCtl(unix.EPOLL_CTL_DEL, l.fabric.listenFD, 0)
}

// evictPeer removes a connection from the queue: it is closed unless its whole hello has arrived by
// now. It returns false if the queue has none that may be removed.
func (l *listener) evictPeer() bool {
	p, ok := l.unproven.Victim()
	if ok {
		l.readHello(p.fd)
		l.dropPeer(p)
	}
	return ok
}

// challengePeer puts a connection into the queue and sends it the challenge.
func (l *listener) challengePeer(c acceptqueue.Accepted) {
	for l.unproven.Full() {
		l.evictPeer()
	}
	p := &unprovenPeer{fd: c.FD, challenge: l.fabric.newChallenge(),
		hello: make([]byte, helloBytes)}
	n, _ := rawsock.Send(p.fd, p.challenge)
	if n < helloBytes || l.epollCtl(unix.EPOLL_CTL_ADD, p.fd, unix.EPOLLIN) != nil {
		unix.Close(p.fd)
		return
	}
	l.unproven.Add(p, c.From)
}

// dropPeer closes a connection that is in the queue. One that has left it is not touched.
func (l *listener) dropPeer(p *unprovenPeer) {
	if l.unproven.Remove(p) {
		unix.Close(p.fd)
	}
}

// readHello receives bytes of the hello of a connection in the queue. With the last byte the
// connection leaves the queue, and is admitted or closed.
func (l *listener) readHello(fd int) {
	p, ok := l.unproven.Find(func(p *unprovenPeer) bool { return p.fd == fd })
	if !ok {
		return
	}
	n, err := rawsock.Receive(fd, p.hello[p.helloRead:])
	p.helloRead += n
	if err == unix.EAGAIN || err == nil && p.helloRead < helloBytes {
		return
	}
	l.epollCtl(unix.EPOLL_CTL_DEL, fd, 0)
	l.unproven.Remove(p)
	if err != nil || l.admitPeer(p) != nil {
		unix.Close(fd)
	}
}

// expirePeers closes connections that have waited longer than helloTimeout, and ends a pause of
// accepting that is over. Only the thread that polls calls it.
func (l *listener) expirePeers(now time.Time) {
	for p, since, ok := l.unproven.Oldest(); ok &&
		now.Sub(since) > helloTimeout; p, since, ok = l.unproven.Oldest() {
		l.dropPeer(p)
	}
	if l.acceptPaused && l.unproven.Hold() == 0 {
		err := l.epollCtl(unix.EPOLL_CTL_ADD, l.fabric.listenFD, unix.EPOLLIN)
		l.acceptPaused = err != nil
	}
}
