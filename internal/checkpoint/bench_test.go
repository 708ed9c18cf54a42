// SPDX-License-Identifier: BSD-3-Clause

// What comparing, copying and writing cost.
package checkpoint

import "testing"

// BenchmarkSum is what comparing memory with a file costs without the file.
func BenchmarkSum(b *testing.B) {
	mem := random(BlockBytes)
	b.SetBytes(BlockBytes)
	for b.Loop() {
		sumOf(mem)
	}
}

// BenchmarkWrite writes blocks that have all changed, or not.
func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{"changed", "same"} {
		b.Run(name, func(b *testing.B) {
			p, err := Open(b.TempDir()+"/saved", 0)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			mem := random(64 << 20)
			ranges := []Range{{Mem: mem}}
			b.SetBytes(int64(len(mem)))
			generation := uint64(0)
			for b.Loop() {
				for i := 0; name == "changed" && i < len(mem); i += BlockBytes {
					mem[i]++
				}
				generation++
				s := Stamp{Generation: generation, ID: 1, Members: 1}
				if _, err := p.Write(s, ranges, false); err != nil {
					b.Fatal(err)
				}
				if err := p.Commit(); err != nil {
					b.Fatal(err)
				}
				p.Keep(s)
			}
		})
	}
}
