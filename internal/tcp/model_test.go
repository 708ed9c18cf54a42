// SPDX-License-Identifier: BSD-3-Clause

// The cost model: where its parameters come from, and that it can be forced.
package tcp

import (
	"fmt"
	"strings"
	"testing"

	"libarmci/internal/transport"
)

// BenchmarkRows is where the costs come from: the difference between the two, by the length of a row.
func BenchmarkRows(b *testing.B) {
	const rows, stride = 256, 8192
	for _, row := range []int32{256, 512, 1024, 2048} {
		for _, gather := range []int{1 << 30, 1} {
			b.Run(fmt.Sprintf("%d/%s", row, map[int]string{1: "gathered", 1 << 30: "packed"}[gather]), func(b *testing.B) {
				j := newJob(b, func(o *Options) { o.Gather = gather }, 1, 1)
				j.ConnectAll(b)
				x := &transport.Xfer{Known: true, Count: []int32{row, rows},
					Local:  transport.Section{Base: j.Alloc(b, 0, rows*stride), Stride: []int32{stride}},
					Remote: transport.Section{Base: j.Alloc(b, 1, rows*stride), Stride: []int32{stride}}}
				b.SetBytes(int64(row) * rows)
				for b.Loop() {
					if err := j.tr[0].Put(1, x); err != nil {
						b.Fatal(err)
					}
					if err := j.tr[0].Fence(1); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
		}
	}
}

// The setting is obeyed by both sides, whatever the model says, and people are told.
func TestModelIsForced(t *testing.T) {
	forced := newJob(t, func(o *Options) { o.Gather = 777 }, 1, 1).tr[0]
	if forced.opt.Gather != 777 || forced.server.gather != 777 {
		t.Errorf("rows from %d and %d bytes on; 777 was set", forced.opt.Gather, forced.server.gather)
	}
	free := newJob(t, func(o *Options) { o.Gather = 0 }, 1, 1).tr[0]
	if n := free.opt.Gather; n != usual.row() || free.server.gather != n {
		t.Errorf("rows from %d and %d bytes on; the model says %d", n, free.server.gather, usual.row())
	}
	for notes, words := range map[string]string{
		Wire(Options{Gather: 777}).Notes(): "rows of 777 bytes and more are not packed: so it is set",
		Wire(Options{}).Notes():            "not packed: a piece of a call",
	} {
		if !strings.Contains(notes, words) {
			t.Errorf("%q does not say %q", notes, words)
		}
	}
}

// What the client packs and what it does not must be the rows that the area consists of, not those of the caller's
// description: rows that touch are one.
func TestRowsThatTouch(t *testing.T) {
	var a area
	a.set(&transport.Xfer{Count: []int32{8, 16, 4}, Local: transport.Section{Base: 64, Stride: []int32{8, 1024}}})
	if a.row() != 128 || a.left != 512 {
		t.Errorf("rows of %d bytes, %d in all", a.row(), a.left)
	}
	a.set(&transport.Xfer{Count: []int32{8, 16}, Local: transport.Section{Base: 64, Stride: []int32{8}}})
	if a.row() != 128 || a.form != 0 {
		t.Errorf("one row of %d bytes", a.row())
	}
}
