// SPDX-License-Identifier: BSD-3-Clause

// Descriptors of target memory in frames: a strided shape, or groups of segments. Decoding checks
// them against the bounds of the wire format and the header's bytes. The caller checks that the
// rank owns the memory.
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

// layout is a decoded descriptor: the memory of a rank that a request is about. Its arrays are
// bounded and used again.
type layout struct {
	count  []int32 // strided: as armci_count
	stride []int32
	groups []kernel.Group
	addrs  []uintptr
	lo, hi uint64 // all segments lie in [lo, hi)
	grain  uint64 // the lengths of all rows, or-ed
}

// decode decodes the descriptor in desc of the memory that h is for.
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

// decodeStrided decodes a shape.
func (l *layout) decodeStrided(b []byte, addr, nbytes uint64) error {
	if len(b) < 8 {
		return errDesc
	}
	levels := binary.LittleEndian.Uint32(b)
	if levels < 1 || levels > kernel.MaxLevels || len(b) != 8*int(levels)+8 {
		return errDesc
	}
	word := func(i int) int32 { return int32(binary.LittleEndian.Uint32(b[4*i:])) }
	volume := uint64(1)
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
		l.stride = append(l.stride, word(2+int(levels)+i))
	}
	_, lo, hi := kernel.Extent(l.stride, l.count) // no overflow: the volume is bounded
	if volume != nbytes || lo < -int64(addr) || hi > math.MaxInt64-int64(addr) {
		return errDesc
	}
	l.lo, l.hi, l.grain = uint64(int64(addr)+lo), uint64(int64(addr)+hi), uint64(l.count[0])
	return nil
}

// varints reads numbers from a descriptor. After the first malformed one it returns zeros.
type varints struct {
	b      []byte
	failed bool
}

func (r *varints) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.failed, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *varints) varint() int64 {
	v := r.uvarint()
	return int64(v>>1 ^ -(v & 1))
}

// decodeGroups decodes groups and lists. It never holds more than maxGroups of them, nor more than
// maxAddrs addresses.
func (l *layout) decodeGroups(b []byte, addr, nbytes uint64) error {
	r, prev, size := varints{b: b}, addr, uint64(0)
	l.lo, l.hi, l.grain = math.MaxUint64, 0, 0
	if cap(l.addrs) == 0 {
		l.addrs = make([]uintptr, 0, maxAddrs) // groups point into it, so it must not grow
	}
	for groups := 0; len(r.b) > 0; groups++ {
		token := r.uvarint()
		if token&tokenSame == 0 {
			size = r.uvarint()
		}
		n, first := token>>tokenShift, prev+uint64(r.varint())
		if r.failed || n == 0 || size == 0 || size > nbytes/n || groups == maxGroups {
			return errDesc
		}
		ok := false
		if token&tokenList != 0 {
			ok = l.decodeList(&r, first, n, size, &prev)
		} else {
			ok = l.decodeGroup(&r, first, n, size, &prev)
		}
		if !ok {
			return errDesc
		}
		nbytes -= n * size
		l.grain |= size
	}
	if nbytes != 0 || len(l.groups) == 0 {
		return errDesc
	}
	return nil
}

// decodeGroup decodes a group after its first address, and sets the address of its last segment. It
// returns false if there can be no such group.
func (l *layout) decodeGroup(r *varints, first, n, size uint64, last *uint64) bool {
	step := int64(0)
	if n > 1 {
		step = r.varint()
	}
	if r.failed || !l.addSpan(first, step, n, size, last) {
		return false
	}
	l.groups = append(l.groups, kernel.Group{Addr: uintptr(first), Step: step, Count: int(n),
		Bytes: int(size)})
	return true
}

// decodeList decodes a list after its first address, and sets the last one. It returns false if
// there can be no such list.
func (l *layout) decodeList(r *varints, first, n, size uint64, last *uint64) bool {
	begin := len(l.addrs)
	if n > uint64(maxAddrs-begin) || uint64(len(r.b)) < listEntryBytes*(n-1) ||
		first > maxAddr {
		return false
	}
	l.addrs = l.addrs[:begin+int(n)]
	addrs := l.addrs[begin:]
	addrs[0] = uintptr(first)
	least, most := int32(0), int32(0)
	for i, b := 1, r.b; i < len(addrs) && len(b) >= listEntryBytes; i, b = i+
		1, b[listEntryBytes:] {
		d := int32(binary.LittleEndian.Uint32(b))
		least, most = min(least, d), max(most, d)
		addrs[i] = uintptr(int64(first) + int64(d))
	}
	r.b = r.b[listEntryBytes*(n-1):]
	*last = uint64(addrs[n-1])
	l.groups = append(l.groups, kernel.Group{Addrs: addrs, Bytes: int(size)})
	return l.extendTo(int64(first)+int64(least), int64(first)+int64(most), size)
}

// addSpan extends the layout to the memory of a group, and sets the address of its last segment. It
// returns false if there can be no such memory.
func (l *layout) addSpan(first uint64, step int64, n, size uint64, last *uint64) bool {
	over, reach := bits.Mul64(uint64(max(step, -step)), n-1)
	if over != 0 || reach > maxAddr || step < -maxPayload || step > maxPayload {
		return false
	}
	lo, hi := first, first+reach
	*last = hi
	if step < 0 {
		lo, hi = first-reach, first
		*last = lo
	}
	return first <= maxAddr && lo <= hi && l.extendTo(int64(lo), int64(hi), size)
}

// extendTo extends the layout to segments that begin at lo, at hi and between them. It returns
// false if there can be none.
func (l *layout) extendTo(lo, hi int64, size uint64) bool {
	if lo < 0 || uint64(hi) > maxAddr || size > maxAddr-uint64(hi) {
		return false
	}
	l.lo, l.hi = min(l.lo, uint64(lo)), max(l.hi, uint64(hi)+size)
	return true
}

// setCursor sets a cursor to the beginning of the memory.
func (l *layout) setCursor(c *kernel.Cursor, h *header) {
	switch h.flags & flagShape {
	case flagStrided:
		c.SetStrided(uintptr(h.addr), l.count, l.stride)
	case flagGroups:
		c.SetGroups(l.groups, int64(h.bytes))
	default:
		c.SetContiguous(uintptr(h.addr), int64(h.bytes))
	}
}

// isOwned reports whether owns returns true for all of the memory. Usually that is one allocation,
// and one call.
func (l *layout) isOwned(owns func(addr uintptr, n int64) bool) bool {
	if owns(uintptr(l.lo), int64(l.hi-l.lo)) {
		return true
	}
	for i := range l.groups {
		g := &l.groups[i]
		if g.Addrs == nil {
			reach := g.Step * int64(g.Count-1)
			if owns(uintptr(int64(g.Addr)+min(reach, 0)),
				max(reach, -reach)+int64(g.Bytes)) {
				continue
			}
		}
		for k := range max(g.Count, len(g.Addrs)) {
			at := uintptr(int64(g.Addr) + g.Step*int64(k))
			if g.Addrs != nil {
				at = g.Addrs[k]
			}
			if !owns(at, int64(g.Bytes)) {
				return false
			}
		}
	}
	return len(l.groups) > 0 // a shape lies in one allocation
}
