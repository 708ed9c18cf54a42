// SPDX-License-Identifier: BSD-3-Clause

// The ranks of the job: which are connected, which have left, which wait for an answer. Nothing
// here reads or writes a socket.

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
	// it cannot connect again: its process has ended, or its connection without a bye
	cannotReturn    bool
	processEnded    bool
	endedWithoutBye bool // its connection has
	// Split, Contribute or Missing, which has not been answered; 0: none
	pendingRequest jobwire.Kind
	pendingPayload []byte // of that request
	ledNode        int    // number of the node that it leads, -1 if it leads none
}

// admitRank makes a session that of a rank, unless the rank is taken or not of this job. It locks
// mu.
func (s *Server) admitRank(se *session, rank, size int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size != s.size || rank < 0 || rank >= s.size {
		return fmt.Errorf("rank %d of %d is not of this job of %d", rank, size, s.size)
	}
	if s.ranks[rank].session != nil {
		return fmt.Errorf("rank %d is already taken by another process", rank)
	}
	s.setSlot(rank, slot{session: se, ledNode: -1})
	se.rank = rank
	return nil
}

// rankSaidBye marks an admitted rank as not connected. It locks mu.
func (s *Server) rankSaidBye(se *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := &s.ranks[se.rank]
	s.setSlot(se.rank, slot{cannotReturn: was.cannotReturn || s.within,
		processEnded: was.processEnded, ledNode: -1})
	se.rank = -1
	s.answerComplete()
	s.countDeparture()
}

// ProcessEnded tells the server that the process started as a rank has ended.
func (s *Server) ProcessEnded(rank int) {
	s.mu.Lock()
	now := s.ranks[rank]
	now.cannotReturn, now.processEnded = true, true
	s.setSlot(rank, now)
	s.answerComplete()
	tell := s.unfinishedCall(rank)
	s.mu.Unlock()
	tell(rank)
}

// unfinishedCall returns the function to call, without mu, about a rank of which the process or
// connection has ended. The caller holds mu.
func (s *Server) unfinishedCall(rank int) func(rank int) {
	r := &s.ranks[rank]
	if r.processEnded && r.endedWithoutBye && !s.aborted && s.openSessions != nil {
		return s.onUnfinished
	}
	return func(int) {}
}

// Connected is how many ranks are connected.
func (s *Server) Connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connected(0)
}

// connected counts the ranks from first on that are. The caller holds mu.
func (s *Server) connected(first int) (n int) {
	for i := range s.ranks[first:] {
		if s.ranks[first+i].session != nil {
			n++
		}
	}
	return n
}

// setSlot replaces the state of a rank. With another session, a request of the earlier one is
// cleared. The caller holds mu.
func (s *Server) setSlot(rank int, now slot) {
	was := &s.ranks[rank]
	if now.session != was.session {
		s.clearRequest(was)
		s.changed.Broadcast()
	}
	switch lost := was.isLost(); {
	case !lost && now.isLost():
		s.lostRanks = append(s.lostRanks, rank)
	case lost && !now.isLost():
		s.lostRanks = slices.DeleteFunc(s.lostRanks, func(r int) bool { return r == rank })
	}
	*was = now
}

// isLost tells whether the rank is not connected and cannot connect any more.
func (r *slot) isLost() bool { return r.cannotReturn && r.session == nil }

// recordRequest records the request of a rank, and answers the requests that are complete then. It
// locks mu.
func (s *Server) recordRequest(se *session, kind jobwire.Kind, mine []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.ranks[se.rank]
	switch {
	case r.pendingRequest == jobwire.Contribute && kind == r.pendingRequest:
		return fmt.Errorf("two contributions of rank %d to one exchange", se.rank)
	case r.pendingRequest != 0:
		return fmt.Errorf("rank %d asks for two things at once", se.rank)
	case kind == jobwire.Contribute && r.ledNode < 0:
		return fmt.Errorf("a contribution of rank %d, which leads no node", se.rank)
	}
	r.pendingRequest, r.pendingPayload = kind, mine
	s.pendingCount[kind]++
	if kind == jobwire.Contribute && s.countBytes(len(mine)) {
		r.pendingPayload = nil
	}
	s.answerComplete()
	return nil
}

// clearRequest clears the request of a rank. The caller holds mu.
func (s *Server) clearRequest(r *slot) {
	if r.pendingRequest != 0 {
		s.pendingCount[r.pendingRequest]--
	}
	r.pendingRequest, r.pendingPayload = 0, nil
}

// passAbort passes an abort on to the launcher. It locks mu, but not during onAbort.
func (s *Server) passAbort(rank, status int) {
	s.mu.Lock()
	s.aborted = true
	lost := slices.Sorted(slices.Values(s.lostRanks))
	s.mu.Unlock()
	s.onAbort(rank, status, lost)
}
