// SPDX-License-Identifier: BSD-3-Clause

// Which frames of blocking callers are put off.
package tcp

import (
	"testing"
	"time"

	"libarmci/internal/transport"
)

// later moves the clock on for a burst.
func (b *burst) later(d time.Duration) { b.last -= d }

// A store that a notification usually follows at once is put off, and travels with it.
func TestFollowedStoresArePutOff(t *testing.T) {
	b := &burst{}
	put := func() bool { return b.mayWait(transport.Burst) }
	for i := range burstStart {
		if put() {
			t.Fatalf("store %d is put off, though little is known of its caller", i)
		}
		b.last = time.Since(began) + time.Second // a busy machine takes its time
		b.mayWait(transport.Now)
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

// Frames that callers wait for are never put off, those that none waits for always.
func TestUrgencies(t *testing.T) {
	b := &burst{count: burstMost}
	if b.mayWait(transport.Now) || !b.mayWait(transport.Soon) {
		t.Error("a frame is put off that its caller waits for, or one is not that none " +
			"waits for")
	}
}
