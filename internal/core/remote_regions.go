// SPDX-License-Identifier: BSD-3-Clause

// Known regions of ranks on other nodes: those of collective allocations that this rank took part
// in, and those that their owners have confirmed. They are a hint that saves a round trip; the
// target checks every address nevertheless.
package core

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"libarmci/internal/transport"
)

// extent is addresses [lo, hi).
type extent struct{ lo, hi uintptr }

// remoteRegions is read without a lock: lists are never changed, only replaced.
type remoteRegions struct {
	mu     sync.Mutex                 // held to replace a list
	byRank []atomic.Pointer[[]extent] // by rank; sorted
}

func (k *remoteRegions) initRanks(ranks int) { k.byRank = make([]atomic.Pointer[[]extent], ranks) }

// regionsOf is the known regions of a rank, sorted. The list does not change.
func (k *remoteRegions) regionsOf(rank transport.Rank) []extent {
	if p := k.byRank[rank].Load(); p != nil {
		return *p
	}
	return nil
}

// searchExtent is the index in a list of the region that begins at an address, or where it would be
// inserted.
func searchExtent(list []extent, addr uintptr) (int, bool) {
	return slices.BinarySearchFunc(list, addr,
		func(e extent, a uintptr) int { return cmp.Compare(e.lo, a) })
}

// addExtent records a region; one that begins at the same address is replaced. It locks mu.
func (k *remoteRegions) addExtent(rank transport.Rank, addr uintptr, nbytes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i, found := searchExtent(k.regionsOf(rank), addr)
	list := slices.Clone(k.regionsOf(rank))
	if found {
		list = slices.Delete(list, i, i+1)
	}
	list = slices.Insert(list, i, extent{addr, addr + uintptr(nbytes)})
	k.byRank[rank].Store(&list)
}

// removeExtent removes the region that begins at an address, if there is one. It locks mu.
func (k *remoteRegions) removeExtent(rank transport.Rank, addr uintptr) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i, found := searchExtent(k.regionsOf(rank), addr); found {
		list := slices.Delete(slices.Clone(k.regionsOf(rank)), i, i+1)
		k.byRank[rank].Store(&list)
	}
}

// findExtent returns the region that contains an address.
func (k *remoteRegions) findExtent(rank transport.Rank, addr uintptr) (extent, bool) {
	list := k.regionsOf(rank)
	i, found := searchExtent(list, addr)
	if !found {
		i--
	}
	if i < 0 || addr >= list[i].hi {
		return extent{}, false
	}
	return list[i], true
}

// contains tells whether n bytes at an address lie in one region. beyond: they begin in one, but it
// is too short.
func (k *remoteRegions) contains(rank transport.Rank, addr uintptr, n int64) (yes, beyond bool) {
	e, found := k.findExtent(rank, addr)
	if !found || n < 0 {
		return false, false
	}
	yes = uintptr(n) <= e.hi-addr
	return yes, !yes
}

// maxConfirmed bounds the confirmed regions of a rank. Beyond it all are forgotten, and their
// owner is asked again.
const maxConfirmed = 1024

// confirmExtent records a region that its owner has confirmed to be live. The owner may free it,
// and allocate differently there, without notice. So the new region replaces all that it overlaps,
// and memory outside the known regions is only unknown, never wrong. It locks mu.
func (k *remoteRegions) confirmExtent(rank transport.Rank, e extent) {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(k.regionsOf(rank)),
		func(old extent) bool { return old.lo < e.hi && e.lo < old.hi })
	if len(list) >= maxConfirmed {
		list = nil
	}
	i, _ := searchExtent(list, e.lo)
	list = slices.Insert(list, i, e)
	k.byRank[rank].Store(&list)
}
