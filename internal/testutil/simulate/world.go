// SPDX-License-Identifier: BSD-3-Clause

// Package simulate runs a program of several threads as one seed says: which thread runs, when it
// is held up, how time goes by. One thread runs at a time, and another one only where the running
// one calls this package. So a seed gives the same run each time.
//
// The package has the functions and types of sync, sync/atomic, time, runtime, math/rand/v2 and
// internal/wait that a simulated package uses. Package simulate/rewrite makes a simulated package
// out of a usual one: it changes the imports, go statements and operations on channels. Outside of
// a run all of them work for a single thread, since packages are initialised there.
package simulate

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// world is the run in progress; nil: there is none.
var world *World

// World is a run.
type World struct {
	rnd     *rand.Rand // what the scheduler chooses by
	choices Choices
	now     time.Duration // since epoch
	record  record
	threads threads
	timers  timers
	waiters map[any]*queue // of channels
	done    chan struct{}
	ended   bool          // no thread runs any more but the one that reports the failure
	more    func() string // what else a failure reports
}

// record is what has happened.
type record struct {
	steps   int
	moments int64
	sum     uint64 // of all steps and notes so far
	verbose bool
	trace   []string
	failure string
}

// threads are those that have not ended.
type threads struct {
	made    int
	all     []*thread
	ready   []*thread
	current *thread
}

// thread is a goroutine of a run.
type thread struct {
	id      int
	name    string
	resume  chan struct{}
	weight  int
	waitsAt string // where it waits, for the report of a deadlock
}

// Choices are how a run goes: drawn from the seed, different from run to run.
type Choices struct {
	Stay    int // a thread goes on at all but one of so many steps
	Reweigh int // after so many steps other threads are favoured
	HoldUp  int // a thread is held up at one of so many steps; 0: never
	Late    int // one of so many timers is late; 0: none
	MaxStep time.Duration
}

// limits of a run: what is longer never ends.
const (
	maxSteps = 3_000_000
	maxTime  = 10 * time.Minute
)

// Result is what became of a run.
type Result struct {
	Failure string // empty: none
	Sum     uint64 // equal for equal runs
	Steps   int
	Time    time.Duration // of the run's clock
	Trace   []string      // if it was wanted
}

// Run runs main, and what it starts, as the seed says. verbose: with a trace.
func Run(seed uint64, verbose bool, main func()) Result {
	w := &World{rnd: rand.New(rand.NewPCG(seed, 1)), now: time.Second,
		record:  record{verbose: verbose, sum: 14695981039346656037},
		waiters: map[any]*queue{}, done: make(chan struct{})}
	w.choices = Choices{Stay: []int{1, 2, 4, 16, 64}[w.rnd.IntN(5)],
		Reweigh: []int{50, 500, 5000}[w.rnd.IntN(3)],
		HoldUp:  []int{0, 100, 1000, 10000}[w.rnd.IntN(4)],
		Late:    []int{0, 2, 20}[w.rnd.IntN(3)],
		MaxStep: []time.Duration{20, 100, 1000}[w.rnd.IntN(3)]}
	world = w
	defer func() { world = nil }()
	first := w.newThread("main", main)
	w.threads.ready = nil
	w.threads.current = first
	first.resume <- struct{}{}
	<-w.done
	r := &w.record
	return Result{Failure: r.failure, Sum: r.sum, Steps: r.steps, Time: w.now - time.Second,
		Trace: r.trace}
}

