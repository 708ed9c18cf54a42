// SPDX-License-Identifier: BSD-3-Clause

// Address ranges with something attached: which memory is registered, here or at a node. Ranges never overlap and are
// never removed, so that a look-up needs no lock.
package rdma

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

const pageBytes = 4096

// piece is memory [lo, hi) and its key. With direct false it cannot be reached without the owner's help.
type piece struct {
	lo, hi uintptr
	key    uint32
	direct bool
}

// cover is pieces, sorted. A changed list is a new one.
type cover struct {
	mu   sync.Mutex // changing
	list atomic.Pointer[[]piece]
}

func (c *cover) all() []piece {
	if p := c.list.Load(); p != nil {
		return *p
	}
	return nil
}

// find is the piece around an address, nil if there is none.
func (c *cover) find(addr uintptr) *piece {
	list := c.all()
	i, exact := slices.BinarySearchFunc(list, addr, func(p piece, a uintptr) int { return cmp.Compare(p.lo, a) })
	if !exact {
		i--
	}
	if i < 0 || addr >= list[i].hi {
		return nil
	}
	return &list[i]
}

// gaps lists what of [lo, hi) is not covered.
func (c *cover) gaps(lo, hi uintptr) []piece {
	var out []piece
	for _, p := range c.all() {
		if p.hi <= lo {
			continue
		}
		if p.lo >= hi {
			break
		}
		if p.lo > lo {
			out = append(out, piece{lo: lo, hi: p.lo})
		}
		lo = max(lo, p.hi)
	}
	if lo < hi {
		out = append(out, piece{lo: lo, hi: hi})
	}
	return out
}

// add takes pieces in; what overlaps with what is there is left out.
func (c *cover) add(pieces ...piece) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range pieces {
		for _, g := range c.gaps(p.lo, p.hi) {
			g.key, g.direct = p.key, p.direct
			list := append(slices.Clone(c.all()), g)
			slices.SortFunc(list, func(a, b piece) int { return cmp.Compare(a.lo, b.lo) })
			c.list.Store(&list)
		}
	}
}

// pages widens a range to whole pages.
func pages(lo uintptr, n int64) (uintptr, uintptr) {
	return lo &^ (pageBytes - 1), (lo + uintptr(n) + pageBytes - 1) &^ (pageBytes - 1)
}
