// SPDX-License-Identifier: BSD-3-Clause

// A server in rank 0 of a job that another launcher has started. Nothing tells it whose process has
// ended but the connections.

package jobserver

import (
	"net"
	"time"

	"libarmci/internal/bootstrap/jobwire"
)

// NewWithin starts a server in a rank of the job; the ranks may connect to any of the listeners.
// onLost is called when the connection of a rank has ended without a bye, from any goroutine; it
// gets ranks again that leave when the server is closed.
func NewWithin(size int, outage time.Duration, onAbort AbortFunc, onLost func(rank int),
	listeners []net.Listener) *Server {
	s := newServer(size, outage, onAbort, nil, listeners)
	s.within, s.onLost = true, onLost
	return serve(s)
}

// countDeparture counts a rank that has said bye or was lost. The caller holds mu.
func (s *Server) countDeparture() {
	if s.departed++; s.departed == s.size {
		close(s.empty)
	}
}

// Empty is closed when all ranks have said bye, or were lost.
func (s *Server) Empty() <-chan struct{} { return s.empty }

// AwaitOthers waits until no rank but 0 is connected, at most for limit, and tells whether that is
// so.
func (s *Server) AwaitOthers(limit time.Duration) (gone bool) {
	expired := false
	timer := time.AfterFunc(limit, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		expired = true
		s.changed.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.connected(1) > 0 && !expired {
		s.changed.Wait()
	}
	return s.connected(1) == 0
}

// Finish has all ranks but 0 exit with that status.
func (s *Server) Finish(status int) {
	frame, _ := jobwire.Encode(jobwire.Finish, jobwire.PackNumbers(status)) // of few bytes
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.ranks[1:] {
		if r.session != nil {
			r.session.queueFrame(frame)
		}
	}
}
