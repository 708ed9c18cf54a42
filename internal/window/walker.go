// SPDX-License-Identifier: BSD-3-Clause

// Walking a side run by run: for vectors, and for packing what is updated.
package window

import (
	"unsafe"

	"libarmci/internal/kernel"
)

// walker goes through the memory of a side.
type walker struct {
	side    *Side
	element int64 // the run it is in
	run     int
	done    int64 // bytes of it that have been taken
}

// left is how many bytes follow in a row; there must be some.
func (w *walker) left() int64 {
	if w.side.Shape == nil {
		return w.side.Count - w.done
	}
	return w.side.Shape.runs[w.run].Bytes - w.done
}

// take takes n of these bytes and returns where they are.
func (w *walker) take(n int64) uintptr {
	at := w.side.Addr + uintptr(w.done)
	w.done += n
	s := w.side.Shape
	if s == nil {
		return at
	}
	r := s.runs[w.run]
	at += uintptr(w.element*s.extent) + uintptr(r.Offset)
	if w.done == r.Bytes {
		w.done = 0
		if w.run++; w.run == len(s.runs) {
			w.run, w.element = 0, w.element+1
		}
	}
	return at
}

// pack copies the next bytes of the side.
func (w *walker) pack(into []byte) {
	for len(into) > 0 {
		n := min(w.left(), int64(len(into)))
		copy(into, memory(w.take(n), n))
		into = into[n:]
	}
}

// unpack copies to the next bytes of the side.
func (w *walker) unpack(from []byte) {
	for len(from) > 0 {
		n := min(w.left(), int64(len(from)))
		copy(memory(w.take(n), n), from)
		from = from[n:]
	}
}

// memory is n bytes of the program's.
func memory(addr uintptr, n int64) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }
