// SPDX-License-Identifier: BSD-3-Clause

// Private memory that a rank exposes to the others: heap, stack and globals. Exposures may overlap,
// repeat and adjoin; the region table gets their union. Exposed memory of the arena is in the table
// already. foreign.go accesses the exposed memory of other ranks.
package shm

// #include "shm.h"
// #cgo nocallback shm_region_replace
// #cgo noescape shm_region_replace
import "C"

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"syscall"
	"unsafe"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// exposures are a multiset, and the union of those that are published.
type exposures struct {
	all            []exposure // sorted by lo, then by hi
	union          []span     // sorted; they neither overlap nor adjoin
	privateExposed bool       // private memory has been exposed before
}

// exposure is memory that one call of Expose has made accessible.
type exposure struct {
	span
	published bool // else it is an allocation of this rank, and in the region table anyway
}

func compareExposures(a, b exposure) int {
	return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi))
}

// insert inserts an exposure; updateUnion must follow. The caller holds regionTable.mu.
func (x *exposures) insert(e exposure) {
	i, _ := slices.BinarySearchFunc(x.all, e, compareExposures)
	x.all = slices.Insert(x.all, i, e)
}

// remove removes one exposure of exactly s; false if there is none. updateUnion must follow. The
// caller holds regionTable.mu.
func (x *exposures) remove(s span) (exposure, bool) {
	i, found := slices.BinarySearchFunc(x.all, exposure{span: s}, compareExposures)
	if !found {
		return exposure{}, false
	}
	e := x.all[i]
	x.all = slices.Delete(x.all, i, i+1)
	return e, true
}

// touchingParts returns the parts of the union that overlap or adjoin s: union[i:j].
func (x *exposures) touchingParts(s span) (i, j int) {
	i, _ = slices.BinarySearchFunc(x.union, s.lo,
		func(u span, lo uintptr) int { return cmp.Compare(u.hi, lo) })
	for j = i; j < len(x.union) && x.union[j].lo <= s.hi; j++ {
	}
	return i, j
}

// unionOf returns the union of the published exposures that begin in [s.lo, s.hi).
func (x *exposures) unionOf(s span) (parts []span) {
	i, _ := slices.BinarySearchFunc(x.all, s.lo,
		func(e exposure, lo uintptr) int { return cmp.Compare(e.lo, lo) })
	for ; i < len(x.all) && x.all[i].lo < s.hi; i++ {
		e := &x.all[i]
		switch last := len(parts) - 1; {
		case !e.published:
		case last >= 0 && e.lo <= parts[last].hi:
			parts[last].hi = max(parts[last].hi, e.hi)
		default:
			parts = append(parts, e.span)
		}
	}
	return parts
}

// updateUnion updates the union around s, where an exposure was added or removed. publish replaces
// the published parts of a span by others. On an error of publish the union has not changed, and
// the caller undoes its own step. The caller holds regionTable.mu, under which publish runs.
func (x *exposures) updateUnion(s span, publish func(span, []span) error) error {
	i, j := x.touchingParts(s)
	for k := i; k < j; k++ {
		s.lo, s.hi = min(s.lo, x.union[k].lo), max(s.hi, x.union[k].hi)
	}
	parts := x.unionOf(s)
	if slices.Equal(parts, x.union[i:j]) {
		return nil
	}
	if err := publish(s, parts); err != nil {
		return err
	}
	x.union = slices.Replace(x.union, i, j, parts...)
	return nil
}

// Expose makes memory of this process, private memory included, accessible to all ranks. Memory may
// be exposed several times; each exposure is ended by Conceal.
func (m *arenaMemory) Expose(addr uintptr, n int64) error {
	if n == 0 {
		return nil
	}
	e := exposure{span: span{addr, addr + uintptr(n)}}
	if n < 0 || addr == 0 || e.hi < e.lo {
		return fmt.Errorf("%w: %d bytes at %#x", transport.ErrBadAddr, n, addr)
	}
	var err error
	if e.published, err = m.mustPublish(e.span); err != nil {
		return err
	}
	m.regions.mu.Lock()
	defer m.regions.mu.Unlock()
	if e.published && !m.regions.exposed.privateExposed && !m.InArena(addr) {
		m.beginExposing()
	}
	m.regions.exposed.insert(e)
	if err = m.regions.exposed.updateUnion(e.span, m.publishUnion); err != nil {
		m.regions.exposed.remove(e.span)
	}
	return err
}

// Conceal ends one exposure.
func (m *arenaMemory) Conceal(addr uintptr, n int64) error {
	if n == 0 {
		return nil
	}
	m.regions.mu.Lock()
	defer m.regions.mu.Unlock()
	e, ok := m.regions.exposed.remove(span{addr, addr + uintptr(n)})
	if !ok {
		return fmt.Errorf("%w: %d bytes at %#x are not exposed", transport.ErrBadAddr, n,
			addr)
	}
	err := m.regions.exposed.updateUnion(e.span, m.publishUnion)
	if err != nil {
		m.regions.exposed.insert(e)
	}
	return err
}

// mustPublish reports whether exposed memory must be entered into the region table of this rank: it
// is private, or another rank has allocated it. Memory of the arena must be a live allocation.
func (m *arenaMemory) mustPublish(s span) (bool, error) {
	arena := span{m.place.base, m.place.base + uintptr(m.place.bytes)}
	if s.hi <= arena.lo || s.lo >= arena.hi {
		return true, nil
	}
	if lo, n := m.RegionAt(s.lo); n == 0 || s.hi > lo+uintptr(n) {
		return false, fmt.Errorf("%w: %d bytes at %#x of the arena are no live allocation",
			transport.ErrBadAddr, s.size(), s.lo)
	}
	first := arena.lo + uintptr(m.head.slice_off)
	return int((s.lo-first)/uintptr(m.head.slice_bytes)) != m.self, nil
}

// publishUnion replaces the regions of this rank within s by parts. The caller holds mu.
func (m *arenaMemory) publishUnion(s span, parts []span) error {
	pairs := make([]C.uint64_t, 0, 2*len(parts)+2)
	for _, p := range parts {
		pairs = append(pairs, C.uint64_t(p.lo), C.uint64_t(p.hi))
	}
	if C.shm_region_replace(C.uint64_t(s.lo), C.uint64_t(s.hi), unsafe.SliceData(pairs),
		C.uint32_t(len(parts))) != 0 {
		return fmt.Errorf("%w: more than %d allocations and exposures",
			transport.ErrNoMemory, m.head.region_cap)
	}
	return nil
}

// beginExposing lets the other processes of the node access the memory of this one. The caller
// holds mu and publishes the first private memory next.
func (m *arenaMemory) beginExposing() {
	var b [8]byte
	rand.Read(b[:])
	m.regions.exposed.privateExposed = true
	if errno := C.shm_expose_open(C.uint64_t(binary.NativeEndian.Uint64(b[:]))); errno != 0 {
		log.Infof("no thread copies private memory for ranks that the kernel refuses it: "+
			"%v", syscall.Errno(errno))
	}
}
