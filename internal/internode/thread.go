// SPDX-License-Identifier: BSD-3-Clause

// The progress thread of a process does what no caller is there to do: it collects the answers of
// requests that no caller waits for, sends frames that were put off, and notices that a node is
// gone. It sleeps in the kernel when there is nothing of the kind, and never waits for one node
// alone.
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
	// idleTime is how long the thread ticks without anything to do before it sleeps until it is
	// woken. Each tick is a system call that blocks, after which Go's monitor looks around
	// for a few milliseconds, on a core that a data server may need.
	idleTime = time.Millisecond
	maxPolls = 64 // of one source before the others have their turn
)

type thread struct {
	t       *Transport
	mu      sync.Mutex
	pollers []*poller // that want attention
	// when to send what endpoints have put off, since began; 0: nothing
	flushAt atomic.Int64
	alarm   transport.AlarmFabric // ends the thread's sleep then; nil: the fabric has none
	asleep  atomic.Bool
	ended   chan struct{}
	late    []func() // to be called at flushAt; its lock
	asked   []*link  // that should be given back; its lock
	parted  []*link  // that were, and have to be closed; its lock

	// Of the thread alone.
	pulse   pulse
	dials   sync.WaitGroup
	lookout pulse     // when to attend to idle connections
	due     time.Time // when to look at those that were asked for
	ready   []transport.Source
}

// start makes the thread run.
func (h *thread) start() {
	h.alarm, _ = h.t.fabric.(transport.AlarmFabric)
	h.ended, h.pulse, h.lookout = make(chan struct{}), h.t.newPulse(), h.t.newLookout()
	go h.run()
}

// attend asks for attention to a poller: something is to come that no caller waits for.
func (h *thread) attend(p *poller) {
	h.mu.Lock()
	if !p.listed {
		p.listed = true
		h.pollers = append(h.pollers, p)
	}
	h.mu.Unlock()
	h.wake()
}

// flushIn asks for frames that were put off to be sent after a time, unless a caller sends them
// before. It tells when that is, since began: the alarm may go off earlier, for other frames.
func (h *thread) flushIn(d time.Duration) (at int64) {
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
		h.wake()
	} else if h.asleep.Load() {
		h.alarm.WakeIn(d)
		if sooner := h.flushAt.Load(); sooner != 0 && sooner < at { // set just before
			h.alarm.WakeIn(max(time.Duration(sooner)-time.Since(began), 0))
		}
	}
	return at
}

// callLater calls f when frames that were put off would be sent.
func (h *thread) callLater(f func()) {
	h.mu.Lock()
	h.late = append(h.late, f)
	h.mu.Unlock()
	h.flushIn(h.t.info.Tick)
}

// flushLeft is how long it is until then; negative: nothing was put off.
func (h *thread) flushLeft() time.Duration {
	at := h.flushAt.Load()
	if at == 0 {
		return -1
	}
	return max(time.Duration(at)-time.Since(began), 0)
}

var began = time.Now()

func (h *thread) wake() {
	if h.asleep.CompareAndSwap(true, false) {
		h.t.fabric.Wake()
	}
}

// stop ends the thread and waits until it has.
func (h *thread) stop() {
	if h.ended != nil {
		h.t.fabric.Wake()
		<-h.ended
	}
}

func (h *thread) run() {
	defer log.Guard()
	defer close(h.ended)
	runtime.LockOSThread() // never unlocked: what follows changes the thread
	h.t.opt.Unbind()
	wait.ShortSlice()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	idle := 0
	for !h.t.closed.Load() {
		if idle++; h.tend() {
			idle = 0
		}
		h.ready = h.sleep(time.Duration(idle)*h.t.info.Tick > idleTime)
		for _, src := range h.ready {
			idle = 0
			p := h.t.pollerOf(src)
			p.attended = false
			h.visit(p)
		}
		h.part()
		h.attendIdle()
		h.pulses()
	}
	h.dials.Wait()
}

// tend visits the pollers that want attention: false if none does.
func (h *thread) tend() bool {
	h.mu.Lock()
	pollers, unsent := h.pollers, h.flushLeft() == 0
	var late []func()
	if unsent {
		h.flushAt.Store(0)
		late, h.late = h.late, nil
	}
	h.pollers = nil
	for _, p := range pollers {
		p.listed = false
	}
	h.mu.Unlock()
	for _, f := range late {
		f()
	}
	if unsent {
		h.sendLate()
	}
	for _, p := range pollers {
		if p.expects() {
			h.visit(p)
		}
	}
	return len(pollers) > 0 || unsent && h.alarm == nil
}

// sendLate sends what no caller has sent in time. What was put off just before has its own time.
func (h *thread) sendLate() {
	now := int64(time.Since(began))
	for _, g := range h.t.targets {
		if left := g.flushLate(now); left >= 0 {
			h.flushIn(left)
		}
		if left := g.sendLate(now); left >= 0 {
			h.flushIn(left)
		}
	}
}

// sleep waits for a tick, or until something happens, and gives the sources that have something.
func (h *thread) sleep(long bool) []transport.Source {
	if !long {
		return h.t.fabric.Wait(h.t.info.Tick, h.ready[:0])
	}
	defer h.asleep.Store(false)
	h.asleep.Store(true)
	h.mu.Lock()
	idle := len(h.pollers) == 0 && len(h.parted) == 0
	limit := sooner(sooner(h.pulse.left(), h.lookout.left()), h.flushLeft())
	if len(h.asked) > 0 {
		limit = sooner(limit, max(time.Until(h.due), 0))
	}
	h.mu.Unlock()
	if !idle || h.t.closed.Load() {
		return h.ready[:0]
	}
	return h.t.fabric.Wait(limit, h.ready[:0])
}

// visit polls, unless a caller does, and has the fabric tell when more comes.
func (h *thread) visit(p *poller) {
	switch {
	case p.expects() && p.driven.Swap(false): // a caller is about to
		h.attend(p)
		return
	case !p.tryAcquire():
		return
	}
	more := p.pollAll()
	if p.expects() && !more {
		h.t.fabric.Attend(p.src)
		more = p.pollAll() // what came before that is not told
	}
	p.handOver()
	if more {
		h.attend(p)
	}
}

// pollAll polls until nothing comes: false if that takes long.
func (p *poller) pollAll() (more bool) {
	for range maxPolls {
		if p.poll(1) == 0 {
			return false
		}
	}
	return true
}

// pulses finds out whether nodes are there that nothing was heard of for a while.
func (h *thread) pulses() {
	if !h.pulse.due() {
		return
	}
	for _, g := range h.t.targets {
		if g.link.Load() != nil && g.broken.Load() == nil && !g.heard.Swap(false) &&
			g.mu.TryLock() {
			if l := g.link.Load(); l != nil {
				l.ep.Pulse()
			}
			g.mu.Unlock()
		}
	}
}

// pulse tells when to find out whether silent peers are there.
type pulse struct {
	every time.Duration // 0: never
	last  time.Time
}

func (t *Transport) newPulse() (p pulse) {
	if t.info.Pulses {
		p = pulse{every: t.opt.Timeout / 4, last: time.Now()}
	}
	return p
}

// left is how long to sleep until then at most; negative: any time.
func (p *pulse) left() time.Duration {
	if p.every == 0 {
		return -1
	}
	return max(time.Until(p.last.Add(p.every)), 0)
}

// sooner is the shorter of two times to wait; negative: any time.
func sooner(a, b time.Duration) time.Duration {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// due tells whether it is time, once.
func (p *pulse) due() bool {
	due := p.left() == 0
	if due {
		p.last = time.Now()
	}
	return due
}
