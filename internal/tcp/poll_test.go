// SPDX-License-Identifier: BSD-3-Clause

// How long a server polls, and when a thread that polls lets itself be scheduled.
package tcp

import (
	"testing"
	"time"
)

// After much data the server is patient, for its client takes time over them.
func TestPatience(t *testing.T) {
	p := poller{longest: 20 * time.Microsecond}
	p.paid(true)
	if got := p.patience(); got != p.longest {
		t.Errorf("polls for %v, not %v", got, p.longest)
	}
	p.moved = 1 << 20
	if got := p.patience(); got < 2*p.longest || got > time.Millisecond {
		t.Errorf("polls for %v after 1 MiB", got)
	}
}

// Who polls all the time is scheduled every few milliseconds; who comes now and then is not.
func TestBreath(t *testing.T) {
	var b breath
	now, taken := time.Now(), 0
	for range 10_000 {
		now = now.Add(10 * time.Microsecond)
		if b.due(now) {
			taken++
		}
	}
	if want := int(100 * time.Millisecond / breathAfter); taken < want-2 || taken > want {
		t.Errorf("%d times in 100 ms", taken)
	}
	for range 100 {
		if now = now.Add(3 * breathAfter); b.due(now) {
			t.Fatal("scheduled although it was away")
		}
	}
}
