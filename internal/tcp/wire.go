// SPDX-License-Identifier: BSD-3-Clause

// A wire: this process's connection to a node, made on first use and shared by all threads. This file is its sending
// side. Who sends holds the lock until his frame is whole; nobody who sends waits for an answer meanwhile.
package tcp

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
)

// wire is a connection to a node.
type wire struct {
	t      *Transport
	server transport.Rank // who serves this process there
	host   string
	addr   []byte // where it listens

	mu    sync.Mutex // sending: all up to the blank line
	fd    int        // -1 until the first use; constant then
	out   []byte     // frames that have not been sent; nil if there are none
	iov   []unix.Iovec
	from  area  // the memory that is being sent
	piece shape // of a part of it

	queue    queue
	deferred atomic.Bool // out waits for the engine
	live     atomic.Bool // fd may be used for receiving

	stores  atomic.Uint64         // stores and messages sent; written under mu
	settled atomic.Uint64         // so many of them have taken effect; written by the reader
	asked   atomic.Uint64         // so many of them will be known to have, by answers on their way; written under mu
	afloat  atomic.Int64          // bytes of stores sent since the last answer
	refused atomic.Pointer[error] // what the node refused without being asked for an answer
	broken  atomic.Pointer[error] // why the wire is of no more use
	bye     atomic.Bool           // the node has said goodbye

	table table
	replies
	sleepers sleepers
	fences   fences
	burst    burst // under mu
	watched  watched
	driven   atomic.Bool // a caller has lately read or sent: the engine need not
	number   int32       // place in t.wires: what the engine's epoll calls it
	listed   bool        // wants the engine's attention: its lock
}

// lock makes the caller the one who sends. What was queued before goes first.
func (w *wire) lock() error {
	w.mu.Lock()
	err := w.ready()
	if err == nil && w.queue.length.Load() > 0 {
		err = w.drain()
	}
	if err != nil {
		w.mu.Unlock()
	}
	return err
}

// ready connects a new wire and refuses a broken one.
func (w *wire) ready() error {
	if e := w.broken.Load(); e != nil {
		return *e
	}
	if w.fd >= 0 {
		return nil
	}
	fd, err := w.t.dial(w)
	if err != nil {
		return w.fail(err)
	}
	w.fd = fd
	w.iov = make([]unix.Iovec, 0, iovCount)
	w.live.Store(true)
	w.t.engine.watch(w)
	if w.expects() { // somebody waited already
		w.t.engine.attend(w)
	}
	return nil
}

// room makes place for n bytes in out.
func (w *wire) room(n int) error {
	if cap(w.out)-len(w.out) >= n {
		return nil
	}
	if len(w.out) > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if w.out == nil {
		w.out = w.t.buffers.get()
	}
	return nil
}

// flush sends all of out and gives the buffer back.
func (w *wire) flush() error {
	err := w.empty()
	w.sent()
	return err
}

// empty sends all of out.
func (w *wire) empty() error {
	for b, tries := w.out, 0; len(b) > 0; tries++ {
		n, err := sendNow(w.fd, b)
		if err == unix.EAGAIN {
			err = w.waitToSend(tries)
		}
		if err != nil {
			w.sent()
			return w.fail(err)
		}
		b = b[n:]
	}
	w.out = w.out[:0]
	return nil
}

// sent gives the buffer back.
func (w *wire) sent() {
	if w.out != nil {
		w.t.buffers.put(w.out)
		w.out = nil
	}
	w.deferred.Store(false)
}

// trickle sends as much of out as can be sent without waiting.
func (w *wire) trickle() error {
	n, err := sendNow(w.fd, w.out)
	switch {
	case err == unix.EAGAIN:
		return nil
	case err != nil:
		return w.fail(err)
	case n == len(w.out):
		w.sent()
	default:
		w.out = w.out[:copy(w.out, w.out[n:])]
	}
	return nil
}

// sendAll sends what is in out and then nbytes bytes of a, which stay where they are meanwhile.
func (w *wire) sendAll(a *area, nbytes int64) error {
	head := int64(len(w.out))
	for nbytes > 0 {
		w.iov = w.iov[:0]
		if head > 0 {
			w.iov = append(w.iov, unix.Iovec{Base: &w.out[0], Len: uint64(head)})
		}
		w.iov = a.pieces(w.iov, nbytes)
		n, err := w.sendVector(w.iov)
		w.sent()
		if err != nil {
			return err
		}
		nbytes -= n - head
		head = 0
	}
	return nil
}

// sendVector sends all of iov and returns how much that was.
func (w *wire) sendVector(iov []unix.Iovec) (total int64, err error) {
	for tries := 0; len(iov) > 0; tries++ {
		n, err := sendPieces(w.fd, iov)
		if err == unix.EAGAIN {
			err = w.waitToSend(tries)
		}
		if err != nil {
			return 0, w.fail(err)
		}
		if n > 0 {
			tries = 0
		}
		total += int64(n)
		iov = skip(iov, n)
	}
	return total, nil
}

// waitToSend waits until the socket takes more, or the wire breaks; the first tries are for nothing but looking again.
// Answers are read by others meanwhile: whoever waits for one, or the engine.
func (w *wire) waitToSend(tries int) error {
	if tries < w.t.polls {
		yield()
		return nil
	}
	err := waitFor(w.fd, unix.POLLOUT, time.Now().Add(time.Second))
	if e := w.broken.Load(); e != nil {
		return *e
	}
	if err == errTimeout {
		return nil
	}
	return err
}

// fail makes a wire useless, once: what is open on it fails, and the job learns of the loss. It returns what later
// callers will be told.
func (w *wire) fail(why error) error {
	err := w.loss(why)
	if !w.broken.CompareAndSwap(nil, &err) {
		return *w.broken.Load()
	}
	if w.live.Load() {
		unix.Shutdown(w.fd, unix.SHUT_RDWR) // wakes who waits for it
	}
	w.table.fail(err)
	if !w.bye.Load() && !w.t.closing.Load() {
		w.t.lost(w, why)
	}
	return err
}

// loss is what callers are told.
func (w *wire) loss(why error) error {
	switch {
	case w.t.closing.Load():
		return transport.ErrClosed
	case w.bye.Load():
		return fmt.Errorf("rank %d (host %s) has left: %w", w.server, w.host, transport.ErrPeerDead)
	}
	return fmt.Errorf("rank %d (host %s): %w: %v", w.server, w.host, transport.ErrPeerDead, why)
}
