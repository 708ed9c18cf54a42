// SPDX-License-Identifier: BSD-3-Clause

// Sending frames on a socket, the same at both ends. A frame is a prefix of 8 bytes, a head and a
// body:
//
//	bits 0..15 of the prefix: bytes of the head; bits 16..63: bytes of the body, little-endian
//
// Frames are collected in a buffer; the body of the last one may follow from where it is. Nothing
// here waits.
package tcp

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

const (
	prefixBytes = 8
	maxBody     = 1 << 46
)

// appendPrefix writes a frame's prefix behind b.
func appendPrefix(b []byte, head int, body int64) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(head)|uint64(body)<<16)
}

// appendFrame writes a frame behind b.
func appendFrame(b, head, body []byte) []byte {
	return append(append(appendPrefix(b, len(head), int64(len(body))), head...), body...)
}

// prefix reads one.
func prefix(b []byte) (head int, body int64) {
	v := binary.LittleEndian.Uint64(b)
	return int(v & 0xffff), int64(v >> 16)
}

// sender is the sending side of a connection.
type sender struct {
	fd       int
	straight int    // rows of at least so many bytes are sent from where they are
	out      []byte // frames, in a buffer that is lent to it
	at       int    // out[:at] has been sent
	// of the last frame, until all of it has been sent; nil if it was copied with the head
	body   *kernel.Cursor
	left   int64         // bytes of it that have neither been sent nor are in out
	pack   bool          // it goes through out
	packed int           // then out[packed:] is part of it
	before kernel.Cursor // where body was before that part
}

// busy tells whether something is to be sent.
func (s *sender) busy() bool { return s.at < len(s.out) || s.body != nil }

// add puts a frame behind the others. A body of up to small bytes that fits is copied: then done is
// true. Else push takes it from where it is. No other frame may be added before that is done.
func (s *sender) add(head []byte, body *kernel.Cursor, n int64, small int) (done bool) {
	s.out = append(appendPrefix(s.out, len(head), n), head...)
	at := len(s.out)
	if n <= int64(min(small, cap(s.out)-at)) {
		if n > 0 {
			s.out = s.out[:at+int(n)]
			body.Pack(s.out[at:])
		}
		return true
	}
	s.body, s.left, s.pack, s.packed = body, n, body.Row() < int64(s.straight), at
	return false
}

// push sends what the socket takes, until it has sent most bytes or more: unix.EAGAIN if something
// is left that the socket does not take now.
func (s *sender) push(most int) (sent int, err error) {
	for s.busy() && sent < most && err == nil {
		var n int
		if s.body != nil && !s.pack {
			n, err = s.sendStraight()
		} else {
			if s.body != nil && s.at == 0 {
				s.fill()
			}
			n, err = rawsock.Send(s.fd, s.out[s.at:])
			s.at += n
		}
		sent += n
		if s.at == len(s.out) {
			s.out, s.at = s.out[:0], 0
			if s.left == 0 {
				s.body = nil
			}
		}
	}
	return sent, err
}

// sendStraight sends what is in out and the body behind it from where it is.
func (s *sender) sendStraight() (n int, err error) {
	var vec [rawsock.MaxPieces]kernel.Piece
	vec[0] = rawsock.PieceOf(s.out[s.at:])
	next := *s.body
	n, err = rawsock.SendPieces(s.fd, next.Pieces(vec[:1], s.left))
	if err == unix.EFAULT {
		touch(s.body.Pack, s.left)
	}
	k := min(n, len(s.out)-s.at)
	s.at += k
	s.body.Skip(int64(n - k))
	s.left -= int64(n - k)
	return n, err
}

// touch accesses memory that the kernel could not access: the process crashes there, as it does
// where it copies short bodies itself, and the report names the address.
func touch(access func([]byte), left int64) {
	b := make([]byte, min(left, bufferBytes))
	for ; left > 0; left -= int64(len(b)) {
		b = b[:min(left, int64(len(b)))]
		access(b)
	}
}

// fill packs more of the body into out, if there is room.
func (s *sender) fill() {
	at := len(s.out)
	n := int(min(s.left, int64(cap(s.out)-at)))
	if n == 0 {
		return
	}
	s.before, s.packed, s.out = *s.body, at, s.out[:at+n]
	s.body.Pack(s.out[at:])
	s.left -= int64(n)
}

// rewind takes out of the buffer what was packed and has not been sent: it is packed again later.
func (s *sender) rewind() {
	if end := max(s.at, s.packed); s.body != nil && s.pack && end < len(s.out) {
		*s.body = s.before
		s.body.Skip(int64(end - s.packed))
		s.left += int64(len(s.out) - end)
		s.out = s.out[:end]
	}
}

// burst recognises frames of blocking callers that another frame follows closely, as a put is
// followed by the next one, or by a notification: one system call for both takes half the time.
type burst struct {
	last  time.Duration // when the clock was read, since began
	count int           // rises with each frame that another one followed soon, and halves else
	after int           // Burst frames since last; 0: another frame has followed the last one
}

var began = time.Now() // time.Since takes half as long as time.Now

const (
	// a pause; it may be that of the progress thread, which is just sending
	burstGap   = 10 * time.Microsecond
	burstStart = 8 // so many are followed before one is put off
	burstMost  = 2 * burstStart
	clockEvery = 4 // frames of a long burst: reading the clock takes a tenth of a put's time
)

// mayWait tells whether a frame may be put off: always if nothing waits for it, or if its caller
// usually sends another one soon.
func (b *burst) mayWait(when transport.When) bool {
	if when != transport.Burst {
		if b.after > 0 {
			b.judge()
		}
		return when == transport.Soon
	}
	if b.count < burstMost || b.after == 0 || b.after == clockEvery {
		b.judge()
	}
	b.after++
	return b.count >= burstStart
}

// judge notes whether this frame follows soon on those since the clock was last read.
func (b *burst) judge() {
	now := time.Since(began)
	switch {
	case b.after == 0: // they have been judged
	case now-b.last > time.Duration(b.after)*burstGap:
		b.count /= 2
	default:
		b.count = min(b.count+1, burstMost)
	}
	b.last, b.after = now, 0
}
