// SPDX-License-Identifier: BSD-3-Clause

// What core does for a transport with a lane: it tells which memory small transfers may touch, and waits where C has left
// a get to Go.
package core

import (
	"fmt"

	"libarmci/internal/transport"
)

// teach tells a lane of the memory that a small contiguous put or get has just been for: the next one will be, too.
func (r *Runtime) teach(o *Op) {
	x := &o.Xfer
	if o.Kind == Acc || !x.Known || x.Vector != nil || len(x.Count) != 1 || x.Count[0] > transport.LaneBytes {
		return
	}
	addr := x.Remote.Base
	if e, found := r.known.around(transport.Rank(o.Proc), addr); found {
		to := &r.routes[o.Proc]
		to.lane.Learn(to.peer, addr, e.lo, e.hi)
	}
}

// AwaitLane waits for a get from a rank that C has posted by the lane.
func (r *Runtime) AwaitLane(proc int) error {
	to := &r.routes[proc]
	if err := to.lane.Await(to.peer); err != nil {
		return fmt.Errorf("bytes from rank %d: %w", proc, err)
	}
	return nil
}
