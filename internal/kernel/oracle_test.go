// oracle_test.go: what the kernels must do, said in the most naive way: one byte or one element at
// a time. Test-only: nothing here may be fast, and nothing outside tests may use it. Also makes
// random shapes from fuzz input.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"bytes"
	"testing"
	"unsafe"
)

// A shape is a strided shape as users give it.
type shape struct {
	stride, count []int32
}

// offsets gives the offset of every row, in the order of the walk.
func (s shape) offsets() []int64 {
	for _, c := range s.count {
		if c <= 0 {
			return nil
		}
	}
	offs := []int64{0}
	for i, st := range s.stride {
		var next []int64
		for n := int64(0); n < int64(s.count[i+1]); n++ {
			for _, o := range offs {
				next = append(next, o+n*int64(st))
			}
		}
		offs = next
	}
	return offs
}

// volume gives the bytes of the shape.
func (s shape) volume() int { return len(s.offsets()) * max(int(s.count[0]), 0) }

// extent gives the bytes that the shape touches.
func (s shape) extent() (lo, hi int64) {
	for _, o := range s.offsets() {
		lo, hi = min(lo, o), max(hi, o+int64(s.count[0]))
	}
	return lo, hi
}

// A source is fuzz input read byte by byte; zeros when it has run out.
type source []byte

func (s *source) next() int {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int(b)
}

// counts makes the counts of a shape of at most 4096 rows; the row has a multiple of unit bytes.
func (s *source) counts(unit int32) []int32 {
	n := s.next() % (MaxLevels + 1)
	count := []int32{unit * int32(s.next()%80)}
	for rows := int32(1); n > 0; n-- {
		c := int32(s.next() % 7)
		if rows*c > 4096 {
			c = 1
		}
		rows *= max(c, 1)
		count = append(count, c)
	}
	return count
}

// strides makes strides for these counts: touching, spaced, overlapping, zero and negative ones.
func (s *source) strides(count []int32) []int32 {
	stride := make([]int32, len(count)-1)
	below := count[0]
	for i := range stride {
		switch k := s.next(); k % 8 {
		case 0, 1, 2:
			stride[i] = below
		case 3:
			stride[i] = -below
		case 4:
			stride[i] = below / 2
		case 5:
			stride[i] = int32(k) - 128
		default:
			stride[i] = below + int32(k)
		}
		if stride[i] > 1<<13 || stride[i] < -1<<13 {
			stride[i] = below % 1000
		}
		below = stride[i] * max(count[i+1], 1)
	}
	return stride
}

// room gives memory filled with a pattern, in which a shape fits, and the index of its base
// address.
func room(s shape, fill byte) ([]byte, int) {
	lo, hi := s.extent()
	b := make([]byte, hi-lo+128)
	for i := range b {
		b[i] = fill ^ byte(i*7+i>>8)
	}
	return b, int(64 - lo)
}

func at(b []byte, i int) unsafe.Pointer { return unsafe.Pointer(&b[i]) }

// same fails the test if two memories differ.
func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: byte %d of %d is %#x, want %#x", what, i, len(got), got[i],
				want[i])
		}
	}
}

// seeds adds a few hundred fixed inputs, so that a plain test run covers every kind of shape.
func seeds(f *testing.F) {
	x := uint32(1)
	for i := 0; i < 400; i++ {
		b := make([]byte, 40)
		for j := range b {
			x = x*1664525 + 1013904223
			b[j] = byte(x >> 24)
		}
		b[0] = byte(i)
		f.Add(b)
	}
}
