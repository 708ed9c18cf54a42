// SPDX-License-Identifier: BSD-3-Clause

// How long a data server polls.
package wait

import (
	"testing"
	"time"
)

// TestWindow shows that polling begins when events follow each other soon, and ends after long
// sleeps.
func TestWindow(t *testing.T) {
	p := Window{Longest: 200 * time.Microsecond}
	if p.Patience() != 0 {
		t.Error("it polls before anything has come soon")
	}
	p.Slept(10 * time.Millisecond)
	if p.Event(1); p.Patience() != 0 {
		t.Error("it polls after a long sleep")
	}
	p.Slept(time.Microsecond)
	for range 10 {
		p.Event(1)
	}
	if p.Patience() != p.Longest {
		t.Errorf("it polls for %v after many events, not for %v", p.Patience(), p.Longest)
	}
	if p.Event(1 << 20); p.Patience() < 2*p.Longest || p.Patience() > time.Millisecond {
		t.Errorf("it polls for %v after 1 MiB", p.Patience())
	}
	for range 20 {
		p.InVain()
	}
	if p.Patience() != 0 {
		t.Error("it polls although that is in vain")
	}
	p.Slept(time.Microsecond)
	if p.Crowded(); p.Patience() != 0 {
		t.Error("it polls on although somebody computes on its core")
	}
	off := Window{}
	off.Slept(0)
	if off.Event(1); off.Patience() != 0 {
		t.Error("it polls although the setting is 0")
	}
}
