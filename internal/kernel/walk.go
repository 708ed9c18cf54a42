// walk.go: walking both sides of a transfer together, run by run, for callers that treat each run
// differently. One call of C lists many runs. It must not move data.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import "math"

// Walk is used again, so that its list is made once.
type Walk struct {
	Local, Remote Cursor // behind the list; where the walk is after Settle
	left          int64
	from          [2]Cursor // where the list begins
	gone          int64     // bytes of the list that are behind
	runs          []Run     // the rest of it
	list          []Run
}

// Set begins a walk over two sides of equally many bytes that lists at most so many runs at a time.
func (w *Walk) Set(local, remote *Cursor, most int) {
	w.left, w.Local, w.Remote, w.runs = remote.Left(), *local, *remote, nil
	if len(w.list) < most {
		w.list = make([]Run, most)
	}
}

// Left is how many bytes there are from the walk to the end.
func (w *Walk) Left() int64 { return w.left }

// Peek is the run at the walk, nil at the end. If none is listed it lists at most so many.
func (w *Walk) Peek(most int) *Run {
	if len(w.runs) == 0 {
		if w.left == 0 {
			return nil
		}
		w.from, w.gone = [2]Cursor{w.Local, w.Remote}, 0
		w.runs = Runs(&w.Local, &w.Remote, w.list[:0:min(most, len(w.list))], math.MaxInt64)
	}
	return &w.runs[0]
}

// Advance moves n bytes forward, no more than the run has.
func (w *Walk) Advance(n int) {
	w.left -= int64(n)
	w.gone += int64(n)
	r := &w.runs[0]
	r.Local, r.Remote, r.Bytes = r.Local+uintptr(n), r.Remote+uintptr(n), r.Bytes-n
	if r.Bytes == 0 {
		w.runs = w.runs[1:]
	}
}

// Settle drops the list: both cursors are where the walk is.
func (w *Walk) Settle() {
	if len(w.runs) > 0 {
		w.Local, w.Remote, w.runs = w.from[0], w.from[1], nil
		w.Local.Skip(w.gone)
		w.Remote.Skip(w.gone)
	}
}

// Moved tells that both cursors were moved n bytes after Settle.
func (w *Walk) Moved(n int64) { w.left -= n }

// CountRuns is how many runs there are if up to so many that touch on the remote side count as one.
// Where there are many the first of them tell.
func CountRuns(local, remote *Cursor, touching int) (n int64) {
	if rows := remote.evenRows(); rows > 1 && (rows == local.evenRows() || local.Contiguous()) {
		return rows
	}
	return countRuns(*local, *remote, touching)
}

// evenRows is how many rows of a constant distance are left, at the start of the first one; 0 if
// that is not all that is left, or if they touch.
func (c *Cursor) evenRows() int64 {
	p := &c.pos
	if c.after > 0 || !c.Regular() || p.off > 0 || p.row == 0 || p.step[0] == p.row {
		return 0
	}
	return p.left / p.row
}

// countRuns counts the runs of a beginning of the transfer, where up to `touching` runs that touch
// at the remote side count as one, and extrapolates.
func countRuns(local, remote Cursor, touching int) (n int64) {
	var list [64]Run
	all, had, next := remote.Left(), touching, uintptr(0)
	for _, r := range Runs(&local, &remote, list[:0], math.MaxInt64) {
		if r.Remote == next && had < touching {
			had++
		} else {
			n, had = n+1, 1
		}
		next = r.Remote + uintptr(r.Bytes)
	}
	if gone := all - remote.Left(); gone < all {
		n = int64(float64(n) * float64(all) / float64(gone))
	}
	return n
}
