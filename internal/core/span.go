// SPDX-License-Identifier: BSD-3-Clause

// The team of a group whose members are on several nodes: on each node its members' team, and among the nodes their
// leaders, the first member of each. So that everything above needs to know one kind of team.
package core

import (
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// span implements transport.Team.
type span struct {
	local transport.Team
	top   *leaders // me is my node's place, whether or not I lead it
	me    int      // of the members
	node  []int    // by member: place of its node
	place []int    // by member: place on its node
	count []int    // by node: members
}

// layout is how the members of a group are spread over nodes: the nodes in the order of their first members.
type layout struct {
	node, place, count []int // as in span
	leader             []transport.Rank
	here               int   // place of my node, -1 if none of its ranks is a member
	local              []int // local numbers of the members here
}

func (r *Runtime) layoutOf(ranks []transport.Rank) *layout {
	l := &layout{node: make([]int, len(ranks)), place: make([]int, len(ranks)), here: -1}
	number := map[int]int{} // node of the job -> place in the group
	for i, rank := range ranks {
		n, known := number[r.Topo.Node(rank)]
		if !known {
			n = len(l.leader)
			number[r.Topo.Node(rank)] = n
			l.leader = append(l.leader, rank)
			l.count = append(l.count, 0)
		}
		l.node[i], l.place[i] = n, l.count[n]
		l.count[n]++
		if r.Topo.SameNode(rank) {
			l.here = n
			l.local = append(l.local, r.Topo.Local(rank))
		}
	}
	return l
}

// leads tells whether the leader of the caller's node calls.
func (s *span) leads() bool { return s.place[s.me] == 0 }

// Size is the number of members.
func (s *span) Size() int { return len(s.node) }

// Rank is my place among them.
func (s *span) Rank() int { return s.me }

// Pointer is nil: C knows teams of one node only.
func (s *span) Pointer() unsafe.Pointer { return nil }

// Release lets go of the node's team; each node has one who is the last.
func (s *span) Release(bool) { s.local.Release(s.leads()) }

// Barrier: all here have come, all nodes have, and everybody here is told.
func (s *span) Barrier() {
	s.local.Barrier()
	if s.leads() {
		s.top.Barrier()
	}
	s.local.Barrier()
}

// Bcast goes piece by piece, so that nodes work on different pieces at the same time.
func (s *span) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	home, place := s.node[root], s.place[root]
	for b := range pieces(unsafe.Slice((*byte)(buf), nbytes), pieceBytes) {
		if s.top.me == home && place != 0 { // the leader has to get it first
			s.local.Bcast(unsafe.Pointer(&b[0]), int64(len(b)), place)
		}
		if s.leads() {
			s.top.bcast(b, home)
		}
		if s.top.me != home || place == 0 {
			s.local.Bcast(unsafe.Pointer(&b[0]), int64(len(b)), 0)
		}
	}
}

// Allgather: the leaders gather what their nodes have gathered, and pass it on.
func (s *span) Allgather(mine []byte) []byte {
	size := len(mine)
	blocks := make([]byte, s.Size()*size) // in the order of nodes, then of places
	here := s.local.Allgather(mine)
	if s.leads() {
		sizes := make([]int, len(s.count))
		for i, c := range s.count {
			sizes[i] = c * size
		}
		blocks = s.top.gather(here, sizes)
	}
	s.local.Bcast(unsafe.Pointer(&blocks[0]), int64(len(blocks)), 0)
	first := make([]int, len(s.count)) // by node: of its blocks
	for i := 1; i < len(first); i++ {
		first[i] = first[i-1] + s.count[i-1]
	}
	all := make([]byte, len(blocks))
	for i := range s.Size() {
		at := (first[s.node[i]] + s.place[i]) * size
		copy(all[i*size:], blocks[at:at+size])
	}
	return all
}

// Allreduce: each node reduces its own part, the leaders the rest.
func (s *span) Allreduce(x unsafe.Pointer, nelem int64, typ, red int) {
	s.local.Allreduce(x, nelem, typ, red)
	if s.leads() {
		s.top.Allreduce(x, nelem, typ, red)
	}
	s.local.Bcast(x, nelem*int64(kernel.TypeSize(kernel.Type(typ))), 0)
}

var _ transport.Team = (*span)(nil)
