// SPDX-License-Identifier: BSD-3-Clause

// Memory of the application that package pin keeps registered: C uses it, too, while it is in pin's
// list. A work request of C's that is outstanding keeps a registration that pin has dropped.
package fastpath

// #include "fastpath.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"libarmci/internal/pin"
)

// leaving is an entry that pin has dropped while C has work requests outstanding with it.
type leaving struct {
	entry *pin.Entry
	users *atomic.Uint32
}

// Watched is the part of a Path that a pin.Cache tells of its entries.
type Watched struct {
	Path *Path
	Key  func(registration uint64) (local uint32)
	turn int // of the places
}

// Watch has C look at a cache's watch before it uses an entry. nil: entries are good without.
func (w *Watched) Watch(watch unsafe.Pointer) {
	w.Path.change(func() { C.rdma_fast.watch = (*C.struct_pin_watch)(watch) })
}

// Add caches an entry.
func (w *Watched) Add(e *pin.Entry) {
	for i := range C.rdma_fast.watched {
		l := &C.rdma_fast.watched[i]
		if uintptr(l.lo) == e.Lo && uintptr(l.bytes) == e.Hi-e.Lo {
			return
		}
	}
	w.Path.reap(false)
	w.Path.change(func() {
		if l := w.place(); l != nil {
			*l = C.struct_rdma_fast_local{
				lo: C.uintptr_t(e.Lo), bytes: C.uintptr_t(e.Hi - e.Lo),
				lkey: C.uint32_t(w.Key(e.Key)), watched: true}
		}
	})
}

// place is an empty place, or the next in turn, which no work request uses; nil: there is none.
func (w *Watched) place() (unused *C.struct_rdma_fast_local) {
	all := &C.rdma_fast.watched
	for i := range all {
		w.turn = (w.turn + 1) % len(all)
		l := &all[w.turn]
		if word(&l.users).Load() != 0 {
			continue
		}
		if unused == nil || l.bytes == 0 {
			unused = l
		}
		if l.bytes == 0 || i == len(all)-1 {
			break
		}
	}
	return unused
}

// Drop removes an entry. What C has outstanding keeps it registered.
func (w *Watched) Drop(e *pin.Entry) {
	p := w.Path
	p.change(func() {
		for i := range C.rdma_fast.watched {
			l := &C.rdma_fast.watched[i]
			if uintptr(l.lo) != e.Lo || l.bytes == 0 {
				continue
			}
			l.bytes = 0
			if users := word(&l.users); users.Load() != 0 {
				e.Hold()
				p.leaving = append(p.leaving, leaving{e, users})
			}
		}
	})
	p.reap(false)
}

// Uses reports whether C has work requests outstanding with an entry.
func (w *Watched) Uses(e *pin.Entry) bool {
	for i := range C.rdma_fast.watched {
		l := &C.rdma_fast.watched[i]
		if uintptr(l.lo) == e.Lo && l.bytes != 0 && word(&l.users).Load() != 0 {
			return true
		}
	}
	return false
}

// Reap releases the entries that have been dropped and that C does not use any more.
func (w *Watched) Reap() { w.Path.reap(false) }

// Changing calls do while C does not use any memory that is new to it.
func (w *Watched) Changing(do func()) {
	w.Path.AcquireQueues()
	defer w.Path.ReleaseQueues()
	do()
}

// reap releases entries that C does not use any more, or all.
func (p *Path) reap(all bool) {
	p.changing.Lock()
	defer p.changing.Unlock()
	rest := p.leaving[:0]
	for _, l := range p.leaving {
		if all || l.users.Load() == 0 {
			l.entry.Release()
		} else {
			rest = append(rest, l)
		}
	}
	clear(p.leaving[len(rest):])
	p.leaving = rest
}

var _ pin.Mirror = (*Watched)(nil)
