// SPDX-License-Identifier: BSD-3-Clause

// Mutexes: each rank hosts as many as it asked for; a set is made collectively. The default set is ARMCI_Create_mutexes'
// one and only; further sets on groups are those of armcix.h. Locking implies acquire, unlocking a fence to the host.
package core

import (
	"sync"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// MutexSet is one batch of mutexes: where each member's are and how many.
type MutexSet struct {
	group *Group
	base  []uintptr // by group rank
	count []int     // by group rank
	step  uintptr

	mu   sync.Mutex
	held map[[2]int]bool // mutexes on other nodes that this rank holds: index, rank
}

type mutexes struct {
	mu   sync.Mutex
	dflt *MutexSet
}

// maxMutexes is how many one rank may host in one set.
const maxMutexes = 1 << 20

// NewMutexes makes a set on a group; n is how many the caller hosts. Collective over the group.
func (r *Runtime) NewMutexes(g *Group, n int) (*MutexSet, error) {
	if err := g.member(); err != nil {
		return nil, err
	}
	size := r.Node.MutexBytes()
	bytes := int64(n) * size
	if n < 0 || n > maxMutexes {
		bytes = -1 // tell the others: all fail together
	}
	base, err := r.Malloc(g, bytes)
	if n < 0 || n > maxMutexes {
		return nil, argErr(CodeBytes, "num", "%d is outside 0..%d", n, maxMutexes)
	}
	if err != nil {
		return nil, err
	}
	s := &MutexSet{group: g, base: base, count: make([]int, g.Size()), step: uintptr(size)}
	if n > 0 {
		zero(base[g.Me], bytes)
	}
	all := g.team.Allgather([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) // also: all are zeroed now
	for i := range s.count {
		s.count[i] = int(all[4*i]) | int(all[4*i+1])<<8 | int(all[4*i+2])<<16 | int(all[4*i+3])<<24
	}
	return s, nil
}

func zero(addr uintptr, n int64) { clear(kernelBytes(addr, n)) }

// FreeMutexes ends a set. Collective over its group.
func (r *Runtime) FreeMutexes(s *MutexSet) error {
	return r.Free(s.group, s.base[s.group.Me])
}

// CreateMutexes makes the default set, which there may be one of.
func (r *Runtime) CreateMutexes(n int) error {
	r.mutexes.mu.Lock()
	defer r.mutexes.mu.Unlock()
	if r.mutexes.dflt != nil {
		return argErr(CodeArgument, "num", "mutexes exist already: destroy them first")
	}
	world, _ := r.Group(World)
	s, err := r.NewMutexes(world, n)
	if err == nil {
		r.mutexes.dflt = s
	}
	return err
}

// DestroyMutexes ends the default set.
func (r *Runtime) DestroyMutexes() error {
	r.mutexes.mu.Lock()
	defer r.mutexes.mu.Unlock()
	if r.mutexes.dflt == nil {
		return argErr(CodeArgument, "", "there are no mutexes to destroy")
	}
	s := r.mutexes.dflt
	r.mutexes.dflt = nil
	return r.FreeMutexes(s)
}

// DefaultMutexes is the default set, nil if there is none.
func (r *Runtime) DefaultMutexes() *MutexSet {
	r.mutexes.mu.Lock()
	defer r.mutexes.mu.Unlock()
	return r.mutexes.dflt
}

// At finds mutex i hosted by a world rank: its address there.
func (s *MutexSet) At(i, proc int) (uintptr, error) {
	if s == nil {
		return 0, argErr(CodeArgument, "mutex", "no mutexes have been created")
	}
	m := s.group.RankOf(transport.Rank(proc))
	if m < 0 {
		return 0, argErr(CodeProc, "proc", "rank %d is not among the %d ranks that made these mutexes", proc, s.group.Size())
	}
	if i < 0 || i >= s.count[m] {
		return 0, argErr(CodeArgument, "mutex", "index %d is outside the %d mutexes of rank %d", i, s.count[m], proc)
	}
	return s.base[m] + uintptr(i)*s.step, nil
}

// Count is the number of mutexes a group rank hosts, Base where they are.
func (s *MutexSet) Count(member int) int { return s.count[member] }

// Base is the address of the first mutex of a group rank.
func (s *MutexSet) Base(member int) uintptr { return s.base[member] }

// Lock waits until the caller holds mutex i of rank proc.
func (r *Runtime) Lock(s *MutexSet, i, proc int) error {
	m, err := s.At(i, proc)
	switch {
	case err != nil:
		return err
	case r.Topo.SameNode(transport.Rank(proc)):
		r.Node.Lock(m, r.Me)
		return nil
	}
	_, err = r.lockThere(s, msgLock, m, i, proc)
	return err
}

// TryLock takes the mutex if nobody holds or awaits it.
func (r *Runtime) TryLock(s *MutexSet, i, proc int) (bool, error) {
	m, err := s.At(i, proc)
	switch {
	case err != nil:
		return false, err
	case r.Topo.SameNode(transport.Rank(proc)):
		return r.Node.TryLock(m, r.Me), nil
	}
	return r.lockThere(s, msgTryLock, m, i, proc)
}

// Unlock lets the mutex go. What the holder stored at its host is visible to the next holder.
func (r *Runtime) Unlock(s *MutexSet, i, proc int) error {
	m, err := s.At(i, proc)
	if err != nil {
		return err
	}
	here := r.Topo.SameNode(transport.Rank(proc))
	if here {
		who, held := r.Node.MutexOwner(m)
		here = held && who == r.Me
	}
	if !here && !s.letGo(i, proc) {
		return argErr(CodeArgument, "mutex", "mutex %d of rank %d is not held by this rank", i, proc)
	}
	if err := r.settle(proc); err != nil {
		return err
	}
	if here {
		r.Node.Unlock(m)
		return nil
	}
	if err := r.send(transport.Rank(proc), msgUnlock, lockBody(m)); err != nil {
		return err
	}
	r.traffic.posted(proc) // a fence waits for it too: nobody frees the mutex before
	return nil
}

func kernelBytes(addr uintptr, n int64) []byte {
	return unsafeSlice(kernel.Ptr(addr), n)
}
