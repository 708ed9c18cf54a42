// SPDX-License-Identifier: BSD-3-Clause

// Allocation within one rank's slice of the arena. Freed memory keeps its pages for reuse up to a
// budget; beyond that, pages are returned to the machine. Memory of growOnTouch is not kept, since
// it may lack pages. This file manages address ranges; it never touches their contents.
package shm

import (
	"fmt"
	"slices"
	"sort"
	"sync"

	"libarmci/internal/config"
	"libarmci/internal/transport"
)

// span is a range of addresses [lo, hi).
type span struct{ lo, hi uintptr }

func (s span) size() int64 { return int64(s.hi - s.lo) }

// sliceAllocator allocates a rank's part of the arena. Its fields above mu do not change.
type sliceAllocator struct {
	bounds   span
	budget   int64            // most bytes of kept memory
	ranks    int              // of the node, which divide the arena
	populate func(span) error // makes the pages of a span
	punch    func(span)       // drops the pages of a span
	mu       sync.Mutex       // guards sliceState
	sliceState
}

// sliceState is the memory of a slice, which mu guards. Free spans are sorted by address, with
// neighbours merged.
type sliceState struct {
	live      map[uintptr]uintptr // allocations: lo -> hi
	onTouch   map[uintptr]bool    // those of growOnTouch
	kept      []span              // freed memory with its pages
	unbacked  []span              // freed address space without pages
	brk       uintptr             // memory above was never allocated
	liveBytes int64
	keptBytes int64
	high      int64 // the most liveBytes ever
	keepAll   bool  // devices have pinned pages: none is dropped
}

// newSliceAllocator returns the allocator of an unused slice. populate makes the pages of a span,
// punch drops them.
func newSliceAllocator(bounds span, budget int64, populate func(span) error,
	punch func(span)) *sliceAllocator {
	return &sliceAllocator{bounds: bounds, budget: budget, populate: populate, punch: punch,
		sliceState: sliceState{brk: bounds.lo, live: map[uintptr]uintptr{},
			onTouch: map[uintptr]bool{}}}
}

func pagesOf(nbytes int64) uintptr { return (uintptr(nbytes) + page - 1) &^ (page - 1) }

// reuse allocates kept memory: the smallest span that fits.
func (s *sliceAllocator) reuse(nbytes int64) (uintptr, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := pagesOf(nbytes)
	got, ok := cutSmallest(&s.kept, n)
	if !ok {
		return 0, false
	}
	s.keptBytes -= int64(n)
	s.recordLive(got)
	return got.lo, true
}

func (s *sliceAllocator) recordLive(got span) {
	s.live[got.lo] = got.hi
	s.liveBytes += got.size()
	s.high = max(s.high, s.liveBytes)
}

// tooSmall returns the error of an allocation for which the slice has no address space.
func (s *sliceAllocator) tooSmall(nbytes int64) error {
	missing := max(nbytes-(s.bounds.size()-s.liveBytes), 2<<20)
	return fmt.Errorf("%w: each rank has %s of the arena's address space; %s",
		transport.ErrNoMemory, config.SizeText(s.bounds.size()),
		moreSpace(s.bounds.size(), missing, s.ranks))
}

// grow allocates memory that has no pages yet, and populates it. It takes mu.
func (s *sliceAllocator) grow(nbytes int64) (uintptr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, err := s.allocateSpace(nbytes)
	if err != nil {
		return 0, err
	}
	if err := s.populate(got); err != nil {
		s.dropPages(got)
		return 0, err
	}
	s.recordLive(got)
	return got.lo, nil
}

// growOnTouch allocates memory that has no pages yet: the first touch makes each page. It takes mu.
func (s *sliceAllocator) growOnTouch(nbytes int64) (uintptr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, err := s.allocateSpace(nbytes)
	if err != nil {
		return 0, err
	}
	s.recordLive(got)
	s.onTouch[got.lo] = true
	return got.lo, nil
}

