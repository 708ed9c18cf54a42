// SPDX-License-Identifier: BSD-3-Clause

// The cost model: what it chooses, that it can be forced, and what the measurement costs.
package tcp

import (
	"strings"
	"testing"

	"libarmci/internal/transport"
)

func TestModel(t *testing.T) {
	for _, c := range []struct {
		costs
		row int
	}{
		{costs{piece: 60, byte: 0.125}, 480},
		{costs{piece: 1, byte: 1}, leastRow},
		{costs{piece: 1e6, byte: 0.1}, mostRow},
		{measure(), measure().row()},
	} {
		if row := c.costs.row(); row < leastRow || row > mostRow || !c.measured && row != c.row {
			t.Errorf("%s: rows from %d bytes on are not packed, expected %d", c.costs, row, c.row)
		}
	}
}

func BenchmarkMeasure(b *testing.B) {
	for b.Loop() {
		measure()
	}
}

// The setting is obeyed by both sides, whatever the model says, and people are told.
func TestModelIsForced(t *testing.T) {
	forced := newJob(t, func(o *Options) { o.Gather = 777 }, 1, 1).tr[0]
	if forced.opt.Gather != 777 || forced.server.gather != 777 {
		t.Errorf("rows from %d and %d bytes on; 777 was set", forced.opt.Gather, forced.server.gather)
	}
	free := newJob(t, func(o *Options) { o.Gather = 0 }, 1, 1).tr[0]
	if n := free.opt.Gather; n < leastRow || n > mostRow || free.server.gather != n {
		t.Errorf("rows from %d and %d bytes on", n, free.server.gather)
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
