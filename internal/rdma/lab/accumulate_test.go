// SPDX-License-Identifier: BSD-3-Clause

// Rounds of device-locked accumulates hold every element once. No device is needed.
package lab

import (
	"math/rand/v2"
	"testing"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

const bufferBytes = 16 << 10

// TestRounds: parts lie in their stripes, no two of a round overlap, locks and buffer suffice, and
// each element is in one round.
func TestRounds(t *testing.T) {
	l := NewLocks(&Places{Locks: Place{1 << 20, 1<<20 + 64*LockBytes, 1}}, 0)
	far := &transport.Range{Lo: 1 << 30, Hi: 1 << 31, Key: 7, Direct: true}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		grain := []int{4, 8, 16}[rnd.IntN(3)]
		n, want := grain*(1+rnd.IntN(4000)), 0
		there, here := kernel.Group{Bytes: n}, kernel.Group{Bytes: n}
		for range 1 + rnd.IntN(50) {
			there.Addrs = append(there.Addrs, 1<<30+uintptr(rnd.IntN(1<<20)))
			here.Addrs = append(here.Addrs, 1<<40)
			want += n
		}
		x := transport.Transfer{Local: new(kernel.Cursor), Remote: new(kernel.Cursor),
			Key: func(uintptr, func()) (*transport.Range, error) { return far, nil }}
		x.Local.SetGroups([]kernel.Group{here}, int64(want))
		x.Remote.SetGroups([]kernel.Group{there}, int64(want))
		for l.walk.Set(x.Local, x.Remote, maxParts); l.walk.Left() > 0; {
			before := l.walk.Left()
			if err := l.fillRound(&x, grain, bufferBytes); err != nil {
				t.Fatal(err)
			}
			bytes := checkRound(t, l, grain)
			if bytes == 0 || int64(bytes) != before-l.walk.Left() {
				t.Fatalf("a round of %d bytes, %d gone", bytes,
					before-l.walk.Left())
			}
			want -= bytes
		}
		if want != 0 {
			t.Fatalf("%d bytes are left", want)
		}
	}
}

// checkRound fails the test where the parts of a round overlap, or exceed their locks or the
// buffer. It returns the bytes of the round.
func checkRound(t *testing.T, l *Locks, grain int) (bytes int) {
	t.Helper()
	if len(l.locks) > maxLocks || 2*len(l.locks)+len(l.parts) > maxRequests ||
		l.bufferUsed > bufferBytes {
		t.Fatalf("%d locks, %d parts, %d bytes in a round", len(l.locks), len(l.parts),
			l.bufferUsed)
	}
	for i, p := range l.parts {
		bytes += p.bytes
		last := p.remote + uintptr(p.bytes-grain)
		if p.bytes%grain != 0 || p.remote>>kernel.StripeShift != last>>kernel.StripeShift ||
			l.locks[p.lockIndex].lineAddr != uintptr(l.lockArea.Lo)+
				(last>>kernel.StripeShift)%64*LockBytes {
			t.Fatalf("part %+v under lock %+v", p, l.locks[p.lockIndex])
		}
		for _, q := range l.parts[:i] {
			if p.remote < q.remote+uintptr(q.bytes) &&
				q.remote < p.remote+uintptr(p.bytes) {
				t.Fatalf("parts %+v and %+v overlap", p, q)
			}
		}
	}
	return bytes
}
