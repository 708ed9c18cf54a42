// SPDX-License-Identifier: BSD-3-Clause

// Cutting a transfer into frames: how much of the target's memory the next frame is about, and its
// descriptor.
package internode

import (
	"encoding/binary"
	"math"
	"slices"

	"libarmci/internal/kernel"
)

// limits bound a frame: bytes of data, bytes of descriptor, and of both together.
type limits struct {
	data       int64
	desc, both int
	flat       bool // no shapes of several levels: what is taken is as much as fits, exactly
}

// listDesc bounds the descriptor of one frame where the fabric does not: longer ones would be
// decoded in one go while nothing moves.
const listDesc = 16 << 10

// mostGroup is the most bytes of a group in a descriptor, or of a list's first segment. Each other
// one of a list has listed.
const (
	mostGroup = 4 * binary.MaxVarintLen64
	listed    = 4
)

// chunk is what one frame is about. It is used again.
type chunk struct {
	flags uint8
	addr  uint64
	bytes int64
	desc  []byte
	scale []byte // of an accumulate; the caller of take sets it

	groups int           // in desc, and lists
	listed int           // segments of the lists
	prev   uint64        // address of the last segment
	size   int           // of the segments of the last group
	before kernel.Cursor // where the part begins that was taken last
}

// take describes as much as a frame may carry from the cursor on, which moves behind it. Rows are
// divided between whole grains only. It takes something unless nothing is left.
func (c *chunk) take(remote *kernel.Cursor, l limits, grain int) {
	c.flags, c.addr, c.bytes, c.desc = 0, 0, 0, c.desc[:0]
	c.groups, c.listed, c.prev, c.size = 0, 0, 0, 0
	if remote.Contiguous() {
		n := min(remote.Left(), l.data, int64(l.both))
		if n < remote.Left() {
			n -= n % int64(grain)
		}
		if at, ok := remote.Take(n); ok {
			c.addr, c.bytes = uint64(at), n
			return
		}
	}
	for remote.Left() > 0 {
		if !remote.Regular() {
			c.before = *remote
		}
		p := remote.Next(c.room(l), grain)
		if p.Bytes == 0 {
			return
		}
		if len(p.Count) > 2 && c.groups == 0 && !l.flat {
			c.flags, c.addr, c.bytes = flagStrided, uint64(p.Addr), int64(p.Bytes)
			c.desc = appendStrided(c.desc, p.Count, p.Stride)
			return
		}
		was := c.bytes
		switch {
		case p.Addrs != nil:
			c.segments(p.Addrs, p.Size, l)
		case len(p.Count) == 1:
			c.group(p.Addr, 0, 1, int(p.Count[0]))
		default: // the first level: a shape of several has a frame of its own
			c.group(p.Addr, int64(p.Stride[0]), int(p.Count[1]), int(p.Count[0]))
		}
		if taken := c.bytes - was; taken < int64(p.Bytes) {
			*remote = c.before
			remote.Skip(taken)
		}
	}
}

// room is how many bytes of data another group may have.
func (c *chunk) room(l limits) int {
	if len(c.desc)+mostGroup > l.desc || c.groups == maxGroups {
		return 0
	}
	return int(max(min(l.data-c.bytes, int64(l.both-len(c.desc)-mostGroup)-c.bytes,
		math.MaxInt32), 0))
}

// segments writes groups and lists for addresses as long as there is room.
func (c *chunk) segments(addrs []uintptr, size int, l limits) {
	for len(addrs) > 0 {
		n := min(len(addrs), c.room(l)/size)
		if n == 0 || c.listed == maxAddrs {
			return
		}
		if m := irregular(addrs[:n]); m > 0 {
			n = c.list(addrs[:max(min(m, c.listRoom(l, size)), 1)], size)
		} else {
			n = regular(addrs[:n])
			c.group(addrs[0], int64(addrs[1]-addrs[0]), n, size)
		}
		addrs = addrs[n:]
	}
}

// listRoom is how many segments another list may have.
func (c *chunk) listRoom(l limits, size int) int {
	desc := len(c.desc) + mostGroup
	return min((l.desc-desc)/listed, (l.both-desc-int(c.bytes))/(size+listed),
		maxAddrs-c.listed)
}

// longRun is how many segments at a constant distance are a group of their own.
const longRun = 16

// irregular is the number of addresses at the start before so many that have a constant distance.
func irregular(addrs []uintptr) int {
	same, step := 1, uintptr(0)
	for i := 1; i < len(addrs); i++ {
		d := addrs[i] - addrs[i-1]
		if d != step {
			same, step = 1, d
		}
		if same++; same == longRun {
			return i + 1 - longRun
		}
	}
	return len(addrs)
}

// regular is the number of addresses at the start, of two or more, that have a constant distance.
func regular(addrs []uintptr) int {
	n, step := 2, addrs[1]-addrs[0]
	for n < len(addrs) && addrs[n]-addrs[n-1] == step {
		n++
	}
	return n
}

// group writes count segments of size bytes at a constant distance.
func (c *chunk) group(addr uintptr, step int64, count, size int) {
	c.head(addr, count, size, 0)
	if count > 1 {
		c.desc = binary.AppendVarint(c.desc, step)
	}
	c.prev = uint64(int64(addr) + step*int64(count-1))
}

// list writes segments at any distance, but not so far from the first that 32 bits do not tell. It
// returns how many.
func (c *chunk) list(addrs []uintptr, size int) (n int) {
	for n = 1; n < len(addrs); n++ {
		if d := int64(addrs[n] - addrs[0]); d != int64(int32(d)) {
			break
		}
	}
	c.head(addrs[0], n, size, tokenList)
	at := len(c.desc)
	c.desc = slices.Grow(c.desc, listed*(n-1))[:at+listed*(n-1)]
	for i, b := 1, c.desc[at:]; i < n && len(b) >= listed; i, b = i+1, b[listed:] {
		binary.LittleEndian.PutUint32(b, uint32(addrs[i]-addrs[0]))
	}
	c.prev = uint64(addrs[n-1])
	c.listed += n
	return n
}

// The token of a group or list is the number of segments, and two bits.
const (
	tokenSame = 1 << iota // size is as in the one before
	tokenList
	tokenShift = iota
)

// head writes the token, the size unless it is as before, and the first address as the difference
// from the last one of the group before.
func (c *chunk) head(addr uintptr, count, size int, token uint64) {
	if c.groups == 0 {
		c.flags, c.addr, c.prev = flagGroups, uint64(addr), uint64(addr)
	}
	token |= uint64(count) << tokenShift
	if size == c.size {
		c.desc = binary.AppendUvarint(c.desc, token|tokenSame)
	} else {
		c.desc = binary.AppendUvarint(binary.AppendUvarint(c.desc, token), uint64(size))
	}
	c.desc = binary.AppendVarint(c.desc, int64(uint64(addr)-c.prev))
	c.size = size
	c.bytes += int64(count) * int64(size)
	c.groups++
}

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
