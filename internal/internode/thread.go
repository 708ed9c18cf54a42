// SPDX-License-Identifier: BSD-3-Clause

// The progress thread of a process does what no caller is there to do. It collects the answers of
// requests that no caller waits for, sends deferred frames, and notices that a node is lost. It
// sleeps in the kernel when there is no such work, and never waits for one node alone.
package internode

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

const (
	// tickingTime is how long the thread ticks without anything to do before it sleeps until it
	// is woken. Each tick is a system call that blocks, after which Go's monitor looks around
	// for a few milliseconds, on a core that a data server may need.
	tickingTime = time.Millisecond
	maxPolls    = 64 // of one source before the others are polled
)

// progressThread does what no caller is there to do: see the head of this file.
type progressThread struct {
	t       *Transport
	flushAt atomic.Int64          // when to send deferred frames, in ns since began; 0: none
	alarm   transport.AlarmFabric // ends the sleep at flushAt; nil: there is none
	asleep  atomic.Bool
	ended   chan struct{}

	mu       sync.Mutex // guards the rest up to closing, and poller.attention
	polls    pollQueue  // what the thread polls
	calls    []func()   // to be called at flushAt
	releases []*link    // that should be released when they are idle
	closing  []*link    // that were released and must be closed

	// Of the thread itself.
	pulse      interval
	idleLook   interval       // when to look at idle connections
	dials      sync.WaitGroup // threads that connect
	releaseDue time.Time      // when to look at releases again
	ready      []transport.Source
}

// start starts the thread. Connect calls it once.
func (h *progressThread) start() {
	h.alarm, _ = h.t.fabric.(transport.AlarmFabric)
	h.polls.paused.init(h.t.info.Tick, h.alarm != nil)
	h.ended, h.pulse, h.idleLook = make(chan struct{}), newPulseInterval(h.t),
		h.t.opt.newIdleLookInterval()
	go h.run()
}

// scheduleFlush has deferred frames sent after a time, unless a caller sends them before. It
// returns when that is, in ns since began; the alarm may go off earlier, for other frames. It takes
// no lock.
func (h *progressThread) scheduleFlush(d time.Duration) (at int64) {
	if h.alarm == nil {
		d = 0
	}
	at = int64(time.Since(began) + d)
	for old := h.flushAt.Load(); ; old = h.flushAt.Load() {
		if old != 0 && old <= at {
			return at
		}
		if h.flushAt.CompareAndSwap(old, at) {
			break
		}
	}
	if h.alarm == nil {
		h.wakeIfAsleep()
	} else if h.asleep.Load() {
		h.alarm.SetAlarm(d)
		if sooner := h.flushAt.Load(); sooner != 0 &&
			sooner < at { // another thread has set it meanwhile
			h.alarm.SetAlarm(max(time.Duration(sooner)-time.Since(began), 0))
		}
	}
	return at
}

// callLater has the thread call f when it flushes next, in about a tick at most. f calls nothing of
// the transport, and callLater is not called after Close. It locks mu.
func (h *progressThread) callLater(f func()) {
	h.mu.Lock()
	h.calls = append(h.calls, f)
	h.mu.Unlock()
	h.scheduleFlush(h.t.info.Tick)
}

// untilFlush returns how long it is until flushAt; negative: no flush is due.
func (h *progressThread) untilFlush() time.Duration {
	at := h.flushAt.Load()
	if at == 0 {
		return -1
	}
	return max(time.Duration(at)-time.Since(began), 0)
}

// began is the origin of the times that are kept as integers.
var began = time.Now()

// wakeIfAsleep ends the thread's sleep.
func (h *progressThread) wakeIfAsleep() {
	if h.asleep.CompareAndSwap(true, false) {
		h.t.fabric.Wake()
	}
}

// stopAndWait returns when the thread has ended; the caller has set stopThread.
func (h *progressThread) stopAndWait() {
	if h.ended != nil {
		h.t.fabric.Wake()
		<-h.ended
	}
}

// run is the thread.
func (h *progressThread) run() {
	defer log.Guard()
	defer close(h.ended)
	runtime.LockOSThread() // never unlocked: the thread's attributes are changed
	h.t.opt.Unbind()
	wait.ShortSlice()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	idle := 0
	for !h.t.life.stopThread.Load() {
		h.endPause()
		if idle++; h.serveRequests() {
			idle = 0
		}
		h.ready = h.sleepUntilWork(time.Duration(idle)*h.t.info.Tick > tickingTime)
		for _, src := range h.ready {
			idle = 0
			p := h.t.pollers.pollerOf(src)
			p.armed = false
			h.pollForAttention(p)
		}
		h.processReleases()
		h.watchIdleLinks()
		h.probeSilentPeers()
	}
	h.dials.Wait()
}

