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
	local      transport.Team // the members on this node
	leaders    *leaderTeam    // its me is this node's number, also at other members
	me         int            // this rank's number among the members
	nodeIndex  []int32        // by member: number of its node
	localIndex []int32        // by member: number on its node
	nodeSizes  []int          // by node: number of members
}

// layout is on which nodes the members of a group are. Nodes are in the order of their first
// members.
type layout struct {
	nodeIndex, localIndex []int32 // as in hierarchicalTeam
	nodeSizes             []int   // as in hierarchicalTeam
	leaderRanks           []transport.Rank
	myNode                int   // number of this node, -1 if none of its ranks is a member
	localRanks            []int // local numbers of the members on this node
}

// worldLayout is the layout of all ranks. It shares the topology's memory for each rank.
func (t *Topology) worldLayout() *layout {
	l := &layout{nodeIndex: t.nodeOf, localIndex: t.local, myNode: t.MyNode(),
		nodeSizes:   make([]int, len(t.Nodes)),
		leaderRanks: make([]transport.Rank, len(t.Nodes)),
		localRanks:  make([]int, len(t.Mine()))}
	for n, ranks := range t.Nodes {
		l.nodeSizes[n], l.leaderRanks[n] = len(ranks), ranks[0]
	}
	for i := range l.localRanks {
		l.localRanks[i] = i
	}
	return l
}

// layoutOf returns the layout of the members of a group, given by their world ranks.
func (t *Topology) layoutOf(ranks []transport.Rank) *layout {
	l := &layout{nodeIndex: make([]int32, len(ranks)), localIndex: make([]int32, len(ranks)),
		myNode: -1}
	number := map[int]int{} // node of the job -> node of the group
	for i, rank := range ranks {
		n, known := number[t.Node(rank)]
		if !known {
			n = len(l.leaderRanks)
			number[t.Node(rank)] = n
			l.leaderRanks = append(l.leaderRanks, rank)
			l.nodeSizes = append(l.nodeSizes, 0)
		}
		l.nodeIndex[i], l.localIndex[i] = int32(n), int32(l.nodeSizes[n])
		l.nodeSizes[n]++
		if t.SameNode(rank) {
			l.myNode = n
			l.localRanks = append(l.localRanks, t.Local(rank))
		}
	}
	return l
}

// isLeader tells whether the caller is the leader of its node.
func (s *hierarchicalTeam) isLeader() bool { return s.localIndex[s.me] == 0 }

// Size is the number of members.
func (s *hierarchicalTeam) Size() int { return len(s.nodeIndex) }

// Rank is this rank's number among the members.
func (s *hierarchicalTeam) Rank() int { return s.me }

// Pointer is nil: C handles teams of one node only.
func (s *hierarchicalTeam) Pointer() unsafe.Pointer { return nil }

// Release releases the node's team; the leader is the last of its node.
func (s *hierarchicalTeam) Release(bool) {
	if s.isLeader() {
		s.leaders.freeRings()
	}
	s.local.Release(s.isLeader())
}

// Barrier is a barrier of the node, then of the leaders, then of the node.
func (s *hierarchicalTeam) Barrier() {
	s.local.Barrier()
	if s.isLeader() {
		s.leaders.Barrier()
	}
	s.local.Barrier()
}

// Bcast goes fragment by fragment, so that nodes work on different fragments at the same time.
func (s *hierarchicalTeam) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	home, place := int(s.nodeIndex[root]), int(s.localIndex[root])
	all := unsafe.Slice((*byte)(buf), nbytes)
	var between *broadcast
	if s.isLeader() {
		between = s.leaders.startBroadcast(all, home)
	}
	for b := range fragments(all, s.leaders.pipeline()) {
		if s.leaders.me == home && place != 0 { // the leader needs the data first
			s.local.Bcast(unsafe.Pointer(&b[0]), int64(len(b)), place)
		}
		if s.isLeader() {
			between.passNext()
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
	if s.isLeader() {
		sizes := make([]int, len(s.nodeSizes))
		for i, c := range s.nodeSizes {
			sizes[i] = c * size
		}
		blocks = s.leaders.gatherCounted(here, sizes)
	}
	s.local.Bcast(unsafe.Pointer(&blocks[0]), int64(len(blocks)), 0)
	first := make([]int, len(s.nodeSizes)) // by node: offset of its blocks
	for i := 1; i < len(first); i++ {
		first[i] = first[i-1] + s.nodeSizes[i-1]
	}
	all := make([]byte, len(blocks))
	for i := range s.Size() {
		at := (first[s.nodeIndex[i]] + int(s.localIndex[i])) * size
		copy(all[i*size:], blocks[at:at+size])
	}
	return all
}

// Allreduce reduces on each node, then among the leaders.
func (s *hierarchicalTeam) Allreduce(x unsafe.Pointer, nelem int64, typ, red int) {
	s.local.Allreduce(x, nelem, typ, red)
	if s.isLeader() {
		s.leaders.Allreduce(x, nelem, typ, red)
	}
	s.local.Bcast(x, nelem*int64(kernel.TypeSize(kernel.Type(typ))), 0)
}

var _ transport.Team = (*hierarchicalTeam)(nil)
