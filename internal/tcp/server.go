// SPDX-License-Identifier: BSD-3-Clause

// A data server: one thread that sleeps in epoll, serves small requests itself, and hands a connection in the middle of
// a large transfer over to a goroutine (bulk.go) as soon as another one needs attention.
package tcp

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// What an epoll event is about.
const (
	aboutWake int32 = iota
	aboutListener
	aboutGuest
	aboutConn
)

// loopBudget is how many bytes the loop moves for one connection before it looks at the others.
const loopBudget = 256 << 10

// server is the data server of this process.
type server struct {
	opt    *Options
	gather int
	locals []int32 // by rank: local number, -1 if it is not of this node
	ep     int
	wake   int // eventfd

	mu      sync.Mutex
	table   []*conn // by slot
	clients map[transport.Rank]*conn

	pool     pool
	crowded  atomic.Bool // connections are parked
	jobs     chan *work
	lobby    lobby
	closing  atomic.Bool
	finished chan struct{} // closed when the loop has ended
	running  sync.WaitGroup

	// Of the loop alone.
	w       *work   // w.c: the connection in the middle of something
	last    *conn   // served last
	spare   *work   // for brief service
	parked  []*conn // that wait for a work
	poll    poller
	sharing sharing
	rest    breath
}

// openServer starts the data server of this rank if it is to have one, and gives the address to publish.
func openServer(o *Options) (*server, []byte, error) {
	if !o.serves() {
		return nil, nil, nil
	}
	at, err := o.chooseAddr()
	if err != nil {
		return nil, nil, err
	}
	ln, bound, err := listen(at, o.Ports)
	if err != nil {
		return nil, nil, err
	}
	if err := control(ln, o.Congestion); err != nil { // connections inherit it
		unix.Close(ln)
		return nil, nil, err
	}
	s, err := startServer(o, ln)
	if err != nil {
		unix.Close(ln)
		return nil, nil, err
	}
	return s, []byte(bound.String()), nil
}

// startServer starts a data server; ln is a listening socket that it takes over, or -1.
func startServer(o *Options, ln int) (*server, error) {
	s := &server{opt: o, gather: o.Gather, jobs: make(chan *work), finished: make(chan struct{}),
		clients: map[transport.Rank]*conn{}}
	for n, ranks := range o.Nodes {
		for l, r := range ranks {
			for len(s.locals) <= int(r) {
				s.locals = append(s.locals, -1)
			}
			if n == o.MyNode {
				s.locals[r] = int32(l)
			}
		}
	}
	var err error
	if s.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("start the data server: %w", err)
	}
	if s.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(s.ep)
		return nil, fmt.Errorf("start the data server: %w", err)
	}
	s.watch(unix.EPOLL_CTL_ADD, s.wake, aboutWake, 0)
	s.pool.init(s, o.Buffer/2)
	s.w, s.spare = s.pool.take(), s.pool.take()
	s.spare.brief = true
	s.poll.longest = o.Poll
	s.lobby.init(s, ln)
	go s.loop()
	return s, nil
}

// watch adds a descriptor to the events, or changes what it is about.
func (s *server) watch(op, fd int, about int32, slot int) error {
	return unix.EpollCtl(s.ep, op, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(slot), Pad: about})
}

// local is the number of a rank on this node, -1 if it is of another.
func (s *server) local(rank uint32) int {
	if rank < uint32(len(s.locals)) {
		return int(s.locals[rank])
	}
	return -1
}

// adopt takes over the connected non-blocking socket of a client that has proved itself. op is how epoll learns of it.
func (s *server) adopt(op, fd int, from transport.Rank) error {
	c := &conn{fd: fd, from: from}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c.slot < len(s.table) && s.table[c.slot] != nil {
		c.slot++
	}
	if c.slot == len(s.table) {
		s.table = append(s.table, nil)
	}
	s.table[c.slot], s.clients[from] = c, c
	return s.watch(op, fd, aboutConn, c.slot)
}

// at is the connection in a slot; nil if it has ended.
func (s *server) at(slot int) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.table[slot]
}

// client is the connection of a rank of another node, nil if it has none to this server.
func (s *server) client(rank transport.Rank) *conn {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[rank]
}

