// SPDX-License-Identifier: BSD-3-Clause

// Counting messages on a wire: frames have 32 bits for it, a long job sends more.
package rdma

import "testing"

func TestCaughtUp(t *testing.T) {
	w := &wire{}
	var sent uint64
	for _, step := range []uint64{1, 1<<31 - 1, 1<<31 - 1, 1 << 30, 1<<31 - 1, 16} {
		w.posted.Store(sent + step)
		if w.reached(sent + step) {
			t.Errorf("message %d has been handled before it was", sent+step)
		}
		sent += step
		w.caughtUp(uint32(sent))
		if w.caughtUp(uint32(sent - 1)); w.handled.Load() != sent {
			t.Errorf("%d messages have been handled, the wire says %d", sent, w.handled.Load())
		}
		if !w.reached(w.posted.Load()) || !w.settled() {
			t.Errorf("nothing is open after %d messages, but a fence would wait", sent)
		}
	}
}
