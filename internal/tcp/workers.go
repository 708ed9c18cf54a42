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

// putAside frees the loop's workspace. A goroutine goes on with the connection that has it. If there is no workspace left
// for that, the loop itself goes on when epoll tells it to: so others are served while all workspaces are with clients that
// have stopped in the middle of something.
func (l *listener) putAside() {
	c := l.current
	l.current, l.last = nil, nil
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
	c.aside = true
	c.detach()
	l.control(unix.EPOLL_CTL_MOD, c.fd, awaits[c.status])
}

// work goes on with one connection after another, until there has been none for a while.
func (l *listener) work(c *conn) {
	defer log.Guard()
	defer l.running.Done()
	runtime.LockOSThread() // never unlocked: Unbind changes the thread
	if l.f.Unbind != nil {
		l.f.Unbind()
	}
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
		case rawsock.WaitFor(c.fd, unix.POLLIN, time.Now().Add(workerLinger)) != nil: // it is quiet: back to the loop
			c.detach()
			c.away.Store(false)
			l.control(unix.EPOLL_CTL_ADD, c.fd, unix.EPOLLIN)
			return
		}
	}
}
