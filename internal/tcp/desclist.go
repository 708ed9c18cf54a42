// SPDX-License-Identifier: BSD-3-Clause

// Decoding of lists of segments into memory that the caller owns and that bounds them.
package tcp

import "encoding/binary"

// group is segments of equal length: addrs[first:first+n] of the list.
type group struct {
	first, n int
	bytes    int
}

// list is a decoded list of segments. Its arrays are made once, with room for all that a frame may hold.
type list struct {
	addrs  []uintptr
	groups []group
}

func newList() *list {
	return &list{addrs: make([]uintptr, 0, maxSegments), groups: make([]group, 0, 64)}
}

// reader takes varints from a descriptor; after the first mistake it gives zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uvarint() uint64 {
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

func (r *reader) varint() uint64 {
	v := r.uvarint()
	return v>>1 ^ -(v & 1)
}

// decode reads a list of segments of nbytes bytes in all, beginning with address base. It never holds more than
// maxSegments addresses, and no address or end of a segment is beyond maxAddr.
func (l *list) decode(b []byte, base, nbytes uint64) error {
	l.addrs, l.groups = l.addrs[:0], l.groups[:0]
	r := reader{b: b}
	prev := base
	for len(r.b) > 0 {
		token := r.uvarint()
		if token == 0 {
			break
		}
		n, size := token>>1, r.uvarint()
		if r.bad || n == 0 || n > uint64(maxSegments-len(l.addrs)) || size == 0 || size > nbytes/n {
			return errDesc
		}
		first := len(l.addrs)
		if !l.addresses(&r, int(n), token&1 != 0, size, &prev) {
			return errDesc
		}
		l.groups = append(l.groups, group{first, int(n), int(size)})
		nbytes -= n * size
	}
	for _, pad := range r.b {
		r.bad = r.bad || pad != 0
	}
	if r.bad || nbytes != 0 || len(r.b) >= 8 || len(l.groups) == 0 {
		return errDesc
	}
	return nil
}

// addresses reads those of one group.
func (l *list) addresses(r *reader, n int, regular bool, size uint64, prev *uint64) bool {
	a := *prev + r.varint()
	if a > maxAddr || size > maxAddr-a {
		return false
	}
	first := len(l.addrs)
	l.addrs = l.addrs[:first+n]
	out := l.addrs[first:]
	out[0] = uintptr(a)
	if regular && n > 1 {
		step := r.varint()
		for i := range out[1:] {
			if a += step; a > maxAddr || size > maxAddr-a {
				return false
			}
			out[1+i] = uintptr(a)
		}
	} else if !r.irregular(out, size) {
		return false
	}
	*prev = uint64(out[n-1])
	return !r.bad
}

// irregular reads all addresses but the first, which is there. Distances of up to three bytes have a short way.
func (r *reader) irregular(out []uintptr, size uint64) bool {
	a, b := uint64(out[0]), r.b
	for i := range out[1:] {
		var v uint64
		switch {
		case len(b) > 0 && b[0] < 0x80:
			v, b = uint64(b[0]), b[1:]
		case len(b) > 1 && b[1] < 0x80:
			v, b = uint64(b[0]&0x7f)|uint64(b[1])<<7, b[2:]
		case len(b) > 2 && b[2] < 0x80:
			v, b = uint64(b[0]&0x7f)|uint64(b[1]&0x7f)<<7|uint64(b[2])<<14, b[3:]
		default:
			r.b = b
			v = r.uvarint()
			b = r.b
		}
		if a += v>>1 ^ -(v & 1); a > maxAddr || size > maxAddr-a {
			return false
		}
		out[1+i] = uintptr(a)
	}
	r.b = b
	return true
}
