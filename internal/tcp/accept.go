// SPDX-License-Identifier: BSD-3-Clause

// The accept queue: where connections wait until they have proved themselves. It has a fixed number of places of a fixed
// size, each for a short time. When it is full, the connection that has been silent for longest goes.
package tcp

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
)

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

// acceptQueue belongs to the thread that polls the listener.
type acceptQueue struct {
	l      *listener
	paused bool    // there was no descriptor for another connection
	peers  []*peer // oldest first
	looked time.Time
}

// waits tells whether times have to be looked at.
func (q *acceptQueue) waits() bool { return len(q.peers) > 0 || q.paused }

// accept takes connections from the kernel.
func (q *acceptQueue) accept() {
	for range acceptBatch {
		fd, _, err := unix.Accept4(q.l.f.ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
			q.enter(fd)
		case unix.EINTR, unix.ECONNABORTED:
		case unix.EAGAIN:
			return
		default:
			log.WarnOnce("accept", "cannot accept connections of other nodes: %v (ulimit -n): trying again", err)
			q.paused = true
			q.l.control(unix.EPOLL_CTL_DEL, q.l.f.ln, 0)
			return
		}
	}
}

// enter sends the challenge. If there is no place, who has said least loses its own, unless it has said more by now.
func (q *acceptQueue) enter(fd int) {
	for len(q.peers) == maxPeers {
		p := slices.MinFunc(q.peers, func(a, b *peer) int { return a.n - b.n })
		n := p.n
		if q.hear(p.fd); p.n == n {
			q.leave(p)
		}
	}
	p := &peer{fd: fd, since: time.Now(), challenge: q.l.f.newChallenge(), hello: make([]byte, helloBytes)}
	rawsock.Tune(fd, q.l.f.Timeout)
	n, _ := rawsock.Send(fd, p.challenge)
	if n < helloBytes || q.l.control(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN) != nil {
		unix.Close(fd)
		return
	}
	q.peers = append(q.peers, p)
}

// leave closes a connection that has not left yet.
func (q *acceptQueue) leave(p *peer) {
	if i := slices.Index(q.peers, p); i >= 0 {
		q.peers = slices.Delete(q.peers, i, i+1)
		unix.Close(p.fd)
	}
}

// hear takes what a peer says.
func (q *acceptQueue) hear(fd int) {
	i := slices.IndexFunc(q.peers, func(p *peer) bool { return p.fd == fd })
	if i < 0 {
		return
	}
	p := q.peers[i]
	n, err := rawsock.Receive(fd, p.hello[p.n:])
	p.n += n
	if err == unix.EAGAIN || err == nil && p.n < helloBytes {
		return
	}
	q.l.control(unix.EPOLL_CTL_DEL, fd, 0)
	q.peers = slices.Delete(q.peers, i, i+1)
	if err != nil || q.l.adopt(p) != nil {
		unix.Close(fd)
	}
}

// expire sends away who takes too long, now and then.
func (q *acceptQueue) expire(now time.Time) {
	if !q.waits() || now.Sub(q.looked) < lookTime {
		return
	}
	q.looked = now
	for len(q.peers) > 0 && now.Sub(q.peers[0].since) > helloTime {
		q.leave(q.peers[0])
	}
	if q.paused {
		q.paused = q.l.control(unix.EPOLL_CTL_ADD, q.l.f.ln, unix.EPOLLIN) != nil
	}
}
