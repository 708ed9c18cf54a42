// kernel_test.go: copies and shapes against the oracle, by fixed cases and by fuzzing.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"math"
	"slices"
	"testing"
)

// FuzzCopyStrided compares copies between two strided shapes with a plain loop.
func FuzzCopyStrided(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s := source(in)
		count := s.counts(1)
		from, to := shape{s.strides(count), count}, shape{s.strides(count), count}
		src, sbase := room(from, 1)
		dst, dbase := room(to, 0x80)
		want := append([]byte(nil), dst...)
		toOffs := to.offsets()
		for i, o := range from.offsets() {
			copy(want[dbase+int(toOffs[i]):], src[sbase+int(o):][:count[0]])
		}
		CopyStrided(at(src, sbase), from.stride, at(dst, dbase), to.stride, count)
		same(t, "destination", dst, want)
	})
}

// FuzzPackUnpack compares packing and unpacking of strided shapes with a plain loop.
func FuzzPackUnpack(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s := source(in)
		count := s.counts(1)
		sh := shape{s.strides(count), count}
		mem, base := room(sh, 1)
		n := sh.volume()
		if v := Volume(count); v != int64(n) {
			t.Fatalf("volume of %v is %d, want %d", count, v, n)
		}
		buf, packed := make([]byte, n+16), make([]byte, 0, n+16)
		for _, o := range sh.offsets() {
			packed = append(packed, mem[base+int(o):][:count[0]]...)
		}
		Pack(at(mem, base), sh.stride, count, at(buf, 0))
		same(t, "packed", buf, packed[:n+16])

		for i := range buf {
			buf[i] = byte(i * 3)
		}
		want := append([]byte(nil), mem...)
		for i, o := range sh.offsets() {
			copy(want[base+int(o):], buf[i*int(count[0]):][:count[0]])
		}
		Unpack(at(mem, base), sh.stride, count, at(buf, 0))
		same(t, "unpacked", mem, want)
	})
}

// FuzzPieces compares extents and pieces of strided shapes with a plain loop.
func FuzzPieces(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s := source(in)
		batch := 1 + s.next()%9
		count := s.counts(1)
		sh := shape{s.strides(count), count}
		lo, hi := sh.extent()
		if n, l, h := Extent(sh.stride, count); l != lo || h != hi ||
			n != int64(sh.volume()) {
			t.Fatalf("extent of %v: %d bytes in [%d, %d), want %d in [%d, %d)", sh, n,
				l, h, sh.volume(), lo, hi)
		}
		var c Cursor
		c.SetStrided(1<<40, count, sh.stride)
		var got []Segment
		for c.Left() > 0 {
			got = append(got, c.Pieces(make([]Segment, 0, batch), c.Left())...)
		}
		checkPieces(t, sh, 1<<40, got)
	})
}

// checkPieces compares pieces with the rows of a shape at base, cut to single rows again.
func checkPieces(t *testing.T, sh shape, base uintptr, pieces []Segment) {
	var rows []int64
	row := int64(sh.count[0])
	for _, p := range pieces {
		if p.Bytes == 0 || p.Bytes%row != 0 {
			t.Fatalf("%v: piece of %d bytes", sh, p.Bytes)
		}
		for o := int64(0); o < p.Bytes; o += row {
			rows = append(rows, int64(p.Addr-base)+o)
		}
	}
	if want := sh.offsets(); !slices.Equal(rows, want) {
		t.Fatalf("%v: pieces have the rows %v, want %v", sh, rows, want)
	}
}

// TestPiecesMerge shows that rows that touch are one piece.
func TestPiecesMerge(t *testing.T) {
	for _, c := range []struct {
		shape
		pieces int
		row    int64
	}{
		{shape{nil, []int32{8}}, 1, 8},
		{shape{nil, []int32{0}}, 0, 0},
		{shape{[]int32{8}, []int32{8, 4}}, 1, 32},
		{shape{[]int32{8, 32}, []int32{8, 4, 5}}, 1, 160},
		{shape{[]int32{8, 40}, []int32{8, 4, 5}}, 5, 32},
		{shape{[]int32{16, 64}, []int32{8, 4, 5}}, 20, 8},
		{shape{[]int32{99, 8}, []int32{8, 1, 5}}, 1, 40},
		{shape{[]int32{8, 32}, []int32{8, 4, 0}}, 0, 0},
		{shape{[]int32{-8}, []int32{8, 4}}, 4, 8},
	} {
		var cur Cursor
		cur.SetStrided(1<<40, c.count, c.stride)
		if row := cur.Row(); cur.Contiguous() != (c.pieces <= 1) || row != c.row {
			t.Errorf("%v: contiguous %v, rows of %d bytes", c.shape, cur.Contiguous(),
				row)
		}
		if n := len(cur.Pieces(make([]Segment, 0, 100), math.MaxInt64)); n != c.pieces {
			t.Errorf("%v: %d pieces, want %d", c.shape, n, c.pieces)
		}
	}
}