// loop serves until close.
func (s *server) loop() {
	defer log.Guard()
	defer close(s.finished)
	runtime.LockOSThread() // never unlocked: the thread ends with the loop, for unbind has changed it
	s.opt.unbind()
	events := make([]unix.EpollEvent, 64)
	for {
		s.pollLast()
		if s.closing.Load() { // close has said so before it woke the loop, which may have happened just now
			break
		}
		n, err := s.wait(events)
		if err != nil {
			log.Errorf("the data server cannot wait for requests: %v", err)
			return
		}
		for _, e := range events[:n] {
			s.event(e.Pad, int(e.Fd))
		}
		if s.w.c != nil && s.w.status == busy {
			s.serve(s.w.c)
		}
	}
	s.farewell()
}

// wait sleeps until something happens. A connection that cannot go on for want of room is not waited for here.
func (s *server) wait(events []unix.EpollEvent) (int, error) {
	timeout := s.lobby.timeout()
	switch {
	case s.w.c == nil:
	case s.w.status == busy:
		timeout = 0
	case s.w.status == choked && !s.handOver():
		timeout, s.w.status = 1, busy // try again
	}
	start := time.Now()
	n, err := unix.EpollWait(s.ep, events, timeout)
	if err == unix.EINTR {
		n, err = 0, nil
	}
	s.poll.slept(time.Since(start))
	s.sharing.slept()
	s.lobby.expire()
	return n, err
}

func (s *server) event(about int32, slot int) {
	switch about {
	case aboutWake:
		var b [8]byte
		unix.Read(s.wake, b[:])
		s.unpark()
	case aboutListener:
		s.lobby.accept()
	case aboutGuest:
		s.lobby.hear(slot)
	case aboutConn:
		if c := s.at(slot); c != nil && !c.away.Load() {
			s.serve(c)
		}
	}
}

// serve goes on with a connection; what another one was in the middle of goes to a goroutine. It tells whether
// anything has arrived or could be sent.
func (s *server) serve(c *conn) bool {
	if s.w.c != c {
		if s.w.c != nil && !s.handOver() {
			return s.serveBriefly(c)
		}
		s.w.fresh(c)
	}
	s.last = c
	s.w.status = s.w.run(loopBudget)
	moved := loopBudget - s.w.budget
	if moved > 0 {
		s.poll.moved = moved
	}
	switch {
	case s.w.status == idle:
		s.w.fresh(nil)
	case s.w.status == ended:
		s.last = nil
		s.end(s.w)
	case s.w.status == choked && !s.w.holds: // somebody else is writing: that may take long
		s.handOver()
	}
	return moved > 0
}

// end closes the connection of a work and tells why.
func (s *server) end(w *work) {
	c, reason, broke := w.c, w.reason(), w.broke
	w.fresh(nil)
	if broke {
		c.blame(reason)
	}
	s.mu.Lock()
	s.table[c.slot] = nil
	if s.clients[c.from] == c {
		delete(s.clients, c.from)
	}
	s.mu.Unlock()
	c.close()
	if !c.bye && !s.closing.Load() {
		s.opt.Lost(c.from, fmt.Sprintf("rank %d (host %s): connection lost: %s", c.from, s.opt.hostOf(c.from), reason))
	}
}

// wakeUp makes the loop look at what has changed.
func (s *server) wakeUp() { unix.Write(s.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// close says goodbye to all clients and ends the server.
func (s *server) close() {
	if s.closing.Swap(true) {
		<-s.finished
		return
	}
	s.wakeUp()
	<-s.finished
	s.running.Wait()
	unix.Close(s.ep)
	unix.Close(s.wake)
}

// farewell tells the clients that nothing has gone wrong, and ends their connections.
func (s *server) farewell() {
	s.lobby.close()
	s.unpark()
	s.w.fresh(nil)
	s.mu.Lock()
	all := append([]*conn(nil), s.table...)
	s.mu.Unlock() // from now on no goroutine gives a connection back
	for _, c := range all {
		switch {
		case c == nil:
		case c.away.Load():
			c.goodbye()
			unix.Shutdown(c.fd, unix.SHUT_RDWR)
		default:
			c.goodbye()
			c.close()
		}
	}
	close(s.jobs)
}
