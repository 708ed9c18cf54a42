// SPDX-License-Identifier: BSD-3-Clause

// An origin's end of a connection. The caller serialises sends; answers are read
// by others meanwhile. A waiter reads its answer from the socket itself, because to be told by
// another thread takes longer than the whole answer. One thread at a time polls.
package tcp

import (
	"errors"
	"math"
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
	fd     int
	mu     sync.Mutex
	closed bool
	watch  rawsock.Watch
}

// Break ends the connection: its users find out.
func (s *socket) Break() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		unix.Shutdown(s.fd, unix.SHUT_RDWR)
	}
}

func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	unix.Close(s.fd)
}

// MaxFrame: there is no limit. Pulse: the kernel sends keep-alives.
func (s *socket) MaxFrame() int { return 0 }
func (s *socket) Pulse()        {}

// endpoint is an origin's end. It is the Source of its frames.
type endpoint struct {
	socket
	f      *fabric
	broken atomic.Pointer[error] // why the connection is of no more use

	tx     sender // of the thread that has the caller's lock
	burst  burst
	failed error // why something was not sent

	rx          receiver // of the thread that polls
	crowd       wait.Crowd
	lost        bool
	interrupted atomic.Bool
}

var errBroken = errors.New("the connection was ended on this side")

// Send sends a frame, or puts it off.
func (e *endpoint) Send(head []byte, body *kernel.Cursor, n int64,
	when transport.When) (deferred bool, err error) {
	if err := e.err(); err != nil {
		return false, err
	}
	need, small := prefixBytes+len(head), e.f.Eager
	if when == transport.Soon {
		small = max(small, mostDeferred)
	}
	if n <= int64(small) {
		need += int(n)
	}
	if len(e.tx.out) > 0 && cap(e.tx.out)-len(e.tx.out) < need {
		if err := e.flush(); err != nil {
			return false, err
		}
	}
	if e.tx.out == nil {
		e.tx.out, _ = e.f.buffers.get(true)
	}
	if e.tx.add(head, body, n, small) && e.burst.mayWait(when) && !e.f.buffers.scarce() {
		return true, nil
	}
	return false, e.flush()
}

// err tells why the connection is of no more use.
func (e *endpoint) err() error {
	if p := e.broken.Load(); p != nil {
		return *p
	}
	return nil
}

// flush sends everything. What the socket has taken is sent, even if the peer, which may have acted
// on it, has left since. It receives meanwhile: a server whose answers nothing reads does not read
// on either, and both sides would wait until the connection is given up.
func (e *endpoint) flush() error {
	for e.Flush() {
		events, limit := int16(unix.POLLOUT), otherReceives
		if e.f.Receive(e) {
			events, limit = unix.POLLOUT|unix.POLLIN, time.Second
		}
		rawsock.WaitFor(e.fd, events, time.Now().Add(limit))
	}
	return e.failed
}

// otherReceives is how long a sender leaves it to another thread to receive before it tries itself.
const otherReceives = time.Millisecond

// Flush sends what the socket takes, and gives the buffer back as soon as it is not needed.
func (e *endpoint) Flush() (left bool) {
	err := e.err()
	if err == nil {
		_, err = e.tx.push(math.MaxInt)
	}
	if err != nil && err != unix.EAGAIN {
		e.fail(err)
		e.failed = e.err()
	} else if len(e.tx.out) == 0 && (e.tx.body == nil || !e.tx.pack) {
		e.release()
	}
	return err == unix.EAGAIN
}

// release gives the buffer back.
func (e *endpoint) release() {
	if cap(e.tx.out) == bufferBytes {
		e.f.buffers.put(e.tx.out[:0])
	}
	e.tx.out, e.tx.at = nil, 0
}

// fail ends the connection, and gives the buffer back, for which others may wait.
func (e *endpoint) fail(why error) {
	e.shut(why)
	e.tx.body = nil
	e.release()
}

// shut ends the connection, and wakes the thread that waits for the socket. Any thread.
func (e *endpoint) shut(why error) {
	if e.broken.CompareAndSwap(nil, &why) {
		e.socket.Break()
	}
}

// Break ends the connection.
func (e *endpoint) Break() { e.shut(errBroken) }

// Close sends what was put off and closes the socket when the other side's kernel has all: if
// answers have not been read, closing throws away what has not arrived there.
func (e *endpoint) Close(linger time.Duration) {
	end := time.Now().Add(linger)
	for e.Flush() && rawsock.WaitFor(e.fd, unix.POLLOUT, end) == nil {
	}
	for rawsock.Unsent(e.fd) > 0 && e.err() == nil && time.Now().Before(end) {
		time.Sleep(50 * time.Microsecond)
	}
	if linger == 0 {
		// nothing is to arrive any more: the port is free at once, as often as connections
		// come and go
		unix.SetsockoptLinger(e.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	e.fail(transport.ErrClosed)
	e.f.ends.remove(e.fd)
	e.lost = true
	e.socket.close()
}

// Source is the endpoint itself.
func (e *endpoint) Source() transport.Source { return e }

const sleepAtMost = 20 * time.Millisecond // which bounds how long Interrupt takes

// Poll receives what has come.
func (e *endpoint) Poll(looks int) int {
	for i := 1; !e.lost; i++ {
		n, err := e.receive()
		if err == nil {
			return n
		}
		if err != unix.EAGAIN {
			e.lost = true
			e.shut(err)
			e.f.ends.remove(e.fd)
			e.rx.to.Lost(e.err())
			return 1
		}
		if i >= looks || !e.crowd.Yield() {
			break
		}
	}
	return 0
}

// receive takes what is there and deals with it. Behind a body that is received to where it belongs
// comes the next head.
func (e *endpoint) receive() (n int, err error) {
	b := inputs.Get().(*[bufferBytes]byte)
	defer inputs.Put(b)
	e.rx.lend(b[:])
	if n, err = e.rx.receive(); err == nil {
		err = e.rx.parse()
	}
	e.rx.giveBack()
	return n, err
}

// Sleep blocks until the socket has something, but not for long: so Interrupt needs no descriptor
// of its own.
func (e *endpoint) Sleep(limit time.Duration) {
	if limit < 0 || limit > sleepAtMost {
		limit = sleepAtMost
	}
	if !e.interrupted.Swap(false) {
		rawsock.WaitFor(e.fd, unix.POLLIN, time.Now().Add(limit))
	}
}

// Interrupt ends Sleep.
func (e *endpoint) Interrupt() { e.interrupted.Store(true) }
