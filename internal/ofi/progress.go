// SPDX-License-Identifier: BSD-3-Clause

// Most providers work only while they are called. Whoever waits for something calls them; a request that nobody waits for would
// stay where it is, and those that wait for it. So there is a goroutine that calls them from time to time while requests are on their way.
package ofi

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/eventfd"
	"libarmci/internal/log"
	"libarmci/internal/ofi/libfabric"
)

// progressEvery is how often. What somebody waits for is not late by that.
const progressEvery = time.Millisecond

const (
	mostRounds    = 64
	looksPerRound = 20
)

type progress struct {
	auto   bool // the provider works by itself
	needed atomic.Bool
	bell   chan struct{}
	ended  chan struct{}
	mu     sync.Mutex
	queues []*queue
	done   [burst]libfabric.Done
}

func (g *progress) init(auto bool) {
	g.auto, g.bell, g.ended = auto, make(chan struct{}, 1), make(chan struct{})
	go g.run()
}

func (g *progress) add(q *queue) {
	g.mu.Lock()
	g.queues = append(g.queues, q)
	g.mu.Unlock()
}

// remove ends the calls for a queue.
func (g *progress) remove(q *queue) {
	g.mu.Lock()
	g.queues = slices.DeleteFunc(g.queues, func(x *queue) bool { return x == q })
	g.mu.Unlock()
}

// need is called when something has been posted.
func (g *progress) need() {
	if !g.auto && !g.needed.Load() && !g.needed.Swap(true) {
		select {
		case g.bell <- struct{}{}:
		default:
		}
	}
}

func (g *progress) stop() {
	close(g.bell)
	<-g.ended
}

func (g *progress) run() {
	defer log.Guard()
	defer close(g.ended)
	for range g.bell {
		for time.Sleep(progressEvery); g.drive(); time.Sleep(progressEvery) {
		}
		g.needed.Store(false)
		if g.drive() { // posted before that
			g.need()
		}
	}
}

// drive calls the provider: false if nothing is on its way.
func (g *progress) drive() (busy bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, q := range g.queues {
		if q.slots.inUse() == 0 && !q.pushStalled() {
			continue
		}
		busy = true
		for range mostRounds { // what is completed lets others go, which complete soon
			n, err := q.ep.Look(g.done[:], looksPerRound, 0)
			if n == 0 || err != nil {
				break
			}
			q.completed(g.done[:n])
		}
		if q.pushStalled(); q.some() {
			if wake := q.wake.Load(); wake >= 0 {
				eventfd.FD(wake).Ring()
			}
		}
	}
	return busy
}
