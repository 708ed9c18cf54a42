// SPDX-License-Identifier: BSD-3-Clause

// For how long a waiter looks at a network.
package wait

import (
	"testing"
	"time"
)

// TestPatience shows that patience shrinks after long sleeps and grows after short ones.
func TestPatience(t *testing.T) {
	var p Patience
	p.Init(FarPatience)
	if p.Now() != FarPatience || p.Least() {
		t.Fatalf("it begins with %v", p.Now())
	}
	for want := FarPatience / 2; want > LeastPatience; want /= 2 {
		if p.Slept(10 * socketWake); p.Now() != want {
			t.Fatalf("%v after a long sleep, expected %v", p.Now(), want)
		}
	}
	for range 3 {
		p.Slept(10 * socketWake)
	}
	if p.Now() != LeastPatience || !p.Least() {
		t.Errorf("the least is %v", p.Now())
	}
	if p.Slept(socketWake / 2); p.Now() != FarPatience {
		t.Errorf("%v after a sleep that looking would have spared", p.Now())
	}
	p.Slept(10 * socketWake)
	if p.Paid(); p.Now() != FarPatience {
		t.Errorf("%v after it has paid", p.Now())
	}
	if p.Init(0); p.Now() != LeastPatience {
		t.Errorf("%v where there is to be none", p.Now())
	}
}

// Yields that run no other thread use the time up, however many there are; those that do run
// another one do not, up to a bound; after a lost slice the waiter sleeps.
func TestLooksTakeTime(t *testing.T) {
	var p Patience
	p.Init(FarPatience)
	for _, c := range []struct {
		took, least, most time.Duration
	}{
		{sharedYield / 4, FarPatience, FarPatience + sharedYield},
		{sharedYield / 2, FarPatience, FarPatience + sharedYield},
		{10 * sharedYield, mostShared + FarPatience, mostShared + FarPatience +
			40*sharedYield},
	} {
		var crowd Crowd
		k := p.Begin(0)
		begin := k.end.Add(-FarPatience)
		now := begin
		for more := true; more; {
			now = now.Add(c.took)
			more = k.yielded(&crowd, c.took, now)
		}
		if took := now.Sub(begin); took < c.least || took > c.most {
			t.Errorf("with yields of %v it looks for %v, expected %v to %v", c.took,
				took, c.least, c.most)
		}
	}
	var crowd Crowd
	k := p.Begin(time.Hour)
	if k.yielded(&crowd, lostSlice, time.Now()) || k.Yield(&crowd) {
		t.Error("it goes on where a program computes")
	}
}