// allocateSpace allocates address space without pages, and drops kept memory if there is no other.
// The caller holds mu.
func (s *sliceAllocator) allocateSpace(nbytes int64) (span, error) {
	if nbytes > s.bounds.size() {
		return span{}, s.tooSmall(nbytes)
	}
	got, ok := s.unusedSpace(pagesOf(nbytes))
	if !ok { // kept memory may lie between two unbacked spans
		s.dropKeptLocked()
		if got, ok = s.unusedSpace(pagesOf(nbytes)); !ok {
			return span{}, s.tooSmall(nbytes)
		}
	}
	return got, nil
}

// unusedSpace allocates address space without pages; false: there is none. The caller holds mu.
func (s *sliceAllocator) unusedSpace(n uintptr) (span, bool) {
	got, ok := cutSmallest(&s.unbacked, n)
	if !ok && n <= s.bounds.hi-s.brk {
		got, ok = span{s.brk, s.brk + n}, true
		s.brk += n
	}
	return got, ok
}

// dropPages returns a span's pages to the machine. A span that ends at brk lowers brk. The caller
// holds mu.
func (s *sliceAllocator) dropPages(f span) {
	s.punch(f)
	addFree(&s.unbacked, f)
	if last := len(s.unbacked) - 1; s.unbacked[last].hi == s.brk {
		s.brk = s.unbacked[last].lo
		s.unbacked = s.unbacked[:last]
	}
}

// release frees an allocation: it is kept for reuse, or its pages are dropped when the budget is
// spent. False: no allocation begins at lo. It takes mu.
func (s *sliceAllocator) release(lo uintptr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	hi, ok := s.live[lo]
	if !ok {
		return false
	}
	onTouch := s.onTouch[lo]
	delete(s.live, lo)
	delete(s.onTouch, lo)
	freed := span{lo, hi}
	s.liveBytes -= freed.size()
	if (onTouch || s.keptBytes+freed.size() > s.budget) && !s.keepAll {
		s.dropPages(freed)
		return true
	}
	s.keptBytes += freed.size()
	addFree(&s.kept, freed)
	return true
}

// dropKept returns the pages of all kept memory to the machine: the last resort before an
// allocation fails. It takes mu.
func (s *sliceAllocator) dropKept() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropKeptLocked()
}

// dropKeptLocked is dropKept for a caller that holds mu.
func (s *sliceAllocator) dropKeptLocked() {
	if s.keepAll {
		return
	}
	for _, k := range s.kept {
		s.dropPages(k)
	}
	s.kept, s.keptBytes = nil, 0
}

// keepPages stops the dropping of pages.
func (s *sliceAllocator) keepPages() {
	s.mu.Lock()
	s.keepAll = true
	s.mu.Unlock()
}

func (s *sliceAllocator) usage() (live, kept, high int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.liveBytes, s.keptBytes, s.high
}

// cutSmallest removes n bytes from the smallest free span that has so many.
func cutSmallest(free *[]span, n uintptr) (span, bool) {
	best := -1
	for i, f := range *free {
		if f.hi-f.lo >= n && (best < 0 || f.size() < (*free)[best].size()) {
			best = i
		}
	}
	if best < 0 {
		return span{}, false
	}
	f := &(*free)[best]
	got := span{f.lo, f.lo + n}
	f.lo += n
	if f.lo == f.hi {
		*free = slices.Delete(*free, best, best+1)
	}
	return got, true
}

// addFree returns a span to a free list and merges it with its neighbours.
func addFree(free *[]span, s span) {
	i := sort.Search(len(*free), func(i int) bool { return (*free)[i].lo >= s.hi })
	if i < len(*free) && (*free)[i].lo == s.hi {
		(*free)[i].lo = s.lo
		s = (*free)[i]
	} else {
		*free = slices.Insert(*free, i, s)
	}
	if i > 0 && (*free)[i-1].hi == s.lo {
		(*free)[i-1].hi = s.hi
		*free = slices.Delete(*free, i, i+1)
	}
}
