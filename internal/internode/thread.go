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
	t      *Transport
	mu     sync.Mutex
	seats  []*seat   // that want attention
	unsent []*target // whose endpoints have put frames off
	asleep atomic.Bool
	ended  chan struct{}

	// Of the thread alone.
	beat  time.Time // of the last pulses
	ready []transport.Source
}

// start makes the thread run.
func (p *thread) start() {
	p.ended, p.beat = make(chan struct{}), time.Now()
	go p.run()
}

// attend asks for attention to a seat: something is to come that nobody waits for.
func (p *thread) attend(s *seat) {
	p.mu.Lock()
	if !s.listed {
		s.listed = true
		p.seats = append(p.seats, s)
	}
	p.mu.Unlock()
	p.wake()
}

// flushSoon asks for frames to be sent that were put off.
func (p *thread) flushSoon(g *target) {
	p.mu.Lock()
	p.unsent = append(p.unsent, g)
	p.mu.Unlock()
	p.wake()
}

func (p *thread) wake() {
	if p.asleep.CompareAndSwap(true, false) {
		p.t.fabric.Wake()
	}
}

// stop ends the thread and waits until it has.
func (p *thread) stop() {
	if p.ended != nil {
		p.t.fabric.Wake()
		<-p.ended
	}
}

func (p *thread) run() {
	defer log.Guard()
	defer close(p.ended)
	runtime.LockOSThread() // for what the next two do
	p.t.opt.unbind()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	idle := 0
	for !p.t.closed.Load() {
		if p.tend() {
			idle = 0
		} else {
			idle++
		}
		p.ready = p.sleep(idle > idleTicks)
		for _, src := range p.ready {
			idle = 0
			p.noticed(p.t.seatOf(src))
		}
		p.pulses()
	}
}

// tend visits who wants attention: false if nobody does.
func (p *thread) tend() bool {
	p.mu.Lock()
	seats, unsent := p.seats, p.unsent
	p.seats, p.unsent = nil, nil
	for _, s := range seats {
		s.listed = false
	}
	p.mu.Unlock()
	for _, g := range unsent {
		if g.flush() {
			p.flushSoon(g)
		}
	}
	for _, s := range seats {
		switch {
		case !s.expects():
		case s.driven.Swap(false):
			p.attend(s)
		default:
			p.collect(s)
		}
	}
	return len(seats)+len(unsent) > 0
}

// sleep waits for a tick, or until something happens, and gives the sources that have something.
func (p *thread) sleep(long bool) []transport.Source {
	if !long {
		return p.t.fabric.Wait(p.t.info.Tick, p.ready[:0])
	}
	defer p.asleep.Store(false)
	p.asleep.Store(true)
	p.mu.Lock()
	idle := len(p.seats)+len(p.unsent) == 0
	p.mu.Unlock()
	if !idle || p.t.closed.Load() {
		return p.ready[:0]
	}
	return p.t.fabric.Wait(p.untilPulse(), p.ready[:0])
}

// noticed polls a source that has something, unless a caller is about to.
func (p *thread) noticed(s *seat) {
	if s.expects() && s.driven.Load() {
		p.attend(s)
		return
	}
	p.collect(s)
}

// collect polls, unless a caller does, and has the fabric tell when more comes.
func (p *thread) collect(s *seat) {
	if !s.tryTake() {
		return
	}
	more := s.pollAll()
	if s.expects() && !more {
		p.t.fabric.Attend(s.src)
		more = s.pollAll() // what came before that is not told
	}
	s.giveUp()
	if more {
		p.attend(s)
	}
}

// pollAll polls until nothing comes: false if that takes long.
func (s *seat) pollAll() (more bool) {
	for range maxPolls {
		if s.poll(1) == 0 {
			return false
		}
	}
	return true
}

// giveUp is leave for the progress thread, which has asked the fabric for attention already.
func (s *seat) giveUp() {
	s.mu.Lock()
	s.taken = false
	s.turn.Signal()
	s.mu.Unlock()
}

// flush sends what was put off: true if something is left.
func (g *target) flush() (left bool) {
	if !g.deferred.Load() {
		return false
	}
	if !g.mu.TryLock() {
		return true
	}
	defer g.mu.Unlock()
	if g.broken.Load() != nil {
		g.deferred.Store(false)
		return false
	}
	left = g.ep.Flush()
	g.deferred.Store(left)
	return left
}

// pulseEvery is how often silent nodes are felt for.
func (t *Transport) pulseEvery() time.Duration { return t.opt.Timeout / 4 }

// untilPulse bounds a sleep while there are connections.
func (p *thread) untilPulse() time.Duration {
	for _, g := range p.t.targets {
		if p.t.info.Pulses && g.live.Load() {
			return max(time.Until(p.beat.Add(p.t.pulseEvery())), 0)
		}
	}
	return -1 // who makes the first connection asks for attention
}

// pulses finds out whether nodes are there that nothing was heard of for a while.
func (p *thread) pulses() {
	if !p.t.info.Pulses || time.Since(p.beat) < p.t.pulseEvery() {
		return
	}
	p.beat = time.Now()
	for _, g := range p.t.targets {
		if g.live.Load() && g.broken.Load() == nil && !g.heard.Swap(false) && g.mu.TryLock() {
			g.ep.Pulse()
			g.mu.Unlock()
		}
	}
}
