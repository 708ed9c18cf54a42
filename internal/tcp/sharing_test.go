// SPDX-License-Identifier: BSD-3-Clause

// When a thread moves to another core, and that it runs there afterwards and may still run everywhere.
package tcp

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMoveThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	core := currentCore()
	one.Set(core)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	moveThread()
	if now := currentCore(); now != core {
		t.Errorf("a thread bound to core %d runs on %d", core, now)
	}
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	if before.Count() < 2 {
		t.Skip("there is one core only")
	}
	moved := false
	for range 100 { // the kernel may move it back
		core = currentCore()
		moveThread()
		moved = moved || currentCore() != core
	}
	if !moved {
		t.Errorf("the thread stays on core %d", core)
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("it could run on %v, now on %v, %v", before, after, err)
	}
}

// It moves when others run at most of its yields, not at a few; rarely if that does not help; and back, for long, from
// a core where somebody computes.
func TestSharedCore(t *testing.T) {
	const short, long = sharedYield / 4, 3 * sharedYield
	var c sharing
	now := time.Now()
	run := func(took time.Duration) bool {
		now = now.Add(took + time.Microsecond)
		return c.judge(took, now)
	}
	for range 100 { // one in five
		if run(long) {
			t.Fatal("moves because of a few")
		}
		for range sharedScore {
			run(short)
		}
	}
	moves := 0
	for begin := now; now.Sub(begin) < 10*longestStay; {
		if run(long) {
			moves++
		}
	}
	if moves < 10 || moves > 20 {
		t.Errorf("moved %d times on cores that are all shared", moves)
	}
	for !c.guest {
		run(long)
	}
	if !run(slice) || c.guest {
		t.Error("stays where somebody computes")
	}
	for begin := now; now.Sub(begin) < homeStay/2; {
		if run(long) {
			t.Fatal("goes there again")
		}
	}
}
