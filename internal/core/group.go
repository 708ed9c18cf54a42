// SPDX-License-Identifier: BSD-3-Clause

// Process groups. Only members take part in making one; a rank that is no member gets a handle that tells it so.
// A group is a small integer for the application; communication keeps using world ranks.
package core

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"libarmci/internal/transport"
)

// Group is a handle's content. Constant once made, but for what belongs to its team.
type Group struct {
	ID    int
	Ranks []transport.Rank // by group rank
	Me    int              // my group rank, -1 if I am no member
	Comm  uintptr          // MPI communicator handed out, 0 if there is none
	team  transport.Team   // nil if I am no member
	node  transport.Node
}

// Size is the number of members.
func (g *Group) Size() int { return len(g.Ranks) }

// Team is the group's members on this node, nil for others.
func (g *Group) Team() transport.Team { return g.team }

// RankOf finds the group rank of a world rank, -1 if it is no member.
func (g *Group) RankOf(w transport.Rank) int { return slices.Index(g.Ranks, w) }

func (g *Group) member() error {
	if g.team == nil {
		return argErr(CodeArgument, "group", "the calling rank is not a member of group %d", g.ID)
	}
	return nil
}

type groups struct {
	mu   sync.Mutex
	all  []*Group // by id; nil = free
	dflt int
}

// World is group 0.
const World = 0

// Tags of the library's own messages lie above those of applications, which are C ints.
const tagGroup = int64(1) << 33

func (r *Runtime) makeWorld() {
	g := &Group{Ranks: make([]transport.Rank, r.N), Me: int(r.Me), Comm: r.Job.WorldComm(), team: r.Node.World(), node: r.Node}
	for i := range g.Ranks {
		g.Ranks[i] = transport.Rank(i)
	}
	r.groups.all = []*Group{g}
}

// Group finds a group by its handle.
func (r *Runtime) Group(id int) (*Group, error) {
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	if id < 0 || id >= len(r.groups.all) || r.groups.all[id] == nil {
		return nil, argErr(CodeArgument, "group", "%d is not a group of this rank", id)
	}
	return r.groups.all[id], nil
}

func (r *Runtime) addGroup(g *Group) {
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	if i := slices.Index(r.groups.all, nil); i >= 0 {
		g.ID = i
		r.groups.all[i] = g
		return
	}
	g.ID = len(r.groups.all)
	r.groups.all = append(r.groups.all, g)
}

// DefaultGroup is the one whose ranks GroupCreate's list means.
func (r *Runtime) DefaultGroup() int {
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	return r.groups.dflt
}

// SetDefaultGroup is local.
func (r *Runtime) SetDefaultGroup(id int) error {
	if _, err := r.Group(id); err != nil {
		return err
	}
	r.groups.mu.Lock()
	r.groups.dflt = id
	r.groups.mu.Unlock()
	return nil
}

// GroupCreate makes a group of ranks of a parent. Collective over the members; others may call it too and return at once.
// The list may be empty: programs that halve the world do that on one rank.
func (r *Runtime) GroupCreate(parent *Group, pids []int32) (*Group, error) {
	g := &Group{Me: -1, node: r.Node}
	seen := make(map[int32]bool, len(pids))
	for i, p := range pids {
		if p < 0 || int(p) >= parent.Size() {
			return nil, argErr(CodeProc, "pid_list", "entry %d is rank %d, outside 0..%d of the parent group", i, p, parent.Size()-1)
		}
		if seen[p] {
			return nil, argErr(CodeProc, "pid_list", "rank %d is listed twice", p)
		}
		seen[p] = true
		w := parent.Ranks[p]
		if w == r.Me {
			g.Me = i
		}
		g.Ranks = append(g.Ranks, w)
	}
	if g.Me >= 0 {
		if err := r.joinTeam(g); err != nil {
			return nil, err
		}
	}
	r.addGroup(g)
	return g, nil
}

