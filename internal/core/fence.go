// SPDX-License-Identifier: BSD-3-Clause

// Ordering and completion. Two blocking stores of one rank to the same target arrive in order; nonblocking ones have
// no order until they were waited for. After a fence to a rank all earlier stores to it are visible to everyone.
package core

import "libarmci/internal/transport"

// Fence completes, at the target, everything this rank has stored at proc. Not collective.
func (r *Runtime) Fence(proc int) error {
	if err := r.checkRank("proc", proc); err != nil {
		return err
	}
	if err := r.WaitProc(proc); err != nil {
		return err
	}
	to := &r.routes[proc]
	return to.tr.Fence(to.peer)
}

// AllFence is Fence for every rank. Ranks reached by an immediate transport need one fence in all.
func (r *Runtime) AllFence() error {
	err := r.WaitAll()
	var fenced transport.Transport
	for i := range r.routes {
		to := &r.routes[i]
		if to.immediate && to.tr == fenced {
			continue
		}
		fenced = to.tr
		if e := to.tr.Fence(to.peer); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// GroupFence is Fence for the members of a group.
func (r *Runtime) GroupFence(g *Group) error {
	for _, w := range g.Ranks {
		if err := r.Fence(int(w)); err != nil {
			return err
		}
	}
	return nil
}
