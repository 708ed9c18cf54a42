// SPDX-License-Identifier: BSD-3-Clause

// Remotely accessible memory that is allocated, of this rank and of others. Each rank allocates
// from its own slice of the node's arena (malloc.go).
package core

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"libarmci/internal/transport"
)

// regionManager allocates memory that all ranks may access, and knows that of others.
type regionManager struct {
	rt        *Runtime
	regions   regionTable
	remote    remoteRegions // of collective allocations
	confirmed remoteRegions // of other allocations, which their owners have confirmed
}

// regionTable is the allocations of this process, by base address.
type regionTable struct {
	mu    sync.Mutex // guards the rest
	live  map[uintptr]region
	count uint64 // allocations so far
}

// region is one allocation of this rank.
type region struct {
	nbytes int64
	group  int    // id of the group it was allocated on, or noGroup
	serial uint64 // in the order of allocation; set by addRegion
}

const noGroup = -1

func (t *regionTable) initTable() { t.live = map[uintptr]region{} }

// addRegion records an allocation. It locks mu.
func (t *regionTable) addRegion(addr uintptr, g region) {
	t.mu.Lock()
	t.count++
	g.serial = t.count
	t.live[addr] = g
	t.mu.Unlock()
}

// ofGroup is the allocations of a group, in the order in which they were made.
func (t *regionTable) ofGroup(group int) (all []checkpointRange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for addr, g := range t.live {
		if g.group == group {
			all = append(all, checkpointRange{addr: addr, nbytes: g.nbytes,
				shared: true})
		}
	}
	slices.SortFunc(all, func(a, b checkpointRange) int {
		return cmp.Compare(t.live[a.addr].serial, t.live[b.addr].serial)
	})
	return all
}

// checkRegion returns an error unless an allocation of that group begins at an address.
func (t *regionTable) checkRegion(addr uintptr, group int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.checkRegionLocked(addr, group)
}

// removeRegion removes an allocation, if it is of that group.
func (t *regionTable) removeRegion(addr uintptr, group int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkRegionLocked(addr, group); err != nil {
		return err
	}
	delete(t.live, addr)
	return nil
}

// checkRegionLocked is check for a caller that holds mu.
func (t *regionTable) checkRegionLocked(addr uintptr, group int) error {
	g, ok := t.live[addr]
	if !ok {
		return argErr(CodeAddress, "ptr",
			"%#x is not the start of an allocation of this rank", addr)
	}
	if g.group != group {
		return argErr(CodeArgument, "ptr",
			"%#x was allocated on another group or by another function", addr)
	}
	return nil
}

// Free frees an allocation; addr is the caller's own base address, 0 if it has none. Collective
// over the group; all earlier operations of the members are complete before any memory is freed.
func (rm *regionManager) Free(g *Group, addr uintptr) error {
	if err := g.checkMember(); err != nil {
		return err
	}
	rm.rt.FlushAggregates()
	rm.rt.WaitAll()
	rm.rt.AllFence()
	var mistake error
	if addr != 0 {
		mistake = rm.regions.checkRegion(addr, g.ID)
	}
	first := rm.exchangeFreed(g, addr, mistake != nil)
	switch {
	case mistake != nil:
		mistake.(*ArgError).Quiet = g.Me != first
		return mistake
	case addr == 0:
		return nil
	}
	if err := rm.regions.removeRegion(addr, g.ID); err != nil {
		return err
	}
	rm.returnMemory(addr)
	return nil
}

// exchangeFreed exchanges the addresses that members free, so it is a barrier, too. It forgets the
// remote regions that are freed. It returns the first member whose address is wrong, which prints
// the error for all; -1 if there is none.
func (rm *regionManager) exchangeFreed(g *Group, mine uintptr, wrong bool) (first int) {
	const none = 1 // no address of an allocation
	if wrong {
		mine = none
	}
	all := g.team.Allgather(binary.LittleEndian.AppendUint64(nil, uint64(mine)))
	first = -1
	for i, rank := range g.Ranks {
		if freed := binary.LittleEndian.Uint64(all[8*i:]); freed != none {
			rm.forgetRemote(rank, uintptr(freed))
		} else if first < 0 {
			first = i
		}
	}
	if len(rm.rt.Topo.Nodes) > 1 {
		rm.rt.aggregates.closeBatches()
	}
	return first
}

// forgetRemote removes a region that a rank of another node frees, and all of that rank's ranges in
// the C fast path. Free calls it, behind the fences. It locks remote.mu.
func (rm *regionManager) forgetRemote(rank transport.Rank, addr uintptr) {
	if rm.rt.Topo.SameNode(rank) {
		return
	}
	rm.remote.removeExtent(rank, addr)
	if to := rm.rt.route(rank); to.fast != nil {
		to.fast.DropRanges(to.peer)
	}
}

// MallocLocal allocates memory on this rank alone, for the local side of transfers.
func (rm *regionManager) MallocLocal(nbytes int64) (uintptr, error) {
	if nbytes <= 0 {
		return 0, argErr(CodeBytes, "bytes", "%d is not positive", nbytes)
	}
	addr, ok := rm.rt.allocator.AllocateKept(nbytes)
	if !ok {
		err := rm.rt.allocator.CheckReservation(nbytes)
		if err == nil {
			addr, err = rm.rt.allocator.AllocatePopulated(nbytes)
		}
		if err != nil {
			return 0, noMemory(nbytes, err)
		}
	}
	return rm.publishLocal(addr, nbytes)
}

// publishLocal makes memory of this rank alone accessible and records it. On an error it returns
// the memory.
func (rm *regionManager) publishLocal(addr uintptr, nbytes int64) (uintptr, error) {
	if err := rm.rt.allocator.Publish(addr, nbytes); err != nil {
		rm.rt.allocator.Deallocate(addr)
		return 0, argErr(CodeInternal, "bytes", "%v", err)
	}
	rm.regions.addRegion(addr, region{nbytes: nbytes, group: noGroup})
	return addr, nil
}

// onTouchFrom is the size from which MallocOnTouch leaves pages to the first touch: making those
// of less takes hardly longer than the call, and freed memory with pages is used again.
const onTouchFrom = 1 << 20

// MallocOnTouch is MallocLocal, but the rank that first touches a page makes it, near itself. So an
// allocation costs no memory that is not used, and shared memory is placed by its users.
func (rm *regionManager) MallocOnTouch(nbytes int64) (uintptr, error) {
	if nbytes < onTouchFrom {
		return rm.MallocLocal(nbytes)
	}
	err := rm.rt.allocator.CheckReservation(nbytes)
	var addr uintptr
	if err == nil {
		addr, err = rm.rt.allocator.AllocateOnTouch(nbytes)
	}
	if err != nil {
		return 0, noMemory(nbytes, err)
	}
	return rm.publishLocal(addr, nbytes)
}

// noMemory is the error of an allocation that the arena refused.
func noMemory(nbytes int64, err error) error {
	return argErr(CodeInternal, "bytes", "%d bytes cannot be allocated: %v", nbytes, err)
}

// FreeLocal frees memory of MallocLocal and MallocOnTouch.
func (rm *regionManager) FreeLocal(addr uintptr) error {
	if addr == 0 {
		return nil
	}
	if err := rm.regions.removeRegion(addr, noGroup); err != nil {
		return err
	}
	rm.returnMemory(addr)
	return nil
}
