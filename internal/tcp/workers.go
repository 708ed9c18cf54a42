// SPDX-License-Identifier: BSD-3-Clause

// Workers: goroutines that serve connections in the middle of large transfers, so that the event
// loop stays free for small requests. Each holds a workspace: their number bounds the goroutines
// and the memory.
//
// This file also has all memory that is lent: workspaces, and the buffers that origins send
// through. They are lent for the shortest possible time, so that their number follows the transfers
// that go on at the same time and not the number of connections. There are never more than the
// setting allows. An origin that has to send waits for a buffer. A thread that has one never waits
// for another, and waits for nothing but the other side to read: so all are returned.
package tcp

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/wait"
)

const (
	// how long a worker waits for more input before it returns an idle connection to the loop
	workerLinger = 50 * time.Microsecond
	// how long a worker waits for another connection before it ends
	workerIdleTime = 5 * time.Second
)

// yieldWorkspace frees the loop's workspace for another connection. There is a current connection,
// in the middle of something: a worker goes on with it, in the workspace that it has. If no other
// workspace is left for the loop, the connection gives its own up, and the loop goes on with it
// when epoll reports it. So others are served while all workspaces are with clients that have
// stopped in the middle of something.
func (l *listener) yieldWorkspace() {
	c := l.current
	l.current, l.lastServed = nil, nil
	c.rx.keepsPeeked = false
	if next, ok := l.workspaces.acquire(false); ok {
		l.workspace = next
		c.servedByWorker.Store(true)
		l.epollCtl(unix.EPOLL_CTL_DEL, c.fd, 0)
		select {
		case l.handedOver <- c:
		default:
			l.workers.Add(1)
			go l.runWorker(c)
		}
		return
	}
	c.detachWorkspace()
	l.epollCtl(unix.EPOLL_CTL_MOD, c.fd, awaitedEvents[c.status])
}

// runWorker serves c and then other connections that are handed over, until there has been none
// for workerIdleTime.
func (l *listener) runWorker(c *conn) {
	defer log.Guard()
	defer l.workers.Done()
	runtime.LockOSThread() // never unlocked: the next two calls change the thread
	l.fabric.Unbind()
	wait.ShortSlice()
	for c != nil {
		space := c.workspace
		l.serveUntilIdle(c)
		l.workspaces.recycle(space)
		select {
		case c = <-l.handedOver: // nil when closed
		case <-time.After(workerIdleTime):
			return
		}
	}
}

// serveUntilIdle serves a connection, waiting where it must, until it has ended or is idle. An idle
// connection returns to the loop. c has a workspace, which is free when this returns: the caller
// recycles it.
func (l *listener) serveUntilIdle(c *conn) {
	for {
		c.serveBudget(math.MaxInt)
		switch {
		case c.status == connNeedsInput:
			rawsock.WaitFor(c.fd, unix.POLLIN, rawsock.NoDeadline)
		case c.status == connNeedsOutput && c.writer == writerHolds:
			rawsock.WaitFor(c.fd, unix.POLLOUT, rawsock.NoDeadline)
		case c.status == connNeedsOutput:
			c.writeMu.Lock()
			c.writer = writerHolds
		case c.status == connEnded:
			l.endConn(c)
			return
		case rawsock.WaitFor(c.fd, unix.POLLIN, time.Now().Add(workerLinger)) != nil:
			c.detachWorkspace()
			c.servedByWorker.Store(false)
			if err := l.epollCtl(unix.EPOLL_CTL_ADD, c.fd,
				unix.EPOLLIN); err != nil {
				c.endCause, c.parking.socketLost = err, true
				l.endConn(c)
			}
			return
		}
	}
}

const (
	bufferBytes   = 64 << 10
	minBuffers    = 4 // so that senders always make progress
	minWorkspaces = 3 // the loop's, and two more
)

func newBuffer() []byte { return make([]byte, 0, bufferBytes) }

// receiveBuffers are buffers that origins receive through. A polling thread has one during a call.
var receiveBuffers = sync.Pool{New: func() any { return new([bufferBytes]byte) }}

// workspace is the memory to serve a connection that is in the middle of something.
type workspace struct{ input, output []byte }

const workspaceBytes = 2 * bufferBytes

func newWorkspace() *workspace {
	return &workspace{input: make([]byte, bufferBytes), output: newBuffer()}
}

// pool lends things of one kind, of which it makes a limited number.
type pool[T any] struct {
	create func() T
	made   atomic.Int64
	free   chan T // with room for as many as may be made
}

// initPool makes an empty pool that creates up to most things.
func (p *pool[T]) initPool(create func() T, most int64) {
	p.create, p.free = create, make(chan T, most)
}

// acquire lends a thing of the pool, which the caller gives to recycle. If all are lent, it waits
// for one if wait is true; otherwise ok is false. Any goroutine may call it.
func (p *pool[T]) acquire(wait bool) (x T, ok bool) {
	select {
	case x = <-p.free:
		return x, true
	default:
	}
	if p.made.Add(1) <= int64(cap(p.free)) {
		return p.create(), true
	}
	p.made.Add(-1)
	if wait {
		x = <-p.free
	}
	return x, wait
}

// recycle takes one back.
func (p *pool[T]) recycle(x T) { p.free <- x }

// scarce tells whether more than half of the pool is lent: then none should be kept longer than
// needed.
func (p *pool[T]) scarce() bool { return int(p.made.Load())-len(p.free) > cap(p.free)/2 }
