// SPDX-License-Identifier: BSD-3-Clause

// Who polls in the fabric suite: one goroutine per source, and whoever waits for room, one at a
// time.
package transporttest

import (
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// pollLoop polls a source until it is told to stop.
type pollLoop struct {
	source transport.Source
	mu     sync.Mutex   // polling
	guests atomic.Int32 // who wants to be inside
	stop   atomic.Bool
	ended  chan struct{}
	users  int // endpoints that have this source
}

func startLoop(s transport.Source) *pollLoop {
	l := &pollLoop{source: s, ended: make(chan struct{})}
	go l.run()
	return l
}

func (l *pollLoop) run() {
	defer close(l.ended)
	for !l.stop.Load() {
		l.mu.Lock()
		if l.source.Poll(20) == 0 && !l.stop.Load() {
			l.source.Sleep(-1) // a wake-up that is lost must be noticed
		}
		l.mu.Unlock()
		for l.guests.Load() > 0 {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// inside does something while nobody polls.
func (l *pollLoop) inside(do func()) {
	l.guests.Add(1)
	defer l.guests.Add(-1)
	l.source.Interrupt()
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// end stops the loop and waits for it.
func (l *pollLoop) end() {
	if l.stop.Swap(true) {
		return
	}
	l.source.Interrupt()
	select {
	case <-l.ended:
	case <-time.After(patience):
		panic("Interrupt does not end Sleep, or Poll does not return")
	}
}

// use takes a connection into use: its source is polled, unless the test does so.
func (p *fabricProcess) use(end *fabricEnd, e transport.OriginEndpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end.e = e
	p.ends[e] = end
	if p.j.manual {
		return
	}
	l := p.loops[e.Source()]
	if l == nil || l.stop.Load() {
		l = startLoop(e.Source())
		p.loops[e.Source()] = l
	}
	l.users++
}

// leave ends the polling of a source that only this connection has: the endpoint will be closed.
func (p *fabricProcess) leave(end *fabricEnd) {
	p.mu.Lock()
	l := p.loops[end.origin().Source()]
	last := false
	if l != nil {
		l.users--
		last = l.users == 0
	}
	p.mu.Unlock()
	if last {
		l.end()
	}
}

// await is FabricConfig.Await: who waits polls, unless somebody else does.
func (p *fabricProcess) await(e transport.OriginEndpoint, done func() bool) {
	s := e.Source()
	p.mu.Lock()
	l := p.loops[s]
	p.mu.Unlock()
	for !done() {
		if l != nil && !l.mu.TryLock() {
			time.Sleep(20 * time.Microsecond)
			continue
		}
		if s.Poll(1) == 0 && !done() {
			s.Sleep(100 * time.Microsecond)
		}
		if l != nil {
			l.mu.Unlock()
		}
	}
}

// receive is FabricConfig.Receive.
func (p *fabricProcess) receive(e transport.OriginEndpoint) bool {
	s := e.Source()
	p.mu.Lock()
	l := p.loops[s]
	p.mu.Unlock()
	if l != nil {
		if !l.mu.TryLock() {
			return false
		}
		defer l.mu.Unlock()
	}
	s.Poll(1)
	return true
}
