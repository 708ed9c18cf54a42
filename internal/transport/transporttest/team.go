// SPDX-License-Identifier: BSD-3-Clause

// Teams and mutexes of a Cluster. Every collective is one exchange of byte strings among the
// members, so a member that calls another one than the rest is found out.
package transporttest

import (
	"fmt"
	"slices"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// teamState is what the members of a team share.
type teamState struct {
	members  int
	arrived  int
	phase    int
	calls    []string // what each member called, of the running phase
	bodies   [][]byte
	previous [][]byte // bodies of the phase before: members may still be reading them
}

func newTeamState(n int) *teamState {
	return &teamState{members: n, calls: make([]string, n), bodies: make([][]byte, n)}
}

// team is one member's hold.
type team struct {
	c        *Cluster
	state    *teamState
	context  int64
	me       int
	leader   *Node // whose machine's
	released bool
}

// AllocContext gives a number that is never given again, but no more than maxTeams at a time.
func (n *Node) AllocContext() (start transport.TeamStart, err error) {
	if err := n.c.injectedFault("team", n.rank); err != nil {
		return start, err
	}
	n.c.changeState(func() {
		if n.localNode(0).teamsInUse >= maxTeams {
			err = fmt.Errorf("%w: more than %d groups", transport.ErrNoMemory, maxTeams)
			return
		}
		n.c.lastContext++
		n.c.teams[n.c.lastContext] = nil // members make it, who know how many they are
		n.localNode(0).teamsInUse++
		start.Context = n.c.lastContext
	})
	return start, err
}

// AttachTeam joins a team.
func (n *Node) AttachTeam(start transport.TeamStart, members []int, me int) transport.Team {
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
	return t
}

// World is the team of all ranks of the machine.
func (n *Node) World() transport.Team {
	return &team{c: n.c, state: n.localNode(0).world, context: 0, me: n.Self()}
}

// Teams is the number of collective contexts in use.
func (c *Cluster) Teams() (count int) {
	c.changeState(func() { count = len(c.teams) })
	return count
}

// exchangeBodies gives every member the bodies of all. what must be the same at all.
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

func (t *team) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	b := unsafe.Slice((*byte)(buf), nbytes)
	all := t.exchangeBodies(fmt.Sprintf("Bcast of %d bytes from %d", nbytes, root), b)
	copy(b, all[root])
}

func (t *team) Allgather(mine []byte) []byte {
	if len(mine) == 0 || len(mine) > 256 {
		panic(fmt.Sprintf("Allgather of %d bytes", len(mine)))
	}
	return slices.Concat(t.exchangeBodies(fmt.Sprintf("Allgather of %d bytes", len(mine)),
		mine)...)
}

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

func (t *team) Release(last bool) {
	t.released = true
	if last {
		t.c.changeState(func() {
			delete(t.c.teams, t.context)
			t.leader.teamsInUse--
		})
	}
}

// MutexBytes is the size of a mutex.
func (n *Node) MutexBytes() int64 { return mutexBytes }

// RankMutex lies at the start of a rank's slice.
func (n *Node) RankMutex(local int) uintptr { return n.c.sliceBase(int(n.nodeRanks[local])) }

// Lock waits.
func (n *Node) Lock(m uintptr, who transport.Rank) {
	n.c.waitUntil(func() bool { return n.tryMutex(m, who) })
}

func (n *Node) tryMutex(m uintptr, who transport.Rank) bool {
	_, held := n.c.mutexes[m]
	if !held {
		n.c.mutexes[m] = who
	}
	return !held
}

// LockSoon does not wait at all here; who is in the queue has no better place in it than newcomers.
func (n *Node) LockSoon(m uintptr, who transport.Rank) (ticket uint32, got bool) {
	return 7, n.TryLock(m, who)
}

// LockQueued is Lock.
func (n *Node) LockQueued(m uintptr, who transport.Rank, ticket uint32) {
	if ticket != 7 {
		panic("a ticket that LockSoon has not given")
	}
	n.Lock(m, who)
}

// TryLock does not wait.
func (n *Node) TryLock(m uintptr, who transport.Rank) (got bool) {
	n.c.changeState(func() { got = n.tryMutex(m, who) })
	return got
}

// Unlock of a free mutex is a bug of the caller.
func (n *Node) Unlock(m uintptr) {
	n.c.changeState(func() {
		if _, held := n.c.mutexes[m]; !held {
			panic(fmt.Sprintf("rank %d unlocks %#x, which is free", n.rank, m))
		}
		delete(n.c.mutexes, m)
	})
}

// PassOn hands a mutex over. Nothing here tells whether ranks wait for it, so every other time it
// does not.
func (n *Node) PassOn(m uintptr, to transport.Rank) (done bool) {
	n.c.changeState(func() {
		if _, held := n.c.mutexes[m]; !held {
			panic(fmt.Sprintf("rank %d passes %#x on, which is free", n.rank, m))
		}
		if n.c.passOns++; n.c.passOns%2 == 0 {
			n.c.mutexes[m] = to
			done = true
		}
	})
	return done
}

// MutexOwner tells who holds it.
func (n *Node) MutexOwner(m uintptr) (who transport.Rank, held bool) {
	n.c.changeState(func() { who, held = n.c.mutexes[m] })
	return who, held
}
