// SPDX-License-Identifier: BSD-3-Clause

// What the ranks of a job do together: they are divided into nodes, and the nodes' leaders exchange
// strings. Only leaders send and get those, which are passed on within their nodes. Either is
// complete when every rank, or every leader, has asked for it, and fails as soon as a rank cannot
// ask any more.

package jobserver

import (
	"fmt"

	"libarmci/internal/bootstrap/jobwire"
)

// settle answers what is complete, or can no longer be. In an aborted job no rank is told which one
// is missing: the job is about to be ended, for a known reason.
func (s *Server) settle() {
	if s.asking[jobwire.Split] == s.size {
		s.place()
	}
	if s.asking[jobwire.Contribute] > 0 && s.asking[jobwire.Contribute] == len(s.leaders) {
		s.exchange()
	}
	if len(s.gone) > 0 && !s.aborted {
		s.answerAll(jobwire.Refused, fmt.Appendf(nil, "rank %d has left the job",
			s.gone[0]))
	}
}

// answerAll gives the same answer to all ranks that wait for one.
func (s *Server) answerAll(kind jobwire.Kind, payload []byte) {
	waiting := 0
	for _, n := range s.asking {
		waiting += n
	}
	for i := 0; waiting > 0; i++ {
		if r := &s.ranks[i]; r.asks != 0 {
			s.answered(r)
			r.session.send(kind, payload)
			waiting--
		}
	}
}

// place divides the ranks into nodes: those with the same key. The lowest of each leads it.
func (s *Server) place() {
	node := map[string]int{}
	local := make([]int, s.size)
	of := make([]int, s.size)
	var links [][]string // by node and local number
	s.leaders = nil
	for i := range s.ranks {
		key, link, err := jobwire.UnpackSplit(s.ranks[i].mine)
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
	s.asked = 0
	for i := range s.ranks {
		r, n := &s.ranks[i], of[i]
		s.answered(r)
		if r.leads = -1; local[i] == 0 {
			r.leads = n
		}
		r.session.send(jobwire.Placed, jobwire.PackPlaced(local[i], len(links[n]),
			links[n][jobwire.Parent(local[i])]))
	}
}

// collect counts the bytes of an exchange, and tells whether there are too many to keep.
func (s *Server) collect(nbytes int) bool {
	s.asked += nbytes
	return s.asked > jobwire.MaxCollected
}

// exchange gives all leaders what all of them have contributed.
func (s *Server) exchange() {
	parts := make([][]byte, len(s.leaders))
	for n, rank := range s.leaders {
		parts[n] = s.ranks[rank].mine
	}
	payload, err := jobwire.PackList(parts)
	if s.asked > jobwire.MaxCollected {
		err = jobwire.ErrTooLarge
	}
	var frame []byte
	if err == nil {
		frame, err = jobwire.Encode(jobwire.Collected, payload)
	}
	if err != nil {
		frame, _ = jobwire.Encode(jobwire.Refused, []byte(err.Error()))
	}
	s.asked = 0
	for _, rank := range s.leaders {
		r := &s.ranks[rank]
		s.answered(r)
		r.session.post(frame)
	}
}
