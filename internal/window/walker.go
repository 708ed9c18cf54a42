// SPDX-License-Identifier: BSD-3-Clause

// Walking a side run by run: for vectors, and for packing the data of updates.
package window

import (
	"unsafe"

	"libarmci/internal/kernel"
)

// walker goes through the memory of a side.
type walker struct {
	side      *Side
	element   int64 // index of the current element
	run       int   // index of the current run in it
	runOffset int64 // bytes of that run that have been passed
}

// runLeft is how many bytes are left of the current run. The side must not be at its end.
func (w *walker) runLeft() int64 {
	if w.side.Shape == nil {
		return w.side.Count - w.runOffset
	}
	return w.side.Shape.runs[w.run].Bytes - w.runOffset
}

// advance goes on by n bytes, at most runLeft, and returns the address of the first of them.
func (w *walker) advance(n int64) uintptr {
	at := w.side.Addr + uintptr(w.runOffset)
	w.runOffset += n
	s := w.side.Shape
	if s == nil {
		return at
	}
	r := s.runs[w.run]
	at += uintptr(w.element*s.extent) + uintptr(r.Offset)
	if w.runOffset == r.Bytes {
		w.runOffset = 0
		if w.run++; w.run == len(s.runs) {
			w.run, w.element = 0, w.element+1
		}
	}
	return at
}

// pack copies the next bytes of the side.
func (w *walker) pack(into []byte) {
	for len(into) > 0 {
		n := min(w.runLeft(), int64(len(into)))
		copy(into, memory(w.advance(n), n))
		into = into[n:]
	}
}

// unpack copies to the next bytes of the side.
func (w *walker) unpack(from []byte) {
	for len(from) > 0 {
		n := min(w.runLeft(), int64(len(from)))
		copy(memory(w.advance(n), n), from)
		from = from[n:]
	}
}

// memory is n bytes of the program's memory.
func memory(addr uintptr, n int64) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }
