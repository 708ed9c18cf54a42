// walk_test.go: a walk sees every byte once, in order, however it is interrupted.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"math/rand/v2"
	"testing"
)

// sides are both sides of a transfer of random rows: their cursors, and the addresses of each byte.
func sides(r *rand.Rand) (local, remote Cursor, want [][2]uintptr) {
	row, rows := 1+r.IntN(5), 1+r.IntN(90)
	steps := [2]int{row + r.IntN(3)*r.IntN(9), row + r.IntN(2)*r.IntN(9)}
	if r.IntN(2) == 0 {
		local.SetStrided(10000, []int32{int32(row), int32(rows)}, []int32{int32(steps[0])})
		remote.SetStrided(90000, []int32{int32(row), int32(rows)}, []int32{int32(steps[1])})
	} else {
		l, m := Group{Bytes: row}, Group{Bytes: row}
		for i := range rows {
			l.Addrs, m.Addrs = append(l.Addrs, 10000+uintptr(i*steps[0])),
				append(m.Addrs, 90000+uintptr(i*steps[1]))
		}
		local.SetGroups([]Group{l}, int64(row*rows))
		remote.SetGroups([]Group{m}, int64(row*rows))
	}
	for i := range rows {
		for k := range row {
			want = append(want, [2]uintptr{10000 + uintptr(i*steps[0]+k),
				90000 + uintptr(i*steps[1]+k)})
		}
	}
	return local, remote, want
}

// TestWalk shows that a walk visits all bytes of both sides in order, also when its cursors are
// moved.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var w Walk
	for range 3000 {
		local, remote, want := sides(r)
		for w.Set(&local, &remote, 8); w.Left() > 0; {
			if int(w.Left()) != len(want) {
				t.Fatalf("%d bytes are left of %d", w.Left(), len(want))
			}
			if r.IntN(4) == 0 {
				w.Settle()
				n := 1 + r.Int64N(w.Left())
				w.Local.Skip(n)
				w.Remote.Skip(n)
				w.Moved(n)
				want = want[n:]
				continue
			}
			run := w.Peek(1 + r.IntN(8))
			n := 1 + r.IntN(run.Bytes)
			for i := range uintptr(n) {
				if want[0] != [2]uintptr{run.Local + i, run.Remote + i} {
					t.Fatalf("%#x %#x, expected %#x", run.Local+i, run.Remote+i,
						want[0])
				}
				want = want[1:]
			}
			if w.Advance(n); w.Left() > 0 && w.Peek(8) == nil {
				t.Fatal("the end is too early")
			}
		}
		if len(want) > 0 || w.Peek(8) != nil {
			t.Fatalf("%d bytes are missing", len(want))
		}
	}
}

// TestCountRuns shows that CountRuns is right for rows, and equal to countRuns.
func TestCountRuns(t *testing.T) {
	var local, remote Cursor
	for _, c := range []struct {
		row, rows, step int32
		touching        int
		want            int64
	}{{8, 10, 100, 4, 10}, {8, 10, 8, 4, 3}, {8, 1000, 100, 4, 1000}, {8, 6400, 8, 16, 400},
		{8, 10, 8, 1, 10}} {
		local.SetStrided(1<<20, []int32{c.row, c.rows}, []int32{1000})
		remote.SetStrided(1<<30, []int32{c.row, c.rows}, []int32{c.step})
		slow := countRuns(local, remote, c.touching)
		if got := CountRuns(&local, &remote, c.touching); got != c.want || slow != c.want {
			t.Errorf("%+v: %d, %d", c, got, slow)
		}
	}
}
