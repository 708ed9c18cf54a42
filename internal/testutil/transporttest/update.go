// SPDX-License-Identifier: BSD-3-Clause

// Updates of a Fake. They are complete at return, because all memory of a Cluster belongs to one
// process, and use the locks of its accumulates.
package transporttest

import (
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// accumulateLines are the accumulate locks of all nets, because a Net between nodes and one within
// a node change the same memory.
var accumulateLines [64 * 16]uint32

// accumulateLocks are the locks as this end takes them.
func (f *Fake) accumulateLocks() kernel.Stripes {
	return kernel.Stripes{Word: unsafe.Pointer(&accumulateLines[0]), Mask: 63, PitchWords: 16,
		Owner: uint32(f.self + 1)}
}

// Update carries out an update.
func (f *Fake) Update(_ transport.Peer, u *transport.Update) error {
	f.net.changeState(func() { f.net.operationCounts["update"]++ })
	kernel.UpdateRuns(f.accumulateLocks(), u.Op, u.Type, u.Runs, u.Data, u.Old)
	return nil
}

// CompareSwap carries out a compare-and-swap.
func (f *Fake) CompareSwap(_ transport.Peer, c *transport.CompareSwap) error {
	kernel.CompareSwap(f.accumulateLocks(), len(c.Compare), kernel.Ptr(c.Addr),
		unsafe.Pointer(&c.Compare[0]), unsafe.Pointer(&c.Value[0]),
		unsafe.Pointer(&c.Old[0]))
	return nil
}

var _ transport.Updater = (*Fake)(nil)
