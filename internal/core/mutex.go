// SPDX-License-Identifier: BSD-3-Clause

// Mutexes: each rank hosts as many as it asked for; a set is created collectively.
// ARMCI_Create_mutexes creates the default set; further sets, on groups, are those of armcix.h.
// Locking is an acquire; unlocking includes a fence to the host.
package core

import (
	"fmt"
	"sync"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// MutexSet is a set of mutexes: address and number of each member's.
type MutexSet struct {
	group      *Group
	bases      []uintptr // by group rank: address of its first mutex
	counts     []int     // by group rank: mutexes that it hosts
	mutexBytes uintptr   // size of one

	mu   sync.Mutex      // guards held
	held map[[2]int]bool // by index and rank: mutexes on other nodes that this rank holds
}

// mutexes holds the default set of mutexes.
type mutexes struct {
	rt         *Runtime
	mu         sync.Mutex // guards defaultSet
	defaultSet *MutexSet
}

// maxMutexes is how many one rank may host in one set.
const maxMutexes = 1 << 20

// NewMutexes creates a set on a group; n is how many the caller hosts. Collective over the group.
func (ms *mutexes) NewMutexes(g *Group, n int) (*MutexSet, error) {
	if err := g.checkMember(); err != nil {
		return nil, err
	}
	size := ms.rt.Locks.MutexBytes()
	bytes := int64(n) * size
	if n < 0 || n > maxMutexes {
		bytes = -1 // so that all members fail
	}
	base, err := ms.rt.Malloc(g, bytes)
	if n < 0 || n > maxMutexes {
		return nil, &ArgError{Arg: "num", Text: fmt.Sprintf("%d is outside 0..%d", n,
			maxMutexes), Code: CodeBytes, Quiet: IsQuiet(err)}
	}
	if err != nil {
		return nil, err
	}
	s := &MutexSet{group: g, bases: base, counts: make([]int, g.Size()),
		mutexBytes: uintptr(size)}
	if n > 0 {
		zeroMemory(base[g.Me], bytes)
	}
	// also a barrier: all have been zeroed
	all := g.team.Allgather([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	for i := range s.counts {
		s.counts[i] = int(all[4*i]) | int(all[4*i+1])<<8 | int(all[4*i+2])<<16 |
			int(all[4*i+3])<<24
	}
	return s, nil
}

// zeroMemory zeroes n bytes of the arena.
func zeroMemory(addr uintptr, n int64) { clear(unsafe.Slice((*byte)(kernel.Ptr(addr)), n)) }

// FreeMutexes frees a set. Collective over its group.
func (ms *mutexes) FreeMutexes(s *MutexSet) error {
	return ms.rt.Free(s.group, s.bases[s.group.Me])
}

// CreateMutexes creates the default set; there may be one.
func (ms *mutexes) CreateMutexes(n int) error {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.defaultSet != nil {
		return &ArgError{Arg: "num", Text: "mutexes exist already: destroy them first",
			Code: CodeArgument, Quiet: ms.rt.Me != 0}
	}
	world, _ := ms.rt.Group(World)
	s, err := ms.NewMutexes(world, n)
	if err == nil {
		ms.defaultSet = s
	}
	return err
}

// DestroyMutexes frees the default set.
func (ms *mutexes) DestroyMutexes() error {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.defaultSet == nil {
		return &ArgError{Text: "there are no mutexes to destroy", Code: CodeArgument,
			Quiet: ms.rt.Me != 0}
	}
	s := ms.defaultSet
	ms.defaultSet = nil
	return ms.FreeMutexes(s)
}

// DefaultMutexes is the default set, nil if there is none.
func (ms *mutexes) DefaultMutexes() *MutexSet {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return ms.defaultSet
}

// At returns the address of mutex i of a world rank, or an error if there is no such mutex.
func (s *MutexSet) At(i, proc int) (uintptr, error) {
	if s == nil {
		return 0, argErr(CodeArgument, "mutex", "no mutexes have been created")
	}
	m := s.group.RankOf(transport.Rank(proc))
	if m < 0 {
		return 0, argErr(CodeProc, "proc",
			"rank %d is not among the %d ranks that made these mutexes", proc,
			s.group.Size())
	}
	if i < 0 || i >= s.counts[m] {
		return 0, argErr(CodeArgument, "mutex",
			"index %d is outside the %d mutexes of rank %d", i, s.counts[m], proc)
	}
	return s.bases[m] + uintptr(i)*s.mutexBytes, nil
}

// MutexesOf is the address of the first mutex of a rank, and how many it hosts.
func (s *MutexSet) MutexesOf(rank transport.Rank) (first uintptr, count int) {
	if m := s.group.RankOf(rank); m >= 0 {
		return s.bases[m], s.counts[m]
	}
	return 0, 0
}

// Lock waits until the caller holds mutex i of rank proc.
func (ms *mutexes) Lock(s *MutexSet, i, proc int) error {
	ms.rt.coalescing.postCoalesced(everyRank)
	m, err := s.At(i, proc)
	switch {
	case err != nil:
		return err
	case ms.rt.Topo.SameNode(transport.Rank(proc)):
		ms.rt.Locks.Lock(m, ms.rt.Me)
		return nil
	}
	_, err = ms.lockRemoteMutex(s, msgLock, m, i, proc)
	return err
}

// TryLock locks the mutex if it is free and no rank waits for it; false: it is not.
func (ms *mutexes) TryLock(s *MutexSet, i, proc int) (bool, error) {
	m, err := s.At(i, proc)
	switch {
	case err != nil:
		return false, err
	case ms.rt.Topo.SameNode(transport.Rank(proc)):
		return ms.rt.Locks.TryLock(m, ms.rt.Me), nil
	}
	return ms.lockRemoteMutex(s, msgTryLock, m, i, proc)
}

// Unlock releases the mutex, behind a fence to its host: what the holder has stored there is
// visible to the next holder. It is an error if this rank does not hold it.
func (ms *mutexes) Unlock(s *MutexSet, i, proc int) error {
	m, err := s.At(i, proc)
	if err != nil {
		return err
	}
	onThisNode := ms.rt.Topo.SameNode(transport.Rank(proc))
	if onThisNode {
		owner, held := ms.rt.Locks.MutexOwner(m)
		onThisNode = held && owner == ms.rt.Me
	}
	if !onThisNode && !s.clearHeld(i, proc) {
		return argErr(CodeArgument, "mutex", "mutex %d of rank %d is not held by this rank",
			i, proc)
	}
	if err := ms.rt.fenceForMessage(proc); err != nil {
		return err
	}
	if onThisNode {
		ms.rt.Locks.Unlock(m)
		return nil
	}
	if err := ms.rt.sendActive(transport.Rank(proc), msgUnlock, mutexMessage(m)); err != nil {
		return err
	}
	ms.rt.traffic.countPosted(
		proc) // a fence waits for it, too, so the mutex is not freed before
	return nil
}
