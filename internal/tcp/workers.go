// SPDX-License-Identifier: BSD-3-Clause

// Goroutines that go on with connections in the middle of large transfers, so that the event loop stays free for small
// requests. Each holds a workspace: their number bounds the goroutines and the memory.
package tcp

import (
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
)

const (
	workerLinger = 50 * time.Microsecond // how long one waits for more before it gives a connection back
	workerRest   = 5 * time.Second       // how long one without work stays
)

// handOver gives the connection that the loop is in the middle of to a goroutine; false if there is no workspace left.
func (l *listener) handOver() bool {
	next, ok := l.spaces.get(false)
	if ok {
		c := l.current
		l.space, l.current = next, nil
		l.takeOut(c)
		l.employ(c)
	}
	return ok
}

// takeOut makes a connection none of the loop's business for now.
func (l *listener) takeOut(c *conn) {
	c.away.Store(true)
	if l.last == c {
		l.last = nil
	}
	control(l.epoll, unix.EPOLL_CTL_DEL, c.fd, 0, 0)
}

// employ has a goroutine go on with a connection.
func (l *listener) employ(c *conn) {
	select {
	case l.jobs <- c:
	default:
		l.running.Add(1)
		go l.work(c)
	}
}

// work goes on with one connection after another, until there has been none for a while.
func (l *listener) work(c *conn) {
	defer log.Guard()
	defer l.running.Done()
	runtime.LockOSThread() // never unlocked: Unbind changes the thread
	if l.f.Unbind != nil {
		l.f.Unbind()
	}
	rest := time.NewTimer(workerRest)
	defer rest.Stop()
	for c != nil {
		space := c.space
		l.goOn(c)
		l.spaces.put(space)
		if l.crowded.Load() {
			l.Interrupt()
		}
		rest.Reset(workerRest)
		select {
		case c = <-l.jobs: // nil when closed
		case <-rest.C:
			c = nil
		}
	}
}

// goOn serves a connection, waiting where it must, until it is quiet or has ended.
func (l *listener) goOn(c *conn) {
	for {
		c.run(math.MaxInt)
		switch {
		case c.status == starved:
			rawsock.WaitFor(c.fd, unix.POLLIN, rawsock.NoDeadline)
		case c.status == choked && c.holds:
			rawsock.WaitFor(c.fd, unix.POLLOUT, rawsock.NoDeadline)
		case c.status == choked:
			c.send.Lock()
			c.holds = true
		case c.status == ended:
			l.end(c)
			return
		case rawsock.WaitFor(c.fd, unix.POLLIN, time.Now().Add(workerLinger)) != nil && l.giveBack(c):
			return
		}
	}
}

// giveBack returns a quiet connection to the loop; false if that is about to end.
func (l *listener) giveBack(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		c.detach()
		c.away.Store(false)
		l.watch(c.fd, aboutConn)
	}
	return !l.closing
}

// Low-memory service: while all workspaces are with connections in the middle of something, such as clients that were
// stopped, the loop serves the others as far as that takes no memory. What it cannot serve so stays in the socket.

// serveWhole peeks at what has arrived and takes the frames that are whole. A connection that has something else, or
// whose replies cannot be sent at once, waits for a workspace.
func (l *listener) serveWhole(c *conn) (moved int) {
	err := c.rx.drop()
	c.attach(l.spare)
	c.whole = true
	if err == nil {
		c.rx.w, err = rawsock.Peek(c.fd, c.rx.in[:peekBytes])
	}
	some := err == nil
	if err == nil {
		err = c.rx.parse()
		moved, c.rx.unread = c.rx.r, c.rx.r
	}
	if err == nil && c.tx.body == nil { // a large one would leave pieces of memory in the spare workspace
		_, err = c.flush(bufferBytes)
	}
	c.whole = false
	if err != nil && err != unix.EAGAIN {
		c.err = err
		l.end(c)
		return 1
	}
	c.detach()
	if some && moved == 0 || len(c.unsent) > 0 || c.tx.body != nil {
		l.takeOut(c)
		l.parked = append(l.parked, c)
		l.crowded.Store(true)
		l.unpark() // a workspace may have come back meanwhile
	}
	return moved
}

// unpark goes on with connections that wait for a workspace.
func (l *listener) unpark() {
	for len(l.parked) > 0 {
		c := l.parked[0]
		w, ok := l.space, l.current == nil
		if !ok {
			if w, ok = l.spaces.get(false); !ok {
				return
			}
		}
		l.parked = l.parked[1:]
		if w != l.space {
			c.attach(w)
			l.employ(c)
			continue
		}
		c.away.Store(false)
		l.watch(c.fd, aboutConn)
		l.serve(c)
	}
	l.crowded.Store(false)
}