// joinTeam: the first member claims a team slot and tells the others.
func (r *Runtime) joinTeam(g *Group) error {
	members := make([]int, g.Size())
	for i, w := range g.Ranks {
		members[i] = r.Topo.Local(w)
	}
	var start transport.TeamStart
	if g.Me == 0 {
		var err error
		if start, err = r.Node.ClaimTeam(); err != nil {
			start.Slot = -1
		}
		for _, m := range members[1:] {
			r.Node.Send(m, tagGroup, encodeStart(start))
		}
	} else {
		body := make([]byte, startBytes)
		if _, err := r.Node.Recv(g.Ranks[0], tagGroup, body); err != nil {
			return fmt.Errorf("start of group from rank %d: %w", g.Ranks[0], err)
		}
		start = decodeStart(body)
	}
	if start.Slot < 0 {
		return argErr(CodeInternal, "group", "no more groups can be made on this node: %v", transport.ErrNoMemory)
	}
	g.team = r.Node.HoldTeam(start, members, g.Me)
	g.team.Barrier()
	return r.addComm(g)
}

// addComm makes the group's communicator; if any member cannot, the group ends on all.
func (r *Runtime) addComm(g *Group) error {
	comm, err := r.groupComm(g)
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
		err = argErr(CodeInternal, "group", "a member could not make the group's communicator")
	}
	return err
}

func (r *Runtime) groupComm(g *Group) (uintptr, error) {
	ranks := make([]int, g.Size())
	for i, w := range g.Ranks {
		ranks[i] = int(w)
	}
	return r.Job.GroupComm(ranks, 0)
}

const startBytes = 24

func encodeStart(s transport.TeamStart) []byte {
	b := make([]byte, startBytes)
	binary.LittleEndian.PutUint64(b, uint64(s.Slot))
	binary.LittleEndian.PutUint64(b[8:], s.Phase)
	binary.LittleEndian.PutUint64(b[16:], s.Step)
	return b
}

func decodeStart(b []byte) transport.TeamStart {
	return transport.TeamStart{Slot: int64(binary.LittleEndian.Uint64(b)), Phase: binary.LittleEndian.Uint64(b[8:]),
		Step: binary.LittleEndian.Uint64(b[16:])}
}

// GroupFree ends a group. Collective over the members; a handle of a rank that is no member is just forgotten.
func (r *Runtime) GroupFree(id int) error {
	if id == World {
		return argErr(CodeArgument, "group", "the world group cannot be freed")
	}
	g, err := r.Group(id)
	if err != nil {
		return err
	}
	if g.team != nil {
		r.AllFence()
		g.team.Barrier()
		r.Job.FreeComm(g.Comm)
		g.team.Release(g.Me == 0)
	}
	r.groups.mu.Lock()
	r.groups.all[id] = nil
	if r.groups.dflt == id {
		r.groups.dflt = World
	}
	r.groups.mu.Unlock()
	return nil
}

// GroupSplit makes a group of the members of parent that give the same color, ordered by key, then by parent rank.
// Collective over the parent. A negative color makes no group: the handle then holds no members.
func (r *Runtime) GroupSplit(parent *Group, color, key int32) (*Group, error) {
	if err := parent.member(); err != nil {
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
			same = append(same, entry{int32(binary.LittleEndian.Uint32(all[8*p+4:])), int32(p)})
		}
	}
	slices.SortStableFunc(same, func(a, b entry) int { return int(int64(a.key) - int64(b.key)) })
	if color < 0 {
		g := &Group{Me: -1, node: r.Node}
		r.addGroup(g)
		return g, nil
	}
	pids := make([]int32, len(same))
	for i, e := range same {
		pids[i] = e.pid
	}
	return r.GroupCreate(parent, pids)
}

// GroupDup makes a group with the same members. Collective over them.
func (r *Runtime) GroupDup(parent *Group) (*Group, error) {
	if err := parent.member(); err != nil {
		return nil, err
	}
	pids := make([]int32, parent.Size())
	for i := range pids {
		pids[i] = int32(i)
	}
	return r.GroupCreate(parent, pids)
}
