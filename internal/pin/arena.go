// SPDX-License-Identifier: BSD-3-Clause

// Memory that stays registered. A key table lists registered memory, here or at a node. The arena
// is the node's memory. A process registers an allocation when it is first used: by a data server
// for other nodes, by any process for the local side of its transfers. Memory stays registered
// until the end, since its pages stay where they are. So ranges of a table never overlap and are
// never removed, and a look-up needs no lock.
//
// This file also has pools of registered buffers of equal size.
package pin

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Table lists ranges by address. A list is never changed but replaced by a new one. The zero value
// is empty.
type Table struct {
	mu   sync.Mutex // held to replace the list
	list atomic.Pointer[[]transport.Range]
}

// ranges is the current list, which never changes.
func (t *Table) ranges() []transport.Range {
	if p := t.list.Load(); p != nil {
		return *p
	}
	return nil
}

// Find returns the range around an address, nil if there is none. The range stays valid.
func (t *Table) Find(addr uintptr) *transport.Range {
	list := t.ranges()
	i, exact := slices.BinarySearchFunc(list, addr,
		func(r transport.Range, a uintptr) int { return cmp.Compare(r.Lo, a) })
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
	for _, r := range t.ranges() {
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

// AddRanges adds ranges, except where they overlap those that are in the table already. It locks
// mu.
func (t *Table) AddRanges(ranges ...transport.Range) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range ranges {
		for _, g := range t.gaps(r.Lo, r.Hi) {
			g.Key, g.Direct = r.Key, r.Direct
			list := append(slices.Clone(t.ranges()), g)
			slices.SortFunc(list,
				func(a, b transport.Range) int { return cmp.Compare(a.Lo, b.Lo) })
			t.list.Store(&list)
		}
	}
}

// Pages widens a range to whole pages.
func Pages(lo uintptr, n int64) (uintptr, uintptr) {
	return lo &^ (pageBytes - 1), (lo + uintptr(n) + pageBytes - 1) &^ (pageBytes - 1)
}

// Memory is the memory of the node.
type Memory interface {
	InArena(addr uintptr) bool                   // whether it is an address of the arena
	RegionAt(addr uintptr) (lo uintptr, n int64) // the live allocation around it; n = 0: none
}

// Arena registers the memory of a node.
type Arena struct {
	node          Memory
	device        Device
	cache         *Cache // yields memory where the limit of pinned memory is reached
	table         Table
	mu            sync.Mutex // guards registrations and shared
	registrations []Registration
	shared        map[Registration]bool // private memory (share.go)
}

// NewArena makes an arena without registered memory.
func NewArena(node Memory, d Device, cache *Cache) *Arena {
	return &Arena{node: node, device: d, cache: cache}
}

// LocalRange returns the range around a local address: nil if it is not of the arena or cannot be
// registered.
func (a *Arena) LocalRange(addr uintptr) *transport.Range {
	r := a.table.Find(addr)
	if r == nil && a.node.InArena(addr) {
		if lo, n := a.node.RegionAt(addr); n > 0 {
			a.registerMissing(lo, n)
			r = a.table.Find(addr)
		}
	}
	if r == nil || !r.Direct {
		return nil
	}
	return r
}

// RegisterForPeers registers memory as far as it is not registered yet, and lists it.
func (a *Arena) RegisterForPeers(lo uintptr, n int64) []transport.Range {
	a.registerMissing(lo, n)
	return a.table.Within(lo, lo+uintptr(n))
}

// registerMissing registers memory as far as it is not in the table. Memory that cannot be
// registered is in the table with Direct false. It locks mu.
func (a *Arena) registerMissing(lo uintptr, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	lo, hi := Pages(lo, n)
	for _, g := range a.table.gaps(lo, hi) {
		n := int64(g.Hi - g.Lo)
		r, err := a.device.Register(g.Lo, n, true)
		for errors.Is(err, unix.ENOMEM) && a.cache.Evict(n) {
			r, err = a.device.Register(g.Lo, n, true)
		}
		if err != nil {
			log.Infof("memory is sent through buffers: %v", err)
		} else {
			a.registrations = append(a.registrations, r)
			g.Direct, g.Key = true, r.Key()
		}
		a.table.AddRanges(g)
	}
}

// Close ends all registrations. No memory is in use.
func (a *Arena) Close() {
	for _, r := range a.registrations {
		r.Close()
	}
	a.registrations = nil
	for r := range a.shared {
		a.unshare(r)
	}
}

// Pool has buffers 0, 1, 2 ... Their memory is outside of Go's heap. A child shares it after a
// fork, so the device keeps using pages of this process.
type Pool struct {
	Size   int    // of a buffer
	Key    uint64 // of all
	memory []byte
	reg    Registration
	mu     sync.Mutex // guards free
	free   []int32
}

// None is no buffer.
const None = int32(-1)

// LeastBuffers is the smallest number of buffers that NewPool falls back to.
const LeastBuffers = 8

// NewPool makes n buffers, or fewer if the limit of pinned memory does not allow so many.
func NewPool(d Device, n, size int) (*Pool, error) {
	for {
		p, err := tryPool(d, n, size)
		if err == nil || n/2 < LeastBuffers {
			return p, err
		}
		n /= 2
	}
}

// tryPool makes a pool of exactly n buffers.
func tryPool(d Device, n, size int) (*Pool, error) {
	memory, err := unix.Mmap(-1, 0, n*size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map %d buffers: %w", n, err)
	}
	p := &Pool{Size: size, memory: memory}
	if p.reg, err = d.Register(p.Addr(0), int64(n*size), false); err != nil {
		unix.Munmap(memory)
		return nil, err
	}
	p.Key = p.reg.Key()
	for i := range n {
		p.free = append(p.free, int32(n-1-i))
	}
	return p, nil
}

// Count returns how many buffers there are.
func (p *Pool) Count() int { return len(p.memory) / p.Size }

// Addr returns the address of a buffer.
func (p *Pool) Addr(i int32) uintptr { return uintptr(unsafe.Pointer(&p.memory[int(i)*p.Size])) }

// Bytes returns a buffer.
func (p *Pool) Bytes(i int32) []byte { return p.memory[int(i)*p.Size:][:p.Size:p.Size] }

// TakeBuffer returns a free buffer, which the caller gives to Put, or None. It locks mu.
func (p *Pool) TakeBuffer() int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return None
	}
	i := p.free[n-1]
	p.free = p.free[:n-1]
	return i
}

// Put makes a buffer free again. It locks mu.
func (p *Pool) Put(i int32) {
	p.mu.Lock()
	p.free = append(p.free, i)
	p.mu.Unlock()
}

// Close ends the registration and unmaps the buffers. A nil pool has none.
func (p *Pool) Close() {
	if p != nil {
		p.reg.Close()
		unix.Munmap(p.memory)
	}
}
