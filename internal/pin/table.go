// SPDX-License-Identifier: BSD-3-Clause

// A key table: which memory is registered, here or at a node. Ranges never overlap and are never removed, so a look-up needs
// no lock.
package pin

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"libarmci/internal/transport"
)

// Table lists ranges by address. A list is never changed but replaced by a new one. The zero value is empty.
type Table struct {
	mu   sync.Mutex // changing
	list atomic.Pointer[[]transport.Range]
}

func (t *Table) all() []transport.Range {
	if p := t.list.Load(); p != nil {
		return *p
	}
	return nil
}

// Find returns the range around an address, nil if there is none. The range stays valid.
func (t *Table) Find(addr uintptr) *transport.Range {
	list := t.all()
	i, exact := slices.BinarySearchFunc(list, addr, func(r transport.Range, a uintptr) int { return cmp.Compare(r.Lo, a) })
	if !exact {
		i--
	}
	if i < 0 || addr >= list[i].Hi {
		return nil
	}
	return &list[i]
}

// Within lists the ranges that overlap [lo, hi).
func (t *Table) Within(lo, hi uintptr) (some []transport.Range) {
	for _, r := range t.all() {
		if r.Hi > lo && r.Lo < hi {
			some = append(some, r)
		}
	}
	return some
}

// gaps lists the parts of [lo, hi) that are in no range.
func (t *Table) gaps(lo, hi uintptr) (out []transport.Range) {
	for _, r := range t.Within(lo, hi) {
		if r.Lo > lo {
			out = append(out, transport.Range{Lo: lo, Hi: r.Lo})
		}
		lo = r.Hi
	}
	if lo < hi {
		out = append(out, transport.Range{Lo: lo, Hi: hi})
	}
	return out
}

// Add adds ranges, except where they overlap those that are in the table already.
func (t *Table) Add(ranges ...transport.Range) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range ranges {
		for _, g := range t.gaps(r.Lo, r.Hi) {
			g.Key, g.Direct = r.Key, r.Direct
			list := append(slices.Clone(t.all()), g)
			slices.SortFunc(list, func(a, b transport.Range) int { return cmp.Compare(a.Lo, b.Lo) })
			t.list.Store(&list)
		}
	}
}

// Pages widens a range to whole pages.
func Pages(lo uintptr, n int64) (uintptr, uintptr) {
	return lo &^ (pageBytes - 1), (lo + uintptr(n) + pageBytes - 1) &^ (pageBytes - 1)
}
