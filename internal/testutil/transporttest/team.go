// SPDX-License-Identifier: BSD-3-Clause

// Teams of a Cluster. Every collective is one exchange of byte strings among the members, so a
// member that calls another one than the rest is detected.
package transporttest

import (
	"fmt"
	"slices"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// teamState is the state that the members of a team share. The cluster's lock guards it.
type teamState struct {
	members  int
	arrived  int
	phase    int
	calls    []string // by member: the collective of this phase, with its arguments
	bodies   [][]byte
	previous [][]byte // bodies of the phase before: members may still be reading them
}

func newTeamState(n int) *teamState {
	return &teamState{members: n, calls: make([]string, n), bodies: make([][]byte, n)}
}

// nodeTeams implements transport.Teams. The cluster's lock guards its fields, which only those of a
// node's leader use.
type nodeTeams struct {
	*member
	teamsInUse int
	world      *teamState
}

// team is a Team: one member's view.
type team struct {
	c        *Cluster
	state    *teamState
	context  int64
	me       int
	leader   *Node // of the node that the team is on
	released bool
}

// AllocContext returns a new number, but fails while maxTeams are in use.
func (n *nodeTeams) AllocContext() (start transport.TeamStart, err error) {
	if err := n.c.injectedFault("team", n.rank); err != nil {
		return start, err
	}
	n.c.changeState(func() {
		if n.localNode(0).teamsInUse >= maxTeams {
			err = fmt.Errorf("%w: more than %d groups", transport.ErrNoMemory, maxTeams)
			return
		}
		n.c.lastContext++
		n.c.teams[n.c.lastContext] = nil // the first member makes it
		n.localNode(0).teamsInUse++
		start.Context = n.c.lastContext
	})
	return start, err
}

// AttachTeam joins a team. It panics if its arguments contradict those of other members.
func (n *nodeTeams) AttachTeam(start transport.TeamStart, members []int, me int) (transport.Team,
	error) {
	t := &team{c: n.c, context: start.Context, me: me, leader: n.localNode(0)}
	n.c.changeState(func() {
		s, claimed := n.c.teams[start.Context]
		switch {
		case !claimed:
			panic(fmt.Sprintf("rank %d joins team %d, which nobody claimed", n.rank,
				start.Context))
		case members[me] != n.Self():
			panic(fmt.Sprintf("rank %d joins as member %d of %v", n.rank, me, members))
		case s == nil:
			s = newTeamState(len(members))
			n.c.teams[start.Context] = s
		case s.members != len(members):
			panic(fmt.Sprintf("team %d has %d members, rank %d thinks %d",
				start.Context, s.members, n.rank, len(members)))
		}
		t.state = s
	})
	return t, n.c.injectedFault("attach", n.rank)
}

// World is the team of all ranks of the node.
func (n *nodeTeams) World() transport.Team {
	return &team{c: n.c, state: n.localNode(0).world, context: 0, me: n.Self()}
}

// Teams is the number of collective contexts in use.
func (c *Cluster) Teams() (count int) {
	c.changeState(func() { count = len(c.teams) })
	return count
}

// exchangeBodies blocks until all members have called it, and returns their bodies. what must be
// the same at all members. The result is valid until the next call.
func (t *team) exchangeBodies(what string, body []byte) (all [][]byte) {
	if t.released {
		panic("a team is used after its release")
	}
	var mine int
	t.c.changeState(func() {
		s := t.state
		mine = s.phase
		s.calls[t.me], s.bodies[t.me] = what, slices.Clone(body)
		if s.arrived++; s.arrived < s.members {
			return
		}
		for i, c := range s.calls {
			if c != what {
				panic(fmt.Sprintf("member %d calls %s, member %d calls %s", t.me,
					what, i, c))
			}
		}
		s.previous, s.bodies, s.arrived = s.bodies, make([][]byte, s.members), 0
		s.phase++
	})
	t.c.waitUntil(func() bool {
		if t.state.phase != mine {
			all = t.state.previous
		}
		return t.state.phase != mine
	})
	return all
}

func (t *team) Size() int               { return t.state.members }
func (t *team) Rank() int               { return t.me }
func (t *team) Pointer() unsafe.Pointer { return nil }
func (t *team) Barrier()                { t.exchangeBodies("Barrier", nil) }

// Bcast exchanges the buffers of all members and copies that of root.
func (t *team) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	b := unsafe.Slice((*byte)(buf), nbytes)
	all := t.exchangeBodies(fmt.Sprintf("Bcast of %d bytes from %d", nbytes, root), b)
	copy(b, all[root])
}

// Allgather concatenates the slices of all members.
func (t *team) Allgather(mine []byte) []byte {
	if len(mine) == 0 || len(mine) > 256 {
		panic(fmt.Sprintf("Allgather of %d bytes", len(mine)))
	}
	return slices.Concat(t.exchangeBodies(fmt.Sprintf("Allgather of %d bytes", len(mine)),
		mine)...)
}

// Allreduce combines the members' elements in team order, at every member.
func (t *team) Allreduce(x unsafe.Pointer, nelem int64, typ, red int) {
	nbytes := nelem * int64(kernel.TypeSize(kernel.Type(typ)))
	b := unsafe.Slice((*byte)(x), nbytes)
	all := t.exchangeBodies(fmt.Sprintf("Allreduce %d of %d elements of type %d", red, nelem,
		typ), b)
	copy(b, all[0])
	for _, other := range all[1:] {
		kernel.Reduce(kernel.Reduction(red), kernel.Type(typ), x,
			unsafe.Pointer(unsafe.SliceData(other)), int(nelem))
	}
	kernel.ReduceFinish(kernel.Reduction(red), kernel.Type(typ), x, int(nelem))
}

// Release makes the team unusable for this member.
func (t *team) Release(last bool) {
	t.released = true
	if last {
		t.c.changeState(func() {
			delete(t.c.teams, t.context)
			t.leader.teamsInUse--
		})
	}
}
