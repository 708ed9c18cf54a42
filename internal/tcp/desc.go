// SPDX-License-Identifier: BSD-3-Clause

// Descriptors of where data goes: strided shapes and compact lists of segments. They are checked against the bounds of
// the wire format and against the payload, not against anybody's memory.
package tcp

import (
	"encoding/binary"
	"errors"
	"slices"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

var errDesc = errors.New("wrong descriptor")

// shape is a strided shape. Its counts are positive.
type shape struct {
	levels int // strides
	count  [kernel.MaxLevels + 1]int32
	stride [kernel.MaxLevels]int32
}

func (s *shape) counts() []int32  { return s.count[:s.levels+1] }
func (s *shape) strides() []int32 { return s.stride[:s.levels] }

// appendStrided writes a shape behind b: u32 levels, counts, strides; always a multiple of 8 bytes.
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

// decode reads a shape of nbytes bytes in all.
func (s *shape) decode(b []byte, nbytes uint64) error {
	if len(b) < 8 {
		return errDesc
	}
	levels := binary.LittleEndian.Uint32(b)
	if levels < 1 || levels > kernel.MaxLevels || len(b) != 8*int(levels)+8 {
		return errDesc
	}
	s.levels = int(levels)
	word := func(i int) int32 { return int32(binary.LittleEndian.Uint32(b[4*i:])) }
	for i := range s.counts() {
		if s.count[i] = word(1 + i); s.count[i] <= 0 {
			return errDesc
		}
	}
	for i := range s.strides() {
		s.stride[i] = word(2 + s.levels + i)
	}
	if uint64(kernel.Volume(s.counts())) != nbytes {
		return errDesc
	}
	return nil
}

// place is a position in a list of segments: number i of descriptor d.
type place struct{ d, i int }

// appendVector writes the remote side of a list of segments behind b, beginning at from, until the list ends or the
// frame is full: limit descriptor bytes or maxSegments. base is the header's address. It returns where it stopped and
// the bytes of data described. The result is padded to a multiple of 8 bytes.
//
// The list is groups of segments of equal length: uvarint 2*segments (+1 if their distance is constant), uvarint bytes
// of each, then the addresses as zig-zag varints of the difference from the address before (constant distance: the
// first and the distance). A zero ends it.
func appendVector(b []byte, v []transport.Segments, from place, base uint64, limit int) ([]byte, place, int64) {
	start, room, total := len(b), maxSegments, int64(0)
	prev := base
	for from.d < len(v) && room > 0 {
		s := &v[from.d]
		addrs := s.Remote[from.i:]
		if len(addrs) == 0 || s.Bytes <= 0 {
			from = place{from.d + 1, 0}
			continue
		}
		left := limit - (len(b) - start) - groupHead
		if left <= 0 {
			break
		}
		n, regular := span(addrs[:min(len(addrs), room)], left/binary.MaxVarintLen64)
		b = appendGroup(b, addrs[:n], s.Bytes, regular, prev)
		prev = uint64(addrs[n-1])
		room, total, from.i = room-n, total+int64(n)*int64(s.Bytes), from.i+n
	}
	for (len(b)-start)%8 != 0 {
		b = append(b, 0)
	}
	return b, from, total
}

// groupHead is room for what a group needs besides its addresses, the end mark and padding; and for the addresses of a
// regular one.
const groupHead = 4*binary.MaxVarintLen64 + 16

// span tells how many of the addresses the next group may have and whether they are regular: at least minRun at a
// constant distance, as many as there are; else all up to where the next such run begins, but no more than room, which
// is how many addresses there is space for if they must be written one by one.
func span(addrs []uintptr, room int) (n int, regular bool) {
	const minRun = 4
	if n = run(addrs); n >= minRun || n == len(addrs) && n <= 2 {
		return n, true
	}
	for n < len(addrs) && n < room {
		next := run(addrs[n:])
		if next >= minRun {
			break
		}
		n += next
	}
	return max(min(n, room), 1), false
}

// run is the number of addresses at the start that have a constant distance.
func run(addrs []uintptr) int {
	if len(addrs) <= 2 {
		return len(addrs)
	}
	n, step := 2, addrs[1]-addrs[0]
	for n < len(addrs) && addrs[n]-addrs[n-1] == step {
		n++
	}
	return n
}

func appendGroup(b []byte, addrs []uintptr, nbytes int, regular bool, prev uint64) []byte {
	token := uint64(len(addrs)) << 1
	if regular {
		token |= 1
	}
	b = binary.AppendUvarint(b, token)
	b = binary.AppendUvarint(b, uint64(nbytes))
	if regular {
		b = binary.AppendVarint(b, int64(uint64(addrs[0])-prev))
		if len(addrs) > 1 {
			b = binary.AppendVarint(b, int64(addrs[1]-addrs[0]))
		}
		return b
	}
	return appendIrregular(b, addrs, prev)
}

// appendIrregular writes addresses one by one. Distances of up to three bytes have a short way.
func appendIrregular(b []byte, addrs []uintptr, prev uint64) []byte {
	n := len(b)
	b = slices.Grow(b, binary.MaxVarintLen64*len(addrs))
	out := b[:cap(b)]
	for _, a := range addrs {
		d := int64(uint64(a) - prev)
		prev = uint64(a)
		v := uint64(d<<1 ^ d>>63)
		switch {
		case v < 1<<7:
			out[n] = byte(v)
			n++
		case v < 1<<14:
			out[n], out[n+1] = byte(v)|0x80, byte(v>>7)
			n += 2
		case v < 1<<21:
			out[n], out[n+1], out[n+2] = byte(v)|0x80, byte(v>>7)|0x80, byte(v>>14)
			n += 3
		default:
			n += binary.PutUvarint(out[n:], v)
		}
	}
	return out[:n]
}
