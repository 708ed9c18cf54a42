// SPDX-License-Identifier: BSD-3-Clause

// Descriptors of target memory in frames: a strided shape, or groups of segments. Decoding checks them against the bounds
// of the wire format and the bytes they are for, not against anybody's memory.
package internode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"libarmci/internal/kernel"
)

var (
	errProtocol = errors.New("violation of the wire format")
	errDesc     = fmt.Errorf("%w: wrong descriptor", errProtocol)
)

// appendStrided writes a shape behind b: u32 levels, counts, strides.
func appendStrided(b []byte, count, stride []int32) []byte {
	levels := len(count) - 1
	b = binary.LittleEndian.AppendUint32(b, uint32(levels))
	for _, c := range count {
		b = binary.LittleEndian.AppendUint32(b, uint32(c))
	}
	for _, s := range stride[:levels] {
		b = binary.LittleEndian.AppendUint32(b, uint32(s))
	}
	return b
}

// A group is: uvarint 2*segments (+1 if their distance is constant), uvarint bytes of each, then the addresses as zig-zag
// varints of the difference from the address before (constant distance: the first and the distance).

// mostGroup is the most bytes of a group without its addresses, or of a whole one with a constant distance.
const mostGroup = 4 * binary.MaxVarintLen64

// appendRegular writes a group of count segments at a constant distance.
func appendRegular(b []byte, g *kernel.Group, prev uint64) ([]byte, uint64) {
	b = binary.AppendUvarint(b, uint64(g.Count)<<1|1)
	b = binary.AppendUvarint(b, uint64(g.Bytes))
	b = binary.AppendVarint(b, int64(uint64(g.Addr)-prev))
	if g.Count > 1 {
		b = binary.AppendVarint(b, g.Step)
	}
	return b, uint64(int64(g.Addr) + g.Step*int64(g.Count-1))
}

// appendIrregular writes a group of segments with an address each.
func appendIrregular(b []byte, addrs []uintptr, nbytes int, prev uint64) ([]byte, uint64) {
	b = binary.AppendUvarint(b, uint64(len(addrs))<<1)
	b = binary.AppendUvarint(b, uint64(nbytes))
	for _, a := range addrs {
		b = binary.AppendVarint(b, int64(uint64(a)-prev))
		prev = uint64(a)
	}
	return b, prev
}

// regularRun is the number of addresses at the start that have a constant distance.
func regularRun(addrs []uintptr) int {
	if len(addrs) <= 2 {
		return len(addrs)
	}
	n, step := 2, addrs[1]-addrs[0]
	for n < len(addrs) && addrs[n]-addrs[n-1] == step {
		n++
	}
	return n
}

// layout is a decoded descriptor: what memory of a rank a request is about. Its arrays are bounded and used again.
type layout struct {
	count  []int32 // strided
	stride []int32
	groups []kernel.Group
	addrs  []uintptr
	lo, hi uint64 // all of it lies between them
	grain  uint64 // greatest common divisor of all rows
}

// decode reads the descriptor of nbytes bytes in all, which begins at addr.
func (l *layout) decode(h *header, desc []byte) error {
	l.count, l.stride, l.groups, l.addrs = l.count[:0], l.stride[:0], l.groups[:0], l.addrs[:0]
	switch h.flags & flagShape {
	case flagStrided:
		return l.decodeStrided(desc, h.addr, h.bytes)
	case flagGroups:
		return l.decodeGroups(desc, h.addr, h.bytes)
	}
	l.lo, l.hi, l.grain = h.addr, h.addr+h.bytes, h.bytes
	return nil
}

func (l *layout) decodeStrided(b []byte, addr, nbytes uint64) error {
	if len(b) < 8 {
		return errDesc
	}
	levels := binary.LittleEndian.Uint32(b)
	if levels < 1 || levels > kernel.MaxLevels || len(b) != 8*int(levels)+8 {
		return errDesc
	}
	word := func(i int) int32 { return int32(binary.LittleEndian.Uint32(b[4*i:])) }
	volume, lo, hi := uint64(1), int64(0), int64(0)
	for i := range int(levels) + 1 {
		n := word(1 + i)
		over, product := bits.Mul64(volume, uint64(n))
		if n <= 0 || over != 0 || product > maxPayload {
			return errDesc
		}
		volume = product
		l.count = append(l.count, n)
	}
	for i := range int(levels) {
		s := word(2 + int(levels) + i)
		l.stride = append(l.stride, s)
		if reach := int64(s) * int64(l.count[i+1]-1); reach < 0 {
			lo += reach
		} else {
			hi += reach
		}
	}
	hi += int64(l.count[0])
	if volume != nbytes || lo < -int64(addr) || hi > math.MaxInt64-int64(addr) {
		return errDesc
	}
	l.lo, l.hi, l.grain = uint64(int64(addr)+lo), uint64(int64(addr)+hi), uint64(l.count[0])
	return nil
}

