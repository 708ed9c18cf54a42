// SPDX-License-Identifier: BSD-3-Clause

// Sending frames on a socket, the same at both ends. A frame is a prefix of 8 bytes, a head and a body:
//
//	bits 0..15 of the prefix: bytes of the head; bits 16..63: bytes of the body, little-endian
//
// Frames are collected in a buffer; the body of the last one may follow from where it is. Nothing here waits.
package tcp

import (
	"encoding/binary"

	"libarmci/internal/kernel"
	"libarmci/internal/tcp/rawsock"
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

// sender is the sending side of a connection. The buffer and the memory for pieces are lent to it.
type sender struct {
	fd       int
	straight int            // rows of at least so many bytes are sent from where they are
	out      []byte         // frames: sent up to at
	at       int            // out[at:] is to be sent, unless it is in vec
	body     *kernel.Cursor // of the last frame; nil if all of it has been put into out or vec
	left     int64          // bytes of it that are in neither
	pack     bool           // it goes through out
	vec      []kernel.Piece // what is being sent
	pieces   []kernel.Piece // memory for vec
}

// busy tells whether something is to be sent.
func (s *sender) busy() bool { return s.at < len(s.out) || len(s.vec) > 0 || s.body != nil }

// add puts a frame behind the others. A body of up to small bytes that fits is copied: then done is true. Else push
// takes it from where it is. No other frame may be added before that is done.
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
	s.body, s.left, s.pack = body, n, body.Row() < int64(s.straight)
	return false
}

// push sends what the socket takes, until it has sent most bytes or more: unix.EAGAIN if something is left that the
// socket does not take now.
func (s *sender) push(most int) (sent int, err error) {
	for s.busy() && sent < most && err == nil {
		if len(s.vec) == 0 {
			s.fill()
		}
		var n int
		if len(s.vec) > 0 {
			n, err = rawsock.SendPieces(s.fd, s.vec)
			s.vec = rawsock.Skip(s.vec, n)
		} else {
			n, err = rawsock.Send(s.fd, s.out[s.at:])
			s.at += n
		}
		sent += n
		if len(s.vec) == 0 && s.at == len(s.out) {
			s.out, s.at = s.out[:0], 0
		}
	}
	return sent, err
}

// fill prepares the next call: more of the body is packed into out, or listed in vec behind what is in out.
func (s *sender) fill() {
	switch {
	case s.body == nil:
		return
	case s.pack && s.at > 0:
		return // first what is in out
	case s.pack:
		n := len(s.out)
		k := int(min(s.left, int64(cap(s.out)-n)))
		s.out = s.out[:n+k]
		s.body.Pack(s.out[n:])
		s.left -= int64(k)
	default:
		s.vec = s.pieces[:0:rawsock.MaxPieces]
		if s.at < len(s.out) {
			s.vec = append(s.vec, rawsock.PieceOf(s.out[s.at:]))
			s.at = len(s.out)
		}
		s.vec, s.left = takePieces(s.vec, s.body, s.left)
	}
	if s.left == 0 {
		s.body = nil
	}
}

// takePieces appends memory of a cursor, up to left bytes, and gives what is left of them.
func takePieces(p []kernel.Piece, c *kernel.Cursor, left int64) ([]kernel.Piece, int64) {
	end := c.Left() - left
	p = c.Pieces(p, left)
	return p, c.Left() - end
}
