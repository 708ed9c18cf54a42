// SPDX-License-Identifier: BSD-3-Clause

// Large stores that nobody waits for, over a fabric whose Send takes as long as the network: they
// are queued at their target and sent by one of a few threads, or by the next caller who posts
// something there, so that what is posted later arrives later.
package internode

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// queue is the stores of a target that wait for their turn, oldest first.
type queue struct {
	mu      sync.Mutex
	list    []*transfer
	length  atomic.Int32 // of those that have not been sent
	sending bool         // a thread sends them, or will
	// how often a caller has lately sent what was queued before a thread did
	taken atomic.Int32
	due   int64 // when a thread begins to send it, since began; under mu
}

// expectsCaller tells whether a caller is likely to send what was queued, with the next frame that
// it posts. A thread is begun for it all the same if it does not come in time.
func (q *queue) expectsCaller() bool { return q.taken.Load() >= usuallyTaken }

// note is told that a caller has sent what was queued, or that a thread had to.
func (q *queue) note(caller bool) {
	n := q.taken.Load()
	if caller {
		q.taken.Store(min(n+1, mostTaken))
	} else {
		q.taken.Store(n / 4)
	}
}

// pop takes the oldest, nil if there is none.
func (q *queue) pop() *transfer {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return nil
	}
	f := q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	return f
}

// drain sends what is queued. The caller has the lock. Where err is not nil, or the target is lost,
// all fail.
func (g *target) drain(err error) error {
	for f := g.queue.pop(); f != nil; f = g.queue.pop() {
		var r *request
		failed := err
		if err == nil {
			r, failed = g.carry(f, f.x.Bytes())
			err = g.lost() // a refusal concerns nobody else
		}
		g.queue.length.Add(-1)
		x := f.x
		f.posted(r)
		if r != nil {
			r.finish(failed)
		} else {
			x.Finish(failed) // also if posting has failed: its caller has gone
		}
	}
	return err
}

// maxSenders bounds the threads that send queued stores at the same time, however many nodes they
// go to.
const maxSenders = 4

// enqueue queues a store and sees that it is sent.
func (g *target) enqueue(f *transfer) {
	q := &g.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if g.t.closing.Load() {
		f.x.Finish(transport.ErrClosed)
		return
	}
	q.list = append(q.list, f)
	q.length.Add(1)
	switch {
	case q.sending:
	case !q.expectsCaller():
		g.beginSending()
	case len(q.list) == 1:
		q.due = g.t.thread.flushIn(flushTime(int(q.taken.Load())))
	}
}

// beginSending begins a thread that sends what is queued. The caller has the queue's lock, and no
// thread sends.
func (g *target) beginSending() {
	g.queue.sending = true
	g.t.senders.Add(1)
	go g.sendQueued()
}

// sendLate is for the progress thread: no caller has sent in time what was queued. It tells how
// long it is until it must be called again; negative: it need not be.
func (g *target) sendLate(now int64) (left time.Duration) {
	q := &g.queue
	if q.length.Load() == 0 {
		return -1
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.sending || len(q.list) == 0:
		return -1
	case q.due > now:
		return time.Duration(q.due - now)
	}
	g.beginSending()
	return -1
}

// sendQueued sends what is queued for a target, when it is its turn.
func (g *target) sendQueued() {
	defer log.Guard()
	defer g.t.senders.Done()
	g.t.turns <- struct{}{}
	defer func() { <-g.t.turns }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g.t.opt.Unbind()
	for more := true; more; {
		g.mu.Lock()
		if g.queue.length.Load() > 0 {
			g.queue.note(false)
			g.drain(g.ready())
		}
		g.mu.Unlock()
		g.queue.mu.Lock()
		more = len(g.queue.list) > 0
		g.queue.sending = more
		g.queue.mu.Unlock()
	}
}
