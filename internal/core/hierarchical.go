// SPDX-License-Identifier: BSD-3-Clause

// The team of a group with members on several nodes. It combines the team of the members on each
// node and the leaders, the first member on each node, so that callers see one kind of team.
package core

import (
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// hierarchicalTeam implements transport.Team.
type hierarchicalTeam struct {
	local   transport.Team
	leaders *leaderTeam // its me is my node's number, whether or not I am the leader
	me      int         // my number among the members
	node    []int32     // by member: number of its node
	place   []int32     // by member: number on its node
	count   []int       // by node: number of members
}

// layout says on which nodes the members of a group are. Nodes are in the order of their first
// members.
type layout struct {
	node, place []int32 // as in hierarchicalTeam, as is the next
	count       []int
	leader      []transport.Rank
	here        int   // number of my node, -1 if none of its ranks is a member
	local       []int // local numbers of the members here
}

// worldLayout is that of all ranks, which needs no memory for each of them.
func (r *Runtime) worldLayout() *layout {
	t := r.Topo
	l := &layout{node: t.nodeOf, place: t.local, here: t.MyNode(),
		count:  make([]int, len(t.Nodes)),
		leader: make([]transport.Rank, len(t.Nodes)), local: make([]int, len(t.Mine()))}
	for n, ranks := range t.Nodes {
		l.count[n], l.leader[n] = len(ranks), ranks[0]
	}
	for i := range l.local {
		l.local[i] = i
	}
	return l
}

// layoutOf returns the layout of the members of a group, given by their world ranks.
func (r *Runtime) layoutOf(ranks []transport.Rank) *layout {
	l := &layout{node: make([]int32, len(ranks)), place: make([]int32, len(ranks)), here: -1}
	number := map[int]int{} // node of the job -> node of the group
	for i, rank := range ranks {
		n, known := number[r.Topo.Node(rank)]
		if !known {
			n = len(l.leader)
			number[r.Topo.Node(rank)] = n
			l.leader = append(l.leader, rank)
			l.count = append(l.count, 0)
		}
		l.node[i], l.place[i] = int32(n), int32(l.count[n])
		l.count[n]++
		if r.Topo.SameNode(rank) {
			l.here = n
			l.local = append(l.local, r.Topo.Local(rank))
		}
	}
	return l
}

// leads tells whether the caller is the leader of its node.
func (s *hierarchicalTeam) leads() bool { return s.place[s.me] == 0 }

// Size is the number of members.
func (s *hierarchicalTeam) Size() int { return len(s.node) }

// Rank is my number among them.
func (s *hierarchicalTeam) Rank() int { return s.me }

// Pointer is nil: C handles teams of one node only.
func (s *hierarchicalTeam) Pointer() unsafe.Pointer { return nil }

// Release releases the node's team; on each node one member is the last.
func (s *hierarchicalTeam) Release(bool) {
	if s.leads() {
		s.leaders.freeRings()
	}
	s.local.Release(s.leads())
}

// Barrier is a barrier of the node, then of the leaders, then of the node.
func (s *hierarchicalTeam) Barrier() {
	s.local.Barrier()
	if s.leads() {
		s.leaders.Barrier()
	}
	s.local.Barrier()
}

// Bcast goes fragment by fragment, so that nodes work on different fragments at the same time.
func (s *hierarchicalTeam) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	home, place := int(s.node[root]), int(s.place[root])
	all := unsafe.Slice((*byte)(buf), nbytes)
	var between *broadcast
	if s.leads() {
		between = s.leaders.broadcast(all, home)
	}
	for b := range fragments(all, s.leaders.r.pipeline()) {
		if s.leaders.me == home && place != 0 { // the leader needs the data first
			s.local.Bcast(unsafe.Pointer(&b[0]), int64(len(b)), place)
		}
		if s.leads() {
			between.next()
		}
		if s.leaders.me != home || place == 0 {
			s.local.Bcast(unsafe.Pointer(&b[0]), int64(len(b)), 0)
		}
	}
}

// Allgather is an allgather of the node, then of the leaders, then a broadcast on the node.
func (s *hierarchicalTeam) Allgather(mine []byte) []byte {
	size := len(mine)
	blocks := make([]byte, s.Size()*size) // ordered by node, then by number on the node
	here := s.local.Allgather(mine)
	if s.leads() {
		sizes := make([]int, len(s.count))
		for i, c := range s.count {
			sizes[i] = c * size
		}
		blocks = s.leaders.gather(here, sizes)
	}
	s.local.Bcast(unsafe.Pointer(&blocks[0]), int64(len(blocks)), 0)
	first := make([]int, len(s.count)) // by node: offset of its blocks
	for i := 1; i < len(first); i++ {
		first[i] = first[i-1] + s.count[i-1]
	}
	all := make([]byte, len(blocks))
	for i := range s.Size() {
		at := (first[s.node[i]] + int(s.place[i])) * size
		copy(all[i*size:], blocks[at:at+size])
	}
	return all
}

// Allreduce reduces on each node, then among the leaders.
func (s *hierarchicalTeam) Allreduce(x unsafe.Pointer, nelem int64, typ, red int) {
	s.local.Allreduce(x, nelem, typ, red)
	if s.leads() {
		s.leaders.Allreduce(x, nelem, typ, red)
	}
	s.local.Bcast(x, nelem*int64(kernel.TypeSize(kernel.Type(typ))), 0)
}

var _ transport.Team = (*hierarchicalTeam)(nil)
