// SPDX-License-Identifier: BSD-3-Clause

// Updates: accumulates of any operator and type, fetching or not, and compare-and-swap.
package transport

import (
	"unsafe"

	"libarmci/internal/kernel"
)

// Update changes the elements of runs, one run after the other (kernel.UpdateRuns).
type Update struct {
	Op   kernel.UpdateOp
	Type kernel.UpdateType
	Runs []kernel.Segment // of the peer's memory; whole elements each
	Data unsafe.Pointer   // all elements, packed; nil for no-op
	Old  unsafe.Pointer   // where the elements before the update are stored; nil: nowhere
	// Done makes an update that fetches nonblocking: it is called once, from any goroutine,
	// when all of Old has been stored, perhaps before the call returns. It is not called if the
	// call fails, and must not call the transport. nil: the call blocks.
	Done func(error)
}

// Bytes is the number of bytes of all elements.
func (u *Update) Bytes() (n int64) {
	for i := range u.Runs {
		n += u.Runs[i].Bytes
	}
	return n
}

// Finish reports that all of Old has been stored.
func (u *Update) Finish(err error) {
	if u.Done != nil {
		u.Done(err)
	}
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
