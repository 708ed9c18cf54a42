// SPDX-License-Identifier: BSD-3-Clause

// Where a program computes, for threads of the library: a yield there gives away a whole time
// slice, a few milliseconds, whatever comes meanwhile, while a thread that sleeps may run as soon
// as it is woken. The rule is that of policy.c.
package wait

// #include "wait.h"
// #cgo nocallback wait_crowd_yielded
// #cgo noescape wait_crowd_yielded
// static inline bool crowded(struct wait_crowd *c, uint64_t now) { return wait_crowded(c, now); }
// #cgo nocallback crowded
// #cgo noescape crowded
import "C"

import "time"

// A yield of lostSlice has run a thread that computes: no other is tried for firstSpell, in the end
// for longestSpell.
const (
	lostSlice    = C.WAIT_LOST_SLICE * time.Nanosecond
	firstSpell   = C.WAIT_FIRST_SPELL * time.Nanosecond
	longestSpell = C.WAIT_LONGEST_SPELL * time.Nanosecond
)

var epoch = time.Now()

// stamp is a time as C counts it. What lies before the start of the process is as good as its
// start.
func stamp(t time.Time) C.uint64_t { return C.uint64_t(max(t.Sub(epoch), 1)) }

// Crowd is what a thread that polls knows of others on its core. The zero value knows of none.
type Crowd struct {
	spell C.struct_wait_crowd
	here  bool
}

// Yield lets others run. false: not any more, or not even this time, because a program computes
// here: the caller should sleep.
func (c *Crowd) Yield() bool {
	begin := time.Now()
	if c.Crowded(begin) {
		return false
	}
	Yield()
	end := time.Now()
	return !c.Took(end.Sub(begin), end)
}

// Took records how long a yield was, and when it ended: true if a program computes here.
func (c *Crowd) Took(d time.Duration, now time.Time) bool {
	if d < lostSlice { // as most are: no call of C for them
		return false
	}
	c.here = bool(C.wait_crowd_yielded(&c.spell, C.uint64_t(d), stamp(now)))
	return c.here
}

// Crowded tells whether a program computes here, as far as is known.
func (c *Crowd) Crowded(now time.Time) bool {
	c.here = c.here && bool(C.crowded(&c.spell, stamp(now)))
	return c.here
}
