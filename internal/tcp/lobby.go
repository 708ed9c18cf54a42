// SPDX-License-Identifier: BSD-3-Clause

// Where connections wait until they have proved themselves: a fixed number of places of a fixed size, for a short time.
package tcp

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxGuests = 64
	crowdTime = time.Second            // for the handshake when all places are taken
	lookTime  = 200 * time.Millisecond // how often the times are looked at
)

// guest is a connection that has proved nothing.
type guest struct {
	fd    int
	since time.Time
	c     *challenge
	p     proof
	n     int // bytes of p that have arrived
}

// lobby belongs to the loop.
type lobby struct {
	s      *server
	ln     int // listening socket, -1 if there is none
	paused bool
	guests [maxGuests]*guest
	count  int
}

func (l *lobby) init(s *server, ln int) {
	l.s, l.ln = s, ln
	if ln >= 0 {
		s.watch(unix.EPOLL_CTL_ADD, ln, aboutListener, 0)
	}
}

// timeout is how long the loop may sleep, in milliseconds.
func (l *lobby) timeout() int {
	if l.count > 0 || l.paused {
		return int(lookTime / time.Millisecond)
	}
	return -1
}

// accept lets in who is at the door. When there is no place, or no descriptor, they wait outside.
func (l *lobby) accept() {
	for l.count < maxGuests {
		fd, _, err := unix.Accept4(l.ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
			l.enter(fd)
		case unix.EINTR, unix.ECONNABORTED:
		case unix.EAGAIN:
			return
		default:
			l.pause(true)
			return
		}
	}
	l.pause(true)
}

func (l *lobby) pause(yes bool) {
	if l.ln < 0 || l.paused == yes {
		return
	}
	if l.paused = yes; yes {
		unix.EpollCtl(l.s.ep, unix.EPOLL_CTL_DEL, l.ln, nil)
		return
	}
	l.s.watch(unix.EPOLL_CTL_ADD, l.ln, aboutListener, 0)
}

// enter sends the challenge.
func (l *lobby) enter(fd int) {
	g := &guest{fd: fd, since: time.Now(), c: newChallenge(l.s.opt.Me)}
	tune(fd, l.s.opt.Timeout)
	slot := 0
	for l.guests[slot] != nil {
		slot++
	}
	if n, _ := sendNow(fd, g.c[:]); n < challengeBytes || l.s.watch(unix.EPOLL_CTL_ADD, fd, aboutGuest, slot) != nil {
		unix.Close(fd)
		return
	}
	l.guests[slot] = g
	l.count++
}

// leave frees a place; with the connection closed unless it has been adopted.
func (l *lobby) leave(slot int, adopted bool) {
	if !adopted {
		unix.Close(l.guests[slot].fd)
	}
	l.guests[slot] = nil
	l.count--
	l.pause(false)
}

// hear takes what a guest says.
func (l *lobby) hear(slot int) {
	g := l.guests[slot]
	if g == nil {
		return
	}
	n, err := recvNow(g.fd, g.p[g.n:])
	g.n += n
	switch {
	case err == unix.EAGAIN, err == nil && g.n < proofBytes:
	case err != nil:
		l.leave(slot, false)
	default:
		l.leave(slot, l.admit(g))
	}
}

func (l *lobby) admit(g *guest) bool {
	o := l.s.opt
	from, w, err := g.c.admit(o.Secret, &g.p)
	if err != nil || o.nodeOf(from) < 0 { // one of this node needs no server, but does no harm
		return false
	}
	if n, _ := sendNow(g.fd, w[:]); n < welcomeBytes {
		return false
	}
	return l.s.adopt(unix.EPOLL_CTL_MOD, g.fd, from) == nil
}

// expire sends away who takes too long.
func (l *lobby) expire() {
	if l.count == 0 && !l.paused {
		return
	}
	limit := helloTime
	if l.count == maxGuests {
		limit = crowdTime
	}
	for slot, g := range l.guests {
		if g != nil && time.Since(g.since) > limit {
			l.leave(slot, false)
		}
	}
	if l.count < maxGuests {
		l.pause(false)
	}
}

// close sends everybody away.
func (l *lobby) close() {
	l.pause(true)
	if l.ln >= 0 {
		unix.Close(l.ln)
	}
	for slot, g := range l.guests {
		if g != nil {
			unix.Close(g.fd)
			l.guests[slot] = nil
		}
	}
}
