// SPDX-License-Identifier: BSD-3-Clause

// Updates of any operator and type, and compare-and-swap, under the node's accumulate locks: where this process has mapped the
// memory by a kernel, in private memory of another rank on a copy, which is fetched and stored while the lock is held.
package shm

import (
	"bytes"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Update carries an update out.
func (d *Transport) Update(p transport.Peer, u *transport.Update) error {
	local := d.peers[p]
	if d.m.Mapped(local, u.Addr) {
		kernel.Update(d.stripes, u.Op, u.Type, kernel.Ptr(u.Addr), u.Data, u.Old, u.N)
		return nil
	}
	return d.updateForeign(local, u)
}

// mostCopied bounds the bytes for which a lock is held: others wait meanwhile.
const mostCopied = 8 << 10

// updateForeign does it piece by piece, by way of a copy.
func (d *Transport) updateForeign(local int, u *transport.Update) error {
	size := kernel.UpdateBytes(u.Type)
	var room [mostCopied]byte
	for at := 0; at < u.N; {
		addr := u.Addr + uintptr(at*size)
		n := min(u.N-at, elementsOfStripe(addr, size), mostCopied/size)
		piece := *u
		piece.Addr, piece.N, piece.Data, piece.Old = addr, n, forward(u.Data, at*size), forward(u.Old, at*size)
		if err := d.updateCopy(local, &piece, room[:n*size]); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// elementsOfStripe is how many elements in a row begin in the stripe of the first.
func elementsOfStripe(addr uintptr, size int) int {
	left := 1<<kernel.StripeShift - int(addr&(1<<kernel.StripeShift-1))
	return (left + size - 1) / size
}

func forward(p unsafe.Pointer, n int) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return unsafe.Add(p, n)
}

// hold takes the lock of an address of another process, which may be anything here: Go must not see it as a pointer.
func (d *Transport) hold(addr uintptr) unsafe.Pointer {
	return kernel.HoldStripe(d.stripes, kernel.Ptr(addr&(uintptr(d.stripes.Mask)<<kernel.StripeShift)))
}

// updateCopy updates elements that begin in one stripe.
func (d *Transport) updateCopy(local int, u *transport.Update, room []byte) error {
	defer kernel.DropStripe(d.hold(u.Addr))
	if err := d.m.ReadForeign(local, u.Addr, room); err != nil {
		return err
	}
	kernel.Update(kernel.Stripes{}, u.Op, u.Type, unsafe.Pointer(&room[0]), u.Data, u.Old, u.N)
	if u.Op == kernel.OpNoOp {
		return nil
	}
	return d.m.WriteForeign(local, u.Addr, room)
}

// CompareSwap carries a compare-and-swap out.
func (d *Transport) CompareSwap(p transport.Peer, c *transport.CompareSwap) error {
	local := d.peers[p]
	if d.m.Mapped(local, c.Addr) {
		kernel.CompareSwap(d.stripes, len(c.Compare), kernel.Ptr(c.Addr), unsafe.Pointer(&c.Compare[0]), unsafe.Pointer(&c.Value[0]),
			unsafe.Pointer(&c.Old[0]))
		return nil
	}
	return d.compareForeign(local, c)
}

func (d *Transport) compareForeign(local int, c *transport.CompareSwap) error {
	defer kernel.DropStripe(d.hold(c.Addr))
	if err := d.m.ReadForeign(local, c.Addr, c.Old); err != nil || !bytes.Equal(c.Old, c.Compare) {
		return err
	}
	return d.m.WriteForeign(local, c.Addr, c.Value)
}

var _ transport.Updater = (*Transport)(nil)
