// SPDX-License-Identifier: BSD-3-Clause

// Collective allocation: kinds of memory, the agreement of all members, what each learns of the
// others' memory.
package core

import (
	"encoding/binary"
	"fmt"
	"slices"

	"libarmci/internal/log"
)

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
	return rm.MallocKind(g, nbytes, plainMemory)
}

// Kinds of memory, for MallocKind.
const (
	plainMemory     = "dram"
	atomicsOfDevice = "rdma-atomics"
)

// MallocKind is Malloc of a kind of memory, by its name: "" or "dram" is plain memory; the longs of
// "rdma-atomics" are changed by atomics of network devices, if these have any. A name that is not
// known fails the call on all members.
func (rm *regionManager) MallocKind(g *Group, nbytes int64, kind string) ([]uintptr, error) {
	switch kind {
	case "", plainMemory:
		return rm.mallocCollective(g, nbytes, rm.rt.allocator.Publish, nil)
	case atomicsOfDevice:
		return rm.mallocCollective(g, nbytes, rm.publishDeclared, nil)
	}
	return rm.mallocCollective(g, nbytes, nil, &ArgError{Arg: "device", Code: CodeArgument,
		Text: fmt.Sprintf("%q is no kind of memory here: there are %q and %q", kind,
			plainMemory, atomicsOfDevice)})
}

// publishDeclared is Publish of memory that atomics of network devices change.
func (rm *regionManager) publishDeclared(addr uintptr, n int64) error {
	if rm.rt.deviceAtomics != nil && !rm.rt.allocator.Declare(addr, n) {
		log.Infof("%d bytes are not declared for atomics of the device: there is too much "+
			"such memory", n)
	}
	return rm.rt.allocator.Publish(addr, n)
}

// mallocCollective is collective over the group: all members get their memory, or none keeps any.
// publish makes memory accessible, before another rank can learn its address. With a mistake of the
// caller all members fail.
func (rm *regionManager) mallocCollective(g *Group, nbytes int64,
	publish func(uintptr, int64) error, mistake *ArgError) ([]uintptr, error) {
	if err := g.checkMember(); err != nil {
		return nil, err
	}
	if nbytes < 0 {
		mistake = &ArgError{Arg: "bytes", Code: CodeBytes,
			Text: fmt.Sprintf("%d is negative", nbytes)}
	}
	mine := allocation{nbytes: nbytes, failed: mistake != nil}
	if nbytes > 0 && mistake == nil {
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
		return nil, mallocError(g, nbytes, allocs, mistake, err)
	}
	if mine.addr != 0 {
		rm.regions.addRegion(mine.addr, region{nbytes: nbytes, group: g.ID})
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
func mallocError(g *Group, nbytes int64, allocs []allocation, mistake *ArgError,
	err error) error {
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
	case mistake != nil:
		e.Arg, e.Code, e.Text = mistake.Arg, mistake.Code, mistake.Text+also
	case err != nil:
		e.Text = fmt.Sprintf("%d bytes cannot be allocated: %v%s", nbytes, err, also)
	default:
		e.Text = fmt.Sprintf("%d of %d ranks could not allocate: nothing was allocated",
			failed, g.Size())
	}
	return e
}
