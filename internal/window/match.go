// SPDX-License-Identifier: BSD-3-Clause

// Two sides of a transfer as one section or vector. Regular sides whose blocks and counts can be
// divided into common ones become a strided section; everything else a vector of pairs of segments.
package window

import (
	"math"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// section describes both sides by common counts: the first is bytes of a block. false: they have
// none, or too many levels.
func section(local, remote grid, x *transport.Xfer) bool {
	if !divide(&local, &remote) || len(local.levels) > kernel.MaxLevels ||
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

// divide splits the blocks and levels of two grids with equally many bytes until both have the same
// blocks and counts; false if that is impossible.
func divide(a, b *grid) bool {
	block := min(a.block, b.block)
	if block == 0 || a.block%block != 0 || b.block%block != 0 {
		return false
	}
	as, bs := a.split(block), b.split(block)
	a.levels, b.levels, a.block, b.block = nil, nil, block, block
	for len(as) > 0 && len(bs) > 0 {
		n := min(as[0].Count, bs[0].Count)
		if as[0].Count%n != 0 || bs[0].Count%n != 0 {
			return false
		}
		a.levels = append(a.levels, Level{n, as[0].Stride})
		b.levels = append(b.levels, Level{n, bs[0].Stride})
		as, bs = rest(as, n), rest(bs, n)
	}
	return true
}

// split is the levels of a grid of smaller blocks. They are the caller's.
func (g *grid) split(block int64) []Level {
	var levels []Level
	if g.block > block {
		levels = append(levels, Level{g.block / block, block})
	}
	return append(levels, g.levels...)
}

// rest is what repeats the first n of the innermost level.
func rest(levels []Level, n int64) []Level {
	if levels[0].Count == n {
		return levels[1:]
	}
	levels[0] = Level{levels[0].Count / n, levels[0].Stride * n}
	return levels
}

// mostSegments bounds what one operation of core describes, and mostPiece one segment.
const (
	mostSegments = 8192
	mostPiece    = 1 << 30
)

// vectors calls do for vectors that describe all of two sides, part by part, until it returns an
// error.
func vectors(local, remote *Side, do func([]transport.Segments) error) error {
	var v vector
	l, r := walker{side: local}, walker{side: remote}
	for left := remote.Bytes(); left > 0; {
		n := min(l.left(), r.left(), mostPiece)
		v.add(l.take(n), r.take(n), n)
		if left -= n; v.n == mostSegments || left == 0 {
			if err := do(v.list); err != nil {
				return err
			}
			v = vector{}
		}
	}
	return nil
}

// vector collects pairs of segments by their length.
type vector struct {
	list []transport.Segments
	n    int
}

func (v *vector) add(local, remote uintptr, n int64) {
	v.n++
	for i := range v.list {
		if s := &v.list[i]; int64(s.Bytes) == n {
			s.Local, s.Remote = append(s.Local, local), append(s.Remote, remote)
			return
		}
	}
	v.list = append(v.list, transport.Segments{Local: []uintptr{local},
		Remote: []uintptr{remote}, Bytes: int(n)})
}
