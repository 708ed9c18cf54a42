// SPDX-License-Identifier: BSD-3-Clause

// The event loop of a data server: one thread at a time polls it. It serves small requests itself,
// and hands a connection in the middle of a large transfer over to a goroutine (workers.go) as soon
// as another one needs attention.
//
// All connections are in an epoll, and that is in an outer one, in which the data server's thread
// sleeps. While another thread polls, the inner one is switched off there by one system call, so
// that nothing that comes wakes the server.
package tcp

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/eventfd"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

const (
	// bytes that the loop moves for one connection before it looks at the others
	loopBudget = 256 << 10
	// times that the connection served last is asked before all others are
	lastTurns = 4
)

// listener is the Source of a data server.
type listener struct {
	poller[*conn]     // all but those that have proved nothing
	outer         int // an epoll of the poller's epoll, its bell, and the alarm
	waiters       int // the same without the alarm: a waiter that polls sleeps in it
	alarm         eventfd.Alarm
	f             *fabric
	accept        func(from transport.Rank, e transport.TargetEndpoint) (transport.Receiver,
		error)

	closing atomic.Bool
	spaces  pool[*workspace]
	jobs    chan *conn
	running sync.WaitGroup

	// Of the thread that polls.
	peers   *acceptqueue.Queue[*peer]
	paused  bool       // there was no descriptor for another connection
	space   *workspace // of the connection at hand
	current *conn      // in the middle of something: it has space
	last    *conn      // served last
	turns   int        // so often since the others were asked
	again   bool       // it was that one when all were asked
	waiter  bool       // a waiter polls
	unread  []*conn    // what has been dealt with is still in their sockets
	events  [16]unix.EpollEvent
}

// Listen begins to accept origins.
func (f *fabric) Listen(accept func(transport.Rank, transport.TargetEndpoint) (transport.Receiver,
	error)) (transport.Listener,
	error) {
	l := &listener{f: f, outer: -1, waiters: -1, alarm: eventfd.NoAlarm, accept: accept,
		jobs: make(chan *conn), peers: acceptqueue.New[*peer](maxPeers)}
	l.spaces.init(newWorkspace, max(f.Buffer/2/workspaceBytes, leastSpaces))
	l.space, _ = l.spaces.get(true)
	err := l.open()
	if err == nil {
		err = l.openOuter()
	}
	if err == nil {
		err = l.control(unix.EPOLL_CTL_ADD, f.ln, unix.EPOLLIN)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	go watchConnections(&l.poller, f.Timeout, l.done)
	return l, nil
}

// openOuter makes the epoll that Sleep waits in, and that of a waiter. The bell is in these alone:
// a thread that polls does not take what is meant for one that sleeps.
func (l *listener) openOuter() (err error) {
	if err = l.control(unix.EPOLL_CTL_DEL, int(l.bell), 0); err != nil {
		return err
	}
	for _, outer := range []*int{&l.outer, &l.waiters} {
		if *outer, err = l.newOuter(); err != nil {
			return err
		}
	}
	l.alarm, err = eventfd.NewAlarm(l.outer)
	return err
}

// newOuter makes an epoll of the poller's epoll and its bell.
func (l *listener) newOuter() (int, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err == nil {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, int(l.bell), &event)
	}
	if err == nil {
		event := unix.EpollEvent{Events: unix.EPOLLIN}
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, l.epoll, &event)
	}
	return epoll, err
}

// adopt takes over the connected socket of an origin if it has proved itself, and refuses it
// otherwise.
func (l *listener) adopt(p *peer) error {
	from, answer, err := l.f.admit(p.hello, p.challenge)
	if err != nil {
		rawsock.Send(p.fd, answer) // it fits into an empty buffer
		return err
	}
	c := &conn{socket: socket{fd: p.fd}, tx: sender{fd: p.fd, straight: l.f.straight}}
	c.rx = receiver{fd: p.fd, straight: l.f.straight, may: c.mayBegin}
	c.send.Lock() // what is posted meanwhile goes behind the hello
	defer c.push()
	defer c.send.Unlock()
	if c.rx.to, err = l.accept(from, c); err != nil {
		c.closed = true
		return err
	}
	if n, _ := rawsock.Send(c.fd, answer); n < len(answer) ||
		l.add(c.fd, c, unix.EPOLLIN) != nil {
		c.Break() // Poll finds that
	}
	return nil
}

// Poll serves the connections on which something has come. The one served last is asked first, up
// to looks times, if it was the one lately.
func (l *listener) Poll(looks int) (moved int) {
	l.consume()
	if !l.again || l.last == nil {
		looks = 0
	}
	for i := 0; i < looks && l.turns < lastTurns && l.last != nil && !l.hasMore(); i++ {
		l.turns++
		if n := l.serve(l.last); n > 0 {
			return n
		}
	}
	l.turns = 0
	n, _ := unix.EpollWait(l.epoll, l.events[:], 0)
	for _, e := range l.events[:max(n, 0)] {
		moved += max(l.event(int(e.Fd)), 1)
	}
	if l.hasMore() {
		moved += l.serve(l.current)
	}
	if l.lookAt() >= 0 {
		l.expire(time.Now())
	}
	return moved
}

