// SPDX-License-Identifier: BSD-3-Clause

// The memory of a node as one rank sees it: its own slice, from which it allocates, the region
// table, and the declared ranges.
package shm

// #include "shm.h"
// #cgo nocallback shm_region_add
// #cgo nocallback shm_region_drop
// #cgo nocallback shm_find
// #cgo noescape shm_find
import "C"

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// arenaMemory implements the parts of transport.NodeMemory and transport.Allocator that concern the
// arena. Its fields are set before Join returns.
type arenaMemory struct {
	ranks   []transport.Rank // Options.Ranks
	self    int              // Options.Self
	margin  int64            // Options.Margin
	sliceFD int              // file of this rank's slice
	place   arenaPlace       // the mapping of the arena
	head    *C.struct_shm_head
	alloc   *sliceAllocator // the allocator of this rank's slice
	check   memoryCheck
	// withdrawn ends the job if memory of a local rank is used that has been withdrawn.
	withdrawn func(local int)
	regions   regionTable
}

// regionTable is this rank's changes of its region table. mu serialises them, and guards the other
// fields.
type regionTable struct {
	mu       sync.Mutex // serialises changes of the table; guards the rest
	detached bool       // the control block is not mapped any more
	exposed  exposures
}

// withdrawRank empties the region table of a local rank that has exited.
func (m *arenaMemory) withdrawRank(local int) {
	m.regions.mu.Lock()
	defer m.regions.mu.Unlock()
	if !m.regions.detached {
		C.shm_withdraw_rank(C.int(local))
	}
}

// detach ends the use of the control block by this process, after which it may be unmapped.
func (m *arenaMemory) detach() {
	m.regions.mu.Lock()
	defer m.regions.mu.Unlock()
	m.regions.detached = true
	C.shm_request_thread_stop()
	C.shm_detach()
}

// Base returns the address of the arena, which is the same in every rank of the node.
func (m *arenaMemory) Base() uintptr { return m.place.base }

// Bytes returns the size of the arena's address space in bytes.
func (m *arenaMemory) Bytes() int64 { return m.place.bytes }

// SliceBytes returns the bytes of the arena that each rank allocates from.
func (m *arenaMemory) SliceBytes() int64 { return int64(m.head.slice_bytes) }

// AllocateKept allocates memory that this rank has freed and kept; false: none is large enough.
func (m *arenaMemory) AllocateKept(nbytes int64) (uintptr, bool) { return m.alloc.reuse(nbytes) }

// CheckReservation returns an error unless the ranks of this node together may reserve nbytes more.
// Before it refuses, it returns the kept memory of this rank to the machine.
func (m *arenaMemory) CheckReservation(nbytes int64) error {
	if nbytes > 0 && m.check.reserve(nbytes, m.margin) != nil {
		m.alloc.dropKept()
		return checkReservation(nbytes, m.margin)
	}
	return nil
}

// AllocatePopulated allocates new memory with its pages.
func (m *arenaMemory) AllocatePopulated(nbytes int64) (uintptr, error) {
	return m.alloc.grow(nbytes)
}

// AllocateOnTouch allocates new memory without pages. A page is made when it is touched first, on
// the memory node of the toucher.
func (m *arenaMemory) AllocateOnTouch(nbytes int64) (uintptr, error) {
	return m.alloc.growOnTouch(nbytes)
}

// Deallocate frees an allocation.
func (m *arenaMemory) Deallocate(addr uintptr) { m.alloc.release(addr) }

// MemoryUse returns this rank's bytes: allocated, freed but kept, and the most ever allocated.
func (m *arenaMemory) MemoryUse() (live, kept, high int64) { return m.alloc.usage() }

// MapPages enters new memory of another rank into the page table of this process, which saves a
// page fault for each page.
func (m *arenaMemory) MapPages(addr uintptr, nbytes int64) {
	if err := enterPages(span{addr, addr + pagesOf(nbytes)}); err != nil {
		// Page faults enter it instead.
		log.Infof("memory of another rank is not entered into the page table: %v", err)
	}
}

