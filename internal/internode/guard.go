// SPDX-License-Identifier: BSD-3-Clause

// The guard: the time for which the listener stays diverted after a waiter has left that is
// expected back soon. When it is over an alarm wakes the server's thread. The guard should be long:
// to set the alarm may take a virtual machine 10 us, unless it is behind the kernel's next tick.
// But an origin that needs an answer must not wait for long. So the guard is a twentieth of the
// time for which none has needed one while no waiter was there: then all that comes is data, for
// which waiters wait.
//
// A waiter is expected back where its predecessors came back soon. Where origins ask for answers,
// though they got them from waiters so far, soon is a quarter of the guard: a rank that computes
// for longer would keep the next origin waiting. Where none has asked for long it is the whole
// guard.
package internode

import (
	"sync/atomic"
	"time"
)

const (
	mostBack  = 16
	usualBack = 8 // so many waiters were back soon lately: the next one is expected to be

	soonBack   = 200 * time.Microsecond // a waiter is back soon, or in a part of the guard
	leastGuard = 300 * time.Microsecond
	mostGuard  = 8 * time.Millisecond // two ticks of 250 Hz
	guardPart  = 20
	longUnused = guardPart * mostGuard // no origin asks for answers any more
)

// guard tells how long the listener stays diverted. Times are since began.
type guard struct {
	// Any thread.
	asked  atomic.Bool // an origin asked for an answer
	needed atomic.Bool // an origin needed an answer, or data came, while no waiter was there
	polled atomic.Bool // a waiter is there, and what came before it has been received

	// Of the thread that has the right to poll.
	returns int           // how often waiters were lately back soon after they had left
	left    time.Duration // when the last waiter left
	alarmAt time.Duration // when the alarm goes off that was set last
	noted   time.Duration // when needed was last found
	askedAt time.Duration // when asked was
}

// note notes that an origin needs an answer.
func (g *guard) note() {
	if !g.asked.Load() {
		g.asked.Store(true)
	}
	if !g.polled.Load() && !g.needed.Load() {
		g.needed.Store(true)
	}
}

// hasPolled notes that a waiter has received what had come before it.
func (g *guard) hasPolled() {
	if !g.polled.Load() {
		g.polled.Store(true)
	}
}

// length is how long a guard lasts that begins now.
func (g *guard) length(now time.Duration) time.Duration {
	return min(max((now-g.noted)/guardPart, leastGuard), mostGuard)
}

// begin notes that a waiter has come.
func (g *guard) begin(now time.Duration) {
	soon := g.length(now)
	if now-g.askedAt < longUnused {
		soon /= 4
	}
	if now-g.left < max(soonBack, soon) {
		g.returns = min(g.returns+1, mostBack)
	} else {
		g.returns /= 2
	}
}

// leave notes that a waiter has left, and tells whether the next one is expected soon.
func (g *guard) leave(now time.Duration) (expected bool) {
	g.left = now
	g.polled.Store(false)
	if g.asked.Load() {
		g.asked.Store(false)
		g.askedAt = now
	}
	if g.needed.Load() {
		g.needed.Store(false)
		g.noted = now
	}
	return g.returns >= usualBack
}

// extend has the guard last from now on. It tells to when the caller must set the alarm, 0 if it is
// set already.
func (g *guard) extend(now time.Duration) (alarm time.Duration) {
	alarm = g.length(now)
	if rest := g.alarmAt - now; rest >= alarm/2 && rest <= alarm {
		return 0
	}
	g.alarmAt = now + alarm
	return alarm
}

// lasts tells whether waiters are still expected.
func (g *guard) lasts(now time.Duration) bool { return now < g.alarmAt }
