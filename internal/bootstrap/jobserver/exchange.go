// SPDX-License-Identifier: BSD-3-Clause

// The ranks of the job, and the exchange between them. It is complete when every
// rank has contributed, and fails as soon as a missing rank cannot contribute
// any more. Nothing here reads or writes a socket.

package jobserver

import (
	"fmt"

	"libarmci/internal/bootstrap/jobwire"
)

// slot is one rank. A rank may connect, say bye and connect again: a shell script
// as a rank may run several programs one after the other.
type slot struct {
	session     *session // nil while it is not connected
	left        bool     // its process has ended, or its connection without a bye
	contributes bool     // has given its string for the exchange under way
	mine        []byte
}

func (s *Server) admit(se *session, rank, size int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size != s.size || rank < 0 || rank >= s.size {
		return fmt.Errorf("rank %d of %d is not of this job of %d", rank, size, s.size)
	}
	if s.ranks[rank].session != nil {
		return fmt.Errorf("rank %d is already taken by another process", rank)
	}
	s.ranks[rank] = slot{session: se}
	se.rank = rank
	return nil
}

// bye marks an admitted rank as not connected.
func (s *Server) bye(se *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.ranks[se.rank]
	r.session, r.contributes, r.mine = nil, false, nil
	se.rank = -1
	s.settle()
}

// Left tells the server that the process started as a rank has ended.
func (s *Server) Left(rank int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranks[rank].left = true
	s.settle()
}

func (s *Server) contribute(se *session, mine []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.ranks[se.rank]
	if r.contributes {
		return fmt.Errorf("two contributions of rank %d to one exchange", se.rank)
	}
	r.contributes, r.mine = true, mine
	s.settle()
	return nil
}

// abort passes an abort on to the launcher.
func (s *Server) abort(rank, status int) {
	s.mu.Lock()
	s.aborted = true
	var lost []int
	for i := range s.ranks {
		if s.ranks[i].lost() {
			lost = append(lost, i)
		}
	}
	s.mu.Unlock()
	s.onAbort(rank, status, lost)
}

// lost tells whether the rank is not connected and cannot connect any more.
func (r *slot) lost() bool { return r.left && r.session == nil }

// settle ends the exchange if it is complete or has failed. In an aborted job no
// rank is told which one is missing: the job is about to be ended, for a known reason.
func (s *Server) settle() {
	complete, missing := true, -1
	parts := make([][]byte, s.size)
	for i := range s.ranks {
		r := &s.ranks[i]
		parts[i] = r.mine
		complete = complete && r.contributes
		if r.lost() {
			missing = i
		}
	}
	switch {
	case complete:
		payload, err := jobwire.PackCollected(parts)
		if err != nil {
			s.answer(jobwire.Refused, []byte(err.Error()))
			return
		}
		s.answer(jobwire.Collected, payload)
	case missing >= 0 && !s.aborted:
		s.answer(jobwire.Refused, fmt.Appendf(nil, "rank %d has left the job", missing))
	}
}

// answer sends all ranks that have contributed the same frame.
func (s *Server) answer(kind jobwire.Kind, payload []byte) {
	for i := range s.ranks {
		r := &s.ranks[i]
		if r.contributes {
			r.contributes, r.mine = false, nil
			r.session.send(kind, payload)
		}
	}
}
