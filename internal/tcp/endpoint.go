// SPDX-License-Identifier: BSD-3-Clause

// An origin's end of a connection. The caller serialises sends; answers are read by other threads
// meanwhile. A waiter reads its answer from the socket itself, because a wake-up by another thread
// takes longer than the whole answer. One thread at a time polls.
package tcp

import (
	"errors"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// socket is what both ends have in common. Any thread may break it until it is closed.
type socket struct {
	fd  int // the same descriptor for all sockets of the connection
	out outStream
	// guards the fields below, and keeps the descriptor from being closed
	mu     sync.Mutex
	closed bool
	watch  rawsock.Watch
}

// newSocket is the socket of a new connection of the fabric.
func (f *fabric) newSocket(fd int) socket {
	return socket{fd: fd, out: outStream{socket: streamSocket{fd: fd}, resumes: f.Reconnect,
		memory: keptMemory{all: &f.kept}}}
}

// replaceBy makes the descriptor that of another socket, which next was until now. It locks mu.
func (s *socket) replaceBy(next int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer unix.Close(next)
	s.watch = rawsock.Watch{}
	return unix.Dup3(next, s.fd, unix.O_CLOEXEC)
}

// Break shuts the connection down in both directions: sends and receives of it fail or end. It
// locks mu.
func (s *socket) Break() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.out.socket.shutdown()
	}
}

// close closes the descriptor. The owner calls it once. It locks mu.
func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	unix.Close(s.fd)
}

// MaxFrame is 0: there is no limit.
func (s *socket) MaxFrame() int { return 0 }

// Pulse does nothing: the kernel sends keep-alives.
func (s *socket) Pulse() {}

// endpoint is an origin's end. It is the Source of its frames.
type endpoint struct {
	socket
	fabric     *fabric
	id         streamID
	target     transport.Rank // the rank that runs the data server at addr
	addr       netip.AddrPort
	breakCause atomic.Pointer[error] // why the connection has ended; set once, by any thread
	// the search for another socket; nil: there is one. Set by the thread that polls, taken
	// away by redial.
	outage atomic.Pointer[outage]

	// Of the caller of Send, Flush and Close, which serialises them.
	tx       sender
	deferral burstDetector
	sendErr  error // why a frame was not sent

	// Of the thread that polls.
	rx       receiver
	crowd    wait.Crowd
	connLost bool // Receiver.Lost has been called, or Close

	sleepInterrupted atomic.Bool // by any thread, until the next Sleep
}

var errClosedLocally = errors.New("the connection was ended on this side")

// Send sends a frame, or defers it. It blocks until the body may be reused. The caller serialises
// it with Flush and Close.
func (e *endpoint) Send(head []byte, body *kernel.Cursor, n int64,
	when transport.When) (deferred bool, err error) {
	if err := e.breakErr(); err != nil {
		return false, err
	}
	need, small := prefixBytes+len(head), e.fabric.Eager
	if when == transport.Soon {
		small = max(small, maxDeferredBody)
	}
	if n <= int64(small) {
		need += int(n)
	}
	if len(e.tx.queued) > 0 && cap(e.tx.queued)-len(e.tx.queued) < need {
		if err := e.flushBlocking(); err != nil {
			return false, err
		}
	}
	if e.tx.queued == nil {
		e.tx.queued, _ = e.fabric.sendBuffers.acquire(true)
	}
	if e.tx.queueFrame(head, body, n, small) && e.deferral.mayDefer(when) &&
		!e.fabric.sendBuffers.scarce() {
		return true, nil
	}
	return false, e.flushBlocking()
}

// breakErr tells why the connection has ended, nil if it has not.
func (e *endpoint) breakErr() error {
	if p := e.breakCause.Load(); p != nil {
		return *p
	}
	return nil
}

// flushBlocking sends everything, and waits while the socket is full. Bytes that the socket has
// accepted are sent, even if the peer has left since: it may have acted on them.
//
// It receives meanwhile. A server does not read on while its answers are not read, so both sides
// would wait until the connection is given up.
func (e *endpoint) flushBlocking() error {
	for e.Flush() {
		events, limit := int16(unix.POLLOUT), otherReceiverTime
		if e.fabric.Receive(e) {
			events, limit = unix.POLLOUT|unix.POLLIN, time.Second
		}
		if e.out.lossCause() != nil { // the descriptor is ready at once
			time.Sleep(outagePoll)
		} else {
			rawsock.WaitFor(e.fd, events, time.Now().Add(limit))
		}
	}
	return e.sendErr
}

// otherReceiverTime is how long a sender leaves receiving to another thread before it tries itself.
const otherReceiverTime = time.Millisecond

