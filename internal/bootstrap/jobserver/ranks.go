// SPDX-License-Identifier: BSD-3-Clause

// The ranks of the job: who is connected, who has left, who waits for an answer. Nothing here reads
// or writes a socket.

package jobserver

import (
	"fmt"
	"slices"

	"libarmci/internal/bootstrap/jobwire"
)

// slot is one rank. A rank of armcirun may connect, say bye and connect again: a shell script
// as a rank may run several programs one after the other.
type slot struct {
	session *session // nil while it is not connected
	left    bool     // its process has ended, or its connection without a bye
	ended   bool     // its process has
	broken  bool     // its connection has ended without a bye
	// what it waits for the answer to: Split, Contribute, Missing; 0: nothing
	asks  jobwire.Kind
	mine  []byte // what it has sent with that
	leads int    // number of the node that it leads, -1 if it leads none
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
	s.replace(rank, slot{session: se, leads: -1})
	se.rank = rank
	return nil
}

// bye marks an admitted rank as not connected.
func (s *Server) bye(se *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := &s.ranks[se.rank]
	s.replace(se.rank, slot{left: was.left || s.within, ended: was.ended, leads: -1})
	se.rank = -1
	s.settle()
	s.depart()
}

// Left tells the server that the process started as a rank has ended.
func (s *Server) Left(rank int) {
	s.mu.Lock()
	now := s.ranks[rank]
	now.left, now.ended = true, true
	s.replace(rank, now)
	s.settle()
	tell := s.unfinished(rank)
	s.mu.Unlock()
	tell(rank)
}

// unfinished returns what is to be called about a rank whose process or connection has ended. With
// mu held.
func (s *Server) unfinished(rank int) func(rank int) {
	if r := &s.ranks[rank]; r.ended && r.broken && !s.aborted && s.open != nil {
		return s.onUnfinished
	}
	return func(int) {}
}

// Connected is how many ranks are connected.
func (s *Server) Connected() int { return s.connected(0) }

// connected counts the ranks from first on that are.
func (s *Server) connected(first int) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.ranks[first:] {
		if s.ranks[first+i].session != nil {
			n++
		}
	}
	return n
}

// replace changes what is known of a rank; what it has asked for in another connection is
// forgotten.
func (s *Server) replace(rank int, now slot) {
	was := &s.ranks[rank]
	if now.session != was.session {
		s.answered(was)
	}
	switch lost := was.lost(); {
	case !lost && now.lost():
		s.gone = append(s.gone, rank)
	case lost && !now.lost():
		s.gone = slices.DeleteFunc(s.gone, func(r int) bool { return r == rank })
	}
	*was = now
}

// lost tells whether the rank is not connected and cannot connect any more.
func (r *slot) lost() bool { return r.left && r.session == nil }

// ask notes what a rank waits for.
func (s *Server) ask(se *session, kind jobwire.Kind, mine []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.ranks[se.rank]
	switch {
	case r.asks == jobwire.Contribute && kind == r.asks:
		return fmt.Errorf("two contributions of rank %d to one exchange", se.rank)
	case r.asks != 0:
		return fmt.Errorf("rank %d asks for two things at once", se.rank)
	case kind == jobwire.Contribute && r.leads < 0:
		return fmt.Errorf("a contribution of rank %d, which leads no node", se.rank)
	}
	r.asks, r.mine = kind, mine
	s.asking[kind]++
	if kind == jobwire.Contribute && s.collect(len(mine)) {
		r.mine = nil
	}
	s.settle()
	return nil
}

// answered forgets what a rank waits for.
func (s *Server) answered(r *slot) {
	if r.asks != 0 {
		s.asking[r.asks]--
	}
	r.asks, r.mine = 0, nil
}

// abort passes an abort on to the launcher.
func (s *Server) abort(rank, status int) {
	s.mu.Lock()
	s.aborted = true
	lost := slices.Sorted(slices.Values(s.gone))
	s.mu.Unlock()
	s.onAbort(rank, status, lost)
}
