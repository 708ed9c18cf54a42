// SPDX-License-Identifier: BSD-3-Clause

// What memory of other ranks this process can load and store: that in the arena.
package shm

import (
	"fmt"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Mapped tells whether this process can load and store at an address of a rank.
func (m *Node) Mapped(local int, addr uintptr) bool { return local == m.opt.Self || m.Inside(addr) }

// ReadForeign copies memory of a rank of the node to `into`.
func (m *Node) ReadForeign(local int, addr uintptr, into []byte) error {
	if !m.Mapped(local, addr) {
		return fmt.Errorf("%w: %#x of rank %d", transport.ErrBadAddr, addr, m.opt.Ranks[local])
	}
	kernel.Copy(unsafe.Pointer(unsafe.SliceData(into)), kernel.Ptr(addr), len(into))
	return nil
}

// WriteForeign copies `from` to memory of a rank.
func (m *Node) WriteForeign(local int, addr uintptr, from []byte) error {
	if !m.Mapped(local, addr) {
		return fmt.Errorf("%w: %#x of rank %d", transport.ErrBadAddr, addr, m.opt.Ranks[local])
	}
	kernel.Copy(kernel.Ptr(addr), unsafe.Pointer(unsafe.SliceData(from)), len(from))
	return nil
}
