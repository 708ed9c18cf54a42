// SPDX-License-Identifier: BSD-3-Clause

// Dividing a transfer into frames: how much of the target's memory the next frame is for, and its
// descriptor.
package internode

import (
	"encoding/binary"
	"math"
	"slices"

	"libarmci/internal/kernel"
)

// frameLimits bound a frame.
type frameLimits struct {
	data  int64 // bytes of data
	desc  int   // bytes of descriptor
	total int   // bytes of data and descriptor together
	flat  bool  // no shapes of several levels: what is taken is as much as fits, exactly
}

// maxUnboundedDesc bounds the descriptor of one frame where the fabric does not. A longer one would
// be decoded in one go while no data moves.
const maxUnboundedDesc = 16 << 10

// maxGroupBytes is the most bytes of a group in a descriptor, or of a list's first segment. Each
// other segment of a list has listEntryBytes.
const (
	maxGroupBytes  = 4 * binary.MaxVarintLen64
	listEntryBytes = 4
)

// chunk describes the target's memory in one frame. It is used again for the next frame.
type chunk struct {
	flags   uint8
	addr    uint64
	bytes   int64
	desc    []byte
	operand []byte // goes before the descriptor; the caller of describeNext sets it

	groups       int           // groups and lists in desc
	listSegments int           // segments of the lists
	prev         uint64        // address of the last segment
	size         int           // bytes of a segment of the last group
	before       kernel.Cursor // where the part begins that was taken last
}

// describeNext describes as much as a frame may carry from the cursor on, which moves behind it.
// Rows are divided between whole grains only. It describes something unless nothing is left.
func (c *chunk) describeNext(remote *kernel.Cursor, l frameLimits, grain int) {
	c.flags, c.addr, c.bytes, c.desc = 0, 0, 0, c.desc[:0]
	c.groups, c.listSegments, c.prev, c.size = 0, 0, 0, 0
	if remote.Contiguous() {
		n := min(remote.Left(), l.data, int64(l.total))
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
		p := remote.Next(c.groupRoom(l), grain)
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
			c.addSegments(p.Addrs, p.Size, l)
		case len(p.Count) == 1:
			c.addGroup(p.Addr, 0, 1, int(p.Count[0]))
		default: // the first level only: a shape of several has a frame of its own
			c.addGroup(p.Addr, int64(p.Stride[0]), int(p.Count[1]), int(p.Count[0]))
		}
		if taken := c.bytes - was; taken < int64(p.Bytes) {
			*remote = c.before
			remote.Skip(taken)
		}
	}
}

// groupRoom returns how many bytes of data another group may have.
func (c *chunk) groupRoom(l frameLimits) int {
	if len(c.desc)+maxGroupBytes > l.desc || c.groups == maxGroups {
		return 0
	}
	return int(max(min(l.data-c.bytes, int64(l.total-len(c.desc)-maxGroupBytes)-c.bytes,
		math.MaxInt32), 0))
}

// addSegments appends groups and lists for addresses as long as there is room.
func (c *chunk) addSegments(addrs []uintptr, size int, l frameLimits) {
	for len(addrs) > 0 {
		n := min(len(addrs), c.groupRoom(l)/size)
		if n == 0 || c.listSegments == maxAddrs {
			return
		}
		if m := irregularPrefix(addrs[:n]); m > 0 {
			n = c.addList(addrs[:max(min(m, c.maxListSegments(l, size)), 1)], size)
		} else {
			n = regularPrefix(addrs[:n])
			c.addGroup(addrs[0], int64(addrs[1]-addrs[0]), n, size)
		}
		addrs = addrs[n:]
	}
}

// maxListSegments returns how many segments another list may have.
func (c *chunk) maxListSegments(l frameLimits, size int) int {
	desc := len(c.desc) + maxGroupBytes
	return min((l.desc-desc)/listEntryBytes, (l.total-desc-int(c.bytes))/(size+listEntryBytes),
		maxAddrs-c.listSegments)
}

// minRun is how many segments at a constant distance are a group of their own.
const minRun = 16

// irregularPrefix returns how many addresses precede the first minRun that have a constant
// distance.
func irregularPrefix(addrs []uintptr) int {
	same, step := 1, uintptr(0)
	for i := 1; i < len(addrs); i++ {
		d := addrs[i] - addrs[i-1]
		if d != step {
			same, step = 1, d
		}
		if same++; same == minRun {
			return i + 1 - minRun
		}
	}
	return len(addrs)
}

// regularPrefix returns how many addresses at the start have a constant distance; there are two or
// more.
func regularPrefix(addrs []uintptr) int {
	n, step := 2, addrs[1]-addrs[0]
	for n < len(addrs) && addrs[n]-addrs[n-1] == step {
		n++
	}
	return n
}

// addGroup appends count segments of size bytes at a constant distance.
func (c *chunk) addGroup(addr uintptr, step int64, count, size int) {
	c.addGroupHead(addr, count, size, 0)
	if count > 1 {
		c.desc = binary.AppendVarint(c.desc, step)
	}
	c.prev = uint64(int64(addr) + step*int64(count-1))
}

// addList appends segments at any distance from the first that fits in 32 bits. It returns how
// many.
func (c *chunk) addList(addrs []uintptr, size int) (n int) {
	for n = 1; n < len(addrs); n++ {
		if d := int64(addrs[n] - addrs[0]); d != int64(int32(d)) {
			break
		}
	}
	c.addGroupHead(addrs[0], n, size, tokenList)
	at := len(c.desc)
	c.desc = slices.Grow(c.desc, listEntryBytes*(n-1))[:at+listEntryBytes*(n-1)]
	for i, b := 1, c.desc[at:]; i < n && len(b) >= listEntryBytes; i, b = i+
		1, b[listEntryBytes:] {
		binary.LittleEndian.PutUint32(b, uint32(addrs[i]-addrs[0]))
	}
	c.prev = uint64(addrs[n-1])
	c.listSegments += n
	return n
}

// The token of a group or list is the number of segments, and two bits.
const (
	tokenSame = 1 << iota // size is as in the one before
	tokenList
	tokenShift = iota
)

// addGroupHead appends the token, the size unless it is as before, and the first address as the
// difference from the last one of the group before.
func (c *chunk) addGroupHead(addr uintptr, count, size int, token uint64) {
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

// appendStrided appends a shape: u32 levels, counts, strides.
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
