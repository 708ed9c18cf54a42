// SPDX-License-Identifier: BSD-3-Clause

// Polling in the fabric suite: one goroutine per source, and the threads that wait for room, one at
// a time.
package transporttest

import (
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// pollLoop is a goroutine that polls a source.
type pollLoop struct {
	source       transport.Source
	polling      sync.Mutex   // held by the thread that polls
	interrupters atomic.Int32 // callers of withoutPolling
	stopping     atomic.Bool
	ended        chan struct{}
	users        int // number of endpoints that have this source; guarded by fabricProcess.mu
}

func startLoop(s transport.Source) *pollLoop {
	l := &pollLoop{source: s, ended: make(chan struct{})}
	go l.pollUntilStopped()
	return l
}

// pollUntilStopped polls and sleeps until stopLoop.
func (l *pollLoop) pollUntilStopped() {
	defer close(l.ended)
	for !l.stopping.Load() {
		l.polling.Lock()
		if l.source.Poll(20) == 0 && !l.stopping.Load() {
			l.sleep()
		}
		l.polling.Unlock()
		for l.interrupters.Load() > 0 {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// sleep sleeps without a limit, unless the source wants one: a wake-up that is lost must be
// noticed.
func (l *pollLoop) sleep() {
	limit := time.Duration(-1)
	if s, ok := l.source.(transport.SharedListener); ok {
		limit = s.StopPolling()
	}
	if limit != 0 {
		l.source.Sleep(limit)
	}
}

// withoutPolling calls do while no thread polls the source.
func (l *pollLoop) withoutPolling(do func()) {
	l.interrupters.Add(1)
	defer l.interrupters.Add(-1)
	l.source.Interrupt()
	l.polling.Lock()
	defer l.polling.Unlock()
	do()
}

// stopLoop stops the goroutine and waits for it. Further calls do nothing.
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

// startPolling records the endpoint of a new connection, and has its source polled, unless the test
// does so.
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

// stopPolling ends the polling of a source if no other connection uses it. The caller then closes
// the endpoint.
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

// awaitDone is FabricConfig.Await: the waiting thread polls, unless another one does.
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
