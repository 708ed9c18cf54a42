// SPDX-License-Identifier: BSD-3-Clause

// Memory of the application that package pin keeps registered: C uses it, too, while it is in pin's
// list. A work request of C's in flight keeps a registration that pin has dropped.
package fastpath

// #include "fastpath.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"libarmci/internal/pin"
)

// droppedEntry is an entry that pin has dropped while C has work requests in flight with it.
type droppedEntry struct {
	entry *pin.Entry
	users *atomic.Uint32
}

// Watched keeps C's table of a pin.Cache's entries up to date (pin.Mirror).
type Watched struct {
	Path      *Path
	Key       func(registration uint64) (local uint32)
	nextEntry int // of C's table, where the search for an unused one goes on
}

// Watch has C check a cache's watch before it uses an entry. nil: entries need no check.
func (w *Watched) Watch(watch unsafe.Pointer) {
	w.Path.changeTables(func() { C.rdma_fast.watch = (*C.struct_pin_watch)(watch) })
}

// AddEntry adds an entry to C's table, unless all places there are in use.
func (w *Watched) AddEntry(e *pin.Entry) {
	for i := range C.rdma_fast.watched {
		l := &C.rdma_fast.watched[i]
		if uintptr(l.lo) == e.Lo && uintptr(l.bytes) == e.Hi-e.Lo {
			return
		}
	}
	w.Path.releaseDropped(false)
	w.Path.changeTables(func() {
		if l := w.unusedEntry(); l != nil {
			*l = C.struct_rdma_fast_local{
				lo: C.uintptr_t(e.Lo), bytes: C.uintptr_t(e.Hi - e.Lo),
				lkey: C.uint32_t(w.Key(e.Key)), watched: true}
		}
	})
}

// unusedEntry returns an empty place in C's table, or the next one that no work request uses; nil:
// there is none.
func (w *Watched) unusedEntry() (unused *C.struct_rdma_fast_local) {
	all := &C.rdma_fast.watched
	for i := range all {
		w.nextEntry = (w.nextEntry + 1) % len(all)
		l := &all[w.nextEntry]
		if atomicWord(&l.users).Load() != 0 {
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

// Drop removes an entry from C's table. It stays registered until C's work requests in flight are
// complete.
func (w *Watched) Drop(e *pin.Entry) {
	p := w.Path
	p.changeTables(func() {
		for i := range C.rdma_fast.watched {
			l := &C.rdma_fast.watched[i]
			if uintptr(l.lo) != e.Lo || l.bytes == 0 {
				continue
			}
			l.bytes = 0
			if users := atomicWord(&l.users); users.Load() != 0 {
				e.Hold()
				p.droppedEntries = append(p.droppedEntries, droppedEntry{e, users})
			}
		}
	})
	p.releaseDropped(false)
}

// Uses reports whether C has work requests in flight with an entry.
func (w *Watched) Uses(e *pin.Entry) bool {
	for i := range C.rdma_fast.watched {
		l := &C.rdma_fast.watched[i]
		if uintptr(l.lo) == e.Lo && l.bytes != 0 && atomicWord(&l.users).Load() != 0 {
			return true
		}
	}
	return false
}

// Reap releases the entries that have been dropped and that C does not use any more.
func (w *Watched) Reap() { w.Path.releaseDropped(false) }

// Changing calls do while C does not hold the queues, and so begins to use no entry.
func (w *Watched) Changing(do func()) {
	w.Path.AcquireQueues()
	defer w.Path.ReleaseQueues()
	do()
}

// releaseDropped releases dropped entries that C does not use any more, or all. It locks changeMu.
func (p *Path) releaseDropped(all bool) {
	p.changeMu.Lock()
	defer p.changeMu.Unlock()
	rest := p.droppedEntries[:0]
	for _, l := range p.droppedEntries {
		if all || l.users.Load() == 0 {
			l.entry.Release()
		} else {
			rest = append(rest, l)
		}
	}
	clear(p.droppedEntries[len(rest):])
	p.droppedEntries = rest
}

var _ pin.Mirror = (*Watched)(nil)
