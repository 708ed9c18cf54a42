// acc_patch_test.go: accumulates of patches around the end of a stripe. Arithmetic and contention
// are acc_test.go's.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"fmt"
	"math/rand"
	"testing"
	"unsafe"
)

// acrossStripes is memory in which a stripe ends, in the middle.
func acrossStripes(bytes int) []byte {
	const stripe = 1 << StripeShift
	all := make([]byte, bytes+stripe)
	begin := -(uintptr(at(all, 0)) + uintptr(bytes/2)) % stripe
	return all[begin:][:bytes]
}

// Patches whose rows lie in one stripe, in several, across their ends and upon each other, forwards
// and backwards: each row is added once, and nothing beside it.
func TestAccPatch(t *testing.T) {
	const rows, size = 40, 8
	r := rand.New(rand.NewSource(3))
	scale := scaleFor(Double, 1, r)
	for _, step := range []int{0, 8, 24, 512, 4800, 1 << StripeShift, 40000} {
		for _, nelem := range []int{1, 2, 3, 4, 7, 8, 16, 65, 700, 5000} {
			for _, sign := range []int{1, -1} {
				reach := step*(rows-1) + nelem*size
				dst, src := acrossStripes(reach+64), make([]byte, rows*nelem*size)
				numbers(Double, src, 0, r)
				numbers(Double, dst, 4, r)
				first := 4
				if sign < 0 {
					first += step * (rows - 1)
				}
				want := append([]byte(nil), dst...)
				for i := range rows {
					for e := 0; e < nelem*size; e += size {
						addOne(Double, scale, want[first+sign*i*step+e:],
							src[i*nelem*size+e:])
					}
				}
				st := newStripes(1)
				AccStrided(st, Double, at(scale, 0), at(src, 0),
					[]int32{int32(nelem * size)},
					at(dst, first), []int32{int32(sign * step)},
					[]int32{int32(nelem * size), rows})
				same(t, fmt.Sprintf("%d rows of %d elements, %d bytes apart", rows,
					nelem, sign*step), dst, want)
				for i, word := range unsafe.Slice((*uint32)(st.Word), 4*16) {
					if word != 0 {
						t.Errorf("lock word %d is %d, want free", i, word)
					}
				}
			}
		}
	}
}
