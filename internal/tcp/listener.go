// SPDX-License-Identifier: BSD-3-Clause

// The event loop of a data server: one thread at a time polls it. It serves small requests itself,
// and hands a connection in the middle of a large transfer over to a worker (workers.go) as soon
// as another one needs attention.
//
// All connections are in an epoll, which is itself in an outer one, in which the data server's
// thread sleeps. While another thread polls, one system call disables the inner one there, so that
// requests do not wake the server.
package tcp

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/sys"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

const (
	// bytes that the loop moves for one connection before it polls the others
	loopBudget = 256 << 10
	// polls of the connection that was served last before all others are polled
	maxLastServedPolls = 4
)

// acceptFunc is the caller's function that admits an origin, as Fabric.Listen describes it.
type acceptFunc func(from transport.Rank, e transport.TargetEndpoint) (transport.Receiver, error)

// listener is the Source of a data server.
type listener struct {
	poller[*conn]     // all connections that have proved themselves
	sleepEpoll    int // an epoll of the poller's epoll, its eventfd and the alarm: for Sleep
	waiterEpoll   int // the same without the alarm: a waiter that polls sleeps in it
	alarm         sys.Alarm
	fabric        *fabric
	acceptOrigin  acceptFunc
	closing       atomic.Bool // connections that end are not reported any more

	workspaces pool[*workspace]
	handedOver chan *conn // connections for workers
	workers    sync.WaitGroup
	streams    streams
	pollState
}

// pollState is of the thread that polls. Sleep, Interrupt and SetAlarm do not use it.
type pollState struct {
	unproven     *acceptqueue.Queue[*unprovenPeer]
	acceptPaused bool       // connections wait in the kernel, until expirePeers
	workspace    *workspace // of current, or free
	current      *conn      // a connection in the middle of something, nil if there is none
	lastServed   *conn      // nil if that has ended or was handed over

	lastServedPolls int  // polls of lastServed since all connections were polled
	lastServedReady bool // lastServed had input when all connections were polled
	waiterPolls     bool // a waiter polls, not the data server's thread

	peekedConns []*conn // requests of these have been handled and are still in the sockets
	events      [16]unix.EpollEvent
}

// Listen begins to accept origins.
func (f *fabric) Listen(accept func(transport.Rank, transport.TargetEndpoint) (transport.Receiver,
	error)) (transport.Listener,
	error) {
	l := &listener{fabric: f, sleepEpoll: -1, waiterEpoll: -1, alarm: sys.NoAlarm,
		acceptOrigin: accept, handedOver: make(chan *conn)}
	l.unproven = acceptqueue.New[*unprovenPeer](maxUnproven)
	l.workspaces.initPool(newWorkspace, max(f.Buffer/2/workspaceBytes, minWorkspaces))
	l.workspace, _ = l.workspaces.acquire(true)
	err := l.open()
	if err == nil {
		err = l.openSleepEpolls()
	}
	if err == nil {
		err = l.epollCtl(unix.EPOLL_CTL_ADD, f.listenFD, unix.EPOLLIN)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	go watchConnections(&l.poller, f.silence(), l.done)
	return l, nil
}

// openSleepEpolls makes the epoll in which Sleep waits, and that of a waiter. The eventfd is in
// these alone, so that a thread that polls does not consume the wake-up of one that sleeps.
func (l *listener) openSleepEpolls() (err error) {
	if err = l.epollCtl(unix.EPOLL_CTL_DEL, int(l.wakeup), 0); err != nil {
		return err
	}
	for _, outer := range []*int{&l.sleepEpoll, &l.waiterEpoll} {
		if *outer, err = l.newSleepEpoll(); err != nil {
			return err
		}
	}
	l.alarm, err = sys.NewAlarm(l.sleepEpoll)
	return err
}

// newSleepEpoll makes an epoll of the poller's epoll and its eventfd.
func (l *listener) newSleepEpoll() (int, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err == nil {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, int(l.wakeup), &event)
	}
	if err == nil {
		event := unix.EpollEvent{Events: unix.EPOLLIN}
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, l.epollFD, &event)
	}
	return epoll, err
}

