// SPDX-License-Identifier: BSD-3-Clause

// A server that polls on the very core where its client polls answers half as fast, and where both are the only busy
// threads of few cores the kernel leaves them there for tens of milliseconds. So a thread that polls notices that another
// one runs whenever it yields, and goes to another core; where somebody computes there, it goes back, since even a slow
// answer is faster than a time slice. It must not be used by threads of the application.
package tcp

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sharedYield = 2 * time.Microsecond   // longer than a yield that changes nothing
	slice       = 200 * time.Microsecond // longer than one to another who polls
	sharedScore = 4                      // for a yield to another, against 1 for a shorter one
	sharedAt    = 16                     // the thread moves
	firstStay   = time.Millisecond / 4   // before it may move again; twice as long every time that did not help
	longestStay = 8 * time.Millisecond
	homeStay    = time.Second // after somebody computed on the other core
)

// sharing is what a thread knows of its core.
type sharing struct {
	score int // grows while more than one yield in five is to another
	stay  time.Duration
	moved time.Time
	guest bool // it has moved here
}

// yield lets others run, and moves the thread if that should help.
func (c *sharing) yield() {
	begin := time.Now()
	yield()
	end := time.Now()
	if c.judge(end.Sub(begin), end) {
		moveThread()
	}
}

// judge is told how long a yield took, and tells whether to move.
func (c *sharing) judge(took time.Duration, now time.Time) bool {
	switch {
	case took < sharedYield:
		c.score = max(c.score-1, 0)
		return false
	case took >= slice && c.guest:
		c.stay = homeStay
	default:
		c.score = min(c.score+sharedScore, sharedAt)
		rested := now.Sub(c.moved)
		if c.score < sharedAt || rested < c.stay {
			return false
		}
		if rested < 4*max(c.stay, firstStay) {
			c.stay = min(2*c.stay, longestStay)
		} else {
			c.stay = firstStay
		}
	}
	c.score, c.moved, c.guest = 0, now, !c.guest
	return true
}

// yield lets others run on this core, if there are any.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// moveThread moves the calling thread, which is locked to its goroutine, to another core it may use, if there is one.
func moveThread() {
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return
	}
	others := all
	others.Clear(currentCore())
	if others.Count() > 0 && unix.SchedSetaffinity(0, &others) == nil {
		unix.SchedSetaffinity(0, &all)
	}
}

func currentCore() int {
	var cpu uint32
	unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return int(cpu)
}
