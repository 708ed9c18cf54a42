// SPDX-License-Identifier: BSD-3-Clause

// What core does for the C fast path between nodes: it tells the transport which memory C may
// reach, and waits for requests that C has left to Go.
package core

import "libarmci/internal/transport"

// mostFast is the longest transfer of which C is told.
const mostFast = 16 << 20

// addRange makes the memory of a put or get known to the C fast path: the next one often
// goes there, too.
func (r *Runtime) addRange(o *Op) {
	x := &o.Xfer
	if o.Kind == Acc || !o.known || x.Bytes() > mostFast {
		return
	}
	addr := x.Remote.Base
	if x.Vector != nil {
		if len(x.Vector) != 1 || len(x.Vector[0].Remote) == 0 {
			return
		}
		addr = x.Vector[0].Remote[0]
	}
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

// waitFast completes a request of C's, which has posted it.
func (r *Runtime) waitFast(number int32) error {
	if r.beyond.fast == nil {
		return nil
	}
	return r.beyond.fast.WaitRequest(number)
}

// testFast tells whether a request of C's is over, and completes it then.
func (r *Runtime) testFast(number int32) (over bool, err error) {
	if r.beyond.fast == nil {
		return true, nil
	}
	return r.beyond.fast.TestRequest(number)
}
