// SPDX-License-Identifier: BSD-3-Clause

// Connections that go on over another socket, at the origin's end. A socket may be lost while both
// processes live: a machine between them resets it, or a link is down for longer than the kernel
// tries. The origin connects again, says which stream it goes on with and how much of it has come,
// and both sides send again what the other lacks (outStream). Frames are not concerned: the bytes
// go on where they have stopped, perhaps within a frame.
//
// That nothing listens at the other side's port says that its process is dead.
package tcp

import (
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/log"
)

const (
	outagePoll = time.Millisecond // how often a thread looks whether there is another socket
	// between two attempts to connect: the first pause, and the longest one
	firstRedialPause = time.Millisecond
	maxRedialPause   = 100 * time.Millisecond
	// of one attempt: after that time a lost SYN is sent again
	redialPatience = 500 * time.Millisecond
)

// outage is the time without a socket.
type outage struct {
	begin    time.Time // when the other side was last in reach
	cause    error
	received uint64        // bytes of the stream that have come
	done     chan struct{} // closed when redial has ended
}

// startOutage begins the search for another socket. cause is what receiving has returned. The
// result is false if the connection is over instead. The thread that polls calls it.
func (e *endpoint) startOutage(cause error) bool {
	if !e.out.resumes || e.breakErr() != nil || e.rx.handler.Finished() {
		return false
	}
	if cause = e.leaveSocket(cause); cause == nil {
		return false
	}
	o := &outage{begin: e.fabric.outageBegin(cause), cause: cause, received: e.rx.streamed,
		done: make(chan struct{})}
	e.outage.Store(o)
	e.fabric.endpoints.removeConn(e.fd)
	go e.redial(o)
	return true
}

// leaveSocket ends the use of the socket, and handles what the kernel has acknowledged until then.
// It returns why the socket is lost, nil if the connection is over.
func (e *endpoint) leaveSocket(cause error) error {
	e.out.lose(cause)
	for err := error(nil); err == nil; {
		_, err = e.receive()
	}
	if e.breakErr() != nil || e.rx.handler.Finished() {
		return nil
	}
	return e.out.lossCause()
}

// redial connects until that succeeds, the process at the other side is dead, or the timeout has
// passed. It is a goroutine, during which no other thread receives.
func (e *endpoint) redial(o *outage) {
	defer log.Guard()
	defer close(o.done)
	d := dialer{fabric: e.fabric, target: e.target, addr: e.addr,
		deadline: o.begin.Add(e.fabric.Timeout)}
	at := streamPoint{id: e.id, received: o.received}
	for pause := firstRedialPause; e.breakErr() == nil; pause = min(2*pause, maxRedialPause) {
		now := time.Now()
		fd, received, err := d.attempt(at, now.Add(redialPatience), now.Add(helloTimeout))
		if err == nil {
			if err = e.goOn(o, fd, received); err == nil {
				e.out.sendRest()
				return
			}
		}
		if !mayPass(err) || d.deadlinePassed() {
			e.breakWith(o.lossError(err))
			break
		}
		time.Sleep(pause)
	}
	// The socket is ready at once: the progress thread, or a waiter, polls and finds the cause.
	e.fabric.endpoints.addConn(e.fd, e, epollInput)
	e.fabric.endpoints.Interrupt()
}

// attemptWhenUp is attempt for a first connection: again while the network is down, if later ones
// may wait for it.
func (d *dialer) attemptWhenUp(at streamPoint, patience time.Time) (fd int, received uint64,
	err error) {
	for {
		fd, received, err = d.attempt(at, patience, time.Now().Add(d.dialLimit()))
		if !d.Reconnect || !ofThisMoment(err) || d.deadlinePassed() {
			return fd, received, err
		}
		time.Sleep(maxRedialPause)
		patience = time.Now().Add(redialPatience)
	}
}

// goOn makes a socket that of the connection. The server has received so many bytes of the stream.
func (e *endpoint) goOn(o *outage, fd int, received uint64) error {
	if err := e.replaceBy(fd); err != nil {
		return err
	}
	if err := e.out.resume(received); err != nil {
		return err
	}
	took := time.Since(o.begin)
	e.outage.Store(nil)
	if e.breakErr() != nil { // perhaps while the old socket was the descriptor's
		e.socket.Break()
	}
	e.fabric.reconnects.Note(e.target, e.fabric.HostName(e.target), o.reason(), took)
	return e.fabric.endpoints.addConn(e.fd, e, epollInput)
}

// mayPass tells whether connecting may succeed later.
func mayPass(err error) bool { return ofThisMoment(err) || acceptqueue.MayBeDropped(err) }

// ofThisMoment tells whether connecting has failed by the state of the network or of this host, and
// not by the other process.
func ofThisMoment(err error) bool {
	for _, possible := range []error{unix.EHOSTUNREACH, unix.ENETUNREACH, unix.ENETDOWN,
		unix.EHOSTDOWN, unix.ECONNABORTED, unix.ENOBUFS, unix.EMFILE, unix.ENFILE} {
		if errors.Is(err, possible) {
			return true
		}
	}
	return false
}

// lossError returns why the connection is over, after the last attempt to connect.
func (o *outage) lossError(last error) error {
	cause := o.reason()
	if errors.Is(last, unix.ECONNREFUSED) { // its process is dead: the usual end
		return cause
	}
	return fmt.Errorf("%w, and was not made again within %v: %w", cause,
		time.Since(o.begin).Round(time.Millisecond), last)
}

// reason returns the cause in words.
func (o *outage) reason() error {
	if errors.Is(o.cause, io.EOF) {
		return errors.New("the connection was closed")
	}
	return o.cause
}

// awaitRedial waits until redial has ended. The caller has broken the connection.
func (e *endpoint) awaitRedial() {
	if o := e.outage.Load(); o != nil {
		<-o.done
	}
}
