// SPDX-License-Identifier: BSD-3-Clause

// The receiving part of serving a connection: how much to take, and whether through the buffer or straight to where it
// belongs. Nothing here acts on what has come, or waits.
package tcp

import "golang.org/x/sys/unix"

// usualTurns is for how many requests large data stays usual.
const usualTurns = 4

// soonTries is how often to look for the rest of a frame at once: for a few microseconds.
const soonTries = 12

// receiveSoon is receive, but if data is flowing and a frame is not whole yet it looks some times: more is about to
// come, and the loop's way round is long.
func (w *work) receiveSoon(flowing bool) (int, error) {
	n, err := w.receive()
	for tries := 1; err == unix.EAGAIN && flowing && w.phase != atHead && tries < soonTries; tries++ {
		n, err = w.receive()
	}
	return n, err
}

// receive takes what has arrived: straight to where it belongs if that is known, else into the buffer.
func (w *work) receive() (int, error) {
	if err := w.c.drop(); err != nil {
		return 0, err
	}
	if w.r == w.w {
		w.r, w.w = 0, 0
		if w.phase == storing && w.long {
			return w.receiveStraight()
		}
	}
	if w.r > 0 && (w.phase != atHead || inBytes-w.w < w.peek()) {
		w.w = copy(w.in, w.in[w.r:w.w])
		w.r = 0
	}
	end := inBytes
	if w.phase == atHead {
		end = min(w.w+w.peek(), inBytes)
	}
	n, err := w.c.take(w.in[w.w:end])
	w.w += n
	return n, err
}

// take receives. After a request without an answer the kernel acknowledges a second one as soon as it is taken, in front
// of its answer, which takes longer than to answer. So it is looked at first, answered, and then taken.
func (c *conn) take(b []byte) (n int, err error) {
	if c.usual != 0 || !c.mute.Load() {
		return recvNow(c.fd, b)
	}
	n, err = lookNow(c.fd, b)
	c.seen = n
	return n, err
}

// drop takes what has been looked at.
func (c *conn) drop() error {
	for c.seen > 0 {
		n, err := dropNow(c.fd, c.seen)
		if err != nil {
			return err
		}
		c.seen -= n
	}
	return nil
}

// peek is how much to take of what begins with a header. Where large data is usual that goes straight to where it
// belongs, little more than the header; where it passes through the buffer anyway, all that fits.
func (w *work) peek() int {
	switch {
	case w.c.usual < 0:
		return inBytes
	case w.c.usual == 0:
		return peekBytes
	}
	n := headerBytes + headDesc
	if have := w.w - w.r; have >= headerBytes { // parse has looked at it
		n = max(n, headerBytes+int(w.head.Desc)-have)
	}
	return n
}

// expectMore adapts what is usual to a request that has come.
func (w *work) expectMore() {
	u := &w.c.usual
	switch {
	case w.phase == storing && w.area.left >= peekBytes/2 && w.long:
		*u = usualTurns
	case w.phase == storing && w.area.left >= peekBytes/2:
		*u = -usualTurns
	case *u > 0:
		*u--
	case *u < 0:
		*u++
	}
}

// receiveStraight receives into the area's memory; what comes behind the last of it goes to the buffer.
func (w *work) receiveStraight() (int, error) {
	if len(w.rec) == 0 {
		w.rec = w.area.pieces(w.iov[:0:iovCount-1], w.area.left)
	}
	vec := w.rec
	if w.area.left == 0 {
		vec = append(vec, unix.Iovec{Base: &w.in[0], Len: uint64(w.peek())})
	}
	n, err := recvPieces(w.c.fd, vec)
	ours := n
	for _, p := range w.rec {
		ours -= int(min(uint64(ours), p.Len))
	}
	w.w = ours
	w.rec = skip(w.rec, n-ours)
	return n, err
}
