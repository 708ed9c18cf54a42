// SPDX-License-Identifier: BSD-3-Clause

// The guard: the time for which the listener stays diverted after a waiter has left that is
// expected back soon. When it is over an alarm wakes the server's thread. The guard should be long:
// to set the alarm may take a virtual machine 10 us, unless it is behind the kernel's next tick.
// But an origin that needs an answer must not wait for long. So the guard is a twentieth of the
// time for which no origin has needed one while no waiter was there. In that time all frames were
// data, for which waiters wait.
//
// A waiter is expected back where its predecessors came back soon. Where origins ask for answers,
// though they got them from waiters so far, soon is a quarter of the guard: a rank that computes
// for longer would keep the next origin waiting. Where no origin has asked for long, soon is the
// whole guard.
package internode

import (
	"sync/atomic"
	"time"
)

const (
	maxReturns   = 16
	usualReturns = 8 // from this value of returns on the next waiter is expected soon

	soonReturn = 200 * time.Microsecond // soon is at least this
	minGuard   = 300 * time.Microsecond
	maxGuard   = 8 * time.Millisecond // two ticks of 250 Hz
	guardPart  = 20
	// after this time without a request no origin is taken to ask for answers
	longUnused = guardPart * maxGuard
)

// guard decides how long the listener stays diverted. Times are since began.
type guard struct {
	// Any thread.
	requested atomic.Bool // an origin has asked for an answer
	needed    atomic.Bool // an origin needed an answer, or data came, while no waiter was there
	polled    atomic.Bool // a waiter is there and has received what came before it

	// Of the thread that has the right to poll.
	returns     int           // how often waiters lately came back soon
	leftAt      time.Duration // when the last waiter left
	alarmAt     time.Duration // when the alarm goes off that was set last
	neededAt    time.Duration // when needed was last found set
	requestedAt time.Duration // when requested was last found set
}

// recordNeed records that an origin needs an answer. Any thread may call it.
func (g *guard) recordNeed() {
	if !g.requested.Load() {
		g.requested.Store(true)
	}
	if !g.polled.Load() && !g.needed.Load() {
		g.needed.Store(true)
	}
}

// recordPoll records that a waiter has received what had come before it.
func (g *guard) recordPoll() {
	if !g.polled.Load() {
		g.polled.Store(true)
	}
}

// duration returns how long a guard lasts that begins now.
func (g *guard) duration(now time.Duration) time.Duration {
	return min(max((now-g.neededAt)/guardPart, minGuard), maxGuard)
}

// waiterArrived records that a waiter has come, and whether that was soon.
func (g *guard) waiterArrived(now time.Duration) {
	soon := g.duration(now)
	if now-g.requestedAt < longUnused {
		soon /= 4
	}
	if now-g.leftAt < max(soonReturn, soon) {
		g.returns = min(g.returns+1, maxReturns)
	} else {
		g.returns /= 2
	}
}

// waiterLeft records that a waiter has left, and reports whether the next one is expected soon.
func (g *guard) waiterLeft(now time.Duration) (expected bool) {
	g.leftAt = now
	g.polled.Store(false)
	if g.requested.Load() {
		g.requested.Store(false)
		g.requestedAt = now
	}
	if g.needed.Load() {
		g.needed.Store(false)
		g.neededAt = now
	}
	return g.returns >= usualReturns
}

// extend lets the guard last from now on. The caller sets the alarm after the returned time; 0: it
// is set already.
func (g *guard) extend(now time.Duration) (alarm time.Duration) {
	alarm = g.duration(now)
	if rest := g.alarmAt - now; rest >= alarm/2 && rest <= alarm {
		return 0
	}
	g.alarmAt = now + alarm
	return alarm
}

// isActive reports whether waiters are still expected.
func (g *guard) isActive(now time.Duration) bool { return now < g.alarmAt }
