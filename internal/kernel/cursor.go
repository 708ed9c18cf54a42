// cursor.go: a position in the memory of a transfer, from which on bytes are packed and unpacked.
// The walking is done in C (cursor.h); this file goes from one group of a list to the next. It must
// not ask whose memory it is.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

/*
#include "cursor.h"

#cgo noescape k_cursor_strided
#cgo nocallback k_cursor_strided
#cgo noescape k_cursor_pack
#cgo nocallback k_cursor_pack
#cgo noescape k_cursor_unpack
#cgo nocallback k_cursor_unpack
#cgo noescape k_cursor_skip
#cgo nocallback k_cursor_skip
*/
import "C"

import "unsafe"

// Group is segments of Bytes bytes each: at Addrs or, if that is nil, Count of them from Addr on at
// distances of Step.
type Group struct {
	Addr         uintptr
	Step         int64
	Count, Bytes int
	Addrs        []uintptr
}

// position is struct k_cursor.
type position struct {
	addr                 uintptr
	left, row, off       int64
	levels               int64
	count, step, already [MaxLevels]int64
}

// What C reads and writes is as large there as here.
var _ [unsafe.Sizeof(position{})]byte = [C.sizeof_struct_k_cursor]byte{}

// Cursor walks one side of a transfer: contiguous, strided, or a list of segments. A copy of it is
// a second cursor. The zero value is one of nothing.
type Cursor struct {
	pos    position  // of the whole memory, or of the group at the cursor
	addrs  []uintptr // the list of that group, if it has one
	groups []Group   // all of them
	next   int       // which of them is next
	after  int64     // bytes of those
	part   shapePart // what Next found
}

// SetContiguous begins n bytes at addr.
func (c *Cursor) SetContiguous(addr uintptr, n int64) {
	c.addrs, c.groups, c.after = nil, nil, 0
	c.setPos(addr, n, 1, 0)
}

// SetStrided begins a shape, of which len(count)-1 strides are used. What touches becomes one row.
func (c *Cursor) SetStrided(base uintptr, count, stride []int32) {
	if len(count) <= 2 { // the usual case, without the way into C
		c.setRows(base, count, stride)
		return
	}
	c.addrs, c.groups, c.after = nil, nil, 0
	stride = stride[:len(count)-1]
	C.k_cursor_strided(c.state(), C.uintptr_t(base), ints(stride), ints(count), levels(count))
}

// setRows is SetStrided of one level at most.
func (c *Cursor) setRows(base uintptr, count, stride []int32) {
	row, rows := int64(max(count[0], 0)), int64(1)
	if len(count) > 1 {
		rows = int64(max(count[1], 0))
	}
	if rows <= 1 || row == 0 || int64(stride[0]) == row {
		c.SetContiguous(base, row*rows)
		return
	}
	c.addrs, c.groups, c.after = nil, nil, 0
	c.setPos(base, row, rows, int64(stride[0]))
}

// Regular tells whether what is at the cursor, up to the next group, is rows at a constant
// distance: of these Next gives no part of several levels, and no list.
func (c *Cursor) Regular() bool { return c.addrs == nil && c.pos.levels == 1 }

// SetGroups begins a list of total bytes, which stays as it is while the cursor is used. Empty
// groups are skipped.
func (c *Cursor) SetGroups(g []Group, total int64) {
	c.groups, c.next, c.after = g, 0, total
	c.addrs, c.pos.left = nil, 0
	c.nextGroup()
}

// setPos moves the cursor to the beginning of count rows of n bytes, step bytes apart.
func (c *Cursor) setPos(addr uintptr, n, count, step int64) {
	p := &c.pos
	p.addr, p.left, p.row, p.off, p.levels = addr, n*count, n, 0, 1
	p.count[0], p.step[0], p.already[0] = count, step, 0
}

// nextGroup goes to the next group that is not empty, if the one at hand is at its end.
func (c *Cursor) nextGroup() {
	for c.pos.left == 0 && c.next < len(c.groups) {
		g := &c.groups[c.next]
		c.next++
		n := g.segments()
		if n == 0 {
			continue
		}
		switch {
		case g.Addrs == nil && g.Step == int64(g.Bytes):
			c.addrs = nil
			c.setPos(g.Addr, int64(n)*int64(g.Bytes), 1, 0)
		case g.Addrs == nil:
			c.addrs = nil
			c.setPos(g.Addr, int64(g.Bytes), int64(n), g.Step)
		case n == 1:
			c.addrs = nil
			c.setPos(g.Addrs[0], int64(g.Bytes), 1, 0)
		default:
			c.addrs = g.Addrs
			c.setPos(0, int64(g.Bytes), int64(n), 0)
		}
		c.after -= c.pos.left
	}
}

