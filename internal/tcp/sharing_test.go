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
	moveThread(new(unix.CPUSet))
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
		moveThread(new(unix.CPUSet))
		moved = moved || currentCore() != core
	}
	if !moved {
		t.Errorf("the thread stays on core %d", core)
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("it could run on %v, now on %v, %v", before, after, err)
	}
}

// It moves when others run at most of its yields, not at a few, and rarely if that does not help.
func TestSharedCore(t *testing.T) {
	const short, long = sharedYield / 4, 3 * sharedYield
	var c sharing
	now := time.Now()
	run := func(took time.Duration) bool {
		now = now.Add(took + time.Microsecond)
		return c.judge(took, now, currentCore)
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
	if c.slept(); c.stay > sleptStay {
		t.Errorf("stays for %v where it was put when it woke", c.stay)
	}
}

// A core where somebody computes is avoided, longer and longer; one time slice is not taken for that.
func TestComputedCore(t *testing.T) {
	var c sharing
	now, core := time.Now(), 3
	run := func(took time.Duration) bool {
		now = now.Add(took)
		return c.judge(took, now, func() int { return core })
	}
	for range 100 {
		if run(slice) {
			t.Fatal("moves because of one slice")
		}
		for range 2 * sharedScore {
			run(sharedYield / 4)
		}
	}
	avoid := func(where int) {
		core = where
		if run(slice); !run(slice) || !c.shunned.IsSet(where) {
			t.Fatalf("stays on core %d, where somebody computes", where)
		}
	}
	for last := time.Duration(0); last < longestShun; last = c.shun {
		if avoid(3); c.shun <= last {
			t.Fatalf("avoids the core for %v, then for %v", last, c.shun)
		}
		now = c.until.Add(time.Microsecond)
	}
	if avoid(2); c.shunned.IsSet(3) {
		t.Error("avoids what it has met long ago")
	}
	if avoid(3); !c.shunned.IsSet(2) {
		t.Error("forgets what it has met lately")
	}
	now = c.until.Add(2 * longestShun)
	if avoid(2); c.shun != firstShun {
		t.Errorf("avoids a core for %v because of long ago", c.shun)
	}
}

// A thread does not move where it should not.
func TestShunnedCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var others unix.CPUSet
	if err := unix.SchedGetaffinity(0, &others); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		core := currentCore()
		shunned := others
		shunned.Clear(core)
		if moveThread(&shunned); currentCore() == core {
			return
		}
	}
	t.Error("moves to cores that it should avoid")
}