// serveRequests calls due functions, sends due frames, and polls the sources that want attention.
// It returns false if there was nothing to do.
func (h *progressThread) serveRequests() bool {
	pollers, late, unsent := h.takeRequests()
	for _, f := range late {
		f()
	}
	if unsent {
		h.sendDue()
	}
	for _, p := range pollers {
		if p.hasUnattended() {
			h.pollForAttention(p)
		}
	}
	return len(pollers) > 0 || unsent && h.alarm == nil
}

// takeRequests empties the lists of what the thread has to do, except for calls that are not due.
// unsent tells whether a flush is due. It locks mu.
func (h *progressThread) takeRequests() (pollers []*poller, late []func(), unsent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pollers = h.takeAttention()
	if unsent = h.untilFlush() == 0; unsent {
		h.flushAt.Store(0)
		late, h.calls = h.calls, nil
	}
	return pollers, late, unsent
}

// sendDue sends the frames and starts the senders that are due. What was deferred later keeps its
// own time.
func (h *progressThread) sendDue() {
	now := int64(time.Since(began))
	for _, g := range h.t.routes.targets {
		if left := g.flushIfDue(now); left >= 0 {
			h.scheduleFlush(left)
		}
		if left := g.queue.startSenderIfDue(now); left >= 0 {
			h.scheduleFlush(left)
		}
	}
}

// sleepUntilWork sleeps for a tick, or until there is work if long is set or pollers are left to
// callers. It returns the armed sources that have frames.
func (h *progressThread) sleepUntilWork(long bool) []transport.Source {
	if !long && !h.polls.paused.maySleep() {
		return h.t.fabric.Wait(h.t.info.Tick, h.ready[:0])
	}
	defer h.asleep.Store(false)
	h.asleep.Store(true)
	h.mu.Lock()
	idle := len(h.polls.due) == 0 && len(h.closing) == 0
	limit := minWait(minWait(h.pulse.untilDue(), h.idleLook.untilDue()), h.untilFlush())
	limit = minWait(limit, h.polls.paused.untilEnd())
	if len(h.releases) > 0 {
		limit = minWait(limit, max(time.Until(h.releaseDue), 0))
	}
	h.mu.Unlock()
	if !idle || h.t.life.stopThread.Load() {
		return h.ready[:0]
	}
	return h.t.fabric.Wait(limit, h.ready[:0])
}

// probeSilentPeers sends a pulse over each connection over which no frame has come for an interval.
// Where a thread holds the target's mu, that thread sends it if it waits (awaitLocked).
func (h *progressThread) probeSilentPeers() {
	if !h.pulse.isDueOnce() {
		return
	}
	for _, g := range h.t.routes.targets {
		l := g.link.Load()
		if l == nil || g.loss.failure.Load() != nil || g.progress.heardFrom.Swap(false) {
			continue
		}
		if !g.mu.TryLock() {
			g.progress.pulseDue.Store(true)
			l.poller.wakeWaiters()
			continue
		}
		if l := g.link.Load(); l != nil {
			l.ep.Pulse()
		}
		g.mu.Unlock()
	}
}

// interval is a timer without a thread: its owner asks whether it is due.
type interval struct {
	every time.Duration // 0: never
	last  time.Time
}

// newPulseInterval returns when to probe silent peers: never, if the fabric notices lost ones
// itself.
func newPulseInterval(t *Transport) (p interval) {
	if t.info.Pulses {
		p = interval{every: t.opt.Timeout / 4, last: time.Now()}
	}
	return p
}

// untilDue returns how long the owner may sleep; negative: any time.
func (p *interval) untilDue() time.Duration {
	if p.every == 0 {
		return -1
	}
	return max(time.Until(p.last.Add(p.every)), 0)
}

// minWait returns the shorter of two times to wait; negative: any time.
func minWait(a, b time.Duration) time.Duration {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// isDueOnce reports whether the interval is over, and begins the next one if so.
func (p *interval) isDueOnce() bool {
	due := p.untilDue() == 0
	if due {
		p.last = time.Now()
	}
	return due
}
