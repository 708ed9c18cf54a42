// SPDX-License-Identifier: BSD-3-Clause

// Package jobserver is what the ranks of a job started by armcirun talk to: it
// admits them, carries their exchanges and hears of aborts. It starts and ends
// no process; see launch.
package jobserver

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"libarmci/internal/bootstrap/jobwire"
)

const acceptPause = 10 * time.Millisecond

// Server serves one job.
type Server struct {
	size     int
	secret   jobwire.Secret
	listener *net.UnixListener
	onAbort  AbortFunc
	sessions sync.WaitGroup

	mu      sync.Mutex
	open    map[*session]struct{} // nil once closed
	ranks   []slot
	aborted bool
}

// AbortFunc is called when a rank aborts the job, from any goroutine and before
// the rank is answered. lost are the ranks that had gone by then without a bye:
// the abort may be because of them.
type AbortFunc func(rank, status int, lost []int)

// New begins to serve a job of size ranks.
func New(size int, onAbort AbortFunc) (*Server, error) {
	addr := jobwire.NewAddress()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: addr, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("job server: %w", err)
	}
	s := &Server{
		size:     size,
		secret:   jobwire.NewSecret(),
		listener: listener,
		onAbort:  onAbort,
		open:     make(map[*session]struct{}),
		ranks:    make([]slot, size),
	}
	s.sessions.Go(s.accept)
	return s, nil
}

// Env returns the variables that make a process a rank of the job.
func (s *Server) Env(rank int) []string {
	return []string{
		"ARMCI_JOB_ADDR=" + s.listener.Addr().String(),
		"ARMCI_JOB_RANK=" + strconv.Itoa(rank),
		"ARMCI_JOB_SIZE=" + strconv.Itoa(s.size),
		"ARMCI_JOB_SECRET=" + s.secret.String(),
	}
}

// Close ends all connections and waits until nothing of the server runs.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.mu.Lock()
	for se := range s.open {
		se.conn.Close()
	}
	s.open = nil
	s.mu.Unlock()
	s.sessions.Wait()
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, say: some may be free again soon
			time.Sleep(acceptPause)
			continue
		}
		se := newSession(s, conn)
		s.mu.Lock()
		if s.open == nil {
			s.mu.Unlock()
			conn.Close()
			return
		}
		s.open[se] = struct{}{}
		s.mu.Unlock()
		s.sessions.Go(se.serve)
	}
}

// ended forgets a session; the rank it was admitted as, if any, has left.
func (s *Server) ended(se *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, se)
	if se.rank >= 0 && s.ranks[se.rank].session == se {
		s.ranks[se.rank] = slot{left: true}
		s.settle()
	}
}
