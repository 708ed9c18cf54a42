// SPDX-License-Identifier: BSD-3-Clause

// Updates: accumulates of any operator and type, and compare-and-swap, in memory of the node.
// Between nodes they are active messages of core, so transports between nodes do not implement
// them.
package transport

import (
	"unsafe"

	"libarmci/internal/kernel"
)

// Update changes the elements of runs, one run after the other (kernel.UpdateRuns).
type Update struct {
	Op   kernel.UpdateOp
	Type kernel.UpdateType
	Runs []kernel.Segment
	Data unsafe.Pointer // all elements, packed; nil for no-op
	Old  unsafe.Pointer // where the elements before the update are stored; nil: nowhere
}

// CompareSwap stores Value at Addr if the bytes there equal those of Compare. The three have the
// same length, MaxCompare at most.
type CompareSwap struct {
	Addr           uintptr
	Compare, Value []byte
	Old            []byte // out: the bytes at Addr before the operation
}

// MaxCompare is the most bytes of a compare-and-swap.
const MaxCompare = 32

// Updater is a Transport within a node that carries out updates in memory of any of the node's
// ranks, whether this process has mapped it or not. Updates are complete when the call returns, and
// atomic for each element with respect to each other and to Acc. The caller has checked addresses,
// types and lengths. Both methods are safe for concurrent use.
type Updater interface {
	// Update applies u to memory of p.
	Update(p Peer, u *Update) error
	// CompareSwap carries out c in memory of p.
	CompareSwap(p Peer, c *CompareSwap) error
}
