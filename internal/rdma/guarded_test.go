// SPDX-License-Identifier: BSD-3-Clause

// Accumulates by the caller's device: rounds hold every element once, and nothing is lost beside processors and beside
// accumulates by message.
package rdma

import (
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// TestRounds: parts lie in their stripes, no two of a round overlap, locks and buffer suffice, and all is taken once.
func TestRounds(t *testing.T) {
	w := &wire{c: &client{out: &pool{size: leastBytes}}}
	w.keys.add(piece{1 << 30, 1 << 31, 7, true})
	g := &w.guarded
	g.locks = &piece{1 << 20, 1<<20 + 64*lockBytes, 1, true}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		grain := []int{4, 8, 16}[rnd.IntN(3)]
		far := transport.Segments{Bytes: grain * (1 + rnd.IntN(4000))}
		want := 0
		for range 1 + rnd.IntN(50) {
			far.Remote = append(far.Remote, 1<<30+uintptr(rnd.IntN(1<<20)))
			far.Local = append(far.Local, 1<<40)
			want += far.Bytes
		}
		r := runsOf(&transport.Xfer{Vector: []transport.Segments{far}})
		for r.left > 0 {
			before := r.left
			w.fill(&r, grain)
			bytes := checkRound(t, g, grain)
			if bytes == 0 || int64(bytes) != before-r.left {
				t.Fatalf("a round of %d bytes, %d gone", bytes, before-r.left)
			}
			want -= bytes
		}
		if want != 0 {
			t.Fatalf("%d bytes are left", want)
		}
	}
}

func checkRound(t *testing.T, g *guarded, grain int) (bytes int) {
	t.Helper()
	if len(g.guards) > mostGuards || 2*len(g.guards)+len(g.parts) > chainLength || g.used > leastBytes {
		t.Fatalf("%d locks, %d parts, %d bytes in a round", len(g.guards), len(g.parts), g.used)
	}
	for i, p := range g.parts {
		bytes += p.n
		last := p.remote + uintptr(p.n-grain)
		if p.n%grain != 0 || p.remote>>kernel.StripeShift != last>>kernel.StripeShift ||
			g.guards[p.guard].at != g.locks.lo+(last>>kernel.StripeShift)%64*lockBytes {
			t.Fatalf("part %+v under lock %+v", p, g.guards[p.guard])
		}
		for _, q := range g.parts[:i] {
			if p.remote < q.remote+uintptr(q.n) && q.remote < p.remote+uintptr(p.n) {
				t.Fatalf("parts %+v and %+v overlap", p, q)
			}
		}
	}
	return bytes
}

// TestGuardedBesideOthers: on the same elements, two ranks accumulate by their devices, one by message, and the target's
// own processors.
func TestGuardedBesideOthers(t *testing.T) {
	const rounds, elements = 60, 700
	first := true
	j := newJob(t, func(o *Options) { o.Guarded, first = !first, false }, 1, 1, 1, 1)
	j.ConnectAll(t)
	at := j.Alloc(t, 3, 1<<20) + 4096 - 100
	var all sync.WaitGroup
	one, scale := make([]int64, elements), int64(1)
	for i := range one {
		one[i] = 1
	}
	add := func(acc func(transport.Peer, *transport.Xfer, transport.Scale) error) {
		for range rounds {
			x := plain(uintptr(unsafe.Pointer(&one[0])), at, 8*elements)
			if err := acc(3, x, transport.Scale{Type: int(kernel.Long), Value: unsafe.Pointer(&scale)}); err != nil {
				t.Error(err)
				return
			}
		}
	}
	for rank := range 3 {
		all.Go(func() {
			add(j.Open[rank].Acc)
			if err := j.Open[rank].Fence(3); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		for range 20 {
			add(j.tr[3].opt.Memory.Acc)
		}
	})
	all.Wait()
	for i, v := range unsafe.Slice((*int64)(kernel.Ptr(at)), elements) {
		if v != 23*rounds {
			t.Fatalf("element %d is %d, want %d", i, v, 23*rounds)
		}
	}
	if j.tr[1].wires[3].guarded.locks.direct == false {
		t.Error("nobody accumulated by the device")
	}
}
