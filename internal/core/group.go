// SPDX-License-Identifier: BSD-3-Clause

// Process groups. Only members take part in creating one; the handle of any other rank says that it
// is not a member. A group is a small integer for the application; communication keeps using world
// ranks.
package core

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"libarmci/internal/transport"
)

// Group is what a handle stands for. Constant once created, except for the state of its team.
type Group struct {
	ID        int
	Ranks     []transport.Rank // by group rank
	Me        int              // this rank's group rank, -1 if it is not a member
	Comm      uintptr          // MPI communicator handed out, 0 if there is none
	team      transport.Team   // nil if this rank is not a member
	localTeam transport.Team   // the members on this node
	leaders   *leaderTeam      // the leaders of its nodes; nil unless this rank is one
}

// Size is the number of members.
func (g *Group) Size() int { return len(g.Ranks) }

// Team is the team of all members, nil if the caller is not one.
func (g *Group) Team() transport.Team { return g.team }

// NodesOf is the number of nodes a group has members on.
func (gs *groups) NodesOf(g *Group) int { return len(gs.rt.Topo.layoutOf(g.Ranks).leaderRanks) }

// NodeTeam is the team of the members on this rank's node.
func (g *Group) NodeTeam() transport.Team { return g.localTeam }

// Masters is the team of the first members of all nodes, nil if the caller is not one of them.
func (g *Group) Masters() transport.Team {
	if g.leaders == nil {
		return nil
	}
	return g.leaders
}

// NodeAndIndex returns the number of a member's node among the group's nodes, and the member's
// number on that node.
func (g *Group) NodeAndIndex(member int) (node, place int) {
	if s, several := g.team.(*hierarchicalTeam); several {
		return int(s.nodeIndex[member]), int(s.localIndex[member])
	}
	return 0, member
}

// RankOf is the group rank of a world rank, -1 if it is no member.
func (g *Group) RankOf(w transport.Rank) int { return slices.Index(g.Ranks, w) }

// checkMember returns an error unless the caller is a member of the group.
func (g *Group) checkMember() error {
	if g.team == nil {
		return argErr(CodeArgument, "group", "the calling rank is not a member of group %d",
			g.ID)
	}
	return nil
}

// groups is the table of the groups of this process.
type groups struct {
	rt        *Runtime
	world     *Group     // group 0; constant after Start
	mu        sync.Mutex // guards byID and defaultID
	byID      []*Group   // by id; nil = free
	defaultID int

	numbersUsed atomic.Uint32 // groups that this rank has numbered
}

// World is group 0.
const World = 0

// makeWorld makes the world group, when all ranks have started.
func (gs *groups) makeWorld() {
	g := &Group{Ranks: make([]transport.Rank, gs.rt.N), Me: int(gs.rt.Me),
		Comm: gs.rt.Job.WorldComm()}
	for i := range g.Ranks {
		g.Ranks[i] = transport.Rank(i)
	}
	gs.setTeam(g, gs.rt.Topo.worldLayout(), gs.rt.Teams.World(), World)
	gs.world = g
	gs.byID = []*Group{g}
}

// setTeam sets a group's team, given the team of its members on this node. id is the group's number
// in the job.
func (gs *groups) setTeam(g *Group, l *layout, local transport.Team, id int64) {
	g.team, g.localTeam = local, local
	leaders := &leaderTeam{rt: gs.rt, ranks: l.leaderRanks, me: l.myNode,
		tag: tagTeam + id<<stepBits}
	if l.localIndex[g.Me] == 0 {
		g.leaders = leaders
	}
	if len(l.leaderRanks) > 1 {
		g.team = &hierarchicalTeam{local: local, leaders: leaders, me: g.Me,
			nodeIndex:  l.nodeIndex,
			localIndex: l.localIndex, nodeSizes: l.nodeSizes}
	}
}

// Barrier waits for all ranks of the job.
func (gs *groups) Barrier() {
	gs.rt.coalescing.postCoalesced(everyRank)
	gs.world.team.Barrier()
}

// Group finds a group by its handle.
func (gs *groups) Group(id int) (*Group, error) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if id < 0 || id >= len(gs.byID) || gs.byID[id] == nil {
		return nil, argErr(CodeArgument, "group", "%d is not a group of this rank", id)
	}
	return gs.byID[id], nil
}

