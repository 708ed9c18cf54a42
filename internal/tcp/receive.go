// SPDX-License-Identifier: BSD-3-Clause

// Receiving frames from a socket, the same at both ends: how many bytes to receive, whether through
// the buffer or to where they belong, and the calls of the Receiver. Nothing here waits.
package tcp

import (
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

const (
	// bytes that a target receives at first: of a large body only this much is copied twice
	peekBytes = 16 << 10
	// frames without a large body after which a target expects none any more
	largeBodyFrames = 4
	// receive calls for the rest of a body that has not arrived yet: a few microseconds
	bodyRetries = 12
	// frames in a row without a reply after which the next one is expected to have none
	maxUnanswered = 4
	// bytes of the head of a frame with a large body, until such a frame has arrived
	initialHeadGuess = 48
)

var errProtocol = errors.New("violation of the wire format")

// receiver is the receiving side of a connection. One thread at a time uses it: at the origin's end
// the thread that polls, at the target's end the thread that serves the connection.
type receiver struct {
	socket    streamSocket
	handler   transport.Receiver // called for each frame
	gatherMin int                // bytes of a row from which a body is received to its place
	atOrigin  bool               // this is the origin's end
	// target only: whether the next frame may be handled now
	mayAcceptFrame func() bool
	frameHeld      bool   // a frame has arrived which mayAcceptFrame has held back
	socketDrained  bool   // the last call received all that the socket had
	streamed       uint64 // bytes of the stream that have been received, over all sockets
	inputBuffer
	bodyState
	sizeGuess
	ackDelay
}

// inputBuffer is the memory that bytes are received through. It is lent for one call at a time.
type inputBuffer struct {
	buffer     []byte // nil while none is lent
	start, end int    // buffer[start:end] has arrived and is not handled
	saved      []byte // those bytes while no buffer is lent
	// bytes of a socket that was lost, which were received before they could be handled
	backlog []byte
}

// bodyState is the progress of the body of the current frame.
type bodyState struct {
	bodyOpen      bool           // a body has begun and is not complete
	body          transport.Body // where its bytes go
	bodyLeft      int64          // bytes of it that are not stored
	bodyScattered bool           // its rows are received to where they belong
}

// sizeGuess predicts from earlier frames whether the next one has a large body.
type sizeGuess struct {
	headGuess         int // bytes of the head of the last frame with a large body
	largeBodyExpected int // target only: frames for which large bodies are still expected
}

// ackDelay is when a target lets the kernel acknowledge a request: after the reply, if there is
// one. receiveOrPeek says why.
type ackDelay struct {
	peekedBytes int  // bytes that have been handled and are still in the socket
	keepsPeeked bool // such bytes may stay in the socket until the next call
	// no byte was sent since the last frame arrived; any thread that sends clears it
	nothingSentSince atomic.Bool
	unansweredFrames int // frames in a row that had no reply when the next one arrived
}

// lendBuffer gives the receiver a buffer, into which it copies the bytes that were saved.
func (s *receiver) lendBuffer(b []byte) { s.buffer, s.start, s.end = b, 0, copy(b, s.saved) }

// returnBuffer takes the buffer away. Bytes that were not handled are saved.
func (s *receiver) returnBuffer() {
	s.saved = append(s.saved[:0], s.buffer[s.start:s.end]...)
	s.buffer, s.start, s.end = nil, 0, 0
}

// receive receives bytes that have arrived; parseFrames must follow. A buffer must be lent. The
// error is unix.EAGAIN if there are none. In the middle of a body it tries several times, because
// more bytes arrive soon and the way back to this call is long.
func (s *receiver) receive() (n int, err error) {
	if err = s.discardPeeked(); err != nil {
		return 0, err
	}
	s.socketDrained = false
	s.start, s.end = 0, copy(s.buffer, s.buffer[s.start:s.end])
	most := len(s.buffer)
	if !s.bodyOpen {
		most = s.receiveLimit()
	}
	for tries := 0; ; tries++ {
		if s.bodyOpen && s.bodyScattered && len(s.backlog) == 0 {
			n, err = s.receiveScattered()
		} else {
			n, err = s.receiveOrPeek(s.buffer[s.end:min(s.end+most, len(s.buffer))])
			s.end += n
		}
		if err != unix.EAGAIN || !s.bodyOpen || tries == bodyRetries {
			return n, err
		}
	}
}

// discardPeeked removes from the socket the bytes that were peeked at and handled.
func (s *receiver) discardPeeked() error {
	for s.peekedBytes > 0 {
		n, err := s.socket.discard(s.peekedBytes)
		if err != nil {
			return err
		}
		s.peekedBytes -= n
	}
	return nil
}

// allHandled tells whether all bytes of the socket have been received and handled.
func (s *receiver) allHandled() bool { return s.socketDrained && !s.bodyOpen && s.start == s.end }

// receiveLimit is how many bytes to receive when the next byte to handle begins a frame: little
// more than the head where a large body is expected. The caller clips it to the room in the buffer.
func (s *receiver) receiveLimit() int {
	switch {
	case s.atOrigin && !s.handler.ExpectsBulk():
		return len(s.buffer)
	case !s.atOrigin && s.largeBodyExpected == 0:
		return peekBytes
	}
	have, need := s.end-s.start, prefixBytes+max(s.headGuess, initialHeadGuess)
	if have >= prefixBytes {
		head, _ := parsePrefix(s.buffer[s.start:])
		need = prefixBytes + head
	}
	return max(need-have, prefixBytes)
}

// receiveOrPeek receives into b, or copies the bytes and leaves them in the socket. The caller has
// called discardPeeked.
//
// Linux sends a bare ACK when bytes are consumed before a reply is queued, if nothing was sent
// after the bytes before them. That takes longer than the reply. So a target peeks, replies and
// then consumes, unless frames have lately had no reply. A waiter (keepsPeeked) peeks at all small
// frames, since its caller may reply on another connection.
func (s *receiver) receiveOrPeek(b []byte) (n int, err error) {
	if len(s.backlog) > 0 {
		n = copy(b, s.backlog)
		s.backlog, s.socketDrained = s.backlog[n:], false
		return n, nil
	}
	if s.atOrigin || s.largeBodyExpected != 0 ||
		!s.keepsPeeked && (!s.nothingSentSince.Load() ||
			s.unansweredFrames == maxUnanswered) {
		n, err = s.socket.receive(b)
	} else {
		n, err = s.socket.peek(b)
		s.peekedBytes = max(n, 0)
	}
	s.socketDrained = err == nil && n < len(b)
	s.streamed += uint64(n)
	return n, err
}

// saveArrived receives all that has arrived, without handling it: the socket is about to be closed.
// At most, that is what the kernel has buffered. cause is why nothing follows.
func (s *receiver) saveArrived() (cause error) {
	if cause = s.discardPeeked(); cause != nil {
		return cause
	}
	b := receiveBuffers.Get().(*[bufferBytes]byte)
	defer receiveBuffers.Put(b)
	for {
		n, err := s.socket.receive(b[:])
		if err != nil {
			return err
		}
		s.backlog = append(s.backlog, b[:n]...)
		s.streamed += uint64(n)
	}
}

// receiveScattered receives a body to where it belongs. The body must be open and scattered, and
// the buffer must hold no bytes. Bytes behind the end of the body go to the start of the buffer.
// The error is unix.EAGAIN if nothing has arrived.
func (s *receiver) receiveScattered() (int, error) {
	var pieces [rawsock.MaxPieces]kernel.Segment
	next := *s.body.Into
	vec := next.Pieces(pieces[:0:rawsock.MaxPieces-1], s.bodyLeft)
	listed := s.body.Into.Left() - next.Left()
	if listed == s.bodyLeft && len(s.buffer) > 0 {
		behind := s.buffer[:min(s.receiveLimit(), len(s.buffer))]
		vec = append(vec, rawsock.PieceOf(behind))
	}
	n, err := s.socket.receivePieces(vec)
	if err == unix.EFAULT {
		touchMemory(s.body.Into.Unpack, s.bodyLeft)
	}
	s.streamed += uint64(n)
	k := min(int64(n), listed)
	s.body.Into.Skip(k)
	s.bodyLeft -= k
	s.end = n - int(k)
	return n, err
}

// parseFrames handles the bytes in the buffer until it needs more of them, or until mayAcceptFrame
// holds a frame back. Errors are final: those of the Receiver, and errProtocol.
func (s *receiver) parseFrames() error {
	s.frameHeld = false
	for {
		if s.bodyOpen {
			if err := s.storeBody(); err != nil || s.bodyOpen {
				return err
			}
		}
		b := s.buffer[s.start:s.end]
		if len(b) < prefixBytes {
			return nil
		}
		head, body := parsePrefix(b)
		if head > transport.MaxHead || body > maxBody {
			return fmt.Errorf("%w: a frame with %d and %d bytes", errProtocol, head,
				body)
		}
		if b = b[prefixBytes:]; len(b) < head {
			return nil
		}
		if s.mayAcceptFrame != nil && !s.mayAcceptFrame() {
			s.frameHeld = true
			return nil
		}
		s.start += prefixBytes + head
		if err := s.beginFrame(b[:head], body); err != nil {
			return err
		}
	}
}

// beginFrame calls the Receiver with the head of a frame and opens its body of n bytes. A frame
// without a body is complete at once.
func (s *receiver) beginFrame(head []byte, n int64) error {
	if !s.atOrigin {
		if !s.nothingSentSince.Swap(true) {
			s.unansweredFrames = 0
		} else {
			s.unansweredFrames = min(s.unansweredFrames+1, maxUnanswered)
		}
	}
	body, err := s.handler.BeginFrame(head, n)
	if err != nil {
		return err
	}
	body.Grain = max(body.Grain, 1)
	if body.Into != nil && body.Into.Left() < n || body.Into == nil &&
		n%int64(body.Grain) != 0 {
		return fmt.Errorf("%w: a body of %d bytes", errProtocol, n)
	}
	s.bodyOpen, s.body, s.bodyLeft = n > 0, body, n
	s.bodyScattered = body.Into != nil && body.Into.Row() >= int64(s.gatherMin)
	if s.bodyScattered && n >= peekBytes/2 {
		s.largeBodyExpected, s.headGuess = largeBodyFrames, len(head)
	} else if s.largeBodyExpected > 0 {
		s.largeBodyExpected--
	}
	if n == 0 {
		return s.handler.EndFrame()
	}
	return nil
}

// storeBody stores the bytes in the buffer that belong to the open body, and ends the frame when
// the body is complete.
func (s *receiver) storeBody() (err error) {
	n := min(int64(s.end-s.start), s.bodyLeft)
	if s.body.Into == nil {
		n -= n % int64(s.body.Grain)
	} else if n < s.bodyLeft && !s.bodyScattered {
		n = s.body.Into.Whole(n)
	}
	b := s.buffer[s.start : s.start+int(n)]
	s.start, s.bodyLeft = s.start+int(n), s.bodyLeft-n
	if s.body.Into != nil {
		s.body.Into.Unpack(b)
	} else if n > 0 {
		err = s.handler.Data(b)
	}
	if err == nil && s.bodyLeft == 0 {
		s.bodyOpen, s.body = false, transport.Body{}
		err = s.handler.EndFrame()
	}
	return err
}
