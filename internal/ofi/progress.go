// SPDX-License-Identifier: BSD-3-Clause

// Most providers work only while they are called. Whoever waits for something calls them; a request
// that nobody waits for would stay where it is, and those that wait for it. So there is a goroutine
// that calls them from time to time while requests are on their way.
package ofi

import (
	"os"
	"slices"
	"sync"
	"time"

	"libarmci/internal/eventfd"
	"libarmci/internal/log"
	"libarmci/internal/ofi/fast"
	"libarmci/internal/ofi/libfabric"
)

// progressEvery is how often. What somebody waits for is not late by that.
const progressEvery = time.Millisecond

const (
	mostRounds    = 64
	looksPerRound = 20
)

type progress struct {
	*fast.Progress
	bell   *os.File // an eventfd; nil: the provider works by itself
	ended  chan struct{}
	mu     sync.Mutex
	queues []*queue
	done   [burst]libfabric.Done
}

// init begins. auto: the provider works by itself.
func (g *progress) init(auto bool) (err error) {
	fd := eventfd.None
	if !auto {
		if fd, err = eventfd.New(); err != nil {
			return err
		}
		g.bell, g.ended = os.NewFile(uintptr(fd), "progress"), make(chan struct{})
	}
	g.Progress = fast.NewProgress(fd)
	if !auto {
		go g.run()
	}
	return nil
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

// stop ends it. There are no queues any more.
func (g *progress) stop() {
	if g.bell != nil {
		g.bell.Close()
		<-g.ended
	}
	if g.Progress != nil {
		g.Free()
	}
}

func (g *progress) run() {
	defer log.Guard()
	defer close(g.ended)
	var rings [8]byte
	for {
		if _, err := g.bell.Read(rings[:]); err != nil {
			return // it was closed
		}
		for time.Sleep(progressEvery); g.drive(); time.Sleep(progressEvery) {
		}
		g.Rest()
		if g.drive() { // posted before that
			g.Need()
		}
	}
}

// drive calls the provider: false if nothing is on its way.
func (g *progress) drive() (busy bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, q := range g.queues {
		idle := q.slots.inUse() == 0 && q.fast.Requests() == 0 && !q.fast.Left()
		if idle && !q.pushStalled() {
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
		q.completeLeft()
		q.pushStalled()
		q.tellSleeper()
	}
	return busy
}
