// SPDX-License-Identifier: BSD-3-Clause

// Cutting a transfer into frames: how much of the target's memory the next frame is about, and its descriptor.
package internode

import (
	"encoding/binary"
	"math"

	"libarmci/internal/kernel"
)

// limits bound a frame: bytes of data, bytes of descriptor, and of both together.
type limits struct {
	data       int64
	desc, both int
	flat       bool // no shapes of several levels: what is taken is as much as fits, exactly
}

// listDesc bounds the descriptor of one frame where the fabric does not: longer ones would be decoded in one go while
// nothing moves.
const listDesc = 16 << 10

// chunk is what one frame is about. It is used again.
type chunk struct {
	flags uint8
	addr  uint64
	bytes int64
	desc  []byte
	scale []byte // of an accumulate; nobody but the caller of take changes it
}

// take describes as much as a frame may carry from the cursor on, which moves behind it. Rows are divided between whole
// grains only. It takes something unless nothing is left.
func (c *chunk) take(remote *kernel.Cursor, l limits, grain int) {
	c.flags, c.addr, c.bytes, c.desc = 0, 0, 0, c.desc[:0]
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
	prev, segments, groups := uint64(0), 0, 0
	for remote.Left() > 0 && groups < maxSegments {
		before := *remote
		room := min(l.data, int64(l.both-len(c.desc)-mostGroup)) - c.bytes
		if room <= 0 || len(c.desc)+mostGroup > l.desc {
			return
		}
		p := remote.Next(int(min(room, math.MaxInt)), grain)
		if p.Bytes == 0 {
			*remote = before
			return
		}
		if groups == 0 {
			c.addr = uint64(p.Addr)
			if p.Addrs != nil {
				c.addr = uint64(p.Addrs[0])
			}
			prev = c.addr
		}
		switch {
		case p.Addrs != nil:
			taken := 0
			taken, prev = c.segments(p.Addrs, p.Size, prev, l, &segments, &groups)
			if taken < len(p.Addrs) { // the descriptor is full
				*remote = before
				remote.Skip(int64(taken) * int64(p.Size))
				c.bytes += int64(taken) * int64(p.Size)
				return
			}
		case len(p.Count) > 2 && groups == 0 && !l.flat:
			c.flags, c.bytes = flagStrided, int64(p.Bytes)
			c.desc = appendStrided(c.desc, p.Count, p.Stride)
			return
		case groups == 0 && remote.Left() == 0 && len(p.Count) == 1:
			c.bytes = int64(p.Bytes) // contiguous: no descriptor
			return
		default:
			g := kernel.Group{Addr: p.Addr, Count: 1, Bytes: int(p.Count[0])}
			if len(p.Count) >= 2 {
				g.Count, g.Step = int(p.Count[1]), int64(p.Stride[0])
			}
			if len(p.Count) > 2 { // only its first rows: a shape of several levels has a frame of its own
				p.Bytes = g.Count * g.Bytes
				*remote = before
				remote.Skip(int64(p.Bytes))
			}
			c.desc, prev = appendRegular(c.desc, &g, prev)
			groups++
		}
		c.flags = flagGroups
		c.bytes += int64(p.Bytes)
	}
}

// segments writes groups for addresses until the descriptor is full, and tells how many it has written.
func (c *chunk) segments(addrs []uintptr, size int, prev uint64, l limits, used, groups *int) (taken int, last uint64) {
	const minRun = 4
	for taken < len(addrs) && *groups < maxSegments {
		free := l.both - int(c.bytes) - taken*size - len(c.desc) - mostGroup // for data and addresses
		room := min((l.desc-len(c.desc)-mostGroup)/binary.MaxVarintLen64, maxSegments-*used)
		if room <= 0 || free < size {
			break
		}
		rest := addrs[taken:]
		rest = rest[:min(len(rest), free/size)]
		c.flags = flagGroups
		*groups++
		if n := regularRun(rest); n >= minRun || n == len(rest) {
			step := int64(0)
			if n > 1 {
				step = int64(rest[1] - rest[0])
			}
			g := kernel.Group{Addr: rest[0], Step: step, Count: n, Bytes: size}
			c.desc, prev = appendRegular(c.desc, &g, prev)
			taken += n
			continue
		}
		room = max(min(room, free/(size+binary.MaxVarintLen64)), 1)
		n := irregularRun(rest[:min(len(rest), room)], minRun)
		c.desc, prev = appendIrregular(c.desc, rest[:n], size, prev)
		taken += n
		*used += n
	}
	return taken, prev
}

// irregularRun is the number of addresses before at least so many at a constant distance begin.
func irregularRun(addrs []uintptr, minRun int) int {
	n := 0
	for n < len(addrs) {
		k := regularRun(addrs[n:])
		if k >= minRun && n > 0 {
			break
		}
		n += k
	}
	return max(n, 1)
}
