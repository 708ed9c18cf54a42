// SPDX-License-Identifier: BSD-3-Clause

// Shapes: a flattened datatype, and its regular form if there is one: blocks of equal length at
// equal distances, on any number of levels. Shapes are made once for each datatype and never
// changed.
package window

import "slices"

// Run is consecutive bytes of one element of a shape, relative to where the element begins.
type Run struct {
	Offset, Bytes int64
}

// Level repeats the levels below it: Count times, Stride bytes apart.
type Level struct {
	Count, Stride int64
}

// Shape is the memory of one element of a datatype.
type Shape struct {
	runs    []Run // in order; none is empty
	bytes   int64 // of all runs
	extent  int64 // distance of consecutive elements
	regular bool  // all of it is blocks of `block` bytes, from `first` on, at levels
	first   int64
	block   int64
	levels  []Level // innermost first
}

// NewShape makes the shape of runs. It keeps the list.
func NewShape(runs []Run, extent int64) *Shape {
	s := &Shape{runs: runs, extent: extent}
	same := true
	for _, r := range runs {
		s.bytes += r.Bytes
		same = same && r.Bytes == runs[0].Bytes
	}
	if len(runs) == 0 || !same {
		return s
	}
	offsets := make([]int64, len(runs))
	for i, r := range runs {
		offsets[i] = r.Offset
	}
	if s.levels, s.regular = regularLevels(offsets); s.regular {
		s.first, s.block = runs[0].Offset, runs[0].Bytes
	}
	return s
}

// regularLevels finds the levels by which offsets repeat, innermost first; false if they do not.
func regularLevels(offsets []int64) (levels []Level, ok bool) {
	for len(offsets) > 1 {
		stride, n := offsets[1]-offsets[0], 2
		for n < len(offsets) && offsets[n]-offsets[n-1] == stride {
			n++
		}
		if len(offsets)%n != 0 {
			return nil, false
		}
		var starts []int64
		for at := 0; at < len(offsets); at += n {
			for i := 1; i < n; i++ {
				if offsets[at+i]-offsets[at+i-1] != stride {
					return nil, false
				}
			}
			starts = append(starts, offsets[at])
		}
		levels = append(levels, Level{int64(n), stride})
		offsets = starts
	}
	return levels, true
}

// Side is one side of an operation: Count elements of a shape from an address on; without a shape
// Count bytes.
type Side struct {
	Addr  uintptr
	Count int64
	Shape *Shape
}

// Bytes is how much data a side has.
func (s *Side) Bytes() int64 {
	if s.Shape == nil {
		return s.Count
	}
	return s.Count * s.Shape.bytes
}

// grid is a regular side: blocks of bytes from an address on, at levels, innermost first. None of
// the levels has a count of 1 or continues the one below it.
type grid struct {
	addr   uintptr
	block  int64
	levels []Level
}

// grid is the regular form of a side; false if it has none.
func (s *Side) grid() (g grid, ok bool) {
	if s.Shape == nil {
		return grid{addr: s.Addr, block: s.Count}, true
	}
	if !s.Shape.regular {
		return grid{}, false
	}
	g = grid{addr: s.Addr + uintptr(s.Shape.first), block: s.Shape.block}
	for _, l := range s.Shape.levels {
		g.addLevel(l)
	}
	g.addLevel(Level{s.Count, s.Shape.extent})
	return g, true
}

// addLevel adds an outer level, or merges it into the outermost one.
func (g *grid) addLevel(l Level) {
	last := len(g.levels) - 1
	switch {
	case l.Count == 1:
	case last < 0 && l.Stride == g.block:
		g.block *= l.Count
	case last >= 0 && l.Stride == g.levels[last].Stride*g.levels[last].Count:
		g.levels[last].Count *= l.Count
	default:
		g.levels = append(slices.Clip(g.levels), l)
	}
}
