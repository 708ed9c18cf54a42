// SPDX-License-Identifier: BSD-3-Clause

// Group creation. On every node the first member, the leader, allocates a collective context and
// sends it to the other members. Leaders exchange whether all have a context, and agree on
// the group's number in the job.
package core

import (
	"encoding/binary"
	"fmt"
	"slices"

	"libarmci/internal/transport"
)

// groupStart is what members must know to attach to a team.
type groupStart struct {
	team transport.TeamStart // Context -1: none is free
	id   int64               // of the group, in the job
}

// joinTeam makes the group's team, on all members or on none. Collective over the members.
func (gs *groups) joinTeam(g *Group) error {
	l := gs.rt.Topo.layoutOf(g.Ranks)
	var f groupStart
	if l.localIndex[g.Me] == 0 {
		f = gs.startGroup(g, l)
		for _, m := range l.localRanks[1:] {
			gs.rt.mailbox.Send(m, tagGroup, f.encodeGroupStart())
		}
	} else {
		body, leader := make([]byte, groupStartBytes), l.leaderRanks[l.myNode]
		if _, err := gs.rt.mailbox.Recv(leader, tagGroup, body); err != nil {
			return fmt.Errorf("start of group from rank %d: %w", leader, err)
		}
		f = decodeGroupStart(body)
	}
	if f.team.Context < 0 {
		return argErr(CodeInternal, "group", "no more groups can be made on this node: %v",
			transport.ErrNoMemory)
	}
	local, err := gs.rt.Teams.AttachTeam(f.team, l.localRanks, int(l.localIndex[g.Me]))
	local.Barrier()
	gs.setTeam(g, l, local, f.id)
	return gs.addComm(g, err)
}

// startGroup is called by leaders: each allocates a context, and all agree whether every node has
// one. The group's first member chooses its number: its rank and a count.
func (gs *groups) startGroup(g *Group, l *layout) groupStart {
	var f groupStart
	var err error
	if f.team, err = gs.rt.Teams.AllocContext(); err != nil {
		f.team.Context = -1
	}
	if g.Me == 0 {
		f.id = int64(gs.rt.Me)<<groupBits | int64(gs.numbersUsed.Add(1))%(1<<groupBits-1) +
			1
	}
	if len(l.leaderRanks) == 1 {
		return f
	}
	leaders := &leaderTeam{rt: gs.rt, ranks: l.leaderRanks, me: l.myNode, tag: tagGroupLeaders}
	all := leaders.Allgather(f.encodeGroupStart())
	f.id = decodeGroupStart(all).id // the first member leads the first node
	for at := 0; at < len(all); at += groupStartBytes {
		if decodeGroupStart(all[at:]).team.Context >= 0 {
			continue
		}
		if f.team.Context >= 0 { // another node has none: release this one
			team, _ := gs.rt.Teams.AttachTeam(f.team, l.localRanks, 0)
			team.Release(true)
		}
		f.team.Context = -1
	}
	return f
}

// groupBits is the width of the count. World has number 0; numbers repeat after a rank has created
// this many groups.
const groupBits = 26

// addComm makes the group's communicator. If one member fails, or has an error from attaching to
// the team, the team is released on all. Collective over the members.
func (gs *groups) addComm(g *Group, attachErr error) error {
	comm, err := gs.groupComm(g)
	if attachErr != nil {
		err = argErr(CodeInternal, "group", "%v", attachErr)
	}
	mine := []byte{0}
	if err != nil {
		mine[0] = 1
	}
	if !slices.Contains(g.team.Allgather(mine), 1) {
		g.Comm = comm
		return nil
	}
	g.team.Barrier()
	g.team.Release(g.Me == 0)
	g.team = nil
	if err == nil {
		err = argErr(CodeInternal, "group",
			"a member could not make the group, or its communicator")
	}
	return err
}

// groupComm makes the group's MPI communicator; 0 if the job has no MPI. It is collective over the
// members, and an error may be one member's alone.
func (gs *groups) groupComm(g *Group) (uintptr, error) {
	ranks := make([]int, g.Size())
	for i, w := range g.Ranks {
		ranks[i] = int(w)
	}
	return gs.rt.Job.GroupComm(ranks, 0)
}

const groupStartBytes = 32

func (f groupStart) encodeGroupStart() []byte {
	b := make([]byte, groupStartBytes)
	for i, v := range []uint64{uint64(f.team.Context), f.team.Phase, f.team.Step,
		uint64(f.id)} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return b
}

// decodeGroupStart reads what encodeGroupStart has written.
func decodeGroupStart(b []byte) groupStart {
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return groupStart{transport.TeamStart{Context: int64(u64(0)), Phase: u64(1), Step: u64(2)},
		int64(u64(3))}
}
