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
	source       transport.Source
	polling      sync.Mutex   // polling
	interrupters atomic.Int32 // who wants to be inside
	stopping     atomic.Bool
	ended        chan struct{}
	users        int // endpoints that have this source
}

func startLoop(s transport.Source) *pollLoop {
	l := &pollLoop{source: s, ended: make(chan struct{})}
	go l.pollUntilStopped()
	return l
}

func (l *pollLoop) pollUntilStopped() {
	defer close(l.ended)
	for !l.stopping.Load() {
		l.polling.Lock()
		if l.source.Poll(20) == 0 && !l.stopping.Load() {
			l.source.Sleep(-1) // a wake-up that is lost must be noticed
		}
		l.polling.Unlock()
		for l.interrupters.Load() > 0 {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// withoutPolling does something while nobody polls.
func (l *pollLoop) withoutPolling(do func()) {
	l.interrupters.Add(1)
	defer l.interrupters.Add(-1)
	l.source.Interrupt()
	l.polling.Lock()
	defer l.polling.Unlock()
	do()
}

// stopLoop stops the loop and waits for it.
func (l *pollLoop) stopLoop() {
	if l.stopping.Swap(true) {
		return
	}
	l.source.Interrupt()
	select {
	case <-l.ended:
	case <-time.After(patience):
		panic("Interrupt does not end Sleep, or Poll does not return")
	}
}

// startPolling takes a connection into use: its source is polled, unless the test does so.
func (p *fabricProcess) startPolling(end *fabricEnd, e transport.OriginEndpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end.ep = e
	p.ends[e] = end
	if p.job.manualPolling {
		return
	}
	l := p.loops[e.Source()]
	if l == nil || l.stopping.Load() {
		l = startLoop(e.Source())
		p.loops[e.Source()] = l
	}
	l.users++
}

// stopPolling ends the polling of a source that only this connection has: the endpoint will be
// closed.
func (p *fabricProcess) stopPolling(end *fabricEnd) {
	p.mu.Lock()
	l := p.loops[end.originEndpoint().Source()]
	last := false
	if l != nil {
		l.users--
		last = l.users == 0
	}
	p.mu.Unlock()
	if last {
		l.stopLoop()
	}
}

// awaitDone is FabricConfig.Await: who waits polls, unless somebody else does.
func (p *fabricProcess) awaitDone(e transport.OriginEndpoint, done func() bool) {
	s := e.Source()
	p.mu.Lock()
	l := p.loops[s]
	p.mu.Unlock()
	for !done() {
		if l != nil && !l.polling.TryLock() {
			time.Sleep(20 * time.Microsecond)
			continue
		}
		if s.Poll(1) == 0 && !done() {
			s.Sleep(100 * time.Microsecond)
		}
		if l != nil {
			l.polling.Unlock()
		}
	}
}

// pollOnce is FabricConfig.Receive.
func (p *fabricProcess) pollOnce(e transport.OriginEndpoint) bool {
	s := e.Source()
	p.mu.Lock()
	l := p.loops[s]
	p.mu.Unlock()
	if l != nil {
		if !l.polling.TryLock() {
			return false
		}
		defer l.polling.Unlock()
	}
	s.Poll(1)
	return true
}
