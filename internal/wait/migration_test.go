// SPDX-License-Identifier: BSD-3-Clause

// When a thread moves, which cores it avoids, and that it may run where it could before.
package wait

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A thread moves when others run at most of its yields, not at a few, and rarely if that does not
// help.
func TestSharedCore(t *testing.T) {
	const short, long = sharedYield / 4, 3 * sharedYield
	var m Migration
	now := time.Now()
	run := func(took time.Duration) bool {
		now = now.Add(took + time.Microsecond)
		return m.judge(took, now, func(*unix.CPUSet) bool { return true })
	}
	for range 100 { // one in five
		if run(long) {
			t.Fatal("it moves because of a few")
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
		t.Errorf("it moved %d times on cores that are all shared", moves)
	}
	if m.AfterSleep(); m.stay > sleptStay {
		t.Errorf("it stays for %v where it was put when it woke", m.stay)
	}
}

// One time slice of another thread is chance; after a second one the core is avoided for a while.
func TestComputedCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var m Migration
	now := time.Now()
	run := func(took time.Duration) bool {
		now = now.Add(took)
		return m.judge(took, now, func(*unix.CPUSet) bool { return true })
	}
	for range 100 {
		if run(slice) {
			t.Fatal("it moves because of one slice")
		}
		for range 2 * sharedScore {
			run(sharedYield / 4)
		}
	}
	if run(slice); !run(slice) || m.shunned.Count() != 1 {
		t.Error("it stays on a core where somebody computes")
	}
	now = now.Add(2 * longestSpell)
	run(slice)
	if run(slice); m.shunned.Count() != 1 {
		t.Errorf("it avoids %d cores, some of them for what was long ago",
			m.shunned.Count())
	}
}

// Where all other cores are shunned the thread tries again when the time is over, and what was in
// vain counts for nothing.
func TestNoOtherCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var m Migration
	now, free, tries := time.Now(), true, 0
	run := func(took time.Duration) bool {
		now = now.Add(took)
		return m.judge(took, now, func(*unix.CPUSet) bool {
			tries++
			return free
		})
	}
	for range 2 {
		run(slice)
	}
	if m.shunned.Count() != 1 || tries != 1 {
		t.Fatalf("%d cores shunned, moved %d times", m.shunned.Count(), tries)
	}
	free = false
	for begin := now; now.Sub(begin) < firstSpell/2; {
		run(3 * sharedYield)
	}
	if tries != 2 || m.stay > firstStay {
		t.Errorf("%d vain tries while a core is shunned, then it stays %v", tries-1, m.stay)
	}
	free = true
	for begin := now; now.Sub(begin) < firstSpell; {
		if run(3 * sharedYield) {
			return
		}
	}
	t.Error("it does not try again")
}

// TestMoveThread shows that a thread is moved to another core and keeps its affinity.
func TestMoveThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	if before.Count() < 2 {
		t.Skip("there is one core only")
	}
	moved := false
	for range 100 { // the kernel may move it back
		core := currentCore()
		moveThread(new(unix.CPUSet))
		moved = moved || currentCore() != core
	}
	if !moved {
		t.Error("it does not move")
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("the thread could run on %v, now on %v, %v", before, after, err)
	}
}
