// SPDX-License-Identifier: BSD-3-Clause

// The progress thread of a process does what no caller is there to do: it collects the answers of requests nobody waits for,
// sends frames that were put off, and notices that a node is gone. It sleeps in the kernel when there is nothing of the
// kind, and never waits for one node alone.
package internode

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

const (
	idleTicks = 20 // without anything to do, before the thread sleeps until it is woken
	maxPolls  = 64 // of one source before the others have their turn
)

type thread struct {
	t       *Transport
	mu      sync.Mutex
	pollers []*poller // that want attention
	unsent  []*target // whose endpoints have put frames off
	asleep  atomic.Bool
	ended   chan struct{}

	// Of the thread alone.
	beat  time.Time // of the last pulses
	ready []transport.Source
}

// start makes the thread run.
func (h *thread) start() {
	h.ended, h.beat = make(chan struct{}), time.Now()
	go h.run()
}

// attend asks for attention to a poller: something is to come that nobody waits for.
func (h *thread) attend(p *poller) {
	h.mu.Lock()
	if !p.listed {
		p.listed = true
		h.pollers = append(h.pollers, p)
	}
	h.mu.Unlock()
	h.wake()
}

// flushSoon asks for frames to be sent that were put off.
func (h *thread) flushSoon(g *target) {
	h.mu.Lock()
	h.unsent = append(h.unsent, g)
	h.mu.Unlock()
	h.wake()
}

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
	runtime.LockOSThread() // for what the next two do
	h.t.opt.unbind()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	idle := 0
	for !h.t.closed.Load() {
		if h.tend() {
			idle = 0
		} else {
			idle++
		}
		h.ready = h.sleep(idle > idleTicks)
		for _, src := range h.ready {
			idle = 0
			h.visit(h.t.pollerOf(src))
		}
		h.pulses()
	}
}

// tend visits who wants attention: false if nobody does.
func (h *thread) tend() bool {
	h.mu.Lock()
	pollers, unsent := h.pollers, h.unsent
	h.pollers, h.unsent = nil, nil
	for _, p := range pollers {
		p.listed = false
	}
	h.mu.Unlock()
	for _, g := range unsent {
		if g.flush() {
			h.flushSoon(g)
		}
	}
	for _, p := range pollers {
		if p.expects() {
			h.visit(p)
		}
	}
	return len(pollers)+len(unsent) > 0
}

// sleep waits for a tick, or until something happens, and gives the sources that have something.
func (h *thread) sleep(long bool) []transport.Source {
	if !long {
		return h.t.fabric.Wait(h.t.info.Tick, h.ready[:0])
	}
	defer h.asleep.Store(false)
	h.asleep.Store(true)
	h.mu.Lock()
	idle := len(h.pollers)+len(h.unsent) == 0
	h.mu.Unlock()
	if !idle || h.t.closed.Load() {
		return h.ready[:0]
	}
	return h.t.fabric.Wait(h.untilPulse(), h.ready[:0])
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

// pulseEvery is how often silent nodes are felt for.
func (t *Transport) pulseEvery() time.Duration { return t.opt.Timeout / 4 }

// untilPulse bounds a sleep while there are connections.
func (h *thread) untilPulse() time.Duration {
	for _, g := range h.t.targets {
		if h.t.info.Pulses && g.live.Load() {
			return max(time.Until(h.beat.Add(h.t.pulseEvery())), 0)
		}
	}
	return -1 // who makes the first connection asks for attention
}

// pulses finds out whether nodes are there that nothing was heard of for a while.
func (h *thread) pulses() {
	if !h.t.info.Pulses || time.Since(h.beat) < h.t.pulseEvery() {
		return
	}
	h.beat = time.Now()
	for _, g := range h.t.targets {
		if g.live.Load() && g.broken.Load() == nil && !g.heard.Swap(false) && g.mu.TryLock() {
			g.ep.Pulse()
			g.mu.Unlock()
		}
	}
}
