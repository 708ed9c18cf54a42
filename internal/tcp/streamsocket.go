// SPDX-License-Identifier: BSD-3-Clause

// The socket below the streams of a connection, as they use it. A test may put a simulated one
// there, so that one seed decides which bytes a kernel takes, delivers, acknowledges and loses.
package tcp

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/tcp/rawsock"
)

// streamSocket is a descriptor, which stands for one socket after the other, or a simulated socket.
// Its calls are those of package rawsock.
type streamSocket struct {
	fd        int
	simulated socketCalls // nil: the kernel's
}

// socketCalls are the calls on a simulated socket.
type socketCalls interface {
	send(b []byte) (int, error)
	sendPieces(p []kernel.Segment) (int, error)
	receive(b []byte) (int, error)
	receivePieces(p []kernel.Segment) (int, error)
	peek(b []byte) (int, error)
	discard(n int) (int, error)
	unackedBytes() (int, error)
	limitSendBuffer(nbytes int) error
	freeSendBuffer() error
	awaitRoom(deadline time.Time)
	shutdown()
}

func (s *streamSocket) send(b []byte) (int, error) {
	if s.simulated != nil {
		return s.simulated.send(b)
	}
	return rawsock.Send(s.fd, b)
}

// sendPieces is rawsock.SendPieces. A simulated socket gets a copy of the list, so that the
// caller's may stay on its stack.
func (s *streamSocket) sendPieces(p []kernel.Segment) (int, error) {
	if s.simulated != nil {
		return s.simulated.sendPieces(slices.Clone(p))
	}
	return rawsock.SendPieces(s.fd, p)
}

func (s *streamSocket) receive(b []byte) (int, error) {
	if s.simulated != nil {
		return s.simulated.receive(b)
	}
	return rawsock.Receive(s.fd, b)
}

// receivePieces is rawsock.ReceivePieces, with a copy of the list as sendPieces has one.
func (s *streamSocket) receivePieces(p []kernel.Segment) (int, error) {
	if s.simulated != nil {
		return s.simulated.receivePieces(slices.Clone(p))
	}
	return rawsock.ReceivePieces(s.fd, p)
}

func (s *streamSocket) peek(b []byte) (int, error) {
	if s.simulated != nil {
		return s.simulated.peek(b)
	}
	return rawsock.Peek(s.fd, b)
}

func (s *streamSocket) discard(n int) (int, error) {
	if s.simulated != nil {
		return s.simulated.discard(n)
	}
	return rawsock.Discard(s.fd, n)
}

func (s *streamSocket) unackedBytes() (int, error) {
	if s.simulated != nil {
		return s.simulated.unackedBytes()
	}
	return rawsock.UnackedBytes(s.fd)
}

func (s *streamSocket) limitSendBuffer(nbytes int) error {
	if s.simulated != nil {
		return s.simulated.limitSendBuffer(nbytes)
	}
	return rawsock.LimitSendBuffer(s.fd, nbytes)
}

func (s *streamSocket) freeSendBuffer() error {
	if s.simulated != nil {
		return s.simulated.freeSendBuffer()
	}
	return rawsock.FreeSendBuffer(s.fd)
}

// awaitRoom sleeps until the socket takes bytes, is broken, or the deadline has passed.
func (s *streamSocket) awaitRoom(deadline time.Time) {
	if s.simulated != nil {
		s.simulated.awaitRoom(deadline)
		return
	}
	rawsock.WaitFor(s.fd, unix.POLLOUT, deadline)
}

// shutdown ends both directions. What has arrived can still be received; what arrives later is not
// acknowledged.
func (s *streamSocket) shutdown() {
	if s.simulated != nil {
		s.simulated.shutdown()
		return
	}
	unix.Shutdown(s.fd, unix.SHUT_RDWR)
}
