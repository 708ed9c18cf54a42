// SPDX-License-Identifier: BSD-3-Clause

// Goroutines that go on with connections in the middle of large transfers, so that the event loop
// stays free for small requests. Each holds a workspace: their number bounds the goroutines and the
// memory. And all that is lent: workspaces, and the buffers that origins send through. They are
// lent for the shortest possible time, so that their number follows what goes on at the same time
// and not the number of connections; and there are never more than the setting allows. An origin
// that has to send waits for a buffer. No thread that has one waits for another, or for more than
// the other side to read: so all come back.
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
	// how long one waits for more before it gives a connection back
	workerLinger = 50 * time.Microsecond
	workerRest   = 5 * time.Second // how long one without work stays
)

// putAside frees the loop's workspace. A goroutine goes on with the connection that has it. If
// there is no workspace left for that, the loop itself goes on when epoll tells it to: so others
// are served while all workspaces are with clients that have stopped in the middle of something.
func (l *listener) putAside() {
	c := l.current
	l.current, l.last = nil, nil
	c.rx.later = false
	if next, ok := l.spaces.get(false); ok {
		l.space = next
		c.away.Store(true)
		l.control(unix.EPOLL_CTL_DEL, c.fd, 0)
		select {
		case l.jobs <- c:
		default:
			l.running.Add(1)
			go l.work(c)
		}
		return
	}
	c.detach()
	l.control(unix.EPOLL_CTL_MOD, c.fd, awaits[c.status])
}

// work goes on with one connection after another, until there has been none for a while.
func (l *listener) work(c *conn) {
	defer log.Guard()
	defer l.running.Done()
	runtime.LockOSThread() // never unlocked: what follows changes the thread
	l.f.Unbind()
	wait.ShortSlice()
	for c != nil {
		space := c.space
		l.goOn(c)
		l.spaces.put(space)
		select {
		case c = <-l.jobs: // nil when closed
		case <-time.After(workerRest):
			return
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
		case rawsock.WaitFor(c.fd, unix.POLLIN, time.Now().Add(workerLinger)) != nil:
			// it is quiet: back to the loop
			c.detach()
			c.away.Store(false)
			l.control(unix.EPOLL_CTL_ADD, c.fd, unix.EPOLLIN)
			return
		}
	}
}

const (
	bufferBytes  = 64 << 10
	leastBuffers = 4 // so that nothing stands still
	leastSpaces  = 3 // the loop's, and two more
)

func newBuffer() []byte { return make([]byte, 0, bufferBytes) }

// inputs are buffers that origins receive through: each polling thread has one during a call.
var inputs = sync.Pool{New: func() any { return new([bufferBytes]byte) }}

// workspace is what it takes to serve a connection that is in the middle of something.
type workspace struct{ in, out []byte }

const workspaceBytes = 2 * bufferBytes

func newWorkspace() *workspace {
	return &workspace{in: make([]byte, bufferBytes), out: newBuffer()}
}

// pool lends things of one kind.
type pool[T any] struct {
	create func() T
	made   atomic.Int64
	free   chan T // with room for as many as may be made
}

func (p *pool[T]) init(create func() T, most int64) {
	p.create, p.free = create, make(chan T, most)
}

// get lends one. If there is none it waits, or ok is false.
func (p *pool[T]) get(wait bool) (x T, ok bool) {
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

// put takes one back.
func (p *pool[T]) put(x T) { p.free <- x }

// scarce tells that none should be held for longer than it is needed at once.
func (p *pool[T]) scarce() bool { return int(p.made.Load())-len(p.free) > cap(p.free)/2 }
