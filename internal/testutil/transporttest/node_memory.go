// SPDX-License-Identifier: BSD-3-Clause

// The memory of a rank of a Cluster: the arena's slice of the rank. Private memory is in
// private.go. Misuse that a real node could not survive panics.
package transporttest

import (
	"fmt"
	"slices"

	"libarmci/internal/transport"
)

// nodeMemory implements transport.NodeMemory and transport.Allocator. The cluster's lock guards its
// fields.
type nodeMemory struct {
	*member
	// arena memory of this rank from here on was never allocated
	nextFree      uintptr
	freed         []extent          // to be reused, with what is in it
	allocated     map[uintptr]int64 // by address: bytes of whole pages
	published     map[uintptr]int64 // by address: bytes, as published
	mostAllocated int64             // bytes, the maximum so far
	exposed       []extent          // private memory
	foreignBytes  int64             // copied by ReadForeign and WriteForeign
}

// extent is a piece of memory.
type extent struct {
	addr   uintptr
	nbytes int64
}

// declaredRange is memory for atomics of devices.
type declaredRange struct {
	lo uintptr
	n  int64
}

func wholePages(nbytes int64) int64 { return (nbytes + pageBytes - 1) &^ (pageBytes - 1) }

// AllocateKept allocates a freed piece of the same size, with its contents.
func (n *nodeMemory) AllocateKept(nbytes int64) (addr uintptr, ok bool) {
	n.c.changeState(func() {
		size := wholePages(nbytes)
		if i := slices.IndexFunc(n.freed,
			func(e extent) bool { return e.nbytes == size }); i >= 0 {
			addr, ok = n.freed[i].addr, true
			n.freed = slices.Delete(n.freed, i, i+1)
			n.recordAllocation(addr, size)
		}
	})
	return addr, ok
}

// recordAllocation records an allocation. The caller holds the cluster's lock.
func (n *nodeMemory) recordAllocation(addr uintptr, size int64) {
	n.allocated[addr] = size
	n.mostAllocated = max(n.mostAllocated, sumBytes(n.allocated))
}

func sumBytes(m map[uintptr]int64) (sum int64) {
	for _, b := range m {
		sum += b
	}
	return sum
}

// CheckReservation refuses more than the slices of the node have together.
func (n *nodeMemory) CheckReservation(nbytes int64) error {
	if err := n.c.injectedFault("room", n.rank); err != nil {
		return err
	}
	if nbytes > int64(len(n.nodeRanks))*sliceBytes {
		return fmt.Errorf("%w: the node has %d bytes", transport.ErrNoMemory,
			len(n.nodeRanks)*sliceBytes)
	}
	return nil
}

// AllocateOnTouch is AllocatePopulated: all memory of a Cluster gets its pages when it is touched.
func (n *nodeMemory) AllocateOnTouch(nbytes int64) (addr uintptr, err error) {
	return n.AllocatePopulated(nbytes)
}

// AllocatePopulated allocates new memory.
func (n *nodeMemory) AllocatePopulated(nbytes int64) (addr uintptr, err error) {
	if err := n.c.injectedFault("grow", n.rank); err != nil {
		return 0, err
	}
	n.c.changeState(func() {
		size := wholePages(nbytes)
		if end := n.c.sliceBase(n.rank) + sliceBytes; uintptr(size) > end-n.nextFree {
			err = transport.ErrNoMemory
			return
		}
		addr = n.nextFree
		n.nextFree += uintptr(size)
		n.recordAllocation(addr, size)
	})
	return addr, err
}

// Deallocate frees memory. It panics if the memory is not allocated, or still published.
func (n *nodeMemory) Deallocate(addr uintptr) {
	n.c.changeState(func() {
		size, ok := n.allocated[addr]
		if _, published := n.published[addr]; !ok || published {
			panic(fmt.Sprintf("rank %d returns %#x (handed out: %v, published: %v)",
				n.rank, addr, ok, published))
		}
		delete(n.allocated, addr)
		n.freed = append(n.freed, extent{addr, size})
	})
}

