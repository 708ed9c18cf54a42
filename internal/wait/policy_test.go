// SPDX-License-Identifier: BSD-3-Clause

// What the policy does where the awaited thread may need the waiter's core.
package wait

import (
	"testing"
	"time"
)

// fruitless is a wait in which looks and yields meet nothing, until the policy has had enough or
// the time is over. It returns how long the waiter looked, and what it does next.
func fruitless(p *Policy, w *Wait, place Place, end time.Duration) (looked time.Duration,
	next Action) {
	now := time.Duration(0)
	w.Begin(place, now)
	for next = w.Next(p); next != NextSleep && now < end; next = w.Next(p) {
		if next == NextLook {
			now += modelQuick
			looked = now
			w.Looked(now)
		} else {
			now += modelYield
			w.Yielded(p, now)
		}
	}
	return looked, next
}

// What a server of this node brings is met by yields, and then looks are few; what a device stores
// is met by looks.
func TestFaraway(t *testing.T) {
	var p Policy
	var w Wait
	p.Open(modelWake, AnySpin)
	p.Tune(1, 2*modelYield)
	full := p.Patience()
	for range 10 {
		if _, next := fruitless(&p, &w, Faraway, 100*time.Microsecond); next != NextYield {
			t.Fatal("it does not yield for 100 us")
		}
		w.Done(&p)
	}
	if looked, next := fruitless(&p, &w, Faraway, time.Second); looked > 2*time.Microsecond ||
		next != NextSleep {
		t.Errorf("after yields that met it a waiter looks for %v", looked)
	}
	w.Begin(Faraway, 0)
	w.Looked(time.Microsecond)
	if w.Done(&p); p.Patience() != full {
		t.Errorf("after looks that met it a waiter looks for %v, not %v", p.Patience(),
			full)
	}
}

// Where waiters outnumber cores a waiter soon yields, for long, and then sleeps.
func TestMoreWaitersThanCores(t *testing.T) {
	var p Policy
	var w Wait
	p.Open(modelWake, CrowdedSpin)
	p.Tune(20, 2*modelYield)
	if looked, next := fruitless(&p, &w, Elsewhere,
		150*time.Microsecond); looked > time.Microsecond || next != NextYield {
		t.Errorf("it looks for %v, then does %d", looked, next)
	}
	if _, next := fruitless(&p, &w, Elsewhere, time.Second); next != NextSleep {
		t.Error("it never sleeps")
	}
	p.recordLostSlice(0)
	if _, next := fruitless(&p, &w, Elsewhere, time.Second); next != NextSleep ||
		w.yields() > 0 {
		t.Error("it yields where a program computes")
	}
}
