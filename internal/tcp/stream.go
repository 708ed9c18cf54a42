// SPDX-License-Identifier: BSD-3-Clause

// The sending half of a connection that may outlive its socket. It keeps the bytes that the other
// side's kernel has not acknowledged. When the connection goes on over another socket, the other
// side says how many bytes it has received, and the rest is sent again.
//
// What a kernel has acknowledged is safe: its process receives it even if the connection is reset
// afterwards, and receives all of it before it says how much that was. A machine between the two
// that ends TCP connections itself acknowledges what the process may never receive: then resume
// returns an error.
package tcp

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
)

// streamState is what has become of the socket of an outStream.
type streamState uint8

const (
	streamOpen  streamState = iota
	streamLost              // the socket is of no use; another one may follow
	streamEnded             // the connection is over: nothing is sent any more
)

// errStreamEnded is returned by a stream that was ended on this side.
var errStreamEnded = errors.New("the connection is over")

// outStream sends the bytes of a connection in order. Each call is complete in itself: calls of
// several threads do not overlap.
type outStream struct {
	socket   streamSocket
	resumes  bool       // the connection may go on over another socket; else nothing is kept
	mu       sync.Mutex // guards the fields below, and serialises writes to the socket
	state    streamState
	cause    error  // of streamLost
	unacked  []byte // the last bytes of the stream; those before them have been acknowledged
	end      uint64 // bytes of the stream so far
	inSocket uint64 // of these, bytes that this socket or one before it has accepted
	memory   keptMemory
}

// send sends the bytes that fit into the socket. The error is unix.EAGAIN if none do, or if there
// is no usable socket at the moment; other errors are final.
func (s *outStream) send(b []byte) (int, error) {
	return s.sendWith(func() (int, error) { return s.socket.send(b) },
		func(n, skip int) { s.unacked = append(s.unacked, b[skip:n]...) })
}

// sendPieces is send of several pieces of memory, which the caller keeps alive. unix.EFAULT says
// that one of them is not memory.
func (s *outStream) sendPieces(p []kernel.Segment) (int, error) {
	return s.sendWith(func() (int, error) { return s.socket.sendPieces(p) },
		func(n, skip int) { s.unacked = appendPieces(s.unacked, p, n, skip) })
}

// appendPieces appends bytes skip to n of the pieces to b.
func appendPieces(b []byte, p []kernel.Segment, n, skip int) []byte {
	for i := range p {
		size := min(int(p[i].Bytes), n)
		if skip < size {
			at, from := len(b), kernel.Ptr(p[i].Addr+uintptr(skip))
			b = slices.Grow(b, size-skip)[:at+size-skip]
			kernel.Copy(unsafe.Pointer(&b[at]), from, size-skip)
		}
		n, skip = n-size, max(skip-size, 0)
	}
	return b
}

// sendWith calls write, and keeps what that has sent.
func (s *outStream) sendWith(write func() (int, error),
	keep func(n, skip int)) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err = s.sendAgain(); err != nil {
		return 0, err
	}
	n, err = write()
	if n > 0 && s.resumes {
		s.keepSent(n, keep)
	}
	return n, s.checkSent(err)
}

// sendAgain sends the bytes that earlier sockets have lost. Without an error all of them are in the
// socket. The caller holds mu.
func (s *outStream) sendAgain() error {
	switch s.state {
	case streamLost:
		return unix.EAGAIN
	case streamEnded:
		return errStreamEnded
	}
	for s.inSocket < s.end {
		n, err := s.socket.send(s.unacked[len(s.unacked)-int(s.end-s.inSocket):])
		s.inSocket += uint64(n)
		if err != nil {
			return s.checkSent(err)
		}
	}
	return nil
}

// sendRest sends the bytes that earlier sockets have lost, waiting for room, while no other thread
// sends. It returns when they are in the socket, or when that is lost.
func (s *outStream) sendRest() {
	for {
		s.mu.Lock()
		err, lost := s.sendAgain(), s.state != streamOpen
		s.mu.Unlock()
		if err != unix.EAGAIN || lost {
			return
		}
		s.socket.awaitRoom(time.Now().Add(outagePoll))
	}
}

// checkSent ends the use of the socket after an error, and returns what the caller gets. The caller
// holds mu.
func (s *outStream) checkSent(err error) error {
	if err == nil || err == unix.EAGAIN || err == unix.EFAULT || !s.resumes {
		return err
	}
	s.loseLocked(err)
	return unix.EAGAIN
}

// lose ends the use of the socket: later bytes wait for another one. Any thread may call it.
func (s *outStream) lose(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loseLocked(cause)
}

// loseLocked is lose for a caller that holds mu. The receiving thread finds the end of the stream
// behind all that has arrived.
func (s *outStream) loseLocked(cause error) {
	if s.state == streamOpen {
		s.state, s.cause = streamLost, cause
		s.socket.shutdown()
	}
}

// lossCause returns why the socket is of no use, nil if it is, or if the connection is over.
func (s *outStream) lossCause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == streamLost {
		return s.cause
	}
	return nil
}

// queueIfLost takes bytes that a thread cannot wait to send. It returns false if the socket can be
// used, or none will be.
func (s *outStream) queueIfLost(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != streamLost {
		return false
	}
	s.unacked = append(s.unacked, b...)
	s.end += uint64(len(b))
	s.count()
	return true
}

// resume goes on over the socket that the descriptor has become, on which the other side has said
// that it has received so many bytes of the stream.
func (s *outStream) resume(received uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if received > s.end || s.end-received > uint64(len(s.unacked)) {
		return fmt.Errorf("%w: the other side has %d of %d bytes, and %d were not "+
			"acknowledged", errBytesLost, received, s.end, len(s.unacked))
	}
	s.inSocket = received
	if s.state == streamLost {
		s.state, s.cause = streamOpen, nil
	}
	return nil
}

// firstKept is the number of the first byte of the stream that could be sent again.
func (s *outStream) firstKept() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end - uint64(len(s.unacked))
}

var errBytesLost = errors.New("bytes are lost that the network had acknowledged")

// finish ends the stream: nothing is sent any more, and nothing is kept.
func (s *outStream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.unacked = streamEnded, nil
	s.count()
}
