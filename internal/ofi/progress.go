// SPDX-License-Identifier: BSD-3-Clause

// Most providers work only while they are called. A waiter calls them. A request without a waiter
// would not proceed, nor would requests that wait for it. So a goroutine calls the provider from
// time to time while requests are on their way.
package ofi

import (
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/ofi/fast"
	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/sys"
)

// progressPeriod is the time between two such calls. It does not delay requests with a waiter.
const progressPeriod = time.Millisecond

const (
	maxRounds     = 64
	pollsPerRound = 20
)

// progress is the goroutine that drives the provider.
type progress struct {
	*fast.Progress
	wakeup *os.File // an eventfd; nil: the provider works by itself
	ended  chan struct{}
	mu     sync.Mutex // guards queues and polled
	queues []*queue
	polled [pollBatch]libfabric.Done
}

// start starts the goroutine, unless the provider works by itself (auto).
func (g *progress) start(auto bool) (err error) {
	fd := sys.NoEventFD
	if !auto {
		if fd, err = sys.NewEventFD(); err != nil {
			return err
		}
	}
	if g.Progress = fast.NewProgress(fd); g.Progress == nil {
		fd.Close()
		return unix.ENOMEM
	}
	if !auto {
		g.wakeup, g.ended = os.NewFile(uintptr(fd), "progress"), make(chan struct{})
		go g.driveLoop()
	}
	return nil
}

func (g *progress) addQueue(q *queue) {
	g.mu.Lock()
	g.queues = append(g.queues, q)
	g.mu.Unlock()
}

// removeQueue ends the calls for a queue. It locks mu.
func (g *progress) removeQueue(q *queue) {
	g.mu.Lock()
	g.queues = slices.DeleteFunc(g.queues, func(x *queue) bool { return x == q })
	g.mu.Unlock()
}

// stop ends the goroutine and waits for that. There are no queues any more.
func (g *progress) stop() {
	if g.wakeup != nil {
		g.wakeup.Close()
		<-g.ended
	}
	if g.Progress != nil {
		g.Free()
	}
}

// driveLoop waits for Need, and drives the provider until no request is on its way.
func (g *progress) driveLoop() {
	defer log.Guard()
	defer close(g.ended)
	var rings [8]byte
	for {
		if _, err := g.wakeup.Read(rings[:]); err != nil {
			return // it was closed
		}
		for time.Sleep(progressPeriod); g.driveOnce(); time.Sleep(progressPeriod) {
		}
		g.ResetNeeded()
		if g.driveOnce() { // posted before that
			g.Need()
		}
	}
}

// driveOnce calls the provider for each queue: false if no request is on its way. It locks mu.
func (g *progress) driveOnce() (busy bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, q := range g.queues {
		idle := q.requestSlots.inUse() == 0 && q.fast.Requests() == 0 &&
			!q.fast.HasGoCompletions()
		if idle && !q.postStalled() {
			continue
		}
		busy = true
		for range maxRounds { // a completion may let other requests go, which complete soon
			n, err := q.endpoint.Look(g.polled[:], pollsPerRound, 0)
			if n == 0 || err != nil {
				break
			}
			q.handleCompletions(g.polled[:n])
		}
		q.handleFoundByC()
		q.postStalled()
		q.wakeSleeper()
	}
	return busy
}
