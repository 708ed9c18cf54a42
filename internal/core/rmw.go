// SPDX-License-Identifier: BSD-3-Clause

// Atomic read-modify-write of one word: atomic with respect to every other one on the word, from
// any rank.
package core

import (
	"errors"
	"fmt"

	"libarmci/internal/transport"
)

// RMWCode decodes ARMCI_Rmw's op in either numbering (10..13, or ARMCI-MPI's 0..3).
func RMWCode(op int) (transport.RMWOp, int, bool) {
	switch op {
	case 10, 2:
		return transport.Swap, 4, true
	case 11, 3:
		return transport.Swap, 8, true
	case 12, 0:
		return transport.FetchAdd, 4, true
	case 13, 1:
		return transport.FetchAdd, 8, true
	}
	return 0, 0, false
}

// RMW checks and executes a read-modify-write at proc. The old value is in x.Old.
func (r *Runtime) RMW(proc int, x *transport.RMW) error {
	if err := r.checkRank("proc", proc); err != nil {
		return err
	}
	if x.Addr%uintptr(x.Bytes) != 0 {
		return argErr(CodeOp, "prem", "%#x is not aligned to %d bytes", x.Addr, x.Bytes)
	}
	if _, err := r.checkRemote("prem", proc, x.Addr, int64(x.Bytes)); err != nil {
		return err
	}
	r.coalescing.postCoalesced(proc)
	to := r.route(transport.Rank(proc))
	tr, peer := to.tr, to.peer
	if r.deviceAtomics != nil && x.Bytes == 8 && r.Topo.SameNode(transport.Rank(proc)) {
		if _, n := r.Memory.Declared(x.Addr); n > 0 {
			tr, peer = r.deviceAtomics, transport.Peer(proc)
		}
	}
	if err := tr.RMW(peer, x); errors.Is(err, transport.ErrBadAddr) {
		return argErr(CodeAddress, "prem", "%v", err)
	} else if err != nil {
		return fmt.Errorf("read-modify-write at rank %d: %w", proc, err)
	}
	if x.Posted && !to.immediate {
		r.traffic.countPosted(proc)
	}
	return nil
}
