// SPDX-License-Identifier: BSD-3-Clause

// Allocation of remotely accessible memory. Each rank allocates from its own slice of the node's
// arena. The ranks of the group exchange addresses, and agree: all of them get memory or none does.
package core

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"libarmci/internal/log"
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
	mu   sync.Mutex // guards live
	live map[uintptr]region
}

// region is one allocation of this rank.
type region struct {
	nbytes int64
	group  int // id of the group it was allocated on, or noGroup
}

const noGroup = -1

func (t *regionTable) initTable() { t.live = map[uintptr]region{} }

// addRegion records an allocation. It locks mu.
func (t *regionTable) addRegion(addr uintptr, g region) {
	t.mu.Lock()
	t.live[addr] = g
	t.mu.Unlock()
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

// allocation is what members of the group send each other while they allocate.
type allocation struct {
	addr   uintptr
	nbytes int64
	fresh  bool // they have to be reserved
	failed bool
}

const allocationBytes = 24

// encodeAllocation returns the allocation as exchangeAllocations reads it.
func (o allocation) encodeAllocation() []byte {
	b := make([]byte, allocationBytes)
	binary.LittleEndian.PutUint64(b, uint64(o.addr))
	binary.LittleEndian.PutUint64(b[8:], uint64(o.nbytes))
	for i, set := range []bool{o.fresh, o.failed} {
		if set {
			b[16+i] = 1
		}
	}
	return b
}

// exchangeAllocations exchanges allocations in the group. It returns all of them, and how many have
// failed.
func exchangeAllocations(g *Group, mine allocation) (allocs []allocation, failed int) {
	all := g.team.Allgather(mine.encodeAllocation())
	allocs = make([]allocation, g.Size())
	for i := range allocs {
		b := all[i*allocationBytes:]
		allocs[i] = allocation{uintptr(binary.LittleEndian.Uint64(b)),
			int64(binary.LittleEndian.Uint64(b[8:])),
			b[16] != 0, b[17] != 0}
		failed += int(b[17])
	}
	return allocs, failed
}

// Malloc allocates nbytes on every member of a group (each its own size, 0 allowed) and returns all
// base addresses by group rank, 0 where nothing was asked for. Collective over the group; on an
// error no member keeps anything.
func (rm *regionManager) Malloc(g *Group, nbytes int64) ([]uintptr, error) {
	return rm.mallocCollective(g, nbytes, rm.rt.allocator.Publish)
}

// MallocDeclared is Malloc of memory whose longs are changed by atomics of network devices, if
// these have any.
func (rm *regionManager) MallocDeclared(g *Group, nbytes int64) ([]uintptr, error) {
	return rm.mallocCollective(g, nbytes, func(addr uintptr, n int64) error {
		if rm.rt.deviceAtomics != nil && !rm.rt.allocator.Declare(addr, n) {
			log.Infof("%d bytes are not declared for atomics of the device: there is "+
				"too much such memory", n)
		}
		return rm.rt.allocator.Publish(addr, n)
	})
}

// mallocCollective is collective over the group: all members get their memory, or none keeps any.
// publish makes memory accessible, before another rank can learn its address.
func (rm *regionManager) mallocCollective(g *Group, nbytes int64,
	publish func(uintptr, int64) error) ([]uintptr,
	error) {
	if err := g.checkMember(); err != nil {
		return nil, err
	}
	mine := allocation{nbytes: nbytes, failed: nbytes < 0}
	if nbytes > 0 {
		var ok bool
		if mine.addr, ok = rm.rt.allocator.AllocateKept(nbytes); !ok {
			mine.fresh = true
		} else if publish(mine.addr, nbytes) != nil {
			mine.failed = true
		}
	}
	allocs, failed := exchangeAllocations(g, mine)
	var err error
	if failed == 0 && slices.ContainsFunc(allocs, func(o allocation) bool { return o.fresh }) {
		allocs, failed, err = rm.reserveNew(g, &mine, allocs, publish)
	}
	if failed > 0 {
		rm.returnMemory(mine.addr)
		return nil, mallocError(g, nbytes, allocs, err)
	}
	if mine.addr != 0 {
		rm.regions.addRegion(mine.addr, region{nbytes, g.ID})
	}
	rm.mapNewMemory(g, allocs)
	return rm.recordRemote(g, allocs), nil
}

// maxMappedBytes bounds the bytes that a rank enters into its page table in one allocation: some
// milliseconds.
const maxMappedBytes = 64 << 20

// mapNewMemory enters the new memory of other members on the node into this process's page table,
// so that its first accesses do not fault. It begins with the next member of the group, so that
// members do not all map the same memory at a time.
func (rm *regionManager) mapNewMemory(g *Group, allocs []allocation) {
	left := int64(maxMappedBytes)
	for i := range allocs {
		member := (g.Me + 1 + i) % len(allocs)
		if o := &allocs[member]; o.fresh && member != g.Me && left > 0 &&
			rm.rt.Topo.SameNode(g.Ranks[member]) {
			rm.rt.allocator.MapPages(o.addr, min(o.nbytes, left))
			left -= o.nbytes
		}
	}
}

// reserveNew reserves new memory for members that need it; it sets mine.addr. First all agree that
// every machine has room for its members, since nodes on one machine share its memory. It returns
// the allocations of all members and how many have failed.
func (rm *regionManager) reserveNew(g *Group, mine *allocation, allocs []allocation,
	publish func(uintptr, int64) error) (_ []allocation, failed int, err error) {
	var machineBytes int64
	for i, o := range allocs {
		if o.fresh && rm.rt.Topo.SameMachine(g.Ranks[i]) {
			machineBytes += o.nbytes
		}
	}
	if machineBytes > 0 {
		err = rm.rt.allocator.CheckReservation(machineBytes)
	}
	if allocs, failed = exchangeAllocations(g, allocation{failed: err != nil}); failed > 0 {
		return allocs, failed, err
	}
	if mine.fresh {
		if mine.addr, err = rm.rt.allocator.AllocatePopulated(mine.nbytes); err == nil {
			err = publish(mine.addr, mine.nbytes)
		}
		mine.failed = err != nil
	}
	allocs, failed = exchangeAllocations(g, *mine)
	return allocs, failed, err
}

// recordRemote records the regions of members on other nodes as known, and returns the addresses of
// all.
func (rm *regionManager) recordRemote(g *Group, allocs []allocation) []uintptr {
	addrs := make([]uintptr, len(allocs))
	for i, o := range allocs {
		addrs[i] = o.addr
		if o.addr != 0 && !rm.rt.Topo.SameNode(g.Ranks[i]) {
			rm.remote.addExtent(g.Ranks[i], o.addr, o.nbytes)
		}
	}
	return addrs
}

// returnMemory makes memory of this rank inaccessible and returns it to the arena. 0: there is
// none.
func (rm *regionManager) returnMemory(addr uintptr) {
	if addr != 0 {
		rm.rt.allocator.Withdraw(addr)
		rm.rt.allocator.Deallocate(addr)
	}
}

// mallocError is a member's error: its own mistake, or that others failed. The first that failed
// prints it for all.
func mallocError(g *Group, nbytes int64, allocs []allocation, err error) error {
	first, failed := -1, 0
	for i, o := range allocs {
		if o.failed {
			failed++
			if first < 0 {
				first = i
			}
		}
	}
	also := ""
	if failed > 1 {
		also = fmt.Sprintf(" (%d other ranks have failed, too)", failed-1)
	}
	e := &ArgError{Arg: "bytes", Code: CodeInternal, Quiet: g.Me != first}
	switch {
	case nbytes < 0:
		e.Code, e.Text = CodeBytes, fmt.Sprintf("%d is negative%s", nbytes, also)
	case err != nil:
		e.Text = fmt.Sprintf("%d bytes cannot be allocated: %v%s", nbytes, err, also)
	default:
		e.Text = fmt.Sprintf("%d of %d ranks could not allocate: nothing was allocated",
			failed, g.Size())
	}
	return e
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
	rm.regions.addRegion(addr, region{nbytes, noGroup})
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
