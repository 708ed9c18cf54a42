// SPDX-License-Identifier: BSD-3-Clause

// The event loop of a data server: one thread polls it, or sleeps in epoll. It serves small requests itself, and hands
// a connection in the middle of a large transfer over to a goroutine (workers.go) as soon as another one needs attention.
package tcp

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

// What an epoll event is about.
const (
	aboutBell int32 = iota
	aboutListener
	aboutPeer
	aboutConn
)

const (
	loopBudget = 256 << 10 // bytes that the loop moves for one connection before it looks at the others
	lastTurns  = 4         // times that the connection served last is asked before all others are
)

// listener is the Source of a data server.
type listener struct {
	f      *fabric
	accept func(from transport.Rank, e transport.Endpoint) (transport.Receiver, error)
	epoll  int
	bell   int // eventfd

	mu      sync.Mutex
	conns   map[int32]*conn // by descriptor
	closing bool

	spaces  pool[*workspace]
	crowded atomic.Bool // connections are parked
	jobs    chan *conn
	running sync.WaitGroup

	// Of the thread that polls.
	queue   acceptQueue
	space   *workspace // of the connection at hand
	current *conn      // in the middle of something: it has space
	last    *conn      // served last
	turns   int        // so often since the others were asked
	spare   *workspace // for low-memory service
	parked  []*conn    // that wait for a workspace
	events  [16]unix.EpollEvent
	ready   int // of events, found by Sleep
}

// Listen begins to accept origins.
func (f *fabric) Listen(accept func(transport.Rank, transport.Endpoint) (transport.Receiver, error)) (transport.Listener,
	error) {
	l := &listener{f: f, accept: accept, jobs: make(chan *conn), conns: map[int32]*conn{}}
	l.queue.l = l
	l.spaces.init(newWorkspace, int(max(f.Buffer/2/workspaceBytes, leastSpaces)))
	l.space, _ = l.spaces.get(true)
	l.spare, _ = l.spaces.get(true)
	var err error
	if l.epoll, l.bell, err = newEpoll(); err == nil {
		err = l.watch(f.ln, aboutListener)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// watch has epoll tell of a descriptor.
func (l *listener) watch(fd int, about int32) error {
	return control(l.epoll, unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN, about)
}

// adopt takes over the connected socket of an origin that has proved itself.
func (l *listener) adopt(fd int, from transport.Rank, hello []byte) error {
	c := newConn(l, fd)
	c.send.Lock() // what is posted meanwhile goes behind the hello
	defer c.push()
	defer c.send.Unlock()
	var err error
	if c.to, err = l.accept(from, c); err != nil {
		c.dead = true
		return err
	}
	c.rx.to = c.to
	l.mu.Lock()
	l.conns[int32(fd)] = c
	l.mu.Unlock()
	if n, _ := rawsock.Send(fd, hello); n < len(hello) || l.watch(fd, aboutConn) != nil {
		unix.Shutdown(fd, unix.SHUT_RDWR) // Poll finds that
	}
	return nil
}

// Poll serves who has sent something: the connection served last is asked up to looks times, and in turn all others.
func (l *listener) Poll(looks int) (moved int) {
	for i := 0; i < looks && l.turns < lastTurns && l.ready == 0 && l.last != nil && !l.hasMore(); i++ {
		l.turns++
		if n := l.serve(l.last); n > 0 {
			return n
		}
	}
	n := l.ready
	if l.turns, l.ready = 0, 0; n == 0 {
		n, _ = unix.EpollWait(l.epoll, l.events[:], 0)
	}
	for _, e := range l.events[:max(n, 0)] {
		moved += max(l.event(e.Pad, int(e.Fd)), 1)
	}
	if l.hasMore() {
		moved += l.serve(l.current)
	}
	l.unpark()
	if l.queue.waits() {
		l.queue.expire(time.Now())
	}
	return moved
}

// hasMore tells whether the connection at hand can go on at once.
func (l *listener) hasMore() bool { return l.current != nil && l.current.status == busy }

// Sleep waits until something happens. A connection that cannot go on for want of room is not waited for here.
func (l *listener) Sleep(limit time.Duration) {
	if l.queue.waits() && (limit < 0 || lookTime < limit) {
		limit = lookTime
	}
	if l.hasMore() {
		return
	}
	if c := l.current; c != nil && c.status == choked && !l.handOver() {
		c.status, limit = busy, time.Millisecond // try again, but not at once
	}
	timeout := -1
	if limit >= 0 {
		timeout = int((limit + time.Millisecond - 1) / time.Millisecond)
	}
	n, err := unix.EpollWait(l.epoll, l.events[:], timeout)
	if err != nil && err != unix.EINTR && l.f.Fatal != nil {
		l.f.Fatal(fmt.Errorf("the data server cannot wait for requests: %w", err))
	}
	l.ready = max(n, 0)
}

// Interrupt ends Sleep.
func (l *listener) Interrupt() { ring(l.bell) }

// event deals with one: how many bytes that has moved.
func (l *listener) event(about int32, fd int) int {
	switch about {
	case aboutBell:
		silence(l.bell)
	case aboutListener:
		l.queue.accept()
	case aboutPeer:
		l.queue.hear(fd)
	case aboutConn:
		l.mu.Lock()
		c := l.conns[int32(fd)]
		l.mu.Unlock()
		if c != nil && !c.away.Load() {
			return l.serve(c)
		}
	}
	return 0
}

// serve goes on with a connection; what another one was in the middle of goes to a goroutine. It returns how much has
// arrived or could be sent.
func (l *listener) serve(c *conn) (moved int) {
	if l.current != c {
		if l.current != nil && !l.handOver() {
			return l.serveWhole(c)
		}
		c.attach(l.space)
		l.current = c
	}
	l.last = c
	moved = c.run(loopBudget)
	switch {
	case c.status == idle:
		c.detach()
		l.current = nil
	case c.status == ended:
		l.current, l.last = nil, nil
		l.end(c)
		moved++
	case c.status == choked && !c.holds: // somebody else is writing: that may take long
		l.handOver()
	}
	return moved
}

// end closes a connection and tells why.
func (l *listener) end(c *conn) {
	if !c.away.Load() && l.last == c {
		l.last = nil
	}
	l.mu.Lock()
	delete(l.conns, int32(c.fd))
	closing := l.closing
	l.mu.Unlock()
	if !closing {
		c.to.Lost(c.err)
	}
	c.close()
}

// Close ends the connections that are left. Nobody polls any more.
func (l *listener) Close() {
	l.mu.Lock()
	l.closing = true // no goroutine gives a connection back
	all := maps.Clone(l.conns)
	l.mu.Unlock()
	for _, c := range l.parked {
		c.away.Store(false)
	}
	for _, c := range all {
		if c.away.Load() {
			c.Break()
		} else {
			c.close()
		}
	}
	for _, p := range l.queue.peers {
		unix.Close(p.fd)
	}
	close(l.jobs)
	l.running.Wait()
	for _, fd := range []int{l.epoll, l.bell, l.f.ln} {
		unix.Close(fd)
	}
	l.f.ln = -1
}
