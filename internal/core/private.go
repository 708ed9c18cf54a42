// SPDX-License-Identifier: BSD-3-Clause

// Private memory: any memory of this process, outside the arena, that all ranks may access. Other
// processes of the node reach it by the kernel, other nodes by the data server of this one. If the
// process is alone on its node, devices of other nodes may reach the memory, too. The owner lends
// it and gets a key, which other ranks know from LearnLoan to ForgetLoan. The loan must not end
// between these, since a key that is not valid ends a connection: the owner recalls the key when
// all other ranks have forgotten it.
package core

import (
	"slices"
	"sync"

	"libarmci/internal/transport"
)

// privateMemory is what this process has exposed and lent. mu guards both lists.
type privateMemory struct {
	rt      *Runtime
	mu      sync.Mutex // guards exposed and loans
	exposed []extent
	loans   []loan
}

// loan is exposed memory that devices of other nodes may access by a key.
type loan struct {
	extent
	key      uint64
	release  func()
	recalled bool
}

// Expose makes memory of this process accessible to all ranks, until Conceal. Exposures may overlap
// and repeat. Not collective.
func (pm *privateMemory) Expose(addr uintptr, nbytes int64) error {
	err := pm.checkExposure(addr, nbytes, pm.rt.allocator.Expose)
	if err == nil {
		pm.mu.Lock()
		defer pm.mu.Unlock()
		pm.exposed = append(pm.exposed, extentOf(addr, nbytes))
	}
	return err
}

// Conceal ends one exposure of exactly this memory. Later accesses to it fail with an error.
func (pm *privateMemory) Conceal(addr uintptr, nbytes int64) error {
	err := pm.checkExposure(addr, nbytes, pm.rt.allocator.Conceal)
	if err == nil {
		pm.mu.Lock()
		defer pm.mu.Unlock()
		if i := slices.Index(pm.exposed, extentOf(addr, nbytes)); i >= 0 {
			pm.exposed = slices.Delete(pm.exposed, i, i+1)
		}
		pm.endRecalledLoans()
	}
	return err
}

// checkExposure checks that memory may be exposed, and calls do with it.
func (pm *privateMemory) checkExposure(addr uintptr, nbytes int64,
	do func(uintptr, int64) error) error {
	switch {
	case nbytes <= 0:
		return argErr(CodeBytes, "size", "%d is not positive", nbytes)
	case addr == 0 || addr > lastAddress-uintptr(nbytes):
		return argErr(CodeAddress, "base", "%d bytes at %#x are no memory", nbytes, addr)
	}
	return do(addr, nbytes)
}

// extentOf is nbytes from an address.
func extentOf(addr uintptr, nbytes int64) extent { return extent{addr, addr + uintptr(nbytes)} }

// endRecalledLoans ends the loans that were recalled, except of memory that is exposed: other ranks
// may be using their keys there, for access that another exposure allows. The caller holds pm.mu.
func (pm *privateMemory) endRecalledLoans() {
	pm.loans = slices.DeleteFunc(pm.loans, func(l loan) bool {
		over := l.recalled && !slices.ContainsFunc(pm.exposed,
			func(e extent) bool { return e.lo < l.hi && e.hi > l.lo })
		if over {
			l.release()
		}
		return over
	})
}

// Lend makes exposed memory accessible to devices of other nodes, by a key; false: no transport
// can.
func (pm *privateMemory) Lend(addr uintptr, nbytes int64) (key uint64, ok bool) {
	for _, tr := range pm.rt.transports {
		s, can := tr.(transport.Sharer)
		if !can || nbytes <= 0 {
			continue
		}
		e := extentOf(addr, nbytes)
		if key, release, ok := s.Share(e.lo, e.hi); ok {
			pm.mu.Lock()
			defer pm.mu.Unlock()
			pm.loans = append(pm.loans, loan{extent: e, key: key, release: release})
			return key, true
		}
	}
	return 0, false
}

// Recall is called by the owner when no other rank knows the key of a loan any more. The loan ends
// when none of its memory is exposed. It locks pm.mu.
func (pm *privateMemory) Recall(key uint64) {
	pm.mu.Lock()
	defer pm.mu.Unlock()
	if i := slices.IndexFunc(pm.loans, func(l loan) bool {
		return l.key == key &&
			!l.recalled
	}); i >= 0 {
		pm.loans[i].recalled = true
	}
	pm.endRecalledLoans()
}

// LearnLoan records that a rank of another node has lent memory by a key, for later accesses.
func (pm *privateMemory) LearnLoan(proc int, addr uintptr, nbytes int64, key uint64) {
	to := pm.rt.route(transport.Rank(proc))
	if s, ok := to.tr.(transport.Sharer); ok {
		s.AddSharedRange(to.peer,
			transport.Range{Lo: addr, Hi: addr + uintptr(nbytes), Key: key})
	}
}

// ForgetLoan ends a LearnLoan. Operations that this rank has started there and waited for do not
// use the key any more when it returns.
func (pm *privateMemory) ForgetLoan(proc int, addr uintptr, nbytes int64, key uint64) {
	to := pm.rt.route(transport.Rank(proc))
	if s, ok := to.tr.(transport.Sharer); ok {
		s.RemoveSharedRange(to.peer,
			transport.Range{Lo: addr, Hi: addr + uintptr(nbytes), Key: key})
		to.tr.Fence(to.peer) // whatever the error, the stores are over
	}
}
