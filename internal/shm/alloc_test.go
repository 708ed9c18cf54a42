// SPDX-License-Identifier: BSD-3-Clause

// The allocator against a model: allocations never overlap, freed memory is allocated again, budget
// and pages are accounted for.
package shm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"libarmci/internal/transport"
)

// pages models which pages of a slice are populated.
type pages struct {
	t    *testing.T
	all  span
	held map[uintptr]bool
	fail bool
}

func (p *pages) each(s span, do func(at uintptr)) {
	if s.lo%page != 0 || s.hi%page != 0 || s.lo >= s.hi || s.lo < p.all.lo || s.hi > p.all.hi {
		p.t.Fatalf("range %#x..%#x", s.lo, s.hi)
	}
	for at := s.lo; at < s.hi; at += page {
		do(at)
	}
}

// populate is slice.populate: it fails if a page is populated already, or by order.
func (p *pages) populate(s span) error {
	p.each(s, func(at uintptr) {
		if p.held[at] {
			p.t.Fatalf("page %#x is populated twice", at)
		}
		p.held[at] = true
	})
	if p.fail {
		return fmt.Errorf("no pages: %w", transport.ErrNoMemory)
	}
	return nil
}

func (p *pages) punch(s span) {
	p.each(s, func(at uintptr) {
		if !p.held[at] {
			p.t.Fatalf("page %#x is given back twice", at)
		}
		delete(p.held, at)
	})
}

// allocation is one live allocation of a model.
type allocation struct {
	lo     uintptr
	nbytes int64
}

// model checks a slice after every step.
type model struct {
	*pages
	s    *sliceAllocator
	live []allocation
}

func newModel(t *testing.T, npages int, budget int64) *model {
	all := span{0x100000, 0x100000 + uintptr(npages)*page}
	p := &pages{t: t, all: all, held: map[uintptr]bool{}}
	return &model{pages: p, s: newSliceAllocator(all, budget, p.populate, p.punch)}
}

// check compares the slice with the model: pages, counts of bytes, sorted and merged free lists.
func (m *model) check() {
	m.t.Helper()
	var bytes int64
	owner := map[uintptr]int{}
	for i, a := range m.live {
		n := int64(pagesOf(a.nbytes))
		bytes += n
		for at := a.lo; at < a.lo+uintptr(n); at += page {
			if other, taken := owner[at]; taken {
				m.t.Fatalf("allocations %d and %d share page %#x", i, other, at)
			}
			if !m.held[at] {
				m.t.Fatalf("allocation %d has no page at %#x", i, at)
			}
			owner[at] = i
		}
	}
	live, kept, high := m.s.usage()
	if live != bytes || kept != int64(len(m.held)*page)-bytes || kept > m.s.budget ||
		high < live {
		m.t.Fatalf("use: live %d kept %d high %d; model: live %d, populated %d, budget %d",
			live, kept, high, bytes,
			len(m.held)*page, m.s.budget)
	}
	for _, list := range [][]span{m.s.kept, m.s.unbacked} {
		for i, f := range list {
			if f.lo >= f.hi || i > 0 && list[i-1].hi >= f.lo {
				m.t.Fatalf("free list is not sorted and merged: %x", list)
			}
		}
	}
}

// alloc allocates kept or new memory; false: there is none.
func (m *model) alloc(nbytes int64) bool {
	lo, ok := m.s.reuse(nbytes)
	if !ok {
		var err error
		if lo, err = m.s.grow(nbytes); err != nil {
			if !errors.Is(err, transport.ErrNoMemory) {
				m.t.Fatal(err)
			}
			return false
		}
	}
	m.live = append(m.live, allocation{lo, nbytes})
	return true
}

func (m *model) free(i int) {
	if !m.s.release(m.live[i].lo) {
		m.t.Fatalf("%#x is not known", m.live[i].lo)
	}
	m.live = append(m.live[:i], m.live[i+1:]...)
}

// Random allocations and frees agree with the model, and all memory can be allocated again at the
// end.
func TestAllocator(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 0))
		m := newModel(t, 250, int64(r.IntN(100))*page)
		refused := 0
		for range 700 {
			switch k := r.IntN(20); {
			case k < 10 || len(m.live) == 0:
				m.fail = r.IntN(20) == 0
				if !m.alloc(1 + r.Int64N(30*page)) {
					refused++
				}
				m.fail = false
			case k < 19:
				m.free(r.IntN(len(m.live)))
			default:
				m.s.dropKept()
				if _, kept, _ := m.s.usage(); kept != 0 {
					t.Fatalf("%d bytes kept after dropKept", kept)
				}
			}
			m.check()
		}
		if refused == 0 {
			t.Error("the slice was never full: the test is too easy")
		}
		for len(m.live) > 0 {
			m.free(0)
		}
		m.s.dropKept()
		m.check()
		if len(m.held) != 0 || len(m.s.unbacked) != 0 || m.s.brk != m.all.lo {
			t.Errorf("%d pages left, free %x, brk %#x", len(m.held), m.s.unbacked,
				m.s.brk)
		}
		if !m.alloc(250 * page) {
			t.Error("all was freed, but not all can be had again")
		}
	}
}