// Shapes whose volume or reach does not fit an int, or not even 64 bits, must be seen as such.
func TestLargeShapes(t *testing.T) {
	const m = math.MaxInt32
	if v := Volume([]int32{m, m}); v != m*m {
		t.Errorf("volume %d, want %d", v, int64(m)*m)
	}
	if v := Volume([]int32{m, m, m, m}); v != math.MaxInt64 {
		t.Errorf("volume %d, want the greatest", v)
	}
	if v := Volume([]int32{m, m, m, 0}); v != 0 {
		t.Errorf("volume %d, want 0", v)
	}
	if n, lo, hi := Extent([]int32{m, -m}, []int32{8, 3, 3}); n != 72 || lo != -2*m ||
		hi != 2*m+8 {
		t.Errorf("extent [%d, %d)", lo, hi)
	}
	n, lo, hi := Extent([]int32{m, m, m, -m, -m, -m}, []int32{8, m, m, m, m, m, m})
	if n != math.MaxInt64 || lo != math.MinInt64 || hi != math.MaxInt64 {
		t.Errorf("extent [%d, %d), want everything", lo, hi)
	}
	if n, lo, hi := Extent([]int32{m, m, m, m}, []int32{m, m, m, m, 0}); n != 0 || lo != 0 ||
		hi != 0 {
		t.Errorf("extent [%d, %d), want nothing", lo, hi)
	}
	if n, _, hi := Extent([]int32{0, 0, 0}, []int32{1 << 16, 1 << 16, 1 << 16,
		1 << 16}); n != math.MaxInt64 || hi != 1<<16 {
		t.Errorf("%d bytes, want the greatest", n)
	}
	var c Cursor
	c.SetStrided(1<<40, []int32{1, m, m}, []int32{m, m - 5})
	c.Skip(m*m - 1)
	if p := c.Pieces(make([]Segment, 0, 2), 9); len(p) != 1 ||
		p[0] != (Segment{1<<40 + (m-1)*(m+m-5), 1}) || c.Left() != 0 {
		t.Errorf("the last piece is %v", p)
	}
}

// FuzzCopyVector compares copies of vectors with a plain loop.
func FuzzCopyVector(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s := source(in)
		nbytes, n := s.next(), s.next()%30
		src, dst := make([]byte, 1024), make([]byte, 1024)
		for i := range src {
			src[i], dst[i] = byte(i*5), byte(i*11)
		}
		want := append([]byte(nil), dst...)
		var from, to []uintptr
		for i := 0; i < n; i++ {
			a, b := 3*s.next(), 3*s.next()
			copy(want[b:], src[a:a+nbytes])
			from, to = append(from, uintptr(at(src, a))),
				append(to, uintptr(at(dst, b)))
		}
		blank, packed := append([]byte(nil), dst...), make([]byte, n*nbytes)
		CopyVector(from, to, nbytes)
		same(t, "destination", dst, want)
		PackVector(from, nbytes, packed)
		copy(dst, blank)
		UnpackVector(to, nbytes, packed)
		same(t, "destination of packed segments", dst, want)
	})
}

// TestCopy shows that copies of all short lengths change no neighbouring byte.
func TestCopy(t *testing.T) {
	for n := 0; n < 300; n++ {
		src, base := room(shape{nil, []int32{int32(n)}}, 1)
		dst, _ := room(shape{nil, []int32{int32(n)}}, 0x80)
		want := append([]byte(nil), dst...)
		copy(want[base:], src[base:base+n])
		Copy(at(dst, base), at(src, base), n)
		same(t, "Copy", dst, want)
		copy(want[base+1:], src[base:base+n]) // through the inline C copy, unaligned
		Pack(at(src, base), nil, []int32{int32(n)}, at(dst, base+1))
		same(t, "k_copy", dst, want)
	}
}

// Every length up to 4200, and for some all alignments of both sides that make a difference to our
// own loop.
func TestCopyBlocks(t *testing.T) {
	const most = 4200
	src, dst, want := make([]byte, most+128), make([]byte, most+128), make([]byte, most+128)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	check := func(n, s, d int) {
		for i := range dst {
			dst[i] = 0xA5
		}
		copy(want, dst)
		copy(want[d:], src[s:s+n])
		Pack(at(src, s), nil, []int32{int32(n)}, at(dst, d)) // through k_copy
		if string(dst) != string(want) {
			t.Fatalf("%d bytes from offset %d to offset %d", n, s, d)
		}
	}
	for n := 0; n <= most; n++ {
		check(n, n%67, n*5%61)
	}
	for _, n := range []int{65, 511, 512, 513, 544, 639, 640, 641, 1024, 2049, 4096} {
		for d := range 64 {
			for s := range 64 {
				check(n, s, d)
			}
		}
	}
}

// Rows of every length of interest, in planes: these have loops of their own.
func TestCopyLongRows(t *testing.T) {
	const rows, pitch = 3, 4500
	src, dst, want := make([]byte, rows*pitch+64), make([]byte, rows*pitch+64),
		make([]byte, rows*pitch+64)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	for row := 1; row <= 4200; row += 1 + row/300 {
		s, d := row%31, row*3%37
		clear(dst)
		clear(want)
		for i := range rows {
			copy(want[d+i*(pitch-5):], src[s+i*pitch:][:row])
		}
		CopyStrided(at(src, s), []int32{pitch}, at(dst, d), []int32{pitch - 5},
			[]int32{int32(row), rows})
		same(t, "rows", dst, want)
	}
}
