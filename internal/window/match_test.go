// SPDX-License-Identifier: BSD-3-Clause

// Sections and vectors of random pairs of shapes, compared with copying byte by byte in the order
// of the runs.
package window

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"libarmci/internal/transport"
)

// randomShape is a shape of `units` times 4 bytes: regular on up to three levels, or irregular.
func randomShape(r *rand.Rand, units int) *Shape {
	var runs []Run
	if r.IntN(3) == 0 { // irregular
		at := int64(r.IntN(16))
		for left := units; left > 0; {
			n := 1 + r.IntN(left)
			runs = append(runs, Run{at, int64(4 * n)})
			at, left = at+int64(4*n+r.IntN(9)), left-n
		}
		return NewShape(runs, at+int64(r.IntN(9)))
	}
	block := 4 * divisor(r, int64(units))
	offsets := []int64{int64(r.IntN(8))}
	reach := block
	for n := int64(4*units) / block; n > 1; {
		d := divisor(r, n)
		if d == 1 {
			d = n
		}
		stride := reach + int64(r.IntN(3)*4)
		var all []int64
		for i := range d {
			for _, o := range offsets {
				all = append(all, o+i*stride)
			}
		}
		offsets, reach, n = all, stride*(d-1)+reach, n/d
	}
	for _, o := range offsets {
		runs = append(runs, Run{o, block})
	}
	return NewShape(runs, reach+int64(4*r.IntN(3)))
}

// divisor is a random divisor of n.
func divisor(r *rand.Rand, n int64) int64 {
	d := 1 + r.Int64N(n)
	for n%d != 0 {
		d--
	}
	return d
}

// span is an upper bound of the bytes that a side touches from its address on.
func span(s *Side) int64 {
	if s.Shape == nil {
		return s.Count
	}
	end := int64(0)
	for _, r := range s.Shape.runs {
		end = max(end, r.Offset+r.Bytes)
	}
	return (s.Count-1)*s.Shape.extent + end
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// copyXfer copies a section from local to remote, as a transport does.
func copyXfer(x *transport.Xfer, level int, local, remote uintptr) {
	if level == 0 {
		copy(memory(remote, int64(x.Count[0])), memory(local, int64(x.Count[0])))
		return
	}
	for i := range uintptr(x.Count[level]) {
		copyXfer(x, level-1, local+i*uintptr(x.Local.Stride[level-1]),
			remote+i*uintptr(x.Remote.Stride[level-1]))
	}
}

// Random transfers have the same result by sections or vectors as by packing and unpacking.
func TestMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sections := 0
	for range 3000 {
		units := 1 + r.IntN(24)
		count := int64(1 + r.IntN(4))
		local := Side{Count: count, Shape: randomShape(r, units)}
		remote := Side{Count: count, Shape: randomShape(r, units)}
		switch r.IntN(6) {
		case 0:
			local = Side{Count: int64(4*units) * count}
		case 1: // one element of as much data as several of the other
			local = Side{Count: 1, Shape: randomShape(r, units*int(count))}
		}
		from, to := make([]byte, span(&local)), make([]byte, span(&remote))
		for i := range from {
			from[i] = byte(r.Uint32())
		}
		want := bytes.Clone(to)
		local.Addr, remote.Addr = addressOf(from), addressOf(want)
		data := make([]byte, local.Bytes())
		(&walker{side: &local}).pack(data)
		(&walker{side: &remote}).unpack(data)
		remote.Addr = addressOf(to)
		if matchOnce(t, local, remote) {
			sections++
		}
		if !bytes.Equal(to, want) {
			t.Fatalf("local %+v (%+v), remote %+v (%+v): wrong bytes", local,
				local.Shape, remote, remote.Shape)
		}
		runtime.KeepAlive(from)
	}
	if sections < 1000 {
		t.Errorf("only %d of 3000 transfers were sections", sections)
	}
}

// matchOnce moves local to remote as a section if it is one, else as vectors.
func matchOnce(t *testing.T, local, remote Side) (regular bool) {
	var x transport.Xfer
	l, one := local.grid()
	m, two := remote.grid()
	if one && two && commonSection(l, m, &x) {
		if x.Bytes() != local.Bytes() {
			t.Fatalf("a section of %d bytes, where the sides have %d", x.Bytes(),
				local.Bytes())
		}
		copyXfer(&x, x.Levels(), x.Local.Base, x.Remote.Base)
		return true
	}
	err := forEachVector(&local, &remote, func(list []transport.Segments) error {
		for _, s := range list {
			for i := range s.Local {
				copy(memory(s.Remote[i], int64(s.Bytes)),
					memory(s.Local[i], int64(s.Bytes)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return false
}

// Sides of blocks of one length are grids, with as few levels as possible.
func TestGrid(t *testing.T) {
	rows := NewShape([]Run{{0, 8}, {24, 8}, {48, 8}}, 72)
	g, ok := (&Side{Addr: 4096, Count: 5, Shape: rows}).grid()
	if !ok || g.block != 8 || len(g.levels) != 1 || g.levels[0] != (Level{15, 24}) {
		t.Errorf("rows that continue in the next element: %+v", g)
	}
	if g, ok := (&Side{Addr: 4096, Count: 5, Shape: NewShape([]Run{{16, 8}}, 8)}).grid(); !ok ||
		g.block != 40 || g.addr != 4112 {
		t.Errorf("consecutive elements: %+v", g)
	}
	if _, ok := (&Side{Count: 1, Shape: NewShape([]Run{{0, 8}, {24, 4}}, 32)}).grid(); ok {
		t.Error("blocks of two lengths are no grid")
	}
}

// A side of more than maxSegmentBytes is several segments, and no section.
func TestLargePieces(t *testing.T) {
	side := Side{Addr: 1 << 40, Count: 5<<30 + 3}
	var n int64
	err := forEachVector(&side, &side, func(list []transport.Segments) error {
		for _, s := range list {
			n += int64(s.Bytes) * int64(len(s.Local))
		}
		return nil
	})
	if err != nil || n != side.Count {
		t.Errorf("%d bytes of %d, %v", n, side.Count, err)
	}
	var x transport.Xfer
	g, _ := side.grid()
	if commonSection(g, g, &x) {
		t.Error("a block of 5 GiB is no section")
	}
}
