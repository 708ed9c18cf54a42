// SPDX-License-Identifier: BSD-3-Clause

// One side of a transfer as a stream of bytes: a cursor over memory of any shape. What comes from a socket is stored
// through it, part by part as it arrives, and what goes out is taken through it. It does not ask whose memory it is.
package tcp

import (
	"math"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// area is memory of one of three forms: plain, a strided shape, or segments in groups of equal length.
type area struct {
	left  int64 // bytes from the cursor to the end
	base  uintptr
	form  uint8 // 0, flagStrided, flagVector
	shape shape
	at    [kernel.MaxLevels + 1]int32 // strided: the cursor; at[0] is bytes
	addrs []uintptr                   // vector: what is left of the group with the cursor, of size bytes each
	size  int
	byte  int                  // vector: the cursor in the first of addrs
	list  *list                // vector, of a server: where the groups come from;
	group int                  // number of the next one
	segs  []transport.Segments // vector, of a client: where the groups come from
}

// part is a piece of an area that one call of a kernel can deal with.
type part struct {
	nbytes int
	addr   uintptr   // plain or strided
	shape  *shape    // strided
	addrs  []uintptr // vector: of size bytes each
	size   int
}

func memory(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }

// set begins the local side of a transfer. There must be at least one byte.
func (a *area) set(x *transport.Xfer) {
	if x.Vector != nil {
		a.form, a.list, a.segs, a.addrs, a.byte = flagVector, nil, x.Vector, nil, 0
		a.left = x.Bytes()
		a.nextGroup()
		return
	}
	if len(x.Count) == 1 {
		a.setPlain(x.Local.Base, int64(x.Count[0]))
		return
	}
	s := shape{levels: len(x.Count) - 1}
	copy(s.count[:], x.Count)
	copy(s.stride[:], x.Local.Stride[:s.levels])
	a.setStrided(x.Local.Base, &s)
}

func (a *area) setPlain(addr uintptr, n int64) {
	a.form, a.base, a.left = 0, addr, n
}

// setBytes begins memory that the caller keeps.
func (a *area) setBytes(b []byte) {
	a.setPlain(uintptr(unsafe.Pointer(unsafe.SliceData(b))), int64(len(b)))
}

// setStrided begins a shape. Levels whose blocks touch are joined; what is one block is plain.
func (a *area) setStrided(base uintptr, s *shape) {
	a.form, a.base, a.shape, a.at = flagStrided, base, *s, [kernel.MaxLevels + 1]int32{}
	a.left = 1
	for _, n := range s.counts() {
		a.left *= int64(n)
	}
	d := &a.shape
	for d.levels > 0 && d.stride[0] == d.count[0] && int64(d.count[0])*int64(d.count[1]) <= math.MaxInt32 {
		d.count[0] *= d.count[1]
		copy(d.count[1:d.levels], d.count[2:d.levels+1])
		copy(d.stride[:d.levels-1], d.stride[1:d.levels])
		d.levels--
	}
	if d.levels == 0 {
		a.form = 0
	}
}

func (a *area) setVector(l *list, n int64) {
	a.form, a.list, a.group, a.segs, a.addrs, a.byte, a.left = flagVector, l, 0, nil, nil, 0, n
	a.nextGroup()
}

// nextGroup goes to the next group that has something, if there is one.
func (a *area) nextGroup() {
	for len(a.addrs) == 0 {
		switch {
		case a.list != nil && a.group < len(a.list.groups):
			g := &a.list.groups[a.group]
			a.addrs, a.size = a.list.addrs[g.first:g.first+g.n], g.bytes
			a.group++
		case len(a.segs) > 0:
			if a.size = a.segs[0].Bytes; a.size > 0 {
				a.addrs = a.segs[0].Local
			}
			a.segs = a.segs[1:]
		default:
			return
		}
	}
}

// row is the length of the pieces of memory that the area consists of (of a list: the shortest).
func (a *area) row() int64 {
	switch a.form {
	case flagStrided:
		return int64(a.shape.count[0])
	case flagVector:
		n := a.size
		if a.list != nil {
			for _, g := range a.list.groups {
				n = min(n, g.bytes)
			}
		}
		for _, s := range a.segs {
			if s.Bytes > 0 && len(s.Local) > 0 {
				n = min(n, s.Bytes)
			}
		}
		return int64(n)
	}
	return a.left
}

// next gives the part at the cursor of at most room bytes in whole grains, and moves behind it. Its shape is written to
// s. A part of no bytes means that not even one grain fits.
func (a *area) next(room, grain int, s *shape) part {
	room = int(min(int64(room), a.left))
	var p part
	switch a.form {
	case flagStrided:
		p = a.nextStrided(room, grain, s)
	case flagVector:
		p = a.nextVector(room, grain)
	default:
		p = part{nbytes: room - room%grain, addr: a.base}
		a.base += uintptr(p.nbytes)
	}
	a.left -= int64(p.nbytes)
	return p
}

// nextStrided takes as many whole blocks of the highest level as fit: of the levels below, the cursor is at the start.
func (a *area) nextStrided(room, grain int, s *shape) part {
	d := &a.shape
	level, unit := 0, 1
	if a.at[0] == 0 {
		for next := int(d.count[0]); next <= room; {
			level, unit = level+1, next
			if level == d.levels || a.at[level] != 0 {
				break
			}
			next *= int(d.count[level])
		}
	}
	n := min(int(d.count[level]-a.at[level]), room/unit)
	p := part{addr: a.here(), shape: s}
	if level == 0 {
		n -= n % grain
		p.shape = nil
	} else {
		s.levels, s.count, s.stride = level, d.count, d.stride
		s.count[level] = int32(n)
	}
	p.nbytes = n * unit
	a.carry(level, n)
	return p
}

// here is the address at the cursor of a shape.
func (a *area) here() uintptr {
	off := int64(a.at[0])
	for l := 1; l <= a.shape.levels; l++ {
		off += int64(a.at[l]) * int64(a.shape.stride[l-1])
	}
	return a.base + uintptr(off)
}

// carry moves the cursor of a shape by n at a level, no further than that level's end.
func (a *area) carry(level, n int) {
	a.at[level] += int32(n)
	for l := level; l < a.shape.levels && a.at[l] == a.shape.count[l]; l++ {
		a.at[l] = 0
		a.at[l+1]++
	}
}

func (a *area) nextVector(room, grain int) part {
	if a.byte > 0 || a.size > room {
		n := min(a.size-a.byte, room)
		n -= n % grain
		p := part{nbytes: n, addr: a.addrs[0] + uintptr(a.byte)}
		a.forward(n)
		return p
	}
	size, addrs := a.size, a.addrs[:min(len(a.addrs), room/a.size)]
	a.addrs = a.addrs[len(addrs)-1:]
	a.forward(size)
	return part{nbytes: len(addrs) * size, addrs: addrs, size: size}
}

// forward moves the cursor of a list by n bytes, no further than the segment's end.
func (a *area) forward(n int) {
	if a.byte += n; a.byte < a.size {
		return
	}
	a.byte = 0
	if a.addrs = a.addrs[1:]; len(a.addrs) == 0 {
		a.nextGroup()
	}
}

// nextRow gives what is contiguous at the cursor, up to limit > 0 bytes, and moves behind it.
func (a *area) nextRow(limit int64) (addr uintptr, n int) {
	switch a.form {
	case flagStrided:
		n = int(min(int64(a.shape.count[0]-a.at[0]), limit))
		addr = a.here()
		a.carry(0, n)
	case flagVector:
		n = int(min(int64(a.size-a.byte), limit))
		addr = a.addrs[0] + uintptr(a.byte)
		a.forward(n)
	default:
		n, addr = int(limit), a.base
		a.base += uintptr(n)
	}
	a.left -= int64(n)
	return addr, n
}

// pieces lists the memory from the cursor on, up to limit bytes (no more than are left) or until iov is full, and moves
// behind it. Rows that touch are one piece.
func (a *area) pieces(iov []unix.Iovec, limit int64) []unix.Iovec {
	for limit > 0 && len(iov) < cap(iov) {
		addr, n := a.nextRow(limit)
		limit -= int64(n)
		base := (*byte)(kernel.Ptr(addr))
		if k := len(iov); k > 0 && unsafe.Add(unsafe.Pointer(iov[k-1].Base), iov[k-1].Len) == unsafe.Pointer(base) {
			iov[k-1].Len += uint64(n)
		} else {
			iov = append(iov, unix.Iovec{Base: base, Len: uint64(n)})
		}
	}
	return iov
}