// varints takes numbers from a descriptor; after the first mistake it gives zeros.
type varints struct {
	b   []byte
	bad bool
}

func (r *varints) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *varints) varint() uint64 {
	v := r.uvarint()
	return v>>1 ^ -(v & 1)
}

// decodeGroups reads groups. It never holds more than maxSegments addresses and as many groups.
func (l *layout) decodeGroups(b []byte, addr, nbytes uint64) error {
	r, prev := varints{b: b}, addr
	l.lo, l.hi, l.grain = math.MaxUint64, 0, 0
	if cap(l.addrs) == 0 {
		l.addrs = make([]uintptr, 0, maxSegments) // groups point into it: it must not move
	}
	for len(r.b) > 0 {
		token, size := r.uvarint(), r.uvarint()
		n := token >> 1
		if r.bad || n == 0 || size == 0 || size > nbytes/n || len(l.groups) == maxSegments {
			return errDesc
		}
		ok := false
		if token&1 != 0 {
			ok = l.regular(&r, n, size, &prev)
		} else {
			ok = l.irregular(&r, n, size, &prev)
		}
		if !ok || r.bad {
			return errDesc
		}
		nbytes -= n * size
		l.grain = gcd(l.grain, size)
	}
	if nbytes != 0 || len(l.groups) == 0 {
		return errDesc
	}
	return nil
}

func (l *layout) regular(r *varints, n, size uint64, prev *uint64) bool {
	first, step := *prev+r.varint(), int64(0)
	if n > 1 {
		step = int64(r.varint())
	}
	if first > maxAddr || n > maxPayload || step > maxPayload || step < -maxPayload {
		return false
	}
	over, reach := bits.Mul64(uint64(max(step, -step)), n-1)
	if over != 0 || reach > maxAddr {
		return false
	}
	last := int64(first) + int64(reach)
	if step < 0 {
		last = int64(first) - int64(reach)
	}
	if last < 0 || !l.widen(first, size) || !l.widen(uint64(last), size) {
		return false
	}
	l.groups = append(l.groups, kernel.Group{Addr: uintptr(first), Step: step, Count: int(n), Bytes: int(size)})
	*prev = uint64(last)
	return true
}

func (l *layout) irregular(r *varints, n, size uint64, prev *uint64) bool {
	begin := len(l.addrs)
	if n > uint64(maxSegments-begin) {
		return false
	}
	a, good := *prev, true
	for range n {
		a += r.varint()
		good = good && l.widen(a, size)
		l.addrs = append(l.addrs, uintptr(a))
	}
	l.groups = append(l.groups, kernel.Group{Addrs: l.addrs[begin:], Bytes: int(size)})
	*prev = a
	return good
}

// widen takes memory into the span; false if there can be no such memory.
func (l *layout) widen(addr, size uint64) bool {
	if addr > maxAddr || size > maxAddr-addr {
		return false
	}
	l.lo, l.hi = min(l.lo, addr), max(l.hi, addr+size)
	return true
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// set makes a cursor of the memory.
func (l *layout) set(c *kernel.Cursor, h *header) {
	switch h.flags & flagShape {
	case flagStrided:
		c.SetStrided(uintptr(h.addr), l.count, l.stride)
	case flagGroups:
		c.SetGroups(l.groups, int64(h.bytes))
	default:
		c.SetContiguous(uintptr(h.addr), int64(h.bytes))
	}
}

// owned tells whether all of it is memory that owns says yes to. Usually it is one allocation, and one question.
func (l *layout) owned(owns func(addr uintptr, n int64) bool) bool {
	if owns(uintptr(l.lo), int64(l.hi-l.lo)) {
		return true
	}
	if len(l.groups) == 0 {
		return false // a shape lies in one allocation
	}
	for i := range l.groups {
		g := &l.groups[i]
		for _, a := range g.Addrs {
			if !owns(a, int64(g.Bytes)) {
				return false
			}
		}
		if g.Addrs == nil && !ownsRegular(g, owns) {
			return false
		}
	}
	return true
}

func ownsRegular(g *kernel.Group, owns func(addr uintptr, n int64) bool) bool {
	reach := g.Step * int64(g.Count-1)
	lo, n := int64(g.Addr)+min(reach, 0), max(reach, -reach)+int64(g.Bytes)
	if owns(uintptr(lo), n) {
		return true
	}
	for i := range g.Count {
		if !owns(uintptr(int64(g.Addr)+g.Step*int64(i)), int64(g.Bytes)) {
			return false
		}
	}
	return true
}
