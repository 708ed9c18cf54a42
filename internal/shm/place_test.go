// SPDX-License-Identifier: BSD-3-Clause

// Ranks know which of them run on one core, and part where the mask of one allows it.
package shm

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/wait"
)

func TestBeside(t *testing.T) { run(t, 2, "beside") }

// beside puts both ranks on one core, where neither looks in vain for the other, and then lets one
// go.
func beside(r *rank) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		r.Fatalf("%v", err)
	}
	cpu := 0
	for !before.IsSet(cpu) {
		cpu++
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		r.Fatalf("%v", err)
	}
	peer := 1 - r.Self()
	placeOf(peer) // publishes this rank's
	r.World().Barrier()
	if got := placeOf(peer); got != wait.Beside {
		r.Errorf("a rank of the same core is taken for one at place %d", got)
	}
	r.World().Barrier()
	if r.Self() == 0 && before.Count() > 1 {
		unix.SchedSetaffinity(0, &before)
		for begin := time.Now(); placeOf(peer) == wait.Beside; {
			if time.Since(begin) > patience/2 {
				r.Fatalf("it stays on the core of the rank that it waits for")
			}
		}
		if unix.SchedGetaffinity(0, &after); after != before {
			r.Errorf("the mask was %v, now it is %v", before, after)
		}
	}
	r.World().Barrier()
	unix.SchedSetaffinity(0, &before)
}