// addGroup gives a group the lowest free ID and enters it in the table. It locks the table.
func (gs *groups) addGroup(g *Group) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if i := slices.Index(gs.byID, nil); i >= 0 {
		g.ID = i
		gs.byID[i] = g
		return
	}
	g.ID = len(gs.byID)
	gs.byID = append(gs.byID, g)
}

// DefaultGroup is the ID of the group to which GroupCreate's list of ranks refers.
func (gs *groups) DefaultGroup() int {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	return gs.defaultID
}

// SetDefaultGroup changes DefaultGroup, for the caller only.
func (gs *groups) SetDefaultGroup(id int) error {
	if _, err := gs.Group(id); err != nil {
		return err
	}
	gs.mu.Lock()
	gs.defaultID = id
	gs.mu.Unlock()
	return nil
}

// GroupCreate creates a group of ranks of a parent. Collective over the members; other ranks may
// call it, and return at once. The list may be empty, as in programs that halve the world, on one
// rank.
func (gs *groups) GroupCreate(parent *Group, pids []int32) (*Group, error) {
	g := &Group{Me: -1}
	seen := make(map[int32]bool, len(pids))
	for i, p := range pids {
		if p < 0 || int(p) >= parent.Size() {
			return nil, argErr(CodeProc, "pid_list",
				"entry %d is rank %d, outside 0..%d of the parent group", i, p,
				parent.Size()-1)
		}
		if seen[p] {
			return nil, argErr(CodeProc, "pid_list", "rank %d is listed twice", p)
		}
		seen[p] = true
		w := parent.Ranks[p]
		if w == gs.rt.Me {
			g.Me = i
		}
		g.Ranks = append(g.Ranks, w)
	}
	if g.Me >= 0 {
		if err := gs.joinTeam(g); err != nil {
			return nil, err
		}
	}
	gs.addGroup(g)
	return g, nil
}

// GroupFree frees a group. Collective over the members; for other ranks it only frees the handle.
func (gs *groups) GroupFree(id int) error {
	if id == World {
		return argErr(CodeArgument, "group", "the world group cannot be freed")
	}
	g, err := gs.Group(id)
	if err != nil {
		return err
	}
	if g.team != nil {
		gs.rt.closeRecords(g)
		if g.leaders != nil {
			g.leaders.retireRings()
		}
		gs.rt.AllFence()
		g.team.Barrier()
		gs.rt.Job.FreeComm(g.Comm)
		g.team.Release(g.Me == 0)
	}
	gs.mu.Lock()
	gs.byID[id] = nil
	if gs.defaultID == id {
		gs.defaultID = World
	}
	gs.mu.Unlock()
	return nil
}

// releaseGroups releases the teams of groups that the application has not freed. The caller is in
// Finalize, behind its barrier: no collective is running or will be called.
func (gs *groups) releaseGroups() {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	for _, g := range gs.byID[World+1:] {
		if g != nil && g.team != nil {
			g.team.Release(g.Me == 0)
		}
	}
	gs.byID = gs.byID[:World+1]
}

// GroupSplit creates a group of the members of parent with the same color, ordered by key, then by
// parent rank. Collective over the parent. With a negative color the caller gets a handle of a
// group without members.
func (gs *groups) GroupSplit(parent *Group, color, key int32) (*Group, error) {
	if err := parent.checkMember(); err != nil {
		return nil, err
	}
	mine := make([]byte, 8)
	binary.LittleEndian.PutUint32(mine, uint32(color))
	binary.LittleEndian.PutUint32(mine[4:], uint32(key))
	all := parent.team.Allgather(mine)
	type entry struct{ key, pid int32 }
	var same []entry
	for p := range parent.Size() {
		if int32(binary.LittleEndian.Uint32(all[8*p:])) == color {
			same = append(same, entry{int32(binary.LittleEndian.Uint32(all[8*p+4:])),
				int32(p)})
		}
	}
	slices.SortStableFunc(same,
		func(a, b entry) int { return int(int64(a.key) - int64(b.key)) })
	if color < 0 {
		g := &Group{Me: -1}
		gs.addGroup(g)
		return g, nil
	}
	pids := make([]int32, len(same))
	for i, e := range same {
		pids[i] = e.pid
	}
	return gs.GroupCreate(parent, pids)
}

// GroupDup creates a group with the same members. Collective over them.
func (gs *groups) GroupDup(parent *Group) (*Group, error) {
	if err := parent.checkMember(); err != nil {
		return nil, err
	}
	pids := make([]int32, parent.Size())
	for i := range pids {
		pids[i] = int32(i)
	}
	return gs.GroupCreate(parent, pids)
}
