// SPDX-License-Identifier: BSD-3-Clause

// What the loop does while all works are with connections in the middle of something, such as clients that were
// stopped: it serves the others as far as that takes no memory. What it cannot serve so stays in the socket.
package tcp

import (
	"errors"

	"golang.org/x/sys/unix"
)

// whole tells whether the frame at the front is small and has arrived with all its data.
func (w *work) whole() bool {
	h := &w.head
	if h.Kind == kindGet && h.Bytes > uint64(outBytes-len(w.out)-headerBytes) {
		return false
	}
	return h.payload() <= int64(w.w-w.r-headerBytes-int(h.Desc))
}

// serveBriefly looks at what has arrived, without taking it, and takes the requests that are whole. A connection that
// has something else waits for a work.
func (s *server) serveBriefly(c *conn) bool {
	w := s.spare
	w.fresh(c)
	c.drop()
	n, _, err := unix.Recvfrom(c.fd, w.in[:peekBytes], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return false
	case err == nil && n > 0:
		w.w = n
		w.parse()
	}
	taken := w.r
	if taken > 0 {
		_, err = recvNow(c.fd, w.in[:taken])
	} else if err == nil && n == 0 {
		_, err = recvNow(c.fd, w.in) // the end
	}
	if w.err == nil {
		w.err = err
	}
	if w.err != nil {
		if s.last == c {
			s.last = nil
		}
		s.end(w)
		return true
	}
	if !w.flush() && w.err == nil {
		w.leaveToDrain()
		taken = 0
	}
	w.fresh(nil)
	if taken == 0 {
		s.takeOut(c)
		s.parked = append(s.parked, c)
		s.crowded.Store(true)
		s.unpark() // one may have come back meanwhile
	}
	return taken > 0
}

// leaveToDrain gives the replies that do not fit to who may write, or to a goroutine. The first may be sent in part.
func (w *work) leaveToDrain() {
	c, rest := w.c, append([]byte(nil), w.out[w.o:]...)
	c.mu.Lock()
	if w.holds {
		c.late = append(rest, c.late...)
	} else {
		c.late = append(c.late, rest...)
	}
	c.mu.Unlock()
	if w.holds {
		w.holds = false
		go c.drain()
		return
	}
	c.push()
}

// unpark takes back the connections that wait for a work if there is one now.
func (s *server) unpark() {
	w := s.pool.take()
	if w == nil && !s.closing.Load() {
		return
	}
	for _, c := range s.parked {
		c.away.Store(false)
		s.watch(unix.EPOLL_CTL_ADD, c.fd, aboutConn, c.slot)
	}
	s.parked = nil
	s.crowded.Store(false)
	if w != nil {
		s.pool.put(w)
	}
}
