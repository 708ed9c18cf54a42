// SPDX-License-Identifier: BSD-3-Clause

// Which frames of blocking callers are deferred.
package tcp

import (
	"testing"
	"time"

	"libarmci/internal/transport"
)

// later moves the clock on for a burst.
func (b *burstDetector) later(d time.Duration) { b.clockReadAt -= d }

// A put that a notification usually follows at once is deferred, and travels with it.
func TestFollowedStoresArePutOff(t *testing.T) {
	b := &burstDetector{}
	put := func() bool { return b.mayDefer(transport.Burst) }
	for i := range minBurstScore {
		if put() {
			t.Fatalf("store %d is put off, though little is known of its caller", i)
		}
		// a busy machine takes its time
		b.clockReadAt = time.Since(processStart) + time.Second
		b.mayDefer(transport.Now)
	}
	if !put() {
		t.Error("a store that another frame usually follows is sent at once")
	}
	for range 2 { // nothing follows any more
		b.later(time.Second)
		put()
	}
	b.later(time.Second)
	if put() {
		t.Error("a store that nothing follows is put off")
	}
}

// Frames that callers wait for are never deferred, those that no caller waits for always are.
func TestDeferralByUrgency(t *testing.T) {
	b := &burstDetector{score: maxBurstScore}
	if b.mayDefer(transport.Now) || !b.mayDefer(transport.Soon) {
		t.Error("a frame is put off that its caller waits for, or one is not that none " +
			"waits for")
	}
}
