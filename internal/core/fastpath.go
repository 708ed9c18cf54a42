// SPDX-License-Identifier: BSD-3-Clause

// What core does for the C fast path between nodes: it tells the transport which memory C may
// reach, and waits for requests that C has left to Go.
package core

import "libarmci/internal/transport"

// maxSpans bounds the spans of memory that one operation makes known to C.
const maxSpans = 8

// addFastRange makes the memory of an operation known to the C fast path: the next one often goes
// there, too.
func (r *Runtime) addFastRange(o *Op) {
	if x := &o.Xfer; !o.remoteKnown || x.Bytes() > transport.FastMost {
		return
	}
	if o.Kind == Acc {
		r.regionManager.allowFastRequests(o.Proc, o.Xfer.Remote.Base)
		return
	}
	use := o.remoteExtent
	if v := o.Xfer.Vector; v != nil {
		if len(v) != 1 || len(v[0].Remote) == 0 {
			return
		}
		first, last := v[0].Remote[0], v[0].Remote[len(v[0].Remote)-1]
		use = extent{min(first, last), max(first, last) + uintptr(v[0].Bytes)}
	}
	e, found := r.regionManager.remote.findExtent(transport.Rank(o.Proc), use.lo)
	if !found || use.hi > e.hi {
		return
	}
	to := r.route(transport.Rank(o.Proc))
	for addr, n := use.lo, 0; addr < use.hi && n < maxSpans; n++ {
		to.fast.AddRange(to.peer, addr, e.lo, e.hi)
		addr = addr&^(transport.FastSpan-1) + transport.FastSpan
	}
	to.fast.AddRange(to.peer, use.hi-1, e.lo, e.hi) // where another registration may be
}

// allowFastRequests allows C to send requests to the data server of a rank: for accumulates around
// an address, if there is an allocation, and for locks and read-modify-writes.
func (rm *regionManager) allowFastRequests(proc int, addr uintptr) {
	to := rm.rt.route(transport.Rank(proc))
	if e, found := rm.remote.findExtent(transport.Rank(proc), addr); found &&
		to.fast != nil {
		to.fast.AddSpan(to.peer, addr, e.lo, e.hi)
	}
}

// AddRange makes memory of a rank known to the C fast path, around an address at which something
// has been stored. The caller knows that it is valid, and does not give C addresses outside it.
func (rm *regionManager) AddRange(proc int, addr, lo, hi uintptr) {
	if to := rm.rt.route(transport.Rank(proc)); to.fast != nil {
		to.fast.AddRange(to.peer, addr, lo, hi)
	}
}

// waitFastRequest completes a request that C has posted.
func (to *iface) waitFastRequest(number int32) error {
	if to.fast == nil {
		return nil
	}
	return to.fast.WaitRequest(number)
}

// testFastRequest tells whether a request that C has posted is over, and completes it then.
func (to *iface) testFastRequest(number int32) (over bool, err error) {
	if to.fast == nil {
		return true, nil
	}
	return to.fast.TestRequest(number)
}
