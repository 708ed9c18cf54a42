// update_bench_test.go: updates of 64 KiB, as many elements at a time as their size allows, beside
// a copy of the same memory.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"testing"
	"unsafe"
)

// BenchmarkUpdate measures updates of all kinds, and a copy of as many bytes.
func BenchmarkUpdate(b *testing.B) {
	const bytes = 64 << 10
	to, from := unsafe.Pointer(&make([]byte, bytes)[0]), unsafe.Pointer(&make([]byte, bytes)[0])
	st := newStripes(1)
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			Copy(to, from, bytes)
		}
	})
	for _, t := range []struct {
		name string
		of   UpdateType
	}{
		{"i8", I8}, {"u8", U8}, {"i16", I16}, {"u16", U16},
		{"i32", I32}, {"i64", I64}, {"l8", L8},
	} {
		for _, op := range []struct {
			name string
			of   UpdateOp
		}{
			{"sum", OpSum}, {"prod", OpProd}, {"max", OpMax},
			{"band", OpBand}, {"land", OpLand},
		} {
			if !UpdateValid(op.of, t.of) {
				continue
			}
			b.Run(t.name+"/"+op.name, func(b *testing.B) {
				n := bytes / UpdateBytes(t.of)
				b.SetBytes(bytes)
				for b.Loop() {
					Update(st, op.of, t.of, to, from, nil, n)
				}
			})
		}
	}
}