// Publish makes an allocation accessible to all ranks of the node.
func (m *arenaMemory) Publish(addr uintptr, nbytes int64) error {
	m.regions.mu.Lock()
	defer m.regions.mu.Unlock()
	if C.shm_region_add(C.uint64_t(addr), C.uint64_t(addr)+C.uint64_t(nbytes)) != 0 {
		return fmt.Errorf("%w: more than %d allocations", transport.ErrNoMemory,
			m.head.region_cap)
	}
	return nil
}

// Withdraw makes an allocation that was published inaccessible again.
func (m *arenaMemory) Withdraw(addr uintptr) error {
	m.regions.mu.Lock()
	defer m.regions.mu.Unlock()
	if C.shm_region_drop(C.uint64_t(addr)) != 0 {
		return transport.ErrBadAddr
	}
	return nil
}

// InRegionOf reports whether n bytes at addr lie in one live allocation of a rank. It ends the job
// if that rank has exited without finalising and its memory has been withdrawn.
func (m *arenaMemory) InRegionOf(local int, addr uintptr, n int64) bool {
	var f C.struct_shm_found
	if n < 0 || !bool(C.shm_find(C.int(local), C.uint64_t(addr), &f)) {
		m.withdrawn(local)
		return false
	}
	return uint64(n) <= uint64(f.hi)-uint64(addr)
}

// InArena reports whether addr is an arena address.
func (m *arenaMemory) InArena(addr uintptr) bool {
	return addr >= m.place.base && addr-m.place.base < uintptr(m.place.bytes)
}

// ArenaRange returns the address range of the arena.
func (m *arenaMemory) ArenaRange() (lo uintptr, n int64) { return m.place.base, m.place.bytes }

// DeviceLocks returns the accumulate locks if devices may take them; else n is 0.
func (m *arenaMemory) DeviceLocks() (at uintptr, n int) {
	if m.head.device == 0 {
		return 0, 0
	}
	return m.place.base + uintptr(m.head.stripe_off), int(m.head.stripes)
}

// Declare declares that devices do all 8-byte read-modify-writes of this memory from now on; false:
// there are too many declared ranges.
func (m *arenaMemory) Declare(addr uintptr, n int64) bool {
	return bool(C.shm_declare(C.uint64_t(addr), C.uint64_t(addr)+C.uint64_t(n)))
}

// Declared returns the range around an address that is declared for devices' read-modify-writes
// (Declare); n is 0 if there is none.
func (m *arenaMemory) Declared(addr uintptr) (lo uintptr, n int64) {
	var r C.struct_shm_region
	if atomic.LoadUint32((*uint32)(unsafe.Pointer(&m.head.declared))) == 0 ||
		!bool(C.shm_declared(C.uint64_t(addr), &r)) {
		return 0, 0
	}
	return uintptr(r.lo), int64(r.hi - r.lo)
}

// RegionAt returns the live allocation around an address; n is 0 if there is none. The slice in
// which the address lies determines the owner.
func (m *arenaMemory) RegionAt(addr uintptr) (lo uintptr, n int64) {
	first := m.place.base + uintptr(m.head.slice_off)
	if !m.InArena(addr) || addr < first {
		return 0, 0
	}
	var f C.struct_shm_found
	local := (addr - first) / uintptr(m.head.slice_bytes)
	if local >= uintptr(len(m.ranks)) ||
		!bool(C.shm_find(C.int(local), C.uint64_t(addr), &f)) {
		return 0, 0
	}
	return uintptr(f.lo), int64(f.hi - f.lo)
}

// KeepPages keeps the pages of all memory of this rank from now on, freed memory included: devices
// have them pinned.
func (m *arenaMemory) KeepPages() { m.alloc.keepPages() }