// Flush sends what the socket accepts without waiting. It returns the buffer when that is empty.
// left is true if output is left; an error is in sendErr.
func (e *endpoint) Flush() (left bool) {
	err := e.breakErr()
	if err == nil {
		_, err = e.tx.sendQueued(math.MaxInt)
	}
	if err != nil && err != unix.EAGAIN {
		e.abandonOutput(err)
		e.sendErr = e.breakErr()
	} else if len(e.tx.queued) == 0 && (e.tx.body == nil || !e.tx.packsBody) {
		e.returnSendBuffer()
	}
	return err == unix.EAGAIN
}

// returnSendBuffer returns the buffer to the pool; one that has grown is left to the collector.
func (e *endpoint) returnSendBuffer() {
	if cap(e.tx.queued) == bufferBytes {
		e.fabric.sendBuffers.recycle(e.tx.queued[:0])
	}
	e.tx.queued, e.tx.queuedSent = nil, 0
}

// abandonOutput ends the connection, drops its output and returns the buffer, for which other
// senders may wait. The caller is that of Send, Flush or Close.
func (e *endpoint) abandonOutput(why error) {
	e.breakWith(why)
	e.out.finish()
	e.tx.body = nil
	e.returnSendBuffer()
}

// breakWith ends the connection with a cause, and wakes threads that wait for the socket. A later
// cause is ignored. Any thread may call it.
func (e *endpoint) breakWith(why error) {
	if e.breakCause.CompareAndSwap(nil, &why) {
		e.socket.Break()
	}
}

// Break ends the connection. Any thread may call it.
func (e *endpoint) Break() { e.breakWith(errClosedLocally) }

// Close sends deferred frames, and closes the socket when the other side's kernel has acknowledged
// all, at most after linger. Closing a socket with unread answers discards bytes that have not
// arrived there.
func (e *endpoint) Close(linger time.Duration) {
	end := time.Now().Add(linger)
	for e.Flush() && e.out.lossCause() == nil &&
		rawsock.WaitFor(e.fd, unix.POLLOUT, end) == nil {
	}
	for e.hasUnacked() && e.breakErr() == nil && time.Now().Before(end) {
		time.Sleep(50 * time.Microsecond)
	}
	if linger == 0 {
		// no bytes are on their way: a reset frees the port at once, since connections to
		// this target may come and go often
		unix.SetsockoptLinger(e.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	e.abandonOutput(transport.ErrClosed)
	e.awaitRedial()
	e.fabric.endpoints.removeConn(e.fd)
	e.connLost = true
	e.socket.close()
}

// hasUnacked tells whether bytes in the socket have not reached the other side's kernel.
func (e *endpoint) hasUnacked() bool {
	n, err := rawsock.UnackedBytes(e.fd)
	return n > 0 && err == nil && e.out.lossCause() == nil
}

// Source is the endpoint itself.
func (e *endpoint) Source() transport.Source { return e }

const maxSleep = 20 * time.Millisecond // which bounds how long Interrupt takes

// Poll receives and handles the input that has arrived, and tries up to looks times until there is
// some. It calls Receiver.Lost once if the connection has ended.
func (e *endpoint) Poll(looks int) int {
	for i := 1; !e.connLost; i++ {
		if e.outage.Load() != nil && e.breakErr() == nil {
			return 0
		}
		n, err := e.receive()
		if err == nil {
			return n
		}
		if err != unix.EAGAIN {
			if e.startOutage(err) {
				return 0
			}
			e.connLost = true
			e.breakWith(err)
			e.fabric.endpoints.removeConn(e.fd)
			e.rx.handler.Lost(e.breakErr())
			return 1
		}
		if i >= looks || !e.crowd.Yield() {
			break
		}
	}
	return 0
}

// receive receives once and handles the frames in that input. Only the thread that polls calls it:
// it needs no lock, and may run during Send. The error is unix.EAGAIN if nothing has arrived, which
// is normal; all others are final. The buffer is lent for this call only: bytes of an incomplete
// frame are saved.
func (e *endpoint) receive() (n int, err error) {
	b := receiveBuffers.Get().(*[bufferBytes]byte)
	defer receiveBuffers.Put(b)
	e.rx.lendBuffer(b[:])
	if n, err = e.rx.receive(); err == nil {
		if err = e.rx.parseFrames(); err != nil {
			e.breakWith(err) // what has come is wrong: no other socket helps
		}
	}
	e.rx.returnBuffer()
	return n, err
}

// Sleep blocks until the socket has input, at most for maxSleep: so Interrupt needs no descriptor
// of its own.
func (e *endpoint) Sleep(limit time.Duration) {
	if limit < 0 || limit > maxSleep {
		limit = maxSleep
	}
	switch {
	case e.sleepInterrupted.Swap(false):
	case e.outage.Load() != nil: // the descriptor is ready at once
		time.Sleep(min(limit, outagePoll))
	default:
		rawsock.WaitFor(e.fd, unix.POLLIN, time.Now().Add(limit))
	}
}

// Interrupt ends Sleep.
func (e *endpoint) Interrupt() { e.sleepInterrupted.Store(true) }
