// SPDX-License-Identifier: BSD-3-Clause

// One side of a transfer as a stream of bytes: a cursor over memory of any shape. What comes from a socket is stored
// through it, part by part as it arrives, and what goes out is taken through it. It does not ask whose memory it is.
package tcp

import (
	"math"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
)

// area is memory of one of three forms: plain, a strided shape, or a list of segments.
type area struct {
	left  int64 // bytes from the cursor to the end
	base  uintptr
	form  uint8 // 0, flagStrided, flagVector
	shape shape
	list  *list
	at    [kernel.MaxLevels + 1]int32 // strided: the cursor; at[0] is bytes
	group int                         // vector: the cursor
	index int
	byte  int
}

// part is a piece of an area that one call of a kernel can deal with.
type part struct {
	nbytes int
	addr   uintptr   // plain or strided
	shape  *shape    // strided
	addrs  []uintptr // vector: of size bytes each
	size   int
}

func bytesAt(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }

func (a *area) setPlain(addr uintptr, n int64) {
	a.form, a.base, a.left = 0, addr, n
}

// setStrided begins a shape. Levels whose blocks touch are joined; what is one block is plain.
func (a *area) setStrided(base uintptr, s *shape) {
	a.form, a.base, a.shape, a.at = flagStrided, base, *s, [kernel.MaxLevels + 1]int32{}
	a.left = kernel.Volume(s.counts())
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
	a.form, a.list, a.left = flagVector, l, n
	a.group, a.index, a.byte = 0, 0, 0
}

// row is the length of the pieces of memory that the area consists of (of a list: the shortest).
func (a *area) row() int64 {
	switch a.form {
	case flagStrided:
		return int64(a.shape.count[0])
	case flagVector:
		n := math.MaxInt
		for _, g := range a.list.groups {
			n = min(n, g.bytes)
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
	g := &a.list.groups[a.group]
	addrs := a.list.addrs[g.first+a.index : g.first+g.n]
	if a.byte > 0 || g.bytes > room {
		n := min(g.bytes-a.byte, room)
		n -= n % grain
		p := part{nbytes: n, addr: addrs[0] + uintptr(a.byte)}
		a.forward(n)
		return p
	}
	n := min(len(addrs), room/g.bytes)
	a.index += n - 1
	a.forward(g.bytes)
	return part{nbytes: n * g.bytes, addrs: addrs[:n], size: g.bytes}
}

// forward moves the cursor of a list by n bytes, no further than the segment's end.
func (a *area) forward(n int) {
	g := &a.list.groups[a.group]
	if a.byte += n; a.byte == g.bytes {
		a.byte = 0
		a.index++
	}
	if a.index == g.n {
		a.index = 0
		a.group++
	}
}

// pieces lists the memory from the cursor on, until iov is full or the area ends, and moves behind it.
func (a *area) pieces(iov []unix.Iovec) []unix.Iovec {
	iov = iov[:0]
	var s shape
	for a.left > 0 {
		p := a.next(a.rest(), 1, &s)
		addr := p.addr
		if p.addrs != nil {
			addr = p.addrs[0]
		}
		base := (*byte)(kernel.Ptr(addr))
		if k := len(iov); k > 0 && unsafe.Add(unsafe.Pointer(iov[k-1].Base), iov[k-1].Len) == unsafe.Pointer(base) {
			iov[k-1].Len += uint64(p.nbytes)
		} else {
			iov = append(iov, unix.Iovec{Base: base, Len: uint64(p.nbytes)})
		}
		if len(iov) == cap(iov) {
			break
		}
	}
	return iov
}

// rest is the number of bytes to the end of the row.
func (a *area) rest() int {
	switch a.form {
	case flagStrided:
		return int(a.shape.count[0] - a.at[0])
	case flagVector:
		return a.list.groups[a.group].bytes - a.byte
	}
	return int(a.left)
}
