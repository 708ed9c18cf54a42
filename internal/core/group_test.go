// SPDX-License-Identifier: BSD-3-Clause

// Groups: members, non-members, children, splits and duplicates; handles used again; communicators
// and collective contexts given back.
package core

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

func (r *tr) create(parent *Group, pids ...int32) *Group {
	r.Helper()
	g, err := r.GroupCreate(parent, pids)
	r.must(err)
	return g
}

// sum checks that a group works: its members gather their world ranks.
func (r *tr) gather(g *Group) {
	r.Helper()
	all := g.Team().Allgather([]byte{byte(r.Me)})
	for i, w := range g.Ranks {
		if all[i] != byte(w) {
			r.wrong("group %v gathers %v", g.Ranks, all)
		}
	}
}

// Members of a group know it and its collectives; other ranks have a handle without a team.
func TestGroups(t *testing.T) {
	world(t, 4, func(r *tr) {
		w := r.group(World)
		if w.Me != int(r.Me) || w.Size() != 4 || w.Comm == 0 {
			r.wrong("world: %+v", w)
		}
		g := r.create(w, 3, 0, 2) // rank 1 gets a handle that tells it so
		member := r.Me != 1
		if g.Size() != 3 || !slices.Equal(g.Ranks, []transport.Rank{3, 0, 2}) ||
			g.Me != []int{1, -1, 2, 0}[r.Me] || (g.Team() != nil) != member {
			r.wrong("%+v", g)
		}
		if g.RankOf(2) != 2 || g.RankOf(1) != -1 {
			r.wrong("RankOf")
		}
		if !member {
			_, err := r.Malloc(g, 8)
			wantArg(r, "Malloc", err, "group", CodeArgument, "not a member")
			wantArg(r, "Free", r.Free(g, 8), "group", CodeArgument, "not a member")
			_, err = r.GroupDup(g)
			wantArg(r, "GroupDup", err, "group", CodeArgument, "not a member")
			_, err = r.GroupSplit(g, 0, 0)
			wantArg(r, "GroupSplit", err, "group", CodeArgument, "not a member")
			_, err = r.NewMutexes(g, 1)
			wantArg(r, "NewMutexes", err, "group", CodeArgument, "not a member")
		} else {
			r.gather(g)
			mem, err := r.Malloc(g, 64)
			r.must(err)
			*long(r.local(8)) = 1
			// memory by group rank, targets by world rank
			r.must(r.Do(op(Put, 3, r.local(8), mem[0], 8)))
			r.must(r.GroupFence(g))
			r.must(r.Free(g, mem[g.Me]))
			child := r.create(g, 2, 0) // ranks of the parent group: world ranks 2 and 3
			if !slices.Equal(child.Ranks, []transport.Rank{2, 3}) {
				r.wrong("child: %v", child.Ranks)
			}
			if child.Team() != nil {
				r.gather(child)
			}
			r.must(r.GroupFree(child.ID))
		}
		r.must(r.GroupFree(g.ID))
		r.barrier()
		if n := r.c.Teams(); n != 0 {
			r.wrong("%d collective contexts are still in use", n)
		}
		made, freed := r.Job.(*transporttest.Job).Comms()
		if len(made) != len(freed) {
			r.wrong("communicators: %v made, %v freed", made, freed)
		}
	})
}

// Wrong members, unknown handles and calls by nonmembers are refused.
func TestGroupMistakes(t *testing.T) {
	world(t, 2, func(r *tr) {
		w := r.group(World)
		for what, c := range map[string]struct {
			pids      []int32
			arg, text string
		}{
			"too great": {[]int32{0, 2}, "pid_list", "entry 1 is rank 2, outside 0..1"},
			"negative":  {[]int32{-1}, "pid_list", "entry 0"},
			"twice":     {[]int32{1, 0, 1}, "pid_list", "rank 1 is listed twice"},
		} {
			_, err := r.GroupCreate(w, c.pids)
			wantArg(r, what, err, c.arg, CodeProc, c.text)
		}
		for _, id := range []int{-1, 1, 99} {
			_, err := r.Group(id)
			wantArg(r, "Group", err, "group", CodeArgument,
				"is not a group of this rank")
			wantArg(r, "GroupFree", r.GroupFree(id), "group", CodeArgument,
				"is not a group")
			wantArg(r, "SetDefaultGroup", r.SetDefaultGroup(id), "group", CodeArgument,
				"is not a group")
		}
		wantArg(r, "the world", r.GroupFree(World), "group", CodeArgument,
			"cannot be freed")
		empty := r.create(w)
		if empty.Size() != 0 || empty.Me != -1 {
			r.wrong("an empty group has %d members and me as %d", empty.Size(),
				empty.Me)
		}
		r.must(r.GroupFree(empty.ID))
	})
}

// Handles are small, are used again, and the default group falls back to the world when it is
// freed.
func TestGroupHandles(t *testing.T) {
	world(t, 2, func(r *tr) {
		w := r.group(World)
		a, b, c := r.create(w, 0, 1), r.create(w, 1), r.create(w, 1, 0)
		if a.ID != 1 || b.ID != 2 || c.ID != 3 {
			r.wrong("%d %d %d", a.ID, b.ID, c.ID)
		}
		r.must(r.SetDefaultGroup(b.ID))
		if r.DefaultGroup() != b.ID {
			r.wrong("default group %d", r.DefaultGroup())
		}
		r.must(r.GroupFree(b.ID))
		if r.DefaultGroup() != World {
			r.wrong("default group %d after it was freed", r.DefaultGroup())
		}
		wantArg(r, "twice", r.GroupFree(b.ID), "group", CodeArgument, "is not a group")
		d := r.create(w, 0, 1)
		if d.ID != b.ID {
			r.wrong("the handle after %d was freed is %d", b.ID, d.ID)
		}
		r.gather(d)
		for _, g := range []*Group{a, c, d} {
			r.must(r.GroupFree(g.ID))
		}
	})
}

