// SPDX-License-Identifier: BSD-3-Clause

// A rank sees whether another one runs on its core, and moves to another core if its mask allows
// it.
package shm

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/wait"
)

func TestRankMovesOffASharedCore(t *testing.T) { run(t, 2, "beside") }

// beside binds both ranks to one core, checks that each sees that, and then unbinds one, which
// moves.
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