// admitPeer makes a connection of a peer that has sent its whole hello, or refuses it. Its socket
// has left the queue and the epoll of the peers. Without an error the connection owns the socket;
// with one the caller closes it.
func (l *listener) admitPeer(p *unprovenPeer) error {
	from, at, err := l.fabric.checkHello(p.hello, p.challenge)
	if err == nil {
		if c := l.streams.connOf(at.id); c != nil {
			err = l.goOnWith(c, from, p, at)
		} else if at.received > 0 {
			err = errors.New("the stream is not known here any more")
		} else {
			return l.admitStream(p, from, at)
		}
	}
	if err != nil { // it fits into an empty buffer
		rawsock.Send(p.fd, l.fabric.answerHello(roleRefusal, from, p.hello, 0))
	}
	return err
}

// admitStream makes the connection of a new stream.
func (l *listener) admitStream(p *unprovenPeer, from transport.Rank, at streamPoint) error {
	c := &conn{socket: l.fabric.newSocket(p.fd),
		origin: originHello{rank: from, stream: at.id}}
	c.tx = sender{out: &c.out, gatherMin: l.fabric.gatherMin}
	c.rx = receiver{socket: c.out.socket, gatherMin: l.fabric.gatherMin,
		mayAcceptFrame: c.mayAcceptFrame}
	answer := l.fabric.answerHello(roleTarget, from, p.hello, 0)
	if err := l.acceptConn(c, from, answer); err != nil {
		return err
	}
	l.streams.add(at.id, c)
	if err := l.addConn(c.fd, c, unix.EPOLLIN); err != nil {
		c.endCause = err
		l.endConn(c)
	}
	return nil
}

// acceptConn has the data server accept an origin and sends the answer to its hello. Frames that
// are posted meanwhile follow the answer. Where the answer cannot be sent, the connection is
// broken, which Poll finds.
func (l *listener) acceptConn(c *conn, from transport.Rank, answer []byte) (err error) {
	c.writeMu.Lock()
	defer c.flushPosts()
	defer c.writeMu.Unlock()
	if c.rx.handler, err = l.acceptOrigin(from, c); err != nil {
		c.closed = true
		return err
	}
	if n, _ := rawsock.Send(c.fd, answer); n < len(answer) {
		c.Break()
	}
	return nil
}

// Poll serves the connections that have input. If the connection served last had input at the
// latest poll of all, it is polled first, up to looks times.
func (l *listener) Poll(looks int) (moved int) {
	l.discardPeeked()
	if !l.lastServedReady || l.lastServed == nil {
		looks = 0
	}
	for i := 0; i < looks && l.lastServedPolls < maxLastServedPolls && l.lastServed != nil &&
		!l.currentBusy(); i++ {
		l.lastServedPolls++
		if n := l.serveConn(l.lastServed); n > 0 {
			return n
		}
	}
	l.lastServedPolls = 0
	n, _ := unix.EpollWait(l.epollFD, l.events[:], 0)
	for _, e := range l.events[:max(n, 0)] {
		moved += max(l.handleEvent(int(e.Fd)), 1)
	}
	if l.currentBusy() {
		moved += l.serveConn(l.current)
	}
	if l.queueCheckDelay() >= 0 {
		now := time.Now()
		l.expirePeers(now)
		l.checkParked(now)
	}
	return moved
}

// currentBusy tells whether the current connection can go on at once.
func (l *listener) currentBusy() bool { return l.current != nil && l.current.status == connBusy }

// StopPolling prepares the listener for a thread that stops polling. It hands over a connection
// that waits for its client to read. again is the longest time until Poll must be called again: 0
// at once, negative any time.
func (l *listener) StopPolling() (again time.Duration) {
	if l.currentBusy() {
		return 0
	}
	if l.current != nil && l.current.status == connNeedsOutput {
		l.yieldWorkspace()
	}
	return l.queueCheckDelay()
}

// FramesComplete tells whether no connection is in the middle of something.
func (l *listener) FramesComplete() bool { return l.current == nil }

// Ready is the epoll of the connections, or -1 if Poll has to be called without an event.
func (l *listener) Ready() int {
	if l.current != nil || l.queueCheckDelay() >= 0 {
		return -1
	}
	return l.epollFD
}

// EpollFD is the epoll of a waiter.
func (l *listener) EpollFD() int { return l.waiterEpoll }

// SetWaiterPolls disables the connections in the epoll of Sleep, or enables them again. Then it
// discards the input that has been handled, which must not wake the server's thread.
func (l *listener) SetWaiterPolls(on bool) {
	l.waiterPolls = on
	events := uint32(unix.EPOLLIN)
	if on {
		events = 0
	} else {
		l.discardPeeked()
	}
	event := unix.EpollEvent{Events: events}
	unix.EpollCtl(l.sleepEpoll, unix.EPOLL_CTL_MOD, l.epollFD, &event)
}

