// SPDX-License-Identifier: BSD-3-Clause

// Exposures: their union equals that of a model, byte by byte, and published memory never has a gap
// that a reader can see.
package shm

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"libarmci/internal/transport"
)

// modelExposures counts how often each byte is exposed.
type modelExposures struct {
	t     *testing.T
	x     exposures
	count [64]int
	made  []span
	table []span // what was published
}

// publish is what the region table does: it replaces what lies in a span.
func (m *modelExposures) publish(s span, parts []span) error {
	m.t.Helper()
	m.table = slices.DeleteFunc(m.table, func(r span) bool {
		if r.lo < s.lo != (r.hi <= s.lo) || r.hi > s.hi != (r.lo >= s.hi) {
			m.t.Errorf("%v is replaced, of which %v is a part", s, r)
		}
		return r.lo >= s.lo && r.hi <= s.hi
	})
	m.table = append(m.table, parts...)
	slices.SortFunc(m.table, func(a, b span) int { return int(a.lo) - int(b.lo) })
	return nil
}

// check compares the table and the union with the bytes that are exposed.
func (m *modelExposures) check() {
	m.t.Helper()
	var want []span
	for i := range m.count {
		at := uintptr(i)
		switch last := len(want) - 1; {
		case m.count[i] == 0:
		case last >= 0 && want[last].hi == at:
			want[last].hi++
		default:
			want = append(want, span{at, at + 1})
		}
	}
	if !slices.Equal(want, m.table) || !slices.Equal(want, m.x.union) {
		m.t.Fatalf("published %v, union %v, want %v of %v", m.table, m.x.union, want,
			m.made)
	}
}

// change exposes (by 1) or conceals (by -1) a span.
func (m *modelExposures) change(s span, by int) {
	m.t.Helper()
	if by > 0 {
		m.x.insert(exposure{s, true})
		m.made = append(m.made, s)
	} else if _, ok := m.x.remove(s); !ok {
		m.t.Fatalf("%v is not there", s)
	}
	if err := m.x.updateUnion(s, m.publish); err != nil {
		m.t.Fatal(err)
	}
	for i := s.lo; i < s.hi; i++ {
		m.count[i] += by
	}
	m.check()
}

// Random exposures have the union that counting bytes gives.
func TestExposures(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		m := &modelExposures{t: t}
		for range 60 {
			if len(m.made) > 0 && r.IntN(5) < 2 {
				i := r.IntN(len(m.made))
				s := m.made[i]
				m.made = slices.Delete(m.made, i, i+1)
				m.change(s, -1)
				continue
			}
			lo := uintptr(r.IntN(len(m.count) - 1))
			m.change(span{lo, lo + 1 + uintptr(r.IntN(min(12, len(m.count)-int(lo))))},
				1)
		}
	}
}

// An unpublished exposure is not in the union; a change that cannot be published has no effect.
func TestExposuresRefused(t *testing.T) {
	var x exposures
	x.insert(exposure{span{10, 20}, false})
	full := errors.New("full")
	refuse := func(span, []span) error { return full }
	if err := x.updateUnion(span{10, 20}, refuse); err != nil || len(x.union) != 0 {
		t.Errorf("%v, %v", err, x.union)
	}
	x.insert(exposure{span{20, 30}, true})
	if err := x.updateUnion(span{20, 30}, refuse); err != full || len(x.union) != 0 {
		t.Errorf("%v, %v", err, x.union)
	}
	if _, ok := x.remove(span{10, 19}); ok {
		t.Error("another range was taken")
	}
	if e, ok := x.remove(span{10, 20}); !ok || e.published {
		t.Error("the exposure is gone")
	}
}

// exposing: memory that stays exposed is found at all times, however its neighbours change, and
// thousands of exposures are possible.
func exposing(r *rank) {
	private := testPages(r, 64)
	lo := private.lo
	all := share(r, uint64(lo))
	if r.Self() == 0 {
		if err := r.Expose(lo+100, 200); err != nil {
			r.Fatal(err)
		}
		many(r, private)
	}
	r.World().Barrier()
	if r.Self() == 0 {
		for i := range 20000 {
			at, n := lo+uintptr(i%100), int64(150+i%200)
			if err := errors.Join(r.Expose(at, n), r.Expose(lo+300, 10),
				r.Conceal(at, n), r.Conceal(lo+300, 10)); err != nil {
				r.Fatal(err)
			}
		}
	} else {
		for range 200000 {
			if !r.InRegionOf(0, uintptr(all[0])+100, 200) {
				r.Fatal("exposed memory was not there for a moment")
			}
		}
	}
	r.World().Barrier()
	if r.InRegionOf(0, uintptr(all[0])+99, 2) || r.InRegionOf(0, uintptr(all[0])+100, 201) ||
		r.InRegionOf(1, uintptr(all[0])+100, 1) {
		r.Error("more than was exposed is there")
	}
	exposedArena(r)
}

// many exposes thousands of pieces, and conceals them in another order.
func many(r *rank, private span) {
	const n = 3000
	at := func(i int) uintptr { return private.lo + 4096 + uintptr(i)*32 }
	for i := range n {
		if err := r.Expose(at(i*7%n), 16); err != nil {
			r.Fatal(err)
		}
	}
	for i := range n {
		if !r.InRegionOf(0, at(i), 16) || r.InRegionOf(0, at(i), 17) {
			r.Fatalf("piece %d", i)
		}
	}
	for i := range n {
		if err := r.Conceal(at(i*11%n), 16); err != nil {
			r.Fatal(err)
		}
	}
	if len(r.regions.exposed.union) != 1 {
		r.Errorf("%v is left", r.regions.exposed.union)
	}
}

// exposedArena: memory of the arena may be exposed if it is a live allocation, of any rank.
func exposedArena(r *rank) {
	addr, err := r.AllocatePopulated(8192)
	if err == nil {
		err = r.Publish(addr, 8192)
	}
	if err != nil {
		r.Fatal(err)
	}
	other := uintptr(share(r, uint64(addr))[1-r.Self()])
	for _, at := range []uintptr{addr, other} {
		for range 2 {
			if err := r.Expose(at+16, 4096); err != nil {
				r.Error(err)
			}
		}
	}
	r.Conceal(other+16, 4096)
	if !r.InRegionOf(r.Self(), addr, 8192) || !r.InRegionOf(r.Self(), other+16, 4096) ||
		r.InRegionOf(r.Self(), other, 32) {
		r.Error("what is exposed in the arena?")
	}
	r.Conceal(other+16, 4096)
	r.Conceal(addr+16, 4096)
	r.Conceal(addr+16, 4096)
	if !r.InRegionOf(r.Self(), addr, 8192) || r.InRegionOf(r.Self(), other+16, 1) {
		r.Error("what is left in the arena?")
	}
	for what, err := range map[string]error{"no allocation": r.Expose(addr+8192, 4096),
		"beyond the arena": r.Expose(r.Base()-8, 16),
		"nowhere":          r.Expose(0, 16), "negative": r.Expose(addr, -1),
		"around": r.Expose(^uintptr(7), 16),
		"again":  r.Conceal(addr+16, 4096), "never": r.Conceal(addr, 1)} {
		if !errors.Is(err, transport.ErrBadAddr) {
			r.Errorf("%s: %v", what, err)
		}
	}
	if err := errors.Join(r.Expose(0, 0), r.Conceal(0, 0)); err != nil {
		r.Error(err)
	}
	r.World().Barrier()
}

func TestExposing(t *testing.T) { run(t, 2, "exposing") }
