// SPDX-License-Identifier: BSD-3-Clause

// Operations over the whole transport, between two nodes of this process.
package tcp

import (
	"fmt"
	"testing"

	"libarmci/internal/internode"
	"libarmci/internal/transport"
)

// BenchmarkOps measures the usual operations by size.
func BenchmarkOps(b *testing.B) {
	for _, n := range []int{8, 1 << 10, 16 << 10, 256 << 10, 4 << 20} {
		for _, op := range []string{"put", "putfence", "get", "nbget"} {
			b.Run(fmt.Sprintf("%s/%d", op, n), func(b *testing.B) {
				benchOps(b, Options{}, op, []int32{int32(n)}, nil, int64(n))
			})
		}
	}
}

// BenchmarkRows measures the costs of the model: the difference between the two ways, by the length
// of a row.
func BenchmarkRows(b *testing.B) {
	const rows, stride = 256, 8192
	for _, row := range []int32{64, 256, 512, 1024, 2048} {
		for _, gather := range []int{1 << 30, 1} {
			for _, op := range []string{"putfence", "get"} {
				b.Run(fmt.Sprintf("%d/%s/%s", row, map[int]string{1: "gathered",
					1 << 30: "packed"}[gather], op), func(b *testing.B) {
					benchOps(b, Options{Gather: gather}, op, []int32{row, rows},
						[]int32{stride}, rows*stride)
				})
			}
		}
	}
}

// benchOps measures one operation of this shape, whose memory spans span bytes.
func benchOps(b *testing.B, opt Options, op string, count, stride []int32, span int64) {
	j := newEnds(b, opt, func(o *internode.Options) { o.Buffer = 64 << 20 }, 1, 1)
	j.ConnectAll(b)
	me := j.Open[0]
	x := transport.Xfer{Count: count,
		Local:  transport.Section{Base: j.Alloc(b, 0, span), Stride: stride},
		Remote: transport.Section{Base: j.Alloc(b, 1, span), Stride: stride}}
	b.SetBytes(x.Bytes())
	b.ReportAllocs()
	ok := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	const many = 16
	var open [many]transport.Xfer
	for b.Loop() {
		switch op {
		case "put":
			ok(me.Put(1, &x))
		case "putfence":
			ok(me.Put(1, &x))
			ok(me.Fence(1))
		case "get":
			ok(me.Get(1, &x))
		case "nbget": // many at a time, each counted as a part of the time
			done := 0
			for i := range open {
				open[i] = x
				open[i].Later, open[i].Done = true, func(error) { done++ }
				ok(me.Get(1, &open[i]))
			}
			for done < many {
				me.Progress(1e6)
			}
		}
	}
	b.StopTimer()
	ok(me.Fence(1))
}
