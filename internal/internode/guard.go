// SPDX-License-Identifier: BSD-3-Clause

// The guard: the time for which the listener stays diverted after a waiter has left that is expected
// back soon. When it is over an alarm wakes the server's thread. An origin that needs an answer must
// not wait for long, so the guard is short. To set the alarm may take a virtual machine 10 us, unless
// it is behind the kernel's next tick. So the guard is long where lately no origin needed an answer:
// what comes there is data, for which only the waiters wait.
package internode

import (
	"sync/atomic"
	"time"
)

const (
	mostBack  = 16
	usualBack = 8 // so many waiters were back soon lately: the next one is expected to be

	soonBack  = 200 * time.Microsecond // a waiter is back soon
	guardTime = 300 * time.Microsecond // the longest that what comes meanwhile has to wait

	calmTime  = 300 * time.Millisecond // no origin needed an answer for so long: it is calm
	calmBack  = 2 * time.Millisecond   // soonBack then
	calmGuard = 8 * time.Millisecond   // guardTime then: two ticks of 250 Hz
)

// guard tells how long the listener stays diverted. Times are since began.
type guard struct {
	needed atomic.Bool // an origin waited for an answer, or data came while a guard lasted; any thread

	// Of the thread that has the right to poll.
	returns int           // how often waiters were lately back soon after they had left
	left    time.Duration // when the last waiter left
	alarmAt time.Duration // when the alarm goes off that was set last
	calmAt  time.Duration // when it will be calm
}

// note notes that an origin needs the server now and then.
func (g *guard) note() {
	if !g.needed.Load() {
		g.needed.Store(true)
	}
}

// begin notes that a waiter has come.
func (g *guard) begin(now time.Duration) {
	soon := soonBack
	if now >= g.calmAt {
		soon = calmBack
	}
	if now-g.left < soon {
		g.returns = min(g.returns+1, mostBack)
	} else {
		g.returns /= 2
	}
}

// leave notes that a waiter has left, and tells whether the next one is expected soon.
func (g *guard) leave(now time.Duration) (expected bool) {
	g.left = now
	if g.needed.Load() {
		g.needed.Store(false)
		g.calmAt = now + calmTime
	}
	return g.returns >= usualBack
}

// extend has the guard last from now on. It tells to when the caller must set the alarm, 0 if it is
// set already.
func (g *guard) extend(now time.Duration) (alarm time.Duration) {
	alarm = guardTime
	if now >= g.calmAt {
		alarm = calmGuard
	}
	if rest := g.alarmAt - now; rest >= alarm/2 && rest <= alarm {
		return 0
	}
	g.alarmAt = now + alarm
	return alarm
}

// lasts tells whether waiters are still expected.
func (g *guard) lasts(now time.Duration) bool { return now < g.alarmAt }