// newThread makes a thread that is ready to run.
func (w *World) newThread(name string, f func()) *thread {
	w.threads.made++
	t := &thread{id: w.threads.made, name: name, resume: make(chan struct{}, 1),
		weight: w.newWeight()}
	w.threads.all = append(w.threads.all, t)
	w.threads.ready = append(w.threads.ready, t)
	go func() {
		<-t.resume
		defer w.endThread(t)
		defer func() {
			if v := recover(); v != nil {
				w.fail(fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
			}
		}()
		f()
	}()
	return t
}

// endThread removes the running thread, and lets another one run.
func (w *World) endThread(t *thread) {
	w.threads.all = remove(w.threads.all, t)
	if len(w.threads.all) == 0 {
		close(w.done)
		return
	}
	next := w.next()
	w.threads.current = next
	next.resume <- struct{}{}
}

// fail ends the run. It does not return.
func (w *World) fail(why string) {
	if w.record.failure == "" {
		w.ended = true
		w.record.failure = why
		if w.more != nil {
			w.record.failure += "\n" + w.more()
		}
		if w.record.verbose {
			stacks := make([]byte, 1<<20)
			w.record.failure += "\n" + string(stacks[:runtime.Stack(stacks, true)])
		}
		close(w.done)
	}
	select {}
}

// Fail ends the run with a failure. It does not return.
func Fail(format string, args ...any) {
	t := world.threads.current
	world.fail(fmt.Sprintf("thread %d (%s) at %v: ", t.id, t.name, world.now-time.Second) +
		fmt.Sprintf(format, args...))
}

// OnFailure has a failure of the run report what f returns, besides.
func OnFailure(f func() string) { world.more = f }

// newWeight draws how much a thread is favoured.
func (w *World) newWeight() int { return 1 << (2 * w.rnd.IntN(5)) }

// step is one step of the running thread: it takes time, and timers go off.
func (w *World) step(what step) {
	w.record.steps++
	w.now += 1 + time.Duration(w.rnd.Int64N(int64(w.choices.MaxStep)))
	w.add(uint64(w.threads.current.id)<<8 | uint64(what))
	if w.record.steps%w.choices.Reweigh == 0 {
		for _, t := range w.threads.all {
			t.weight = w.newWeight()
		}
	}
	if w.record.steps > maxSteps || w.now > maxTime {
		w.fail(fmt.Sprintf("no end after %d steps and %v:\n%s", w.record.steps,
			w.now-time.Second, w.describe()))
	}
	w.fireTimers()
}

// add adds a number to the run's sum.
func (w *World) add(v uint64) { w.record.sum = (w.record.sum ^ v) * 1099511628211 }

// point is a place where other threads may run.
func point(what step) {
	w := world
	if w == nil || w.ended {
		return
	}
	w.step(what)
	switch {
	case w.choices.HoldUp > 0 && w.rnd.IntN(w.choices.HoldUp) == 0:
		w.holdUp()
	case w.rnd.IntN(w.choices.Stay) == 0:
		w.threads.ready = append(w.threads.ready, w.threads.current)
		w.switchTo(w.next())
	}
}

// holdUp stops the running thread for some time, as an operating system does.
func (w *World) holdUp() {
	t := w.threads.current
	t.waitsAt = "held up"
	w.at(w.now+w.someTime(), func() { w.threads.ready = append(w.threads.ready, t) })
	w.switchTo(w.next())
}

// someTime is up to 20 ms, mostly much less.
func (w *World) someTime() time.Duration {
	return time.Duration(w.rnd.Int64N(int64(100) << w.rnd.IntN(18)))
}

// giveWay has another thread run, if there is one.
func giveWay() {
	w := world
	if w == nil {
		return
	}
	w.step(stepYield)
	w.now += time.Duration(w.rnd.Int64N(2000))
	if len(w.threads.ready) == 0 {
		return
	}
	next := w.next()
	w.threads.ready = append(w.threads.ready, w.threads.current)
	w.switchTo(next)
}

// next removes a ready thread, which the caller lets run. If there is none, time goes by.
func (w *World) next() *thread {
	for len(w.threads.ready) == 0 {
		if len(w.timers) == 0 {
			w.fail("all threads wait for ever:\n" + w.describe())
		}
		w.now = max(w.now, w.timers[0].at)
		w.fireTimers()
	}
	sum := 0
	for _, t := range w.threads.ready {
		sum += t.weight
	}
	at := w.rnd.IntN(sum)
	for i, t := range w.threads.ready {
		if at -= t.weight; at < 0 {
			w.threads.ready = append(w.threads.ready[:i], w.threads.ready[i+1:]...)
			return t
		}
	}
	panic("unreachable")
}

// switchTo lets a thread run, and returns when the calling one runs again.
func (w *World) switchTo(next *thread) {
	t := w.threads.current
	if next == t {
		return
	}
	w.add(uint64(next.id))
	w.threads.current = next
	next.resume <- struct{}{}
	<-t.resume
}

// queue is threads that wait for the same thing.
type queue []*thread

// wait blocks the running thread until it is woken.
func (q *queue) wait(what string) {
	w := world
	if w == nil {
		panic("a wait outside of a run: " + what)
	}
	w.threads.current.waitsAt = what
	if w.record.verbose {
		w.threads.current.waitsAt += " at " + caller()
	}
	*q = append(*q, w.threads.current)
	w.switchTo(w.next())
}

// wakeOne wakes one of the waiting threads.
func (q *queue) wakeOne() {
	if n := len(*q); n > 0 {
		i := world.rnd.IntN(n)
		world.threads.ready = append(world.threads.ready, (*q)[i])
		*q = append((*q)[:i], (*q)[i+1:]...)
	}
}

// wakeAll wakes them all.
func (q *queue) wakeAll() {
	if len(*q) > 0 {
		world.threads.ready = append(world.threads.ready, *q...)
		*q = nil
	}
}

// remove removes a thread from a list.
func remove(list []*thread, t *thread) []*thread {
	for i, other := range list {
		if other == t {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// describe says what all threads do, for a report.
func (w *World) describe() string {
	var b strings.Builder
	for _, t := range w.threads.all {
		does := "waits: " + t.waitsAt
		for _, r := range w.threads.ready {
			if r == t {
				does = "is ready"
			}
		}
		if t == w.threads.current {
			does += " (ran last)"
		}
		fmt.Fprintf(&b, "  thread %d (%s) %s\n", t.id, t.name, does)
	}
	return b.String()
}

// Note adds a line to the trace, and so to the run's sum.
func Note(format string, args ...any) {
	w := world
	if w == nil {
		return
	}
	line := fmt.Sprintf(format, args...)
	for i := range len(line) {
		w.add(uint64(line[i]))
	}
	if w.record.verbose {
		t := w.threads.current
		w.record.trace = append(w.record.trace, fmt.Sprintf("%12v %3d %-10s %s",
			w.now-time.Second, t.id, t.name, line))
	}
}

// Moment is a number that is larger at each call.
func Moment() int64 {
	world.record.moments++
	return world.record.moments
}

// caller is the place in the simulated code.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "/simulate.") || !more {
			return fmt.Sprintf("%s:%d", f.File[strings.LastIndexByte(f.File, '/')+1:],
				f.Line)
		}
	}
}

// step is a kind of step.
type step uint8

const (
	stepYield step = iota
	stepLock
	stepUnlock
	stepCond
	stepAtomic
	stepChannel
	stepClock
	stepStart
)
