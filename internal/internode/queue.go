// SPDX-License-Identifier: BSD-3-Clause

// Large stores that no caller waits for, over a fabric whose Send takes as long as the network.
// They are queued at their target. A sender, which is one of a few threads, sends them; or the next
// caller that posts to the target does, so that what is posted later arrives later.
package internode

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// storeQueue is the stores of a target that a sender has yet to send, oldest first.
type storeQueue struct {
	target *target

	length     atomic.Int32 // stores that have not been sent, the one that is being sent too
	callerSent atomic.Int32 // how often a caller, not a sender, lately sent what was queued

	mu            sync.Mutex // guards the rest
	stores        []*transfer
	senderRunning bool  // a sender was started and will look at stores again
	senderDue     int64 // when the progress thread starts a sender, in ns since began
}

// expectsCaller reports whether a caller is likely to send what was queued, with the next frame
// that it posts. The progress thread starts a sender if the caller does not come in time.
func (q *storeQueue) expectsCaller() bool { return q.callerSent.Load() >= usuallyPiggybacked }

// recordSender records that a caller, or else a sender, has sent what was queued.
func (q *storeQueue) recordSender(caller bool) {
	n := q.callerSent.Load()
	if caller {
		q.callerSent.Store(min(n+1, maxPiggybacked))
	} else {
		q.callerSent.Store(n / 4)
	}
}

// popOldest removes and returns the oldest store, or nil. It locks the queue's mu.
func (q *storeQueue) popOldest() *transfer {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.stores) == 0 {
		return nil
	}
	f := q.stores[0]
	q.stores[0] = nil
	q.stores = q.stores[1:]
	return f
}

// sendAll sends what is queued. If err is not nil, or the target is lost, all queued stores fail.
// It returns the error with which the target is lost. The caller holds the target's mu and not the
// queue's, which this locks.
func (q *storeQueue) sendAll(err error) error {
	g := q.target
	for f := q.popOldest(); f != nil; f = q.popOldest() {
		var r *request
		failed := err
		if err == nil {
			r, failed = f.postLocked(g, f.xfer.Bytes())
			err = g.loss.err() // a refusal concerns only f
		}
		q.length.Add(-1)
		x := f.xfer
		f.detachXfer(r)
		if r != nil {
			p := r.poller
			r.finishPart(failed)
			p.requestUnattended()
		} else {
			x.Finish(failed) // with any error: the caller has returned
		}
	}
	return err
}

// maxSenders bounds the senders of all targets that send at the same time.
const maxSenders = 4

// enqueue queues a store and sees that it is sent: by a sender that it starts, or by the next
// caller if that is likely to come. It locks the queue's mu. The local memory is in use until the
// transfer's Finish.
func (q *storeQueue) enqueue(f *transfer) {
	g := q.target
	q.mu.Lock()
	defer q.mu.Unlock()
	if g.t.life.closing.Load() {
		f.xfer.Finish(transport.ErrClosed)
		return
	}
	q.stores = append(q.stores, f)
	q.length.Add(1)
	switch {
	case q.senderRunning:
	case !q.expectsCaller():
		q.startSender()
	case len(q.stores) == 1:
		q.senderDue = g.t.thread.scheduleFlush(flushDelay(int(q.callerSent.Load())))
	}
}

// startSender starts a sender, a goroutine. The caller holds the queue's mu, and no sender runs.
func (q *storeQueue) startSender() {
	q.senderRunning = true
	q.target.t.senders.running.Add(1)
	go q.runSender()
}

// startSenderIfDue starts a sender, a goroutine, if no caller has sent in time what was queued. The
// progress thread calls it, and again after the returned time; negative: it need not. It locks the
// queue's mu.
func (q *storeQueue) startSenderIfDue(now int64) (left time.Duration) {
	if q.length.Load() == 0 {
		return -1
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.senderRunning || len(q.stores) == 0:
		return -1
	case q.senderDue > now:
		return time.Duration(q.senderDue - now)
	}
	q.startSender()
	return -1
}

// runSender sends what is queued at the target until the queue is empty. It waits for one of
// senders.slots before it locks the target's mu.
func (q *storeQueue) runSender() {
	g := q.target
	defer log.Guard()
	defer g.t.senders.running.Done()
	g.t.senders.slots <- struct{}{}
	defer func() { <-g.t.senders.slots }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g.t.opt.Unbind()
	for more := true; more; {
		g.mu.Lock()
		if q.length.Load() > 0 {
			q.recordSender(false)
			q.sendAll(g.ensureConnected())
		}
		g.mu.Unlock()
		q.mu.Lock()
		more = len(q.stores) > 0
		q.senderRunning = more
		q.mu.Unlock()
	}
}