// discardPeeked removes from the sockets the requests that a waiter has handled. An error is
// ignored: Poll finds a connection that is over.
func (l *listener) discardPeeked() {
	for _, c := range l.peekedConns {
		c.rx.discardPeeked()
	}
	l.peekedConns = l.peekedConns[:0]
}

// SetAlarm ends Sleep after a time.
func (l *listener) SetAlarm(d time.Duration) { l.alarm.Set(d) }

// Sleep waits until there is input on a connection, Interrupt, or limit (negative: none).
func (l *listener) Sleep(limit time.Duration) {
	timeout := -1
	if limit >= 0 {
		timeout = int((limit + time.Millisecond - 1) / time.Millisecond)
	}
	var events [3]unix.EpollEvent
	_, err := unix.EpollWait(l.sleepEpoll, events[:], timeout)
	if err != nil && err != unix.EINTR && l.fabric.Fatal != nil {
		l.fabric.Fatal(fmt.Errorf("the data server cannot wait for requests: %w", err))
	}
}

// handleEvent handles an event of the poller's epoll and returns how many bytes that has moved.
// Only the thread that polls calls it.
func (l *listener) handleEvent(fd int) int {
	switch c := l.connByFD(int32(fd)); {
	case fd == l.fabric.listenFD:
		l.acceptPending()
	case c == nil:
		l.readHello(fd)
	case !c.servedByWorker.Load():
		l.lastServedReady = c == l.lastServed
		return l.serveConn(c)
	}
	return 0
}

// serveConn serves a connection, which becomes the current one if it is not complete. An earlier
// current connection yields its workspace. It returns how many bytes were moved.
func (l *listener) serveConn(c *conn) (moved int) {
	if l.current != c {
		if l.current != nil {
			l.yieldWorkspace()
		}
		if c.status != connIdle { // epoll waits for awaitedEvents
			l.epollCtl(unix.EPOLL_CTL_MOD, c.fd, unix.EPOLLIN)
		}
		c.attachWorkspace(l.workspace)
		l.current, l.lastServed = c, c
	}
	c.rx.keepsPeeked = l.waiterPolls
	moved = c.serveBudget(loopBudget)
	switch {
	case c.status == connIdle:
		c.detachWorkspace()
		l.current = nil
		if c.rx.peekedBytes > 0 {
			l.peekedConns = append(l.peekedConns, c)
		}
	case c.status == connEnded:
		l.current, l.lastServed = nil, nil
		l.endConn(c)
		moved++
	case c.status == connNeedsOutput && c.writer != writerHolds:
		l.yieldWorkspace() // another thread holds writeMu, perhaps for long
	}
	return moved
}

// endConn closes a connection and reports endCause to its Receiver. The thread that serves the
// connection calls it.
func (l *listener) endConn(c *conn) {
	l.removeConn(c.fd)
	if l.park(c) {
		return
	}
	l.streams.remove(c)
	c.rx.discardPeeked() // closing a socket with unread input resets the connection
	c.rx.peekedBytes = 0
	if !l.closing.Load() {
		c.rx.handler.Lost(c.endCause)
	}
	c.close()
}

// Close sends what was posted, as far as it goes soon, and ends all connections. No thread polls
// any more.
func (l *listener) Close() {
	l.closing.Store(true)
	l.discardPeeked() // closing a socket with unread input resets the connection
	l.mu.Lock()
	all := maps.Clone(l.conns)
	l.mu.Unlock()
	end := time.Now().Add(200 * time.Millisecond) // for posted frames to leave
	for _, c := range all {
		c.Close(time.Until(end))
	}
	close(l.handedOver)
	l.streams.endProbes()
	l.workers.Wait()
	for _, c := range l.streams.all {
		c.close()
	}
	for _, p := range l.streams.resuming {
		unix.Close(p.fd)
	}
	for p, _, ok := l.unproven.Oldest(); ok; p, _, ok = l.unproven.Oldest() {
		l.dropPeer(p)
	}
	l.poller.close()
	l.alarm.Close()
	unix.Close(l.sleepEpoll)
	unix.Close(l.waiterEpoll)
	unix.Close(l.fabric.listenFD)
	l.fabric.listenFD = -1
}

// AnsweredRequests is 0: no request is answered by C.
func (l *listener) AnsweredRequests() uint32 { return 0 }

var _ transport.SharedListener = (*listener)(nil)
