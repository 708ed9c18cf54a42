// kernel_test.go: copies and shapes against the oracle, by fixed cases and by fuzzing.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"math"
	"testing"
)

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

func FuzzRuns(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s := source(in)
		batch := 1 + s.next()%9
		count := s.counts(1)
		sh := shape{s.strides(count), count}
		lo, hi := sh.extent()
		if l, h := Extent(sh.stride, count); l != lo || h != hi {
			t.Fatalf("extent of %v: [%d, %d), want [%d, %d)", sh, l, h, lo, hi)
		}
		var got []Run
		for out := make([]Run, batch); ; {
			n := Runs(sh.stride, count, len(got), out)
			got = append(got, out[:n]...)
			if n < batch {
				break
			}
		}
		if n := NumRuns(sh.stride, count); n != len(got) {
			t.Fatalf("%v: %d runs announced, %d found", sh, n, len(got))
		}
		checkRuns(t, sh, got)
	})
}

// checkRuns compares runs with the rows of a shape, cut to single rows again.
func checkRuns(t *testing.T, sh shape, runs []Run) {
	var rows []int64
	row := int64(sh.count[0])
	for _, r := range runs {
		if r.Len <= 0 || r.Len%row != 0 {
			t.Fatalf("%v: run of %d bytes", sh, r.Len)
		}
		for o := int64(0); o < r.Len; o += row {
			rows = append(rows, r.Off+o)
		}
	}
	want := sh.offsets()
	if len(rows) != len(want) {
		t.Fatalf("%v: runs have %d rows, want %d", sh, len(rows), len(want))
	}
	for i := range rows {
		if rows[i] != want[i] {
			t.Fatalf("%v: row %d at %d, want %d", sh, i, rows[i], want[i])
		}
	}
}

func TestRunsMerge(t *testing.T) {
	for _, c := range []struct {
		shape
		runs int
	}{
		{shape{nil, []int32{8}}, 1},
		{shape{nil, []int32{0}}, 0},
		{shape{[]int32{8}, []int32{8, 4}}, 1},
		{shape{[]int32{8, 32}, []int32{8, 4, 5}}, 1},
		{shape{[]int32{8, 40}, []int32{8, 4, 5}}, 5},
		{shape{[]int32{16, 64}, []int32{8, 4, 5}}, 20},
		{shape{[]int32{99, 8}, []int32{8, 1, 5}}, 1},
		{shape{[]int32{8, 32}, []int32{8, 4, 0}}, 0},
		{shape{[]int32{-8}, []int32{8, 4}}, 4},
	} {
		if n := NumRuns(c.stride, c.count); n != c.runs {
			t.Errorf("%v: %d runs, want %d", c.shape, n, c.runs)
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
	if lo, hi := Extent([]int32{m, -m}, []int32{8, 3, 3}); lo != -2*m || hi != 2*m+8 {
		t.Errorf("extent [%d, %d)", lo, hi)
	}
	if lo, hi := Extent([]int32{m, m, m, -m, -m, -m}, []int32{8, m, m, m, m, m, m}); lo != math.MinInt64 || hi != math.MaxInt64 {
		t.Errorf("extent [%d, %d), want everything", lo, hi)
	}
	run := make([]Run, 1)
	if n := Runs([]int32{m, m}, []int32{8, m, m}, m*m-1, run); n != 1 || run[0].Off != 2*(m-1)*m {
		t.Errorf("last run %d %v", n, run)
	}
}

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
			from, to = append(from, uintptr(at(src, a))), append(to, uintptr(at(dst, b)))
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

// Every length up to 4200, and for some all alignments of both sides that make a difference to our own loop.
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
	src, dst, want := make([]byte, rows*pitch+64), make([]byte, rows*pitch+64), make([]byte, rows*pitch+64)
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
		CopyStrided(at(src, s), []int32{pitch}, at(dst, d), []int32{pitch - 5}, []int32{int32(row), rows})
		same(t, "rows", dst, want)
	}
}
