// SPDX-License-Identifier: BSD-3-Clause

// Connections that go on over another socket, at the target's end. A connection that has lost its
// socket is parked: what had arrived is saved, posted frames wait. Its origin connects again
// (reconnect.go), or it is given up: after the timeout, or when nothing listens any more where the
// origin's data server was, which says that its process is dead. A target cannot connect to an
// origin.
//
// A parked connection that is given up is served to its end: what had arrived is handled, since it
// may end with a goodbye, and replies are dropped.
package tcp

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

// streams are the connections of a data server by their streams.
type streams struct {
	mu     sync.Mutex // guards the maps, and parked of connections
	all    map[streamID]*conn
	parked map[*conn]struct{}
	// connections in parked; each poll looks at it
	parkedNow atomic.Int32
	// clients that have proved themselves, before their connection is parked; of the thread
	// that polls
	resuming []*resumingPeer
}

// parking is what a conn has for the time without a socket.
type parking struct {
	// Guarded by streams.mu.
	since  time.Time     // when the other side was last in reach; zero: it is not parked
	gone   bool          // nothing listens where its origin's data server was
	resume chan struct{} // closed when it is parked no longer

	// Of the thread that serves the connection.
	socketLost bool // status connEnded: by the socket, not by what has come
	gaveUp     bool // no other socket follows

	// Of the thread that polls: bytes that the origin had received when it last went on.
	originReceived uint64
}

// resumingPeer is a client that wants to go on with a stream of which the socket here is not known
// to be lost.
type resumingPeer struct {
	*unprovenPeer
	at    streamPoint
	conn  *conn
	since time.Time
}

const (
	// between two looks after parked connections
	parkedCheckPeriod = 2 * time.Millisecond
	// between two attempts to reach a lost origin's data server: the first pause, the longest
	firstProbePause = 2 * time.Millisecond
	maxProbePause   = 200 * time.Millisecond
)

// add takes a new connection.
func (s *streams) add(id streamID, c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all, s.parked = map[streamID]*conn{}, map[*conn]struct{}{}
	}
	s.all[id] = c
}

// connOf returns the connection of a stream, or nil.
func (s *streams) connOf(id streamID) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// remove forgets a connection that has ended.
func (s *streams) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[c.origin.stream] == c {
		delete(s.all, c.origin.stream)
	}
	if !c.parking.since.IsZero() {
		s.unpark(c)
	}
}

// unpark ends the parking of a connection. The caller holds mu.
func (s *streams) unpark(c *conn) {
	close(c.parking.resume)
	c.parking.since = time.Time{}
	delete(s.parked, c)
	s.parkedNow.Store(int32(len(s.parked)))
}

// endProbes ends the goroutines of parked connections, which stay as they are.
func (s *streams) endProbes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.parked {
		s.unpark(c)
	}
}

// isParked tells whether a connection waits for another socket.
func (s *streams) isParked(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !c.parking.since.IsZero()
}

// anyParked tells whether the thread that polls, which calls it, has to look after parked
// connections.
func (s *streams) anyParked() bool { return s.parkedNow.Load() > 0 || len(s.resuming) > 0 }

// park takes a connection that has lost its socket out of service, until its origin has connected
// again. It returns false if the connection is over instead. The thread that serves it calls park.
func (l *listener) park(c *conn) bool {
	if !c.out.resumes || !c.parking.socketLost || c.parking.gaveUp || l.closing.Load() ||
		c.rx.handler.Finished() {
		return false
	}
	c.leaveSocket()
	c.servedByWorker.Store(false)
	l.streams.mu.Lock()
	stop := make(chan struct{})
	c.parking.since = l.fabric.outageBegin(c.endCause)
	c.parking.gone, c.parking.resume = false, stop
	l.streams.parked[c] = struct{}{}
	l.streams.parkedNow.Store(int32(len(l.streams.parked)))
	l.streams.mu.Unlock()
	l.workers.Add(1)
	go l.probeOrigin(c, stop)
	l.Interrupt() // the thread that polls looks after it
	return true
}

// leaveSocket ends the use of the socket, and saves what the kernel has acknowledged until then.
// The thread that serves the connection calls it.
func (c *conn) leaveSocket() {
	c.out.lose(c.endCause)
	c.rx.saveArrived()
	c.rx.peekedBytes = 0
	c.detachWorkspace()
}

// probeOrigin finds out whether the process of a parked connection is dead: then nothing listens
// where its data server was. It runs in a goroutine until stop is closed.
func (l *listener) probeOrigin(c *conn, stop <-chan struct{}) {
	defer log.Guard()
	defer l.workers.Done()
	if l.fabric.ServerAddr == nil {
		return
	}
	at, err := netip.ParseAddrPort(string(l.fabric.ServerAddr(c.origin.rank)))
	if err != nil {
		return
	}
	for pause := firstProbePause; ; pause = min(2*pause, maxProbePause) {
		fd, err := rawsock.Connect(at, "", l.fabric.silence(),
			time.Now().Add(redialPatience))
		switch {
		case err == nil:
			unix.Close(fd)
		case errors.Is(err, unix.ECONNREFUSED):
			l.streams.mu.Lock()
			c.parking.gone = true
			l.streams.mu.Unlock()
			l.Interrupt()
			return
		}
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
	}
}