// MapPages does nothing: all ranks are in one process.
func (n *nodeMemory) MapPages(uintptr, int64) {}

// Publish makes an allocation accessible to all ranks.
func (n *nodeMemory) Publish(addr uintptr, nbytes int64) error {
	if err := n.c.injectedFault("publish", n.rank); err != nil {
		return err
	}
	n.c.changeState(func() {
		if n.allocated[addr] < nbytes {
			panic(fmt.Sprintf("rank %d publishes %d bytes at %#x of %d", n.rank, nbytes,
				addr, n.allocated[addr]))
		}
		n.published[addr] = nbytes
	})
	return nil
}

// Withdraw ends Publish.
func (n *nodeMemory) Withdraw(addr uintptr) (err error) {
	n.c.changeState(func() {
		if _, ok := n.published[addr]; !ok {
			err = transport.ErrBadAddr
		}
		delete(n.published, addr)
	})
	return err
}

// InRegionOf searches the published and the exposed memory of a rank.
func (n *nodeMemory) InRegionOf(local int, addr uintptr, nbytes int64) (yes bool) {
	n.c.changeState(func() {
		for lo, size := range n.localNode(local).published {
			yes = yes || nbytes >= 0 && addr >= lo && addr < lo+uintptr(size) &&
				nbytes <= int64(lo)+size-int64(addr)
		}
		yes = yes || n.localNode(local).isExposed(addr, nbytes)
	})
	return yes
}

// InArena tells whether addr lies in the slice of a rank of this node.
func (n *nodeMemory) InArena(addr uintptr) bool {
	rank := transport.Rank((addr - n.c.arena.base) / sliceBytes)
	return addr >= n.c.arena.base && slices.Contains(n.nodeRanks, rank)
}

// ArenaRange is the arena of all ranks of the cluster.
func (n *nodeMemory) ArenaRange() (uintptr, int64) {
	return n.c.arena.base, int64(n.c.N) * sliceBytes
}

// RegionAt searches the published memory of all ranks.
func (n *nodeMemory) RegionAt(addr uintptr) (lo uintptr, nbytes int64) {
	n.c.changeState(func() {
		for _, other := range n.c.nodes {
			for at, size := range other.published {
				if addr >= at && addr < at+uintptr(size) {
					lo, nbytes = at, size
				}
			}
		}
	})
	return lo, nbytes
}

// DeviceLocks says that devices take no locks: accumulates need messages.
func (n *nodeMemory) DeviceLocks() (uintptr, int) { return 0, 0 }

// Declare records the range for Declared.
func (n *nodeMemory) Declare(addr uintptr, nbytes int64) bool {
	n.c.changeState(func() { n.c.declared = append(n.c.declared, declaredRange{addr, nbytes}) })
	return true
}

// Declared searches the ranges of Declare.
func (n *nodeMemory) Declared(addr uintptr) (lo uintptr, nbytes int64) {
	n.c.changeState(func() {
		for _, d := range n.c.declared {
			if addr >= d.lo && addr < d.lo+uintptr(d.n) {
				lo, nbytes = d.lo, d.n
			}
		}
	})
	return lo, nbytes
}

// KeepPages does nothing: a Cluster keeps all its pages.
func (n *nodeMemory) KeepPages() {}

// RecordStore does nothing: no rank waits for stores.
func (n *nodeMemory) RecordStore(int) {}

// MemoryUse returns numbers of bytes of this rank.
func (n *nodeMemory) MemoryUse() (live, kept, high int64) {
	n.c.changeState(func() {
		live, high = sumBytes(n.allocated), n.mostAllocated
		for _, e := range n.freed {
			kept += e.nbytes
		}
	})
	return live, kept, high
}

// Published is the number of published allocations.
func (n *nodeMemory) Published() (count int) {
	n.c.changeState(func() { count = len(n.published) })
	return count
}

// Counters says that there is no table: no device writes counters.
func (n *nodeMemory) Counters() (lo uintptr, bytes int64) { return 0, 0 }
