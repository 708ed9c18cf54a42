// SPDX-License-Identifier: BSD-3-Clause

// Ordering and completion. Two blocking stores of one rank to the same target arrive in order;
// nonblocking ones have no order until they were waited for. After a fence to a rank all earlier
// stores to it are visible to everyone.
package core

import "libarmci/internal/transport"

// Fence waits until everything that this rank has stored at proc has taken effect there. Not
// collective.
func (r *Runtime) Fence(proc int) error {
	if err := r.WaitProc(proc); err != nil {
		return err
	}
	to, t := r.route(transport.Rank(proc)), &r.traffic[proc]
	if t.isClean() && !to.immediate {
		return nil
	}
	upTo := t.Posted.Load()
	err := to.tr.Fence(r.peers[to.peer : to.peer+1]...)
	t.markFenced(upTo) // also after an error, which is reported once
	return err
}

// fencePosted fences those of the ranks at which stores are outstanding, by one call of each
// transport. It returns the first error.
func (gs *groups) fencePosted(ranks []transport.Rank) (first error) {
	for _, tr := range gs.rt.transports {
		if err := gs.fencePostedBy(tr, ranks); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// fencePostedBy is fencePosted for those of the ranks that one transport reaches.
func (gs *groups) fencePostedBy(tr transport.Transport, ranks []transport.Rank) error {
	type mark struct {
		t    *Traffic
		upTo uint32
	}
	var peers []transport.Peer
	var marks []mark
	for _, rank := range ranks {
		to, t := gs.rt.route(rank), &gs.rt.traffic[rank]
		switch {
		case to.tr != tr:
			continue
		case to.immediate:
			// also orders this rank's stores at other ranks of the node
			return tr.Fence(to.peer)
		case !t.isClean():
			peers = append(peers, to.peer)
			marks = append(marks, mark{t, t.Posted.Load()})
		}
	}
	if peers == nil {
		return nil
	}
	err := tr.Fence(peers...)
	for _, m := range marks { // also after an error, which is reported once
		m.t.markFenced(m.upTo)
	}
	return err
}

// AllFence is Fence for every rank; all nodes are asked before the first is waited for.
func (gs *groups) AllFence() error {
	err := gs.rt.WaitAll()
	all := gs.rt.traffic.total()
	upTo := all.Posted.Load()
	if e := gs.fencePosted(gs.world.Ranks); e != nil && err == nil {
		err = e
	}
	all.markFenced(upTo)
	return err
}

// GroupFence is Fence for the members of a group.
func (gs *groups) GroupFence(g *Group) error {
	var first error
	for _, w := range g.Ranks {
		if err := gs.rt.WaitProc(int(w)); err != nil && first == nil {
			first = err
		}
	}
	if err := gs.rt.groups.fencePosted(g.Ranks); err != nil && first == nil {
		first = err
	}
	return first
}

// fenceForMessage ensures that the next message to proc is handled behind everything that this rank
// has stored there.
func (r *Runtime) fenceForMessage(proc int) error {
	if to := r.route(transport.Rank(proc)); to.ordered && !to.immediate {
		return r.WaitProc(proc)
	}
	return r.Fence(proc)
}
