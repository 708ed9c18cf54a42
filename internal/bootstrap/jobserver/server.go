// SPDX-License-Identifier: BSD-3-Clause

// Package jobserver is the server to which the ranks of a job started by armcirun connect: it
// admits them, divides them into nodes, executes the exchanges of these nodes and receives aborts.
// Proxies on other hosts connect to it, too, and are passed on. It starts and ends no process; see
// launch.
package jobserver

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/bootstrap/jobwire"
)

// strangers is how many connections may wait to prove themselves, beside those of all ranks and
// proxies.
const strangers = 256

// Server serves one job.
type Server struct {
	size      int
	secret    jobwire.Secret
	outage    time.Duration  // how long a rank's or a proxy's host may be out of reach
	listeners []net.Listener // one, or one for each host; in a rank, one for each way to it
	onAbort   AbortFunc
	onAttach  AttachFunc // nil: there are no proxies
	sessions  sync.WaitGroup
	waiting   *acceptqueue.Waiting // connections that have not proved themselves

	mu sync.Mutex // guards jobState, and departures.departed
	jobState
	departures
}

// jobState is the state of the ranks. Guarded by Server.mu.
type jobState struct {
	openSessions map[*session]struct{} // nil once closed
	ranks        []slot
	lostRanks    []int // ranks for which isLost is true, in the order in which they left
	leaders      []int // the lowest rank of each node; none before the first Split
	// ranks that wait for an answer, by kind of request
	pendingCount  map[jobwire.Kind]int
	exchangeBytes int // bytes of the leaders' strings in the current exchange
	aborted       bool
	onUnfinished  func(rank int) // called without mu
}

// departures is for a server in a rank of the job (within.go). departed is guarded by Server.mu,
// the others are constant.
type departures struct {
	within   bool
	onLost   func(rank int) // called for a rank that has left without a bye
	departed int            // ranks that have left, with or without a bye
	empty    chan struct{}  // closed when all have
	changed  sync.Cond      // a rank has connected, or is no longer connected; L is Server.mu
}

// AbortFunc is called when a rank aborts the job, from any goroutine and before
// the rank is answered. lost are the ranks that had disconnected by then
// without a bye: the abort may be because of them.
type AbortFunc func(rank, status int, lost []int)

// AttachFunc gets the connection of a proxy, which it owns from then on, and
// the number of its host.
type AttachFunc func(host int, conn net.Conn)

// New starts a server for a job of size ranks on this machine.
func New(size int, onAbort AbortFunc) (*Server, error) {
	listener, err := net.Listen("unix", jobwire.NewAddress())
	if err != nil {
		return nil, fmt.Errorf("job server: %w", err)
	}
	return serve(newServer(size, 0, onAbort, nil, []net.Listener{listener})), nil
}

// NewRemote starts a server for a job on several hosts: host i connects to
// listeners[i]; several hosts may share one. A host may be out of reach for the time outage.
func NewRemote(size int, outage time.Duration, onAbort AbortFunc, onAttach AttachFunc,
	listeners []net.Listener) *Server {
	return serve(newServer(size, outage, onAbort, onAttach, listeners))
}

// newServer makes a server that does not accept connections yet.
func newServer(size int, outage time.Duration, onAbort AbortFunc, onAttach AttachFunc,
	listeners []net.Listener) *Server {
	s := &Server{
		size:      size,
		secret:    jobwire.NewSecret(),
		outage:    outage,
		listeners: listeners,
		onAbort:   onAbort,
		onAttach:  onAttach,
		waiting:   acceptqueue.NewWaiting(2*size + strangers),
		jobState: jobState{
			openSessions: make(map[*session]struct{}),
			ranks:        make([]slot, size),
			pendingCount: make(map[jobwire.Kind]int),
			onUnfinished: func(int) {},
		},
		departures: departures{onLost: func(int) {}, empty: make(chan struct{})},
	}
	s.changed.L = &s.mu
	return s
}

// serve begins to accept connections at all listeners.
func serve(s *Server) *Server {
	started := map[net.Listener]bool{}
	for _, l := range s.listeners {
		if !started[l] {
			s.sessions.Go(func() { s.accept(l) })
		}
		started[l] = true
	}
	return s
}

// Env returns the variables that make a process a rank of the job; host is
// where it runs, 0 if the job has only one.
func (s *Server) Env(host, rank int) []string { return Env(s.Addr(host), s.secret, rank, s.size) }

// Env is Server.Env for a proxy, which knows address and secret.
func Env(addr string, secret jobwire.Secret, rank, size int) []string {
	return []string{
		"ARMCI_JOB_ADDR=" + addr,
		"ARMCI_JOB_RANK=" + strconv.Itoa(rank),
		"ARMCI_JOB_SIZE=" + strconv.Itoa(size),
		"ARMCI_JOB_SECRET=" + secret.String(),
	}
}

// Addr is the address for the ranks of a host.
func (s *Server) Addr(host int) string { return s.listeners[host].Addr().String() }

// Secret is the secret of the job.
func (s *Server) Secret() jobwire.Secret { return s.secret }

// Close ends all connections and waits until nothing of the server runs.
func (s *Server) Close() error {
	var err error
	for _, l := range s.listeners {
		if e := l.Close(); !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	s.mu.Lock()
	for se := range s.openSessions {
		se.conn.Close()
	}
	s.openSessions = nil
	s.mu.Unlock()
	s.sessions.Wait()
	return err
}

// accept serves connections of a listener until that is closed.
func (s *Server) accept(l net.Listener) {
	for {
		conns, err := s.waiting.Accept(l)
		if err != nil {
			return
		}
		for _, conn := range conns {
			se := newSession(s, conn)
			s.mu.Lock()
			closed := s.openSessions == nil
			if !closed {
				s.openSessions[se] = struct{}{}
				s.sessions.Go(se.serve)
			}
			s.mu.Unlock()
			if closed {
				conn.Close()
			}
		}
	}
}

// OnUnfinished sets a function that is called, from any goroutine, for a rank of which both the
// process (ProcessEnded) and the connection have ended. It is not called after a bye or an abort of
// the job.
func (s *Server) OnUnfinished(call func(rank int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onUnfinished = call
}

// sessionEnded removes a session; its rank, if any, has left. A refused rank gets the reason after
// it counts as lost: no exchange completes between the two. It gets it before the loss is reported,
// which may end its process. It locks mu, but not during the calls.
func (s *Server) sessionEnded(se *session, refusal error) {
	s.waiting.Leave(se.conn)
	if lost, tell := s.removeSession(se, refusal); lost {
		s.onLost(se.rank)
		tell(se.rank)
	}
}

// removeSession is the part of sessionEnded that needs the lock. lost tells whether a rank has
// left, with which the caller calls tell. It locks mu.
func (s *Server) removeSession(se *session, refusal error) (lost bool, tell func(rank int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.openSessions, se)
	if se.rank < 0 || s.ranks[se.rank].session != se {
		return false, nil
	}
	s.setSlot(se.rank, slot{cannotReturn: true, endedWithoutBye: true, ledNode: -1,
		processEnded: s.ranks[se.rank].processEnded})
	if refusal != nil {
		se.sendRefusal(refusal)
	}
	s.answerComplete()
	s.countDeparture()
	return true, s.unfinishedCall(se.rank)
}
