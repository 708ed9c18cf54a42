// SPDX-License-Identifier: BSD-3-Clause

// What the kernel is asked for, and that it is for one thread only.
package wait

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestShortSlice shows that the calling thread, and no other, gets a short slice if the kernel has
// it.
func TestShortSlice(t *testing.T) {
	runtime.LockOSThread() // the goroutine below has another thread
	defer runtime.UnlockOSThread()
	type result struct {
		granted       bool
		before, after *unix.SchedAttr
	}
	results := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its short slices
		var r result
		r.before, _ = unix.SchedGetAttr(0, 0)
		r.granted = ShortSlice()
		r.after, _ = unix.SchedGetAttr(0, 0)
		results <- r
	}()
	r := <-results
	if r.before == nil || r.after == nil {
		t.Fatal("the kernel does not tell how the thread is scheduled")
	}
	if r.after.Policy != r.before.Policy || r.after.Nice != r.before.Nice ||
		r.after.Flags != r.before.Flags {
		t.Errorf("it changed from %+v to %+v", r.before, r.after)
	}
	if r.granted != (r.after.Runtime == shortSlice) {
		t.Errorf("granted: %v, slices of %d ns", r.granted, r.after.Runtime)
	}
	if a, err := unix.SchedGetAttr(0, 0); err != nil || a.Runtime == shortSlice {
		t.Errorf("another thread has become %+v, %v", a, err)
	}
	if !r.granted {
		t.Skip("this kernel has no short slices (Linux 6.12 has), or refuses them")
	}
}
