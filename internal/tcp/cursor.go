// SPDX-License-Identifier: BSD-3-Clause

// A position in the local side of a transfer, which it shows as a stream of bytes: what a connection carries. The shape
// itself is walked by package kernel.
package tcp

import (
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// cursor is a position between two bytes of the local memory of a transfer.
type cursor struct {
	addr uintptr // of the current piece: contiguous memory
	left int     // bytes of it

	fresh         bool // strided: the first piece has not been looked for
	base          uintptr
	stride, count []int32 // strided: as in Xfer; nil if nothing is left but the current piece
	batch         []kernel.Run
	at, next      int // place in batch; number of the first run behind it

	list []transport.Segments // vector: what is left, from element number elem of the first one
	elem int
}

const batchRuns = 256

// begin goes to the first byte. There must be one.
func (c *cursor) begin(x *transport.Xfer) {
	c.stride, c.count, c.list, c.elem, c.left, c.fresh = nil, nil, x.Vector, 0, 0, false
	switch {
	case x.Vector != nil:
		c.step()
	case len(x.Count) == 1:
		c.addr, c.left = x.Local.Base, int(x.Count[0])
	default:
		c.base, c.stride, c.count, c.fresh = x.Local.Base, x.Local.Stride, x.Count, true
		c.batch, c.at, c.next = c.batch[:0], 0, 0
	}
}

// row is the length of the current piece, or what is left of it.
func (c *cursor) row() int {
	if c.fresh {
		c.fresh = false
		c.step()
	}
	return c.left
}

// bytes goes to the first byte of plain memory, which the caller keeps.
func (c *cursor) bytes(b []byte) {
	c.stride, c.count, c.list, c.fresh = nil, nil, nil, false
	c.addr, c.left = uintptr(unsafe.Pointer(unsafe.SliceData(b))), len(b)
}

// step goes to the next piece; left stays 0 behind the last one.
func (c *cursor) step() {
	if c.count != nil {
		c.stepRun()
		return
	}
	for len(c.list) > 0 {
		s := &c.list[0]
		if c.elem < len(s.Local) && s.Bytes > 0 {
			c.addr, c.left = s.Local[c.elem], s.Bytes
			c.elem++
			return
		}
		c.list, c.elem = c.list[1:], 0
	}
}

func (c *cursor) stepRun() {
	if c.at == len(c.batch) {
		if c.batch == nil {
			c.batch = make([]kernel.Run, 0, batchRuns)
		}
		n := 0
		if c.at == batchRuns || c.next == 0 {
			n = kernel.Runs(c.stride, c.count, c.next, c.batch[:batchRuns])
		}
		c.batch, c.at, c.next = c.batch[:n], 0, c.next+n
		if n == 0 {
			c.count = nil
			return
		}
	}
	r := &c.batch[c.at]
	c.addr, c.left = c.base+uintptr(r.Off), int(r.Len)
	c.at++
}

// skip goes n bytes on.
func (c *cursor) skip(n int) {
	for n > 0 {
		k := min(n, c.row())
		c.addr += uintptr(k)
		c.left -= k
		n -= k
		if c.left == 0 {
			c.step()
		}
	}
}

func memory(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }

// gather fills b with what comes next.
func (c *cursor) gather(b []byte) {
	if c.whole(b) {
		kernel.Pack(kernel.Ptr(c.base), c.stride, c.count, unsafe.Pointer(unsafe.SliceData(b)))
		return
	}
	for len(b) > 0 {
		if some := c.segments(b); some != nil {
			n := len(some) * c.left
			kernel.PackVector(some, c.left, b[:n])
			b = b[n:]
			c.pass(len(some))
			continue
		}
		n := min(c.row(), len(b))
		copy(b, memory(c.addr, n))
		b = b[n:]
		c.skip(n)
	}
}

// scatter stores b at what comes next.
func (c *cursor) scatter(b []byte) {
	if c.whole(b) {
		kernel.Unpack(kernel.Ptr(c.base), c.stride, c.count, unsafe.Pointer(unsafe.SliceData(b)))
		return
	}
	for len(b) > 0 {
		if some := c.segments(b); some != nil {
			n := len(some) * c.left
			kernel.UnpackVector(some, c.left, b[:n])
			b = b[n:]
			c.pass(len(some))
			continue
		}
		n := min(c.row(), len(b))
		copy(memory(c.addr, n), b)
		b = b[n:]
		c.skip(n)
	}
}

// whole tells that b is all bytes of a shape, and that is then behind the cursor.
func (c *cursor) whole(b []byte) bool {
	if !c.fresh || int64(len(b)) != kernel.Volume(c.count) {
		return false
	}
	c.fresh = false
	return true
}

// segments are the addresses of whole segments that b covers, if they are worth a call.
func (c *cursor) segments(b []byte) []uintptr {
	if len(c.list) == 0 || c.left != c.list[0].Bytes || len(b) < 4*c.left || c.left > 1024 {
		return nil
	}
	all := c.list[0].Local[c.elem-1:]
	return all[:min(len(all), len(b)/c.left)]
}

// pass goes n segments on.
func (c *cursor) pass(n int) {
	c.elem += n - 1
	c.left = 0
	c.step()
}

// ahead is the piece that is i places further on, without going there; no bytes if it is too far to see.
func (c *cursor) ahead(i int) (addr uintptr, nbytes int) {
	switch {
	case i == 0:
		n := c.row()
		return c.addr, n
	case c.count != nil && c.at+i-1 < len(c.batch):
		r := &c.batch[c.at+i-1]
		return c.base + uintptr(r.Off), int(r.Len)
	case len(c.list) > 0 && c.elem+i-1 < len(c.list[0].Local):
		return c.list[0].Local[c.elem+i-1], c.list[0].Bytes
	}
	return 0, 0
}

// pieces lists what comes next, up to nbytes bytes and cap(iov) pieces, as far as it can be seen.
func (c *cursor) pieces(iov []unix.Iovec, nbytes int64) []unix.Iovec {
	for i := 0; len(iov) < cap(iov) && nbytes > 0; i++ {
		addr, n := c.ahead(i)
		if n == 0 {
			break
		}
		n = int(min(int64(n), nbytes))
		iov = append(iov, unix.Iovec{Base: (*byte)(kernel.Ptr(addr)), Len: uint64(n)})
		nbytes -= int64(n)
	}
	return iov
}
