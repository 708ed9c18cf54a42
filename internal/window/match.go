// SPDX-License-Identifier: BSD-3-Clause

// Two sides of a transfer as one section or vector. Regular sides of which blocks and counts can be
// divided into common ones become a strided section, all others a vector of pairs of segments.
package window

import (
	"math"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// commonSection describes both sides by common counts in x: the first is bytes of a block. It
// returns false if they have none, or too many levels.
func commonSection(local, remote grid, x *transport.Xfer) bool {
	if !toCommonBlocks(&local, &remote) || len(local.levels) > kernel.MaxLevels ||
		local.block > math.MaxInt32 {
		return false
	}
	x.Count = append(x.Count[:0], int32(local.block))
	x.Local.Stride, x.Remote.Stride = x.Local.Stride[:0], x.Remote.Stride[:0]
	for i := range local.levels {
		l, r := local.levels[i], remote.levels[i]
		if l.Count > math.MaxInt32 || l.Stride != int64(int32(l.Stride)) ||
			r.Stride != int64(int32(r.Stride)) {
			return false
		}
		x.Count = append(x.Count, int32(l.Count))
		x.Local.Stride = append(x.Local.Stride, int32(l.Stride))
		x.Remote.Stride = append(x.Remote.Stride, int32(r.Stride))
	}
	x.Local.Base, x.Remote.Base = local.addr, remote.addr
	return true
}

// toCommonBlocks splits the blocks and levels of two grids with equally many bytes until both have
// the same blocks and counts; false if that is impossible.
func toCommonBlocks(a, b *grid) bool {
	block := min(a.block, b.block)
	if block == 0 || a.block%block != 0 || b.block%block != 0 {
		return false
	}
	as, bs := a.splitBlocks(block), b.splitBlocks(block)
	a.levels, b.levels, a.block, b.block = nil, nil, block, block
	for len(as) > 0 && len(bs) > 0 {
		n := min(as[0].Count, bs[0].Count)
		if as[0].Count%n != 0 || bs[0].Count%n != 0 {
			return false
		}
		a.levels = append(a.levels, Level{n, as[0].Stride})
		b.levels = append(b.levels, Level{n, bs[0].Stride})
		as, bs = repeatsOf(as, n), repeatsOf(bs, n)
	}
	return true
}

// splitBlocks returns the levels of a grid of smaller blocks. The caller may change them.
func (g *grid) splitBlocks(block int64) []Level {
	var levels []Level
	if g.block > block {
		levels = append(levels, Level{g.block / block, block})
	}
	return append(levels, g.levels...)
}

// repeatsOf returns the levels that repeat the first n of the innermost level. It may change
// levels.
func repeatsOf(levels []Level, n int64) []Level {
	if levels[0].Count == n {
		return levels[1:]
	}
	levels[0] = Level{levels[0].Count / n, levels[0].Stride * n}
	return levels
}

// Limits of one operation of core and of one segment.
const (
	maxSegments     = 8192
	maxSegmentBytes = 1 << 30
)

// forEachVector calls do for vectors that together describe all of two sides with equally many
// bytes. It ends with the first error.
func forEachVector(local, remote *Side, do func([]transport.Segments) error) error {
	var v segmentList
	l, r := walker{side: local}, walker{side: remote}
	for left := remote.Bytes(); left > 0; {
		n := min(l.runLeft(), r.runLeft(), maxSegmentBytes)
		v.addPair(l.advance(n), r.advance(n), n)
		if left -= n; v.pairs == maxSegments || left == 0 {
			if err := do(v.list); err != nil {
				return err
			}
			v = segmentList{}
		}
	}
	return nil
}

// segmentList collects pairs of segments by their length.
type segmentList struct {
	list  []transport.Segments
	pairs int
}

// addPair adds a pair of segments of n bytes.
func (v *segmentList) addPair(local, remote uintptr, n int64) {
	v.pairs++
	for i := range v.list {
		if s := &v.list[i]; int64(s.Bytes) == n {
			s.Local, s.Remote = append(s.Local, local), append(s.Remote, remote)
			return
		}
	}
	v.list = append(v.list, transport.Segments{Local: []uintptr{local},
		Remote: []uintptr{remote}, Bytes: int(n)})
}