// Sizes beyond the slice, addresses that are no allocation, and the budget of kept memory.
func TestAllocatorLimits(t *testing.T) {
	m := newModel(t, 10, 4*page)
	for _, n := range []int64{11 * page, 1 << 62, 1<<63 - 1} {
		if m.alloc(n) {
			t.Errorf("%d bytes of 10 pages", n)
		}
	}
	if !m.alloc(1) || !m.alloc(9*page) || m.alloc(1) {
		t.Error("ten pages hold one byte and nine pages, and no more")
	}
	for _, lo := range []uintptr{0, m.live[0].lo + 1, m.live[1].lo + page} {
		if m.s.release(lo) {
			t.Errorf("%#x was taken back", lo)
		}
	}
	m.free(1) // beyond the budget: its pages go back
	if _, kept, _ := m.s.usage(); kept != 0 {
		t.Errorf("%d bytes kept", kept)
	}
	m.free(0)
	if lo, ok := m.s.reuse(1); !ok || lo != m.all.lo {
		t.Error("one page within the budget was not kept")
	}
	if m.s.release(m.all.lo); m.s.release(m.all.lo) {
		t.Error("freed twice")
	}
	if _, ok := m.s.reuse(page + 1); ok {
		t.Error("more than is kept")
	}
}

// Kept memory is given up when it stands in the way of a larger piece.
func TestAllocatorFragments(t *testing.T) {
	m := newModel(t, 10, 10*page)
	for range 5 {
		m.alloc(2 * page)
	}
	m.s.budget = 4 * page
	for range 4 { // two of them are kept, two are not
		m.free(0)
	}
	m.check()
	if !m.alloc(8 * page) {
		t.Error("eight free pages in a row cannot be had")
	}
	m.check()
}

// The smallest span that fits is cut.
func TestCutSmallest(t *testing.T) {
	free := []span{{0, 10}, {20, 24}, {30, 36}}
	for _, c := range []struct{ n, want uintptr }{{5, 30}, {4, 20}, {7, 0}, {3, 7}} {
		if got, ok := cutSmallest(&free, c.n); !ok || got.lo != c.want {
			t.Errorf("cut %d: %v %v, want %d; left %v", c.n, got, ok, c.want, free)
		}
	}
	if _, ok := cutSmallest(&free, 2); ok {
		t.Errorf("cut 2 of %v", free)
	}
}

// Pages that devices have pinned are never returned, however much is freed, and are allocated
// again.
func TestPinnedPagesAreKept(t *testing.T) {
	p := &pages{t: t, all: span{0x10000, 0x10000 + 64*page}, held: map[uintptr]bool{}}
	s := newSliceAllocator(p.all, 2*page, p.populate, p.punch)
	s.keepPages()
	var all []uintptr
	for range 16 {
		at, err := s.grow(4 * page)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, at)
	}
	for _, at := range all {
		s.release(at)
	}
	s.dropKept()
	if len(p.held) != 64 {
		t.Errorf("of 64 pages %d are left", len(p.held))
	}
	if at, ok := s.reuse(64 * page); !ok || at != p.all.lo {
		t.Errorf("%#x, %v: not all of it can be used again", at, ok)
	}
}

// Memory of growOnTouch is not populated. Freed, it is not kept but given back, since it may lack
// pages, unless devices hold what they have.
func TestGrowOnTouch(t *testing.T) {
	p := &pages{t: t, all: span{0x10000, 0x10000 + 8*page}, held: map[uintptr]bool{}}
	s := newSliceAllocator(p.all, 8*page, p.populate, func(span) {})
	at, err := s.growOnTouch(2*page - 1)
	if err != nil || len(p.held) != 0 {
		t.Fatalf("%d pages are populated, %v", len(p.held), err)
	}
	if live, _, _ := s.usage(); live != 2*page || !s.release(at) {
		t.Errorf("%d bytes are live", live)
	}
	if _, kept, _ := s.usage(); kept != 0 {
		t.Errorf("%d bytes are kept", kept)
	}
	if again, err := s.grow(8 * page); err != nil || again != at || len(p.held) != 8 {
		t.Errorf("all of it at once: %#x, %d pages, %v", again, len(p.held), err)
	}
	if _, err := s.growOnTouch(1); !errors.Is(err, transport.ErrNoMemory) {
		t.Errorf("beyond the slice: %v", err)
	}
}