// checkParked goes on with connections of clients that have come again, and gives up those of
// clients that will not. Only the thread that polls calls it.
func (l *listener) checkParked(now time.Time) {
	waiting := l.streams.resuming
	l.streams.resuming = nil
	for _, p := range waiting {
		switch {
		case l.streams.isParked(p.conn):
			l.resume(p)
		case now.Sub(p.since) > helloTimeout || l.streams.connOf(p.at.id) == nil:
			unix.Close(p.fd)
		default:
			l.streams.resuming = append(l.streams.resuming, p)
		}
	}
	var lost []*conn
	l.streams.mu.Lock()
	for c := range l.streams.parked {
		if c.parking.gone || now.Sub(c.parking.since) > l.fabric.Timeout {
			lost = append(lost, c)
		}
	}
	l.streams.mu.Unlock()
	for _, c := range lost {
		l.giveUp(c)
	}
}

// isLate tells whether a hello was sent before the origin has gone on last. Its answer was late, so
// the origin has tried again. The hello names fewer bytes than have come there since, or as many if
// the outage is the same: then it asks for bytes of which some were freed. Only the thread that
// polls calls it.
func (c *conn) isLate(at *streamPoint) bool {
	last := c.parking.originReceived
	return at.received < last || at.received == last && at.received < c.out.firstKept()
}

// goOnWith has a client that has proved itself go on with its stream: at once if the connection is
// parked, else when the thread that serves it has found that its socket is lost. It takes the place
// of earlier clients of the stream. With an error the client is refused.
func (l *listener) goOnWith(c *conn, from transport.Rank, p *unprovenPeer, at streamPoint) error {
	switch {
	case c.origin.rank != from:
		return errors.New("the stream is another rank's")
	case c.isLate(&at):
		return errors.New("the origin has gone on since")
	}
	c.Break()
	l.streams.resuming = slices.DeleteFunc(l.streams.resuming, func(r *resumingPeer) bool {
		if r.conn == c {
			unix.Close(r.fd)
		}
		return r.conn == c
	})
	l.streams.resuming = append(l.streams.resuming,
		&resumingPeer{unprovenPeer: p, at: at, conn: c, since: time.Now()})
	return nil
}

// resume goes on with a parked connection over the socket of a client.
func (l *listener) resume(p *resumingPeer) {
	c := p.conn
	if c.isLate(&p.at) {
		unix.Close(p.fd)
		return
	}
	answer := l.fabric.answerHello(roleTarget, c.origin.rank, p.hello, c.rx.streamed)
	if n, _ := rawsock.Send(p.fd, answer); n < len(answer) {
		unix.Close(p.fd) // it comes again
		return
	}
	err := c.replaceBy(p.fd)
	if err == nil {
		c.parking.originReceived = p.at.received
		err = c.goOn(p.at.received)
	}
	if err != nil {
		c.endCause = err
		l.giveUp(c)
		return
	}
	l.streams.mu.Lock()
	l.streams.unpark(c)
	l.streams.mu.Unlock()
	if err = l.addConn(c.fd, c, unix.EPOLLIN|unix.EPOLLOUT); err != nil {
		c.Break() // a later client finds it
	}
	l.workers.Add(1)
	go func() {
		defer log.Guard()
		defer l.workers.Done()
		c.out.sendRest()
		c.flushPosts()
	}()
}

// goOn goes on over the socket that the descriptor has become. The origin has received so many
// bytes of the stream. The connection is parked.
func (c *conn) goOn(received uint64) error {
	err := c.out.resume(received)
	if err == nil {
		c.status, c.parking.socketLost, c.endCause = connBusy, false, nil
	}
	return err
}

// giveUp ends a parked connection. Only the thread that polls calls it.
func (l *listener) giveUp(c *conn) {
	l.streams.remove(c)
	cause := c.endCause
	c.Break()
	c.out.finish()
	c.parking.gaveUp = true
	c.savedOutput = nil
	if c.writer == writerHolds {
		c.stopSending()
	} else {
		c.tx.dropOutput()
		c.writer = writerBroken
	}
	if l.current != nil {
		l.yieldWorkspace()
	}
	c.attachWorkspace(l.workspace)
	for c.status = connBusy; c.status != connEnded; {
		c.serveBudget(loopBudget)
	}
	c.detachWorkspace()
	if c.parking.socketLost {
		c.endCause = cause
	}
	l.endConn(c)
}
