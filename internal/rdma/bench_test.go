// SPDX-License-Identifier: BSD-3-Clause

// What every operation takes between two endpoints in this process. The same by bare work requests
// is in bench/. Without a device nothing is measured.
package rdma

import (
	"errors"
	"fmt"
	"testing"

	"libarmci/internal/transport"
)

var sizes = []int{8, 1 << 10, 16 << 10, 256 << 10, 1 << 20}

// twoRanks opens ranks 0 and 1 on two nodes, with memory of each.
func twoRanks(b *testing.B, strided string, bytes int64) (tr transport.Transport, near,
	far uintptr) {
	j := newJob(b, func(s *settings) { s.Strided = strided }, 1, 1)
	return j.Open[0], j.Alloc(b, 0, bytes), j.Alloc(b, 1, bytes)
}

// BenchmarkTransport measures puts, gets and a read-modify-write of usual sizes, from registered
// and from private memory.
func BenchmarkTransport(b *testing.B) {
	tr, near, far := twoRanks(b, "", 2<<20)
	private := make([]byte, 1<<20)
	for _, n := range sizes {
		put := func(b *testing.B, local uintptr) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if err := tr.Put(1, contiguousXfer(local, far, n)); err != nil {
					b.Fatal(err)
				}
				if err := tr.Fence(1); err != nil {
					b.Fatal(err)
				}
			}
		}
		get := func(b *testing.B, local uintptr) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if err := tr.Get(1, contiguousXfer(local, far, n)); err != nil {
					b.Fatal(err)
				}
			}
		}
		own := sliceAddr(private)
		b.Run(fmt.Sprintf("put+fence/%d", n), func(b *testing.B) { put(b, near) })
		b.Run(fmt.Sprintf("get/%d", n), func(b *testing.B) { get(b, near) })
		b.Run(fmt.Sprintf("put+fence unregistered/%d", n),
			func(b *testing.B) { put(b, own) })
		b.Run(fmt.Sprintf("get unregistered/%d", n), func(b *testing.B) { get(b, own) })
	}
	b.Run("rmw", func(b *testing.B) {
		for b.Loop() {
			if err := tr.RMW(1, &transport.RMW{Bytes: 8, Addr: far,
				Operand: 1}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStrided: patches of n times n doubles out of an array of 1000 columns, by every
// protocol.
func BenchmarkStrided(b *testing.B) {
	const stride = 1000 * 8
	for _, p := range []string{"nic", "host", transport.ByClaiming, "push", "auto"} {
		b.Run(p, func(b *testing.B) {
			tr, near, far := twoRanks(b, p, stride*511+512*8)
			for n := 16; n <= 512; n *= 2 {
				x := contiguousXfer(near, far, 8*n)
				x.Count = append(x.Count, int32(n))
				x.Local.Stride, x.Remote.Stride = []int32{stride}, []int32{stride}
				for name, one := range map[string]func() error{
					"put": func() error {
						return errors.Join(tr.Put(1, x),
							tr.Fence(1))
					},
					"get": func() error { return tr.Get(1, x) },
				} {
					b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
						b.SetBytes(int64(8 * n * n))
						for range 2 {
							// the first time the model is measured
							if err := one(); err != nil {
								b.Fatal(err)
							}
						}
						for b.Loop() {
							one()
						}
					})
				}
			}
		})
	}
}
