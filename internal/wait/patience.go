// SPDX-License-Identifier: BSD-3-Clause

// For how long a waiter looks at a network before it sleeps. The time is that of policy.c for what
// comes from another node: between looks the waiter yields, so that others lose nothing while it
// goes on.
package wait

// #include "wait.h"
import "C"

import (
	"sync/atomic"
	"time"
)

const (
	// FarPatience is how long a waiter looks at a network at most, where looking has paid.
	FarPatience = C.WAIT_SHARED_CORE * time.Nanosecond
	// LeastPatience is how long it looks however vain that was.
	LeastPatience = C.WAIT_LEAST_FAR * time.Nanosecond

	mostShared = C.WAIT_SHARED * time.Nanosecond // in yields that run others, in a wait

	// socketWake is what it may take until a thread runs that a network has woken, because a
	// processor that has nothing else to do halts.
	socketWake = 80 * time.Microsecond
)

// Patience is for how long the waits of one kind look: whole again at once when that would have met
// what came, half as long when it was in vain. Threads share it without a lock.
type Patience struct {
	most time.Duration
	now  atomic.Int64 // nanoseconds
}

// Init sets the longest time.
func (p *Patience) Init(most time.Duration) {
	p.most = max(most, LeastPatience)
	p.Paid()
}

// Now is how long the next wait looks.
func (p *Patience) Now() time.Duration { return time.Duration(p.now.Load()) }

// Least tells whether that is hardly at all, since looking was in vain.
func (p *Patience) Least() bool { return p.Now() <= LeastPatience }

// Paid records that looking has found something.
func (p *Patience) Paid() { p.setNow(p.most) }

// Slept records how long a sleep was. If that was hardly longer than it takes to wake, looking
// would have been better.
func (p *Patience) Slept(d time.Duration) {
	if d < socketWake {
		p.Paid()
	} else {
		p.setNow(max(p.Now()/2, LeastPatience))
	}
}

// setNow stores the present patience, unless it is the same.
func (p *Patience) setNow(d time.Duration) {
	if p.Now() != d {
		p.now.Store(int64(d))
	}
}

// Looks is the time in which one wait looks. Yields that run other threads do not count: they have
// cost the waiter nothing, up to a bound.
type Looks struct {
	end    time.Time
	shared time.Duration
}

// Begin is the time of a wait from now on.
func (p *Patience) Begin(more time.Duration) Looks {
	return Looks{end: time.Now().Add(p.Now() + more)}
}

// Yield lets others run between two looks. False: the caller should sleep.
func (k *Looks) Yield(c *Crowd) bool {
	begin := time.Now()
	if c.Crowded(begin) {
		return false
	}
	Yield()
	now := time.Now()
	return k.yielded(c, now.Sub(begin), now)
}

// Renew has the wait look for the whole time of p once more, since something has come.
func (k *Looks) Renew(p *Patience) { k.end, k.shared = time.Now().Add(p.Now()), 0 }

// yielded records a yield.
func (k *Looks) yielded(c *Crowd, took time.Duration, now time.Time) bool {
	if c.Took(took, now) {
		return false
	}
	if took >= sharedYield && k.shared < mostShared {
		k.shared += took
		k.end = k.end.Add(took)
	}
	return now.Before(k.end)
}
