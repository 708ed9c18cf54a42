// SPDX-License-Identifier: BSD-3-Clause

// Loans of private memory: how long the owner's registration lives.
package core

import (
	"errors"
	"slices"
	"testing"

	"libarmci/internal/transport"
)

// pawnshop shares memory and notes what ends.
type pawnshop struct {
	transport.Transport
	key   uint64
	ended []uint64
}

func (p *pawnshop) Share(lo, hi uintptr) (uint64, func(), bool) {
	p.key++
	key := p.key
	return key, func() { p.ended = append(p.ended, key) }, true
}

func (p *pawnshop) AddSharedRange(transport.Peer, transport.Range)    {}
func (p *pawnshop) RemoveSharedRange(transport.Peer, transport.Range) {}

// exposer is an allocator that refuses nothing but one address.
type exposer struct{ transport.Allocator }

func (exposer) Expose(addr uintptr, _ int64) error {
	if addr == 1 {
		return errors.New("not this")
	}
	return nil
}
func (exposer) Conceal(addr uintptr, n int64) error { return exposer{}.Expose(addr, n) }

// A loan ends when it was recalled and none of its memory is exposed, whichever way; what was not
// recalled stays.
func TestLoans(t *testing.T) {
	shop := &pawnshop{}
	r := &Runtime{routes: routes{transports: []transport.Transport{shop}},
		nodeParts: nodeParts{allocator: exposer{}}}
	r.connectParts()
	ended := func(want ...uint64) {
		t.Helper()
		if !slices.Equal(shop.ended, want) {
			t.Errorf("ended are %v, expected %v", shop.ended, want)
		}
	}
	expose := func(addr uintptr, n int64) {
		t.Helper()
		if err := r.Expose(addr, n); err != nil {
			t.Error(err)
		}
	}
	for range 2 { // two windows over the same memory
		expose(4096, 100)
		r.Lend(4096, 100)
	}
	expose(4190, 10) // a part of it is attached to a dynamic window
	r.Recall(1)
	r.Conceal(4096, 100)
	ended()
	r.Recall(2)
	r.Recall(2)
	r.Conceal(4096, 100)
	ended()
	r.Conceal(4190, 10)
	ended(1, 2)
	expose(4200, 8) // it only adjoins the next
	expose(4096, 104)
	r.Lend(4096, 104)
	r.Conceal(4096, 104)
	ended(1, 2)
	r.Recall(3)
	ended(1, 2, 3)
	if err := r.Expose(1, 8); err == nil || len(r.privateMemory.exposed) != 1 {
		t.Errorf("%v; exposed are %v", err, r.privateMemory.exposed)
	}
	if _, ok := r.Lend(4096, 0); ok {
		t.Error("no bytes were lent")
	}
}
