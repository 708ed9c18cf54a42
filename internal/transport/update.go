// SPDX-License-Identifier: BSD-3-Clause

// Updates: accumulates of any operator and type, and compare-and-swap, in memory of the node.
// Between nodes they are messages of core, so a transport between nodes knows nothing of them.
package transport

import (
	"unsafe"

	"libarmci/internal/kernel"
)

// Update changes the elements of runs, one run after the other (kernel.UpdateRuns).
type Update struct {
	Op   kernel.UpdateOp
	Type kernel.UpdateType
	Runs []kernel.UpdateRun
	Data unsafe.Pointer // all elements, packed; nil for no-op
	Old  unsafe.Pointer // room for what was there before; nil: the caller does not want it
}

// CompareSwap stores Value at Addr if the bytes there equal those of Compare. The three have the
// same length, MaxCompare at most.
type CompareSwap struct {
	Addr           uintptr
	Compare, Value []byte
	Old            []byte // gets what was there
}

// MaxCompare is the most bytes of a compare-and-swap.
const MaxCompare = 32

// Updater is the transport of a node, for updates in memory of any rank of it, at once, whether
// this process has mapped it or not. They are atomic for each element with respect to each other
// and to Acc. The caller has checked everything.
type Updater interface {
	Update(p Peer, u *Update) error
	CompareSwap(p Peer, c *CompareSwap) error
}
