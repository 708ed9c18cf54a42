// SPDX-License-Identifier: BSD-3-Clause

// Private memory of a Cluster's ranks: memory outside the arena that its owner exposes. All ranks
// are goroutines of one process, so everybody could touch it; Mapped says that only the owner can,
// and others must use ReadForeign and WriteForeign.
package transporttest

import (
	"fmt"
	"slices"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Expose keeps the piece in mind.
func (n *Node) Expose(addr uintptr, nbytes int64) error {
	if err := n.c.injectedFault("expose", n.rank); err != nil {
		return err
	}
	if nbytes > 0 {
		n.c.changeState(func() { n.exposed = append(n.exposed, extent{addr, nbytes}) })
	}
	return nil
}

// Conceal forgets one of these pieces.
func (n *Node) Conceal(addr uintptr, nbytes int64) (err error) {
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

// isExposed tells whether n bytes lie in what is exposed; pieces may overlap and adjoin. The caller
// has the lock.
func (n *Node) isExposed(addr uintptr, nbytes int64) bool {
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

// Mapped is true for a rank's own memory, and the arena.
func (n *Node) Mapped(local int, addr uintptr) bool {
	return n.localNode(local) == n || n.Inside(addr)
}

// ReadForeign copies memory that the rank owns.
func (n *Node) ReadForeign(local int, addr uintptr, into []byte) error {
	return n.copyForeign(local, addr, unsafe.Pointer(unsafe.SliceData(into)), kernel.Ptr(addr),
		len(into))
}

// WriteForeign copies to memory that the rank owns.
func (n *Node) WriteForeign(local int, addr uintptr, from []byte) error {
	return n.copyForeign(local, addr, kernel.Ptr(addr), unsafe.Pointer(unsafe.SliceData(from)),
		len(from))
}

func (n *Node) copyForeign(local int, addr uintptr, to, from unsafe.Pointer, nbytes int) error {
	if !n.Owns(local, addr, int64(nbytes)) {
		return fmt.Errorf("%w: %d bytes at %#x of local rank %d", transport.ErrBadAddr,
			nbytes, addr, local)
	}
	n.c.mu.Lock()
	n.foreignBytes += int64(nbytes)
	n.c.mu.Unlock()
	kernel.Copy(to, from, nbytes)
	return nil
}

// ForeignBytes is how many bytes went through ReadForeign and WriteForeign of this rank.
func (n *Node) ForeignBytes() int64 {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	return n.foreignBytes
}

// Mapped is about ranks of the view's node.
func (v View) Mapped(local int, addr uintptr) bool { return v.Node.Mapped(v.First+local, addr) }

// ReadForeign is about ranks of the view's node.
func (v View) ReadForeign(local int, addr uintptr, into []byte) error {
	return v.Node.ReadForeign(v.First+local, addr, into)
}

// WriteForeign is about ranks of the view's node.
func (v View) WriteForeign(local int, addr uintptr, from []byte) error {
	return v.Node.WriteForeign(v.First+local, addr, from)
}
