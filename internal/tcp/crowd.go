// SPDX-License-Identifier: BSD-3-Clause

// A server that polls on the very core where its client polls answers half as fast, and where both are the only busy
// threads of few cores the kernel leaves them there for long. So a thread that polls notices that another one runs for a
// moment whenever it yields, and goes to another core; where somebody computes there, it goes back, since even a slow
// answer is faster than a time slice. It must not be used by threads of the application.
package tcp

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sharedYield = time.Microsecond       // longer than a yield that changes nothing
	slice       = 200 * time.Microsecond // longer than one to another who polls
	sharedScore = 4                      // for a yield between the two, against 1 for a shorter one
	crowdedAt   = 200                    // the thread moves
	firstStay   = time.Millisecond       // before it may move again; twice as long every time that did not help
	longestStay = time.Second
)

// crowd is what a thread knows of its core.
type crowd struct {
	score int // grows while more than one yield in five is to another who polls
	stay  time.Duration
	moved time.Time
	guest bool // it has moved here
}

// yield lets others run, and moves the thread if that should help.
func (c *crowd) yield() {
	begin := time.Now()
	yield()
	end := time.Now()
	switch took := end.Sub(begin); {
	case took < sharedYield:
		c.score = max(c.score-1, 0)
	case took < slice:
		c.score = min(c.score+sharedScore, crowdedAt)
		if c.score == crowdedAt && end.Sub(c.moved) > c.stay {
			c.stay = min(max(2*c.stay, firstStay), longestStay)
			if end.Sub(c.moved) > 4*c.stay {
				c.stay = firstStay
			}
			c.move(end, true)
		}
	case c.guest:
		c.stay = longestStay
		c.move(end, false)
	}
}

func (c *crowd) move(now time.Time, guest bool) {
	moveThread()
	c.score, c.moved, c.guest = 0, now, guest
}

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
