// SPDX-License-Identifier: BSD-3-Clause

// Collective requests: the ranks of a job are divided into nodes (Split), and the nodes' leaders
// exchange strings (Contribute). Only leaders send and get these, and pass them on within their
// nodes. Either is complete when every rank, or every leader, has sent its request, and fails as
// soon as a rank cannot send one any more.

package jobserver

import (
	"fmt"

	"libarmci/internal/bootstrap/jobwire"
)

// answerComplete answers the requests that are complete, or can no longer be. In an aborted job no
// rank gets the name of a missing one: the job is about to be ended, for a known reason. The caller
// holds mu.
func (s *Server) answerComplete() {
	if s.pendingCount[jobwire.Split] == s.size {
		s.placeRanks()
	}
	n := s.pendingCount[jobwire.Contribute]
	if n > 0 && n == len(s.leaders) {
		s.exchangeStrings()
	}
	if len(s.lostRanks) > 0 && !s.aborted {
		s.answerAll(jobwire.Refused, fmt.Appendf(nil, "rank %d has left the job",
			s.lostRanks[0]))
	}
}

// answerAll gives the same answer to all ranks that wait for one. The caller holds mu.
func (s *Server) answerAll(kind jobwire.Kind, payload []byte) {
	waiting := 0
	for _, n := range s.pendingCount {
		waiting += n
	}
	for i := 0; waiting > 0; i++ {
		if r := &s.ranks[i]; r.pendingRequest != 0 {
			s.clearRequest(r)
			r.session.send(kind, payload)
			waiting--
		}
	}
}

// placeRanks divides the ranks into nodes: those with the same key. The lowest of each leads it.
// The caller holds mu.
func (s *Server) placeRanks() {
	node := map[string]int{}
	local := make([]int, s.size)
	of := make([]int, s.size)
	var links [][]string // by node and local number
	s.leaders = nil
	for i := range s.ranks {
		key, link, err := jobwire.UnpackSplit(s.ranks[i].pendingPayload)
		if err != nil {
			s.answerAll(jobwire.Refused,
				fmt.Appendf(nil, "rank %d does not say on which node it is", i))
			return
		}
		n, known := node[key]
		if !known {
			n = len(links)
			node[key] = n
			s.leaders, links = append(s.leaders, i), append(links, nil)
		}
		of[i], local[i] = n, len(links[n])
		links[n] = append(links[n], link)
	}
	s.exchangeBytes = 0
	for i := range s.ranks {
		r, n := &s.ranks[i], of[i]
		s.clearRequest(r)
		if r.ledNode = -1; local[i] == 0 {
			r.ledNode = n
		}
		r.session.send(jobwire.Placed, jobwire.PackPlaced(local[i], len(links[n]),
			links[n][jobwire.Parent(local[i])]))
	}
}

// countBytes counts the bytes of an exchange, and tells whether there are too many to keep. The
// caller holds mu.
func (s *Server) countBytes(nbytes int) bool {
	s.exchangeBytes += nbytes
	return s.exchangeBytes > jobwire.MaxCollected
}

// exchangeStrings sends all leaders the strings of all leaders. The caller holds mu.
func (s *Server) exchangeStrings() {
	parts := make([][]byte, len(s.leaders))
	for n, rank := range s.leaders {
		parts[n] = s.ranks[rank].pendingPayload
	}
	payload, err := jobwire.PackList(parts)
	if s.exchangeBytes > jobwire.MaxCollected {
		err = jobwire.ErrTooLarge
	}
	var frame []byte
	if err == nil {
		frame, err = jobwire.Encode(jobwire.Collected, payload)
	}
	if err != nil {
		frame, _ = jobwire.Encode(jobwire.Refused, []byte(err.Error()))
	}
	s.exchangeBytes = 0
	for _, rank := range s.leaders {
		r := &s.ranks[rank]
		s.clearRequest(r)
		r.session.queueFrame(frame)
	}
}
