// SPDX-License-Identifier: BSD-3-Clause

// Crowd: a thread does not poll while another one computes on its core.
package wait

import (
	"testing"
	"time"
)

// TestCrowd shows that a long yield makes a crowd, for a time that doubles, and a short one ends
// it.
func TestCrowd(t *testing.T) {
	var c Crowd
	now := time.Now()
	if c.Took(lostSlice/10, now) || c.Crowded(now) {
		t.Error("a short yield makes a crowd")
	}
	for long := firstSpell; long < longestSpell; long *= 2 { // he computes on
		if !c.Took(lostSlice, now) || !c.Crowded(now) || !c.Crowded(now.Add(long-1)) {
			t.Fatalf("a lost slice is forgotten within %v", long)
		}
		if now = now.Add(long); c.Crowded(now) {
			t.Fatalf("no yield is tried after %v", long)
		}
	}
	for range 10 {
		c.Took(lostSlice, now)
		if now = now.Add(longestSpell); c.Crowded(now) {
			t.Fatal("no yield is tried any more")
		}
	}
	now = now.Add(3 * longestSpell) // he has ended
	c.Took(lostSlice, now)
	if c.Crowded(now.Add(firstSpell)) {
		t.Error("what was long ago counts")
	}
}

// TestCrowdYields shows that a waiter does not yield where another thread computes.
func TestCrowdYields(t *testing.T) {
	var c Crowd
	c.Took(lostSlice, time.Now().Add(time.Hour))
	if c.Yield() {
		t.Error("the caller is told to go on")
	}
	for range 1000 { // some of them may lose a slice to another program
		if new(Crowd).Yield() {
			return
		}
	}
	t.Error("the caller is told to sleep, always")
}
