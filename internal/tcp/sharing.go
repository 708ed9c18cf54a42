// SPDX-License-Identifier: BSD-3-Clause

// A server that polls on the very core where its client polls answers half as fast, and where both are the only busy
// threads of few cores the kernel leaves them there for tens of milliseconds. So a thread that polls notices that another
// one runs whenever it yields, and goes to another core; for a while not to one where somebody computes, since even a
// slow answer is faster than a time slice. It must not be used by threads of the application.
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
	slicedAt    = 2                      // it moves, too: one slice is somebody who has just begun to poll, or chance
	firstStay   = time.Millisecond / 4   // before it may move again; twice as long every time that did not help
	longestStay = 8 * time.Millisecond
	sleptStay   = time.Millisecond / 2
	firstShun   = 8 * time.Millisecond // of a core where somebody computes; twice as long if he still does
	longestShun = time.Second
)

// sharing is what a thread knows of its core, and of others.
type sharing struct {
	score  int // grows while more than one yield in five is to another
	sliced int // yields that took a time slice, until it is 0
	stay   time.Duration
	moved  time.Time

	shunned unix.CPUSet // cores where somebody computes
	shun    time.Duration
	until   time.Time
}

// yield lets others run, and moves the thread if that should help. It returns the time.
func (c *sharing) yield() time.Time {
	begin := time.Now()
	yield()
	end := time.Now()
	if c.judge(end.Sub(begin), end, currentCore) {
		moveThread(&c.shunned)
	}
	return end
}

// judge is told how long a yield on a core took, and tells whether to move.
func (c *sharing) judge(took time.Duration, now time.Time, core func() int) bool {
	if took < sharedYield {
		if c.score = max(c.score-1, 0); c.score == 0 {
			c.sliced = 0
		}
		return false
	}
	c.score = min(c.score+sharedScore, sharedAt)
	if took >= slice {
		c.sliced++
	}
	rested := now.Sub(c.moved)
	if c.sliced < slicedAt && (c.score < sharedAt || rested < c.stay) {
		return false
	}
	over := now.Sub(c.until)
	if over >= 0 {
		c.shunned.Zero()
	}
	switch {
	case c.sliced >= slicedAt:
		c.avoid(core(), now, over)
	case rested < 4*max(c.stay, firstStay):
		c.stay = min(2*c.stay, longestStay)
	default:
		c.stay = firstStay
	}
	c.score, c.sliced, c.moved = 0, 0, now
	return true
}

// slept is called when the thread has slept: the kernel may have put it elsewhere, which is no fault of the last move.
func (c *sharing) slept() { c.stay = min(c.stay, sleptStay) }

// avoid keeps the thread away from a core for a while; over is how long the last while has been over.
func (c *sharing) avoid(core int, now time.Time, over time.Duration) {
	c.shunned.Set(core)
	switch {
	case over < 0: // others as long as this one
	case over < c.shun:
		c.shun = min(2*c.shun, longestShun)
	default:
		c.shun = firstShun
	}
	c.until = now.Add(c.shun)
}

// yield lets others run on this core, if there are any.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// moveThread moves the calling thread, which is locked to its goroutine, to another core it may use and that is not
// shunned, if there is one.
func moveThread(shunned *unix.CPUSet) {
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return
	}
	others := all
	others.Clear(currentCore())
	for i := range others {
		others[i] &^= shunned[i]
	}
	if others.Count() > 0 && unix.SchedSetaffinity(0, &others) == nil {
		unix.SchedSetaffinity(0, &all)
	}
}

func currentCore() int {
	var cpu uint32
	unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return int(cpu)
}