// Several hundred groups one after the other, and as many at a time as there are slots for.
func TestManyGroups(t *testing.T) {
	world(t, 2, func(r *tr) {
		w := r.group(World)
		for range 100 {
			g := r.create(w, 1, 0)
			r.must(r.GroupFree(g.ID))
		}
		var all []*Group
		for {
			g, err := r.GroupCreate(w, []int32{0, 1})
			if err != nil {
				wantArg(r, "one group too many", err, "group", CodeInternal,
					"no more groups")
				break
			}
			all = append(all, g)
		}
		if len(all) < 10 {
			r.wrong("only %d groups", len(all))
		}
		for _, g := range all {
			r.must(r.GroupFree(g.ID))
		}
		g := r.create(w, 0, 1)
		r.gather(g)
		r.must(r.GroupFree(g.ID))
	})
}

// GroupSplit orders by key and parent rank; GroupDup has the same members.
func TestSplitAndDup(t *testing.T) {
	world(t, 5, func(r *tr) {
		w := r.group(World)
		// Ranks 0, 2, 4 by descending rank, 1 alone, 3 nowhere.
		color, key := []int32{7, 1, 7, -1, 7}[r.Me], []int32{3, 0, 2, 0, -2147483648}[r.Me]
		g, err := r.GroupSplit(w, color, key)
		r.must(err)
		want := [][]transport.Rank{{4, 2, 0}, {1}, {4, 2, 0}, nil, {4, 2, 0}}[r.Me]
		if !slices.Equal(g.Ranks, want) || g.Me != slices.Index(want, r.Me) {
			r.wrong("%v, my place %d", g.Ranks, g.Me)
		}
		if color >= 0 {
			r.gather(g)
			dup, err := r.GroupDup(g)
			r.must(err)
			if dup.ID == g.ID || !slices.Equal(dup.Ranks, g.Ranks) || dup.Me != g.Me {
				r.wrong("duplicate %+v", dup)
			}
			r.gather(dup)
			r.must(r.GroupFree(g.ID)) // the duplicate outlives it
			r.gather(dup)
			r.must(r.GroupFree(dup.ID))
		} else {
			r.must(r.GroupFree(g.ID))
		}
		equal, err := r.GroupSplit(w, 0, 0) // equal keys: by rank
		r.must(err)
		if !slices.Equal(equal.Ranks, w.Ranks) {
			r.wrong("%v", equal.Ranks)
		}
		r.must(r.GroupFree(equal.ID))
	})
}

// When no communicator can be made the group fails on all members and leaves nothing behind.
func TestGroupWithoutComm(t *testing.T) {
	broken := errors.New("broken")
	worldOf(t, 2, func(c *transporttest.Cluster) {
		c.Fail = func(step string, rank int) error {
			if step == "comm" && rank == 0 {
				return broken
			}
			return nil
		}
	}, func(r *tr) {
		_, err := r.GroupCreate(r.group(World), []int32{1, 0})
		if r.Me == 1 {
			wantArg(r, "the other member", err, "group", CodeInternal,
				"a member could not")
		} else if !errors.Is(err, broken) {
			r.wrong("%v", err)
		}
		r.barrier()
		if n := r.c.Teams(); n != 0 {
			r.wrong("%d collective contexts are still in use", n)
		}
		wantArg(r, "its handle", r.GroupFree(1), "group", CodeArgument, fmt.Sprint(1))
	})
}

// When a member has no memory for the group it fails on all members and leaves nothing behind.
func TestGroupWithoutMemory(t *testing.T) {
	worldOf(t, 3, func(c *transporttest.Cluster) {
		c.Fail = func(step string, rank int) error {
			if step == "attach" && rank == 1 {
				return transport.ErrNoMemory
			}
			return nil
		}
	}, func(r *tr) {
		_, err := r.GroupCreate(r.group(World), []int32{2, 1, 0})
		why := "a member could not"
		if r.Me == 1 {
			why = transport.ErrNoMemory.Error()
		}
		wantArg(r, "a group", err, "group", CodeInternal, why)
		r.barrier()
		if n := r.c.Teams(); n != 0 {
			r.wrong("%d collective contexts are still in use", n)
		}
		if r.Me != 1 { // the others can make groups
			r.must(r.GroupFree(r.create(r.group(World), 2, 0).ID))
		}
	})
}

// Finalize releases the groups that the application has not freed.
func TestGroupsAtTheEnd(t *testing.T) {
	var cluster *transporttest.Cluster
	worldOf(t, 3, func(c *transporttest.Cluster) { cluster = c }, func(r *tr) {
		r.create(r.group(World), 2, 0)
		r.must(r.GroupFree(r.create(r.group(World), 1, 0).ID))
		r.create(r.group(World), 0, 1, 2)
	})
	if n := cluster.Teams(); n != 0 {
		t.Errorf("%d collective contexts are in use", n)
	}
}
