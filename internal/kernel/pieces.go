// pieces.go: what a cursor finds on its way, without touching it: contiguous pieces, runs of two
// sides, regular parts.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

/*
#include "cursor.h"

static inline size_t cursor_runs(struct k_cursor *a, const uintptr_t *alist, struct k_cursor *b,
	const uintptr_t *blist, struct k_run *r, size_t used, size_t max, int64_t limit)
{
	struct k_side local = { a, alist }, remote = { b, blist };
	return k_cursor_runs(local, remote, r, used, max, limit);
}

#cgo noescape k_cursor_next
#cgo nocallback k_cursor_next
#cgo noescape k_cursor_pieces
#cgo nocallback k_cursor_pieces
#cgo noescape cursor_runs
#cgo nocallback cursor_runs
*/
import "C"

import (
	"math"
	"unsafe"
)

// Segment is contiguous memory. It has the layout of struct iovec.
type Segment struct {
	Addr  uintptr
	Bytes int64
}

// Run is memory that is contiguous on both sides.
type Run struct {
	Local, Remote uintptr
	Bytes         int
}

// Part is a piece of a transfer's memory that one call of a kernel deals with: segments of Size
// bytes at Addrs if that is not nil, else the shape of Count and Stride at Addr. Count and Stride
// are valid until the cursor's next call.
type Part struct {
	Bytes         int
	Addr          uintptr
	Count, Stride []int32
	Addrs         []uintptr
	Size          int
}

// shapePart is struct k_part.
type shapePart struct {
	addr          uintptr
	bytes, levels int64
	count         [MaxLevels + 1]int32
	stride        [MaxLevels]int32
	_             [4]byte
}

// What C writes is as large there as here.
var (
	_ [unsafe.Sizeof(shapePart{})]byte = [C.sizeof_struct_k_part]byte{}
	_ [unsafe.Sizeof(Segment{})]byte   = [C.sizeof_struct_k_segment]byte{}
	_ [unsafe.Sizeof(Run{})]byte       = [C.sizeof_struct_k_run]byte{}
)

// Pieces appends what is contiguous from the cursor on, up to limit bytes or until p is full, and
// moves behind it. Pieces that touch become one.
func (c *Cursor) Pieces(p []Segment, limit int64) []Segment {
	out := p[len(p):cap(p)]
	used := 0
	for limit > 0 && c.pos.left > 0 {
		if len(out) > used {
			n := c.bytesInGroup(limit)
			if at, ok := c.single(n); ok { // without the way into C
				used = appendSegment(out, used, uintptr(at), n)
				limit -= n
				c.nextGroup()
				continue
			}
		}
		was := c.pos.left
		used = int(C.k_cursor_pieces(c.state(), c.addrList(),
			(*C.struct_k_segment)(unsafe.Pointer(unsafe.SliceData(out))),
			C.size_t(used), C.size_t(len(out)), C.int64_t(limit)))
		if c.pos.left == was {
			break
		}
		limit -= was - c.pos.left
		c.nextGroup()
	}
	return p[:len(p)+used]
}

// appendSegment adds memory to the used segments of a list that has room for one more, or to the
// last one if it touches that. It returns how many are used now.
func appendSegment(list []Segment, used int, at uintptr, n int64) int {
	if used > 0 && list[used-1].Addr+uintptr(list[used-1].Bytes) == at {
		list[used-1].Bytes += n
		return used
	}
	list[used] = Segment{at, n}
	return used + 1
}

// Next gives the largest part at the cursor of at most room bytes in whole grains, and moves behind
// it. A part of no bytes means that not even one grain fits.
func (c *Cursor) Next(room, grain int) Part {
	if c.pos.left == 0 {
		return Part{}
	}
	if at, ok := c.wholeRow(room); ok {
		c.part.count[0] = int32(c.pos.row)
		c.pos.off, c.pos.left = c.pos.row, 0
		c.nextGroup()
		return Part{Bytes: int(c.part.count[0]), Addr: at, Count: c.part.count[:1],
			Stride: c.part.stride[:0]}
	}
	if c.Regular() && c.pos.left > c.pos.row && c.pos.left <= int64(room) {
		if p, ok := c.rows(); ok {
			return p
		}
	}
	first, f := c.pos.already[0], &c.part
	C.k_cursor_next(c.state(), c.addrList(), C.int64_t(room), C.int64_t(grain),
		(*C.struct_k_part)(unsafe.Pointer(f)))
	p := Part{Bytes: int(f.bytes), Addr: f.addr, Count: f.count[:f.levels+1],
		Stride: f.stride[:f.levels]}
	if c.addrs != nil && f.levels > 0 {
		p = Part{Bytes: int(f.bytes), Addrs: c.addrs[first : first+int64(f.count[1])],
			Size: int(f.count[0])}
	}
	c.nextGroup()
	return p
}

// wholeRow gives the address of the group at the cursor if that is one row, of at most room bytes,
// and the cursor is at its beginning.
func (c *Cursor) wholeRow(room int) (at uintptr, ok bool) {
	p := &c.pos
	return p.addr, c.addrs == nil && p.off == 0 && p.left == p.row && p.row <= int64(room) &&
		p.row <= math.MaxInt32
}

// rows is Next of all that is left of regular rows, without the way into C; false if it begins
// within a row, or no shape describes it.
func (c *Cursor) rows() (Part, bool) {
	p, f := &c.pos, &c.part
	n := p.count[0] - p.already[0]
	if p.off != 0 || p.left > math.MaxInt32 || p.step[0] != int64(int32(p.step[0])) {
		return Part{}, false
	}
	f.count[0], f.count[1], f.stride[0] = int32(p.row), int32(n), int32(p.step[0])
	part := Part{Bytes: int(p.left), Addr: p.addr, Count: f.count[:2], Stride: f.stride[:1]}
	p.already[0] += n
	p.addr += uintptr(p.step[0] * n)
	p.left = 0
	c.nextGroup()
	return part, true
}

// Runs walks two cursors with equally many bytes left: it appends what is contiguous on both sides,
// up to limit bytes or until r is full, and moves both behind it. Runs that touch on both sides
// become one.
func Runs(local, remote *Cursor, r []Run, limit int64) []Run {
	out := r[len(r):cap(r)]
	used := 0
	for limit > 0 && local.pos.left > 0 && remote.pos.left > 0 {
		was := local.pos.left
		used = int(C.cursor_runs(local.state(), local.addrList(), remote.state(),
			remote.addrList(),
			(*C.struct_k_run)(unsafe.Pointer(unsafe.SliceData(out))), C.size_t(used),
			C.size_t(len(out)), C.int64_t(limit)))
		if local.pos.left == was {
			break
		}
		limit -= was - local.pos.left
		local.nextGroup()
		remote.nextGroup()
	}
	return r[:len(r)+used]
}
