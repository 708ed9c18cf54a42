// SPDX-License-Identifier: BSD-3-Clause

// Counting messages on a wire: frames have 32 bits for it, a long job sends more.
// And what fences send.
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

// Who fences after each transfer is answered without asking: the transfer's last message asks.
func TestFenceThatIsExpected(t *testing.T) {
	j := newJob(t, func(o *Options) { o.Strided = host }, 1, 1)
	j.ConnectAll(t)
	near, far := j.Alloc(t, 0, 1<<16), j.Alloc(t, 1, 1<<16)
	x := plain(near, far, 64)
	x.Count, x.Local.Stride, x.Remote.Stride = append(x.Count, 16), []int32{128}, []int32{128}
	w := j.tr[0].wires[1]
	var messages []uint64
	for _, puts := range []int{1, 1, 1, 3, 1, 1} {
		before := w.sent
		for range puts {
			if err := j.tr[0].Put(1, x); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.tr[0].Fence(1); err != nil {
			t.Fatal(err)
		}
		if !w.settled() {
			t.Error("a fence has left a store behind")
		}
		messages = append(messages, w.sent-before)
	}
	if messages[1] != 1 || messages[2] != 1 || messages[3] > 4 || messages[5] != 1 {
		t.Errorf("messages of 1, 1, 1, 3, 1 and 1 puts with a fence: %v", messages)
	}
}