// segments is how many segments with bytes a group has.
func (g *Group) segments() int {
	switch {
	case g.Bytes <= 0:
		return 0
	case g.Addrs != nil:
		return len(g.Addrs)
	}
	return max(g.Count, 0)
}

func (c *Cursor) state() *C.struct_k_cursor { return (*C.struct_k_cursor)(unsafe.Pointer(&c.pos)) }

func (c *Cursor) addrList() *C.uintptr_t { return words(c.addrs) }

// Left is how many bytes there are from the cursor to the end.
func (c *Cursor) Left() int64 { return c.pos.left + c.after }

// Row is the length of the rows that the memory consists of; of a list, the shortest.
func (c *Cursor) Row() int64 {
	row := c.pos.row
	for i := range c.groups {
		g := &c.groups[i]
		if n := g.segments(); n > 0 {
			one := int64(g.Bytes)
			if g.Addrs == nil && g.Step == one {
				one *= int64(n)
			}
			row = min(row, one)
		}
	}
	return row
}

// Contiguous tells whether what is left is one run.
func (c *Cursor) Contiguous() bool { return c.after == 0 && c.pos.left <= c.pos.row-c.pos.off }

// One gives the address of what is left if it is one run, and found without the way into C.
func (c *Cursor) One() (addr uintptr, ok bool) {
	return c.pos.addr + uintptr(c.pos.off), c.after == 0 && c.addrs == nil &&
		c.pos.left == c.pos.row-c.pos.off
}

// bytesInGroup is how many of n > 0 bytes are in the group at the cursor, and panics beyond the
// end.
func (c *Cursor) bytesInGroup(n int64) int64 {
	if c.pos.left == 0 {
		panic("kernel: a cursor was moved beyond its end")
	}
	return min(n, c.pos.left)
}

// single takes n bytes of the row at the cursor, if that is all that the group has, without the way
// into C.
func (c *Cursor) single(n int64) (at unsafe.Pointer, ok bool) {
	if c.pos.left != c.pos.row-c.pos.off || c.addrs != nil {
		return nil, false
	}
	at = Ptr(c.pos.addr + uintptr(c.pos.off))
	c.pos.off += n
	c.pos.left -= n
	return at, true
}

// Take moves n bytes forward, no more than are left, and gives their address if the memory at the
// cursor is one row.
func (c *Cursor) Take(n int64) (addr uintptr, ok bool) {
	at, ok := c.single(n)
	if ok {
		c.nextGroup()
	}
	return uintptr(at), ok
}

// Pack copies the next len(b) bytes, no more than are left, to b and moves behind them.
func (c *Cursor) Pack(b []byte) {
	for len(b) > 0 {
		n := c.bytesInGroup(int64(len(b)))
		to := unsafe.Pointer(unsafe.SliceData(b))
		if at, ok := c.single(n); ok {
			Copy(to, at, int(n))
		} else {
			C.k_cursor_pack(c.state(), c.addrList(), to, C.int64_t(n))
		}
		b = b[n:]
		c.nextGroup()
	}
}

// Unpack stores b, no longer than what is left, at what comes next and moves behind it.
func (c *Cursor) Unpack(b []byte) {
	for len(b) > 0 {
		n := c.bytesInGroup(int64(len(b)))
		from := unsafe.Pointer(unsafe.SliceData(b))
		if at, ok := c.single(n); ok {
			Copy(at, from, int(n))
		} else {
			C.k_cursor_unpack(c.state(), c.addrList(), from, C.int64_t(n))
		}
		b = b[n:]
		c.nextGroup()
	}
}

// Skip moves n bytes forward, no more than are left.
func (c *Cursor) Skip(n int64) {
	for n > 0 {
		part := c.bytesInGroup(n)
		if _, ok := c.single(part); !ok {
			C.k_cursor_skip(c.state(), C.int64_t(part))
		}
		n -= part
		c.nextGroup()
	}
}

// Whole is the most bytes, up to n, after which the cursor cuts no aligned block of 2, 4 or 8
// bytes. A caller that unpacks a part of the data unpacks no more than that, because such a block
// must be one store.
func (c *Cursor) Whole(n int64) int64 {
	if n >= c.Left() {
		return c.Left()
	}
	d := *c
	d.Skip(n)
	at := d.pos.addr
	if d.addrs != nil {
		at = d.addrs[d.pos.already[0]]
	}
	return max(0, n-min(d.pos.off, int64((at+uintptr(d.pos.off))%8)))
}
