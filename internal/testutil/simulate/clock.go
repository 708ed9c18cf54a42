// SPDX-License-Identifier: BSD-3-Clause

// The functions of package time: a clock that goes as the run says, and timers, which may be late.
package simulate

import (
	"slices"
	"time"
)

// The names of package time that are the same.
type (
	Duration = time.Duration
	Time     = time.Time
)

// The units of time.
const (
	Nanosecond  = time.Nanosecond
	Microsecond = time.Microsecond
	Millisecond = time.Millisecond
	Second      = time.Second
	Minute      = time.Minute
)

// epoch is when the clock of each run begins, a second before its first step.
var epoch = time.Unix(1_000_000_000, 0)

// clock is the time of a run.
func clock() time.Time {
	if world == nil {
		return epoch
	}
	return epoch.Add(world.now)
}

// Now is time.Now.
func Now() time.Time {
	point(stepClock)
	return clock()
}

// Since is time.Since.
func Since(t time.Time) time.Duration { return Now().Sub(t) }

// Until is time.Until.
func Until(t time.Time) time.Duration { return t.Sub(Now()) }

// timer calls a function at a time.
type timer struct {
	at   time.Duration
	call func()
}

// timers are ordered by time.
type timers []*timer

// at calls f at a time, which blocks nothing.
func (w *World) at(at time.Duration, f func()) *timer {
	t := &timer{at: at, call: f}
	i := len(w.timers)
	for i > 0 && w.timers[i-1].at > at {
		i--
	}
	w.timers = slices.Insert(w.timers, i, t)
	return t
}

// fireTimers calls the functions of the timers that are due.
func (w *World) fireTimers() {
	for len(w.timers) > 0 && w.timers[0].at <= w.now {
		t := w.timers[0]
		w.timers = w.timers[1:]
		t.call()
	}
}

// lateness is how late the next timer goes off.
func (w *World) lateness() time.Duration {
	if w.choices.Late > 0 && w.rnd.IntN(w.choices.Late) == 0 {
		return w.someTime()
	}
	return 0
}

// Sleep is time.Sleep.
func Sleep(d time.Duration) {
	w := world
	if w == nil {
		return
	}
	w.step(stepClock)
	t := w.threads.current
	t.waitsAt = "sleeps"
	w.at(w.now+max(d, 0)+w.lateness(), func() { w.threads.ready = append(w.threads.ready, t) })
	w.switchTo(w.next())
}

// Timer is time.Timer, for functions.
type Timer struct{ timer *timer }

// AfterFunc is time.AfterFunc.
func AfterFunc(d time.Duration, f func()) *Timer {
	w := world
	point(stepClock)
	return &Timer{w.at(w.now+max(d, 0)+w.lateness(), func() { w.newThread("timer", f) })}
}

// Stop is time.Timer.Stop.
func (t *Timer) Stop() bool {
	w := world
	i := slices.Index(w.timers, t.timer)
	if i >= 0 {
		w.timers = slices.Delete(w.timers, i, i+1)
	}
	return i >= 0
}
