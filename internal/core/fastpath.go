// SPDX-License-Identifier: BSD-3-Clause

// What core does for the C fast path between nodes: it tells the transport which memory C may
// reach, and waits for a get that C has left to Go.
package core

import (
	"fmt"

	"libarmci/internal/transport"
)

// addRange makes the memory of a small contiguous put or get known to the C fast path: the next one
// often goes there, too.
func (r *Runtime) addRange(o *Op) {
	x := &o.Xfer
	if o.Kind == Acc || !o.known || x.Vector != nil || len(x.Count) != 1 || x.Count[0] > transport.FastBytes {
		return
	}
	addr := x.Remote.Base
	if e, found := r.remote.find(transport.Rank(o.Proc), addr); found {
		to := r.route(transport.Rank(o.Proc))
		to.fast.AddRange(to.peer, addr, e.lo, e.hi)
	}
}

// AddRange makes memory of a rank known to the C fast path, around an address at which something
// has been stored. The caller knows that it is valid, and does not give C addresses outside it.
func (r *Runtime) AddRange(proc int, addr, lo, hi uintptr) {
	if to := r.route(transport.Rank(proc)); to.fast != nil {
		to.fast.AddRange(to.peer, addr, lo, hi)
	}
}

// WaitGet waits for a get that the C fast path has posted and left to Go.
func (r *Runtime) WaitGet(proc int) error {
	to := r.route(transport.Rank(proc))
	if err := to.fast.WaitGet(to.peer); err != nil {
		return fmt.Errorf("bytes from rank %d: %w", proc, err)
	}
	return nil
}
