// SPDX-License-Identifier: BSD-3-Clause

// Private memory of a Cluster's ranks: memory outside the arena that its owner exposes. All ranks
// are goroutines of one process, so all could access it. MappedHere says that only the owner can:
// others must use ReadForeign and WriteForeign.
package transporttest

import (
	"fmt"
	"slices"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Expose records the piece for InRegionOf.
func (n *nodeMemory) Expose(addr uintptr, nbytes int64) error {
	if err := n.c.injectedFault("expose", n.rank); err != nil {
		return err
	}
	if nbytes > 0 {
		n.c.changeState(func() { n.exposed = append(n.exposed, extent{addr, nbytes}) })
	}
	return nil
}

// Conceal removes one piece of Expose.
func (n *nodeMemory) Conceal(addr uintptr, nbytes int64) (err error) {
	if nbytes == 0 {
		return nil
	}
	n.c.changeState(func() {
		i := slices.Index(n.exposed, extent{addr, nbytes})
		if i < 0 {
			err = transport.ErrBadAddr
			return
		}
		n.exposed = slices.Delete(n.exposed, i, i+1)
	})
	return err
}

// isExposed tells whether all bytes are exposed. Pieces may overlap and adjoin. The caller holds
// the cluster's lock.
func (n *nodeMemory) isExposed(addr uintptr, nbytes int64) bool {
	for at, end := addr, addr+uintptr(nbytes); nbytes >= 0; {
		i := slices.IndexFunc(n.exposed, func(e extent) bool {
			return at >= e.addr && at < e.addr+uintptr(e.nbytes)
		})
		if i < 0 {
			return false
		}
		if at = n.exposed[i].addr + uintptr(n.exposed[i].nbytes); at >= end {
			return true
		}
	}
	return false
}

// MappedHere is true for this rank's own memory, and for the arena.
func (n *nodeMemory) MappedHere(local int, addr uintptr) bool {
	return n.localNode(local).rank == n.rank || n.InArena(addr)
}

// ReadForeign copies memory of a rank to into.
func (n *nodeMemory) ReadForeign(local int, addr uintptr, into []byte) error {
	return n.copyForeign(local, addr, unsafe.Pointer(unsafe.SliceData(into)), kernel.Ptr(addr),
		len(into))
}

// WriteForeign copies from to memory of a rank.
func (n *nodeMemory) WriteForeign(local int, addr uintptr, from []byte) error {
	return n.copyForeign(local, addr, kernel.Ptr(addr), unsafe.Pointer(unsafe.SliceData(from)),
		len(from))
}

// copyForeign copies nbytes, and counts them. It fails unless the rank owns the memory at addr.
func (n *nodeMemory) copyForeign(local int, addr uintptr, to, from unsafe.Pointer,
	nbytes int) error {
	if !n.InRegionOf(local, addr, int64(nbytes)) {
		return fmt.Errorf("%w: %d bytes at %#x of local rank %d", transport.ErrBadAddr,
			nbytes, addr, local)
	}
	n.c.mu.Lock()
	n.foreignBytes += int64(nbytes)
	n.c.mu.Unlock()
	kernel.Copy(to, from, nbytes)
	return nil
}

// ForeignBytes is the number of bytes that ReadForeign and WriteForeign of this rank have copied.
func (n *nodeMemory) ForeignBytes() int64 {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	return n.foreignBytes
}

// MappedHere is Node.MappedHere, with local numbers of the view.
func (v View) MappedHere(local int, addr uintptr) bool {
	return v.Node.MappedHere(v.First+local, addr)
}

// ReadForeign is Node.ReadForeign, with local numbers of the view.
func (v View) ReadForeign(local int, addr uintptr, into []byte) error {
	return v.Node.ReadForeign(v.First+local, addr, into)
}

// WriteForeign is Node.WriteForeign, with local numbers of the view.
func (v View) WriteForeign(local int, addr uintptr, from []byte) error {
	return v.Node.WriteForeign(v.First+local, addr, from)
}
