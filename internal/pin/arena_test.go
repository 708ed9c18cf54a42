// SPDX-License-Identifier: BSD-3-Clause

// The key table, and the arena over a device that only counts.
package pin

import (
	"errors"
	"testing"

	"libarmci/internal/transport"
)

// Ranges that are added fill the gaps between those that are there.
func TestTable(t *testing.T) {
	var c Table
	c.AddRanges(transport.Range{Lo: 100, Hi: 200, Key: 1},
		transport.Range{Lo: 300, Hi: 400, Key: 2})
	// Overlapping ranges stay as they were.
	c.AddRanges(transport.Range{Lo: 50, Hi: 350, Key: 3})
	for addr, key := range map[uintptr]uint64{49: 0, 50: 3, 99: 3, 100: 1, 199: 1, 200: 3,
		299: 3, 300: 2, 399: 2, 400: 0} {
		p := c.Find(addr)
		if p == nil && key != 0 || p != nil && p.Key != key {
			t.Errorf("%d: %+v, expected key %d", addr, p, key)
		}
	}
	if g := c.gaps(0, 500); len(g) != 2 || g[0] != (transport.Range{Hi: 50}) ||
		g[1] != (transport.Range{Lo: 400, Hi: 500}) {
		t.Errorf("gaps %+v", g)
	}
	if g := c.gaps(60, 390); g != nil {
		t.Errorf("gaps %+v", g)
	}
	if w := c.Within(99, 201); len(w) != 3 || w[0].Key != 3 || w[1].Key != 1 || w[2].Key != 3 {
		t.Errorf("within %+v", w)
	}
}

// oneAllocation is a node with one allocation.
type oneAllocation struct{ lo, hi uintptr }

func (l oneAllocation) InArena(addr uintptr) bool { return addr < 1<<30 }

func (l oneAllocation) RegionAt(addr uintptr) (uintptr, int64) {
	if addr < l.lo || addr >= l.hi {
		return 0, 0
	}
	return l.lo, int64(l.hi - l.lo)
}

// An arena registers allocations when they are used, and evicts entries of the cache for that.
func TestArena(t *testing.T) {
	d := newDevice(64 << 10)
	cache := unwatchedCache(d, 64<<10)
	a := NewArena(oneAllocation{0x10000, 0x1a000}, d, cache)
	if a.LocalRange(0x20000) != nil || a.LocalRange(1<<31) != nil || d.pinned != 0 {
		t.Error("memory outside of allocations was registered")
	}
	takeAndRelease(t, cache, 1<<31, 48<<10) // it has to make room
	r := a.LocalRange(0x10008)
	if r == nil || r.Lo != 0x10000 || r.Hi != 0x1a000 || !r.Direct || d.pinned != 40<<10 {
		t.Errorf("%+v, %d bytes are pinned", r, d.pinned)
	}
	list := a.RegisterForPeers(0x18000, 0x4000) // the half of it is registered
	if len(list) != 2 || list[0].Key == list[1].Key || list[1].Lo != 0x1a000 ||
		list[1].Hi != 0x1c000 || !list[1].Direct {
		t.Errorf("exposed: %+v", list)
	}
	if list[0].Key != r.Key || d.open[r.Key] == "" {
		t.Errorf("key %d here, %d is told to others, open are %v", r.Key, list[0].Key,
			d.open)
	}
	d.refuse = errors.New("no more")
	if list = a.RegisterForPeers(0x30000, 4096); len(list) != 1 || list[0].Direct ||
		a.LocalRange(0x30000) != nil {
		t.Errorf("out of reach: %+v", list)
	}
	a.Close()
	cache.Close()
	if len(d.open) > 0 || d.pinned != 0 {
		t.Errorf("%v are still registered", d.open)
	}
}