// hasMore tells whether the connection at hand can go on at once.
func (l *listener) hasMore() bool { return l.current != nil && l.current.status == busy }

// Rest hands over a connection that waits for its client to read, and tells how soon to poll again.
func (l *listener) Rest() (again time.Duration) {
	if l.hasMore() {
		return 0
	}
	if l.current != nil && l.current.status == choked {
		l.putAside()
	}
	return l.lookAt()
}

// Whole tells whether no connection is in the middle of something.
func (l *listener) Whole() bool { return l.current == nil }

// Ready is the epoll of the connections, if no other thing is to be done.
func (l *listener) Ready() int {
	if l.current != nil || l.lookAt() >= 0 {
		return -1
	}
	return l.epoll
}

// SleepIn is the epoll of a waiter.
func (l *listener) SleepIn() int { return l.waiters }

// Divert switches the connections off in the outer epoll, or on again. What has been dealt with
// must not wake the server's thread.
func (l *listener) Divert(on bool) {
	l.waiter = on
	events := uint32(unix.EPOLLIN)
	if on {
		events = 0
	} else {
		l.consume()
	}
	unix.EpollCtl(l.outer, unix.EPOLL_CTL_MOD, l.epoll, &unix.EpollEvent{Events: events})
}

// consume takes out of the sockets what a waiter has dealt with. A connection that is over shows
// that to Poll.
func (l *listener) consume() {
	for _, c := range l.unread {
		c.rx.consume()
	}
	l.unread = l.unread[:0]
}

// WakeIn ends Sleep after a time.
func (l *listener) WakeIn(d time.Duration) { l.alarm.Set(d) }

// Sleep waits until something happens.
func (l *listener) Sleep(limit time.Duration) {
	timeout := -1
	if limit >= 0 {
		timeout = int((limit + time.Millisecond - 1) / time.Millisecond)
	}
	var events [3]unix.EpollEvent
	_, err := unix.EpollWait(l.outer, events[:], timeout)
	if err != nil && err != unix.EINTR && l.f.Fatal != nil {
		l.f.Fatal(fmt.Errorf("the data server cannot wait for requests: %w", err))
	}
}

// event deals with one: how many bytes that has moved.
func (l *listener) event(fd int) int {
	switch c := l.find(int32(fd)); {
	case fd == l.f.ln:
		l.acceptSome()
	case c == nil:
		l.hear(fd)
	case !c.away.Load():
		l.again = c == l.last
		return l.serve(c)
	}
	return 0
}

// serve goes on with a connection; what another one was in the middle of is put aside. It returns
// how much has arrived or could be sent.
func (l *listener) serve(c *conn) (moved int) {
	if l.current != c {
		if l.current != nil {
			l.putAside()
		}
		if c.status != idle { // it was put aside
			l.control(unix.EPOLL_CTL_MOD, c.fd, unix.EPOLLIN)
		}
		c.attach(l.space)
		l.current, l.last = c, c
	}
	c.rx.later = l.waiter
	moved = c.run(loopBudget)
	switch {
	case c.status == idle:
		c.detach()
		l.current = nil
		if c.rx.unread > 0 {
			l.unread = append(l.unread, c)
		}
	case c.status == ended:
		l.current, l.last = nil, nil
		l.end(c)
		moved++
	case c.status == choked && !c.holds: // somebody else is writing: that may take long
		l.putAside()
	}
	return moved
}

// end closes a connection and tells why.
func (l *listener) end(c *conn) {
	l.remove(c.fd)
	c.rx.consume() // a socket that is closed with data in it is reset
	c.rx.unread = 0
	if !l.closing.Load() {
		c.rx.to.Lost(c.err)
	}
	c.close()
}

// Close ends the connections that are left. Nobody polls any more.
func (l *listener) Close() {
	l.closing.Store(true)
	l.consume() // a socket that is closed with data in it is reset
	l.mu.Lock()
	all := maps.Clone(l.all)
	l.mu.Unlock()
	end := time.Now().Add(200 * time.Millisecond) // for what was posted to leave
	for _, c := range all {
		c.Close(time.Until(end))
	}
	close(l.jobs)
	l.running.Wait()
	for _, c := range l.all {
		c.close()
	}
	for p, _, ok := l.peers.Oldest(); ok; p, _, ok = l.peers.Oldest() {
		l.leave(p)
	}
	l.poller.close()
	l.alarm.Close()
	unix.Close(l.outer)
	unix.Close(l.waiters)
	unix.Close(l.f.ln)
	l.f.ln = -1
}

// Answered: C answers nothing.
func (l *listener) Answered() uint32 { return 0 }

var _ transport.SharedListener = (*listener)(nil)
