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
	maxBody     = 1 << 46 // bytes
)

// appendPrefix appends the prefix of a frame to b.
func appendPrefix(b []byte, head int, body int64) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(head)|uint64(body)<<16)
}

// appendFrame appends a whole frame to b.
func appendFrame(b, head, body []byte) []byte {
	return append(append(appendPrefix(b, len(head), int64(len(body))), head...), body...)
}

// parsePrefix returns the bytes of the head and of the body of a frame; b has prefixBytes or more.
func parsePrefix(b []byte) (head int, body int64) {
	v := binary.LittleEndian.Uint64(b)
	return int(v & 0xffff), int64(v >> 16)
}

// sender is the sending side of a connection. Its owner serialises all calls: at the origin's end
// the caller of Send, at the target's end the thread that serves the connection.
type sender struct {
	out        *outStream
	gatherMin  int    // bytes of a row from which a body is sent from where it is
	queued     []byte // frames, in a buffer that is lent to the sender
	queuedSent int    // queued[:queuedSent] has been sent
	// of the last frame, until all of it has been sent; nil if it was copied with the head
	body           *kernel.Cursor
	bodyLeft       int64         // bytes of it that have neither been sent nor are in queued
	packsBody      bool          // the body goes through queued, in pieces
	packedFrom     int           // packsBody: queued[packedFrom:] is a piece of the body
	bodyBeforePack kernel.Cursor // packsBody: where body was before that piece
}

// hasOutput tells whether bytes remain to be sent.
func (s *sender) hasOutput() bool { return s.queuedSent < len(s.queued) || s.body != nil }

// queueFrame appends a frame to the queue. A body of up to small bytes that fits is copied: copied
// is true. Otherwise sendQueued sends it from where it is, and the caller queues no other frame
// before body is nil.
func (s *sender) queueFrame(head []byte, body *kernel.Cursor, n int64, small int) (copied bool) {
	s.queued = append(appendPrefix(s.queued, len(head), n), head...)
	at := len(s.queued)
	if n <= int64(min(small, cap(s.queued)-at)) {
		if n > 0 {
			s.queued = s.queued[:at+int(n)]
			body.Pack(s.queued[at:])
		}
		return true
	}
	s.body, s.bodyLeft, s.packedFrom = body, n, at
	s.packsBody = body.Row() < int64(s.gatherMin)
	return false
}

// sendQueued sends what the socket accepts, until it has sent most bytes or more. The error is
// unix.EAGAIN if output is left that the socket does not accept now. Other errors are final.
func (s *sender) sendQueued(most int) (sent int, err error) {
	for s.hasOutput() && sent < most && err == nil {
		var n int
		if s.body != nil && !s.packsBody {
			n, err = s.sendGathered()
		} else {
			if s.body != nil && s.queuedSent == 0 {
				s.packBody()
			}
			n, err = s.out.send(s.queued[s.queuedSent:])
			s.queuedSent += n
		}
		sent += n
		if s.queuedSent == len(s.queued) {
			s.queued, s.queuedSent = s.queued[:0], 0
			if s.bodyLeft == 0 {
				s.body = nil
			}
		}
	}
	return sent, err
}

// sendGathered sends the queue and, in the same call, rows of the body behind it from where they
// are. There is a body, and it is not packed.
func (s *sender) sendGathered() (n int, err error) {
	var vec [rawsock.MaxPieces]kernel.Segment
	vec[0] = rawsock.PieceOf(s.queued[s.queuedSent:])
	next := *s.body
	n, err = s.out.sendPieces(next.Pieces(vec[:1], s.bodyLeft))
	if err == unix.EFAULT {
		touchMemory(s.body.Pack, s.bodyLeft)
	}
	k := min(n, len(s.queued)-s.queuedSent)
	s.queuedSent += k
	s.body.Skip(int64(n - k))
	s.bodyLeft -= int64(n - k)
	return n, err
}

// touchMemory accesses memory that the kernel could not access. The process crashes there, as it
// does where it copies short bodies itself, and the report names the address.
func touchMemory(access func([]byte), left int64) {
	b := make([]byte, min(left, bufferBytes))
	for ; left > 0; left -= int64(len(b)) {
		b = b[:min(left, int64(len(b)))]
		access(b)
	}
}

// packBody copies the next piece of the body into the queue, as far as there is room.
func (s *sender) packBody() {
	at := len(s.queued)
	n := int(min(s.bodyLeft, int64(cap(s.queued)-at)))
	if n == 0 {
		return
	}
	s.bodyBeforePack, s.packedFrom, s.queued = *s.body, at, s.queued[:at+n]
	s.body.Pack(s.queued[at:])
	s.bodyLeft -= int64(n)
}

// unpackUnsent removes from the queue the part of the body that was packed and not sent, so that
// the buffer can be taken away. packBody packs it again later.
func (s *sender) unpackUnsent() {
	end := max(s.queuedSent, s.packedFrom)
	if s.body != nil && s.packsBody && end < len(s.queued) {
		*s.body = s.bodyBeforePack
		s.body.Skip(int64(end - s.packedFrom))
		s.bodyLeft += int64(len(s.queued) - end)
		s.queued = s.queued[:end]
	}
}

// dropOutput forgets everything that was queued.
func (s *sender) dropOutput() { s.queued, s.queuedSent, s.body = s.queued[:0], 0, nil }

// burstDetector recognises frames of blocking callers that another frame follows closely, as a put
// is followed by the next one, or by a notification. One system call for both takes half the time.
type burstDetector struct {
	clockReadAt time.Duration // since processStart
	// rises by one with each frame that another one followed within maxBurstGap, and is halved
	// by each other frame
	score int
	// Burst frames since clockReadAt; 0: another frame has followed the last one
	framesSinceClock int
}

var processStart = time.Now() // time.Since takes half as long as time.Now

const (
	// between two frames of a burst; the progress thread, which is sending, may be the cause
	maxBurstGap   = 10 * time.Microsecond
	minBurstScore = 8 // from which on frames are deferred
	maxBurstScore = 2 * minBurstScore
	// frames of a long burst: reading the clock takes a tenth of a put's time
	clockReadEvery = 4
)

// mayDefer counts a frame and tells whether it may be deferred: always if nothing waits for it
// (Soon), and if it is a Burst frame that another one usually follows. Sends are serialised, and
// call it once for each frame that was copied.
func (b *burstDetector) mayDefer(when transport.When) bool {
	if when != transport.Burst {
		if b.framesSinceClock > 0 {
			b.updateScore()
		}
		return when == transport.Soon
	}
	if n := b.framesSinceClock; b.score < maxBurstScore || n == 0 || n == clockReadEvery {
		b.updateScore()
	}
	b.framesSinceClock++
	return b.score >= minBurstScore
}

// updateScore reads the clock and counts whether this frame follows closely on those before it.
func (b *burstDetector) updateScore() {
	now := time.Since(processStart)
	switch {
	case b.framesSinceClock == 0: // the earlier frames have been counted
	case now-b.clockReadAt > time.Duration(b.framesSinceClock)*maxBurstGap:
		b.score /= 2
	default:
		b.score = min(b.score+1, maxBurstScore)
	}
	b.clockReadAt, b.framesSinceClock = now, 0
}
