// SPDX-License-Identifier: BSD-3-Clause

// Moving a thread: it runs elsewhere afterwards and may still run everywhere.
package tcp

import (
	"runtime"
	"testing"

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
