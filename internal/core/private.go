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

// private is what this process has exposed and lent.
type privateMemory struct {
	mu      sync.Mutex
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
func (r *Runtime) Expose(addr uintptr, nbytes int64) error {
	err := r.checkExposure(addr, nbytes, r.allocator.Expose)
	if err == nil {
		p := &r.private
		p.mu.Lock()
		defer p.mu.Unlock()
		p.exposed = append(p.exposed, extentOf(addr, nbytes))
	}
	return err
}

// Conceal ends one exposure of exactly this memory. Later accesses to it fail with an error.
func (r *Runtime) Conceal(addr uintptr, nbytes int64) error {
	err := r.checkExposure(addr, nbytes, r.allocator.Conceal)
	if err == nil {
		p := &r.private
		p.mu.Lock()
		defer p.mu.Unlock()
		if i := slices.Index(p.exposed, extentOf(addr, nbytes)); i >= 0 {
			p.exposed = slices.Delete(p.exposed, i, i+1)
		}
		p.endRecalledLoans()
	}
	return err
}

func (r *Runtime) checkExposure(addr uintptr, nbytes int64, do func(uintptr, int64) error) error {
	switch {
	case nbytes <= 0:
		return argErr(CodeBytes, "size", "%d is not positive", nbytes)
	case addr == 0 || addr > lastAddress-uintptr(nbytes):
		return argErr(CodeAddress, "base", "%d bytes at %#x are no memory", nbytes, addr)
	}
	return do(addr, nbytes)
}

func extentOf(addr uintptr, nbytes int64) extent { return extent{addr, addr + uintptr(nbytes)} }

// endRecalledLoans ends loans that were recalled, except of memory that is exposed: others may be
// using their keys there, for access that another exposure allows. The caller has the lock.
func (p *privateMemory) endRecalledLoans() {
	p.loans = slices.DeleteFunc(p.loans, func(l loan) bool {
		over := l.recalled && !slices.ContainsFunc(p.exposed,
			func(e extent) bool { return e.lo < l.hi && e.hi > l.lo })
		if over {
			l.release()
		}
		return over
	})
}

// Lend makes exposed memory accessible to devices of other nodes. false: it is not.
func (r *Runtime) Lend(addr uintptr, nbytes int64) (key uint64, ok bool) {
	p := &r.private
	for _, tr := range r.transports {
		s, can := tr.(transport.Sharer)
		if !can || nbytes <= 0 {
			continue
		}
		e := extentOf(addr, nbytes)
		if key, release, ok := s.Share(e.lo, e.hi); ok {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.loans = append(p.loans, loan{extent: e, key: key, release: release})
			return key, true
		}
	}
	return 0, false
}

// Recall is called by the owner when no other rank knows the key of a loan any more. The loan ends
// when none of its memory is exposed. It locks p.mu.
func (r *Runtime) Recall(key uint64) {
	p := &r.private
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.loans, func(l loan) bool {
		return l.key == key &&
			!l.recalled
	}); i >= 0 {
		p.loans[i].recalled = true
	}
	p.endRecalledLoans()
}

// LearnLoan says that a rank of another node has lent memory.
func (r *Runtime) LearnLoan(proc int, addr uintptr, nbytes int64, key uint64) {
	to := r.route(transport.Rank(proc))
	if s, ok := to.tr.(transport.Sharer); ok {
		s.Learn(to.peer, transport.Range{Lo: addr, Hi: addr + uintptr(nbytes), Key: key})
	}
}

// ForgetLoan ends a LearnLoan. What this rank has begun there before, and waited for, uses the key
// no more when this returns.
func (r *Runtime) ForgetLoan(proc int, addr uintptr, nbytes int64, key uint64) {
	to := r.route(transport.Rank(proc))
	if s, ok := to.tr.(transport.Sharer); ok {
		s.Forget(to.peer, transport.Range{Lo: addr, Hi: addr + uintptr(nbytes), Key: key})
		to.tr.Fence(to.peer) // whatever the error, the stores are over
	}
}
