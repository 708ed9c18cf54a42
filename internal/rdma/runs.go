// SPDX-License-Identifier: BSD-3-Clause

// A transfer as a sequence of runs: pieces that are contiguous on both sides. It moves nothing.
package rdma

import (
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// runs is a cursor over a transfer, which stays as it is meanwhile. A copy of it is a second cursor.
type runs struct {
	left   int64 // bytes
	list   []transport.Segments
	d, i   int // vector: descriptor and segment
	off    int // in the run at the cursor
	levels int // strided
	local  uintptr
	remote uintptr
	count  [kernel.MaxLevels + 1]int32
	from   [kernel.MaxLevels]int32 // strides
	to     [kernel.MaxLevels]int32
	at     [kernel.MaxLevels + 1]int32
}

// runsOf begins a transfer of at least one byte.
func runsOf(x *transport.Xfer) runs {
	r := runs{left: x.Bytes()}
	if x.Vector != nil {
		r.list = x.Vector
		r.skipEmpty()
		return r
	}
	r.local, r.remote, r.levels = x.Local.Base, x.Remote.Base, len(x.Count)-1
	copy(r.count[:], x.Count)
	copy(r.from[:], x.Local.Stride[:r.levels])
	copy(r.to[:], x.Remote.Stride[:r.levels])
	r.join()
	return r
}

// join makes blocks that touch on both sides one.
func (r *runs) join() {
	for r.levels > 0 && r.from[0] == r.count[0] && r.to[0] == r.count[0] &&
		int64(r.count[0])*int64(r.count[1]) < 1<<31 {
		r.count[0] *= r.count[1]
		copy(r.count[1:r.levels], r.count[2:r.levels+1])
		copy(r.from[:r.levels-1], r.from[1:r.levels])
		copy(r.to[:r.levels-1], r.to[1:r.levels])
		r.levels--
	}
}

// single tells whether it is one run: a contiguous transfer, however it was described.
func (r *runs) single() bool { return r.list == nil && int64(r.count[0]) == r.left }

// swapped has local and remote side exchanged; a list is copied.
func (r *runs) swapped() runs {
	s := *r
	s.local, s.remote, s.from, s.to = r.remote, r.local, r.to, r.from
	s.list = nil
	for _, d := range r.list {
		d.Local, d.Remote = d.Remote, d.Local
		s.list = append(s.list, d)
	}
	return s
}

// localSpan is the memory from the first to the last byte of the local side, of a transfer at its beginning.
func (r *runs) localSpan() (lo, hi uintptr) {
	if r.list == nil {
		lo, hi = r.local, r.local+uintptr(r.count[0])
		for l := range r.levels {
			if step := int64(r.from[l]) * int64(r.count[l+1]-1); step < 0 {
				lo += uintptr(step)
			} else {
				hi += uintptr(step)
			}
		}
		return lo, hi
	}
	lo = ^uintptr(0)
	for _, s := range r.list {
		for _, at := range s.Local {
			if s.Bytes > 0 {
				lo, hi = min(lo, at), max(hi, at+uintptr(s.Bytes))
			}
		}
	}
	return lo, hi
}

// requests is how many requests of the device a transfer takes at its beginning: one for each run, or for several that
// are contiguous at the other side, up to a number of pieces.
func (r *runs) requests(pieces int) (n int64) {
	if r.list == nil {
		n = r.left / int64(r.count[0])
		if r.levels > 0 && r.to[0] == r.count[0] {
			side := int64(r.count[1])
			n = n / side * ((side + int64(pieces) - 1) / int64(pieces))
		}
		return n
	}
	had := pieces
	var next uintptr
	for _, s := range r.list {
		for _, remote := range s.Remote {
			switch {
			case s.Bytes <= 0:
				continue
			case remote == next && had < pieces:
				had++
			default:
				n, had = n+1, 1
			}
			next = remote + uintptr(s.Bytes)
		}
	}
	return n
}

// skipEmpty goes to the next segment of a list that has bytes.
func (r *runs) skipEmpty() {
	for r.d < len(r.list) && (r.list[r.d].Bytes <= 0 || r.i >= len(r.list[r.d].Local)) {
		r.d, r.i = r.d+1, 0
	}
}

// peek tells what is at the cursor; n is 0 at the end.
func (r *runs) peek() (local, remote uintptr, n int) {
	if r.left == 0 {
		return 0, 0, 0
	}
	if r.list != nil {
		s := &r.list[r.d]
		return s.Local[r.i] + uintptr(r.off), s.Remote[r.i] + uintptr(r.off), s.Bytes - r.off
	}
	local, remote = r.local+uintptr(r.off), r.remote+uintptr(r.off)
	for l := 0; l < r.levels; l++ {
		local += uintptr(int64(r.at[l+1]) * int64(r.from[l]))
		remote += uintptr(int64(r.at[l+1]) * int64(r.to[l]))
	}
	return local, remote, int(r.count[0]) - r.off
}

// advance moves the cursor by n bytes, no more than peek told.
func (r *runs) advance(n int) {
	r.left -= int64(n)
	r.off += n
	if r.list != nil {
		if r.off == r.list[r.d].Bytes {
			r.off = 0
			r.i++
			r.skipEmpty()
		}
		return
	}
	if r.off < int(r.count[0]) {
		return
	}
	r.off = 0
	for l := 1; l <= r.levels; l++ {
		if r.at[l]++; r.at[l] < r.count[l] {
			return
		}
		r.at[l] = 0
	}
}

// scatter copies b to the local side, from the cursor on.
func (r *runs) scatter(b []byte) {
	for len(b) > 0 {
		local, _, n := r.peek()
		n = min(n, len(b))
		copy(memory(local, n), b)
		b = b[n:]
		r.advance(n)
	}
}
