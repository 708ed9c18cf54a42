// SPDX-License-Identifier: BSD-3-Clause

// Polling a completion queue. The thread that holds poller.mu is the poller: it takes completions
// and has their endpoints handle them. Other threads leave calls to it (callFromPoller).
package rdma

import (
	"time"

	"libarmci/internal/rdma/fastpath"
	"libarmci/internal/wait"
)

// lockPoll makes the caller the poller and keeps the C fast path away, until unlockPoll.
func (q *queue) lockPoll() {
	if q.poller.closers.Load() > 0 { // the mutex is not fair: a closing thread goes first
		time.Sleep(100 * time.Microsecond)
	}
	q.poller.mu.Lock()
	q.fast.AcquireQueues()
}

func (q *queue) unlockPoll() {
	q.fast.ReleaseQueues()
	q.poller.mu.Unlock()
}

// lockPollToClose is lockPoll for a thread that disconnects endpoints: it ends a Sleep of the
// present poller, and goes before other threads that want to poll.
func (q *queue) lockPollToClose() {
	q.poller.closers.Add(1)
	q.Interrupt()
	q.poller.mu.Lock()
	q.poller.closers.Add(-1)
	q.fast.AcquireQueues()
}

// Poll handles completions, and returns how many. It polls for the first one up to looks times, in
// one call of C: without a pause as often as the policy says, then with a yield before each.
func (q *queue) Poll(looks int) int {
	q.lockPoll()
	defer q.unlockPoll()
	return q.pollUpTo(looks, pollBatch)
}

// pollOnce is Poll for the poller.
func (q *queue) pollOnce(looks int) int { return q.pollUpTo(looks, pollBatch) }

// pollUpTo is Poll for a caller that holds poller.mu. It takes at most `most` new completions, of
// pollBatch at most; what was put aside before, or handled by Sleep, is returned first, unbounded.
func (q *queue) pollUpTo(looks, most int) int {
	if n := q.handleAside() + q.poller.unreported; n > 0 {
		q.poller.unreported = 0
		return n
	}
	spin := max(min(looks, q.policy.pollsBeforeYield), 1)
	return q.pollCQ(most, spin, max(looks-spin, 0))
}

// pollUntil polls until done returns true, or until a time. Poller only.
func (q *queue) pollUntil(until time.Time, done func() bool) {
	for !done() && time.Now().Before(until) {
		if q.pollOnce(1) == 0 {
			wait.Yield()
		}
	}
}

// pollCQ takes completions of the device's queue and handles them. On the data server's queue C
// takes them, and answers some itself. Poller only.
func (q *queue) pollCQ(most, looks, yields int) int {
	if q.answers == nil {
		n, err := q.cq.Poll(q.poller.completions[:most], looks, yields)
		return q.handleCompletions(n, err)
	}
	out := q.poller.completions[:most]
	n, answered, failed, err := q.answers.PollAndAnswer(out, looks, yields)
	q.loseUnanswerable(failed)
	return q.handleCompletions(n, err) + answered
}

// loseUnanswerable marks the endpoint lost on whose queue pair C could post no answer; 0: none.
func (q *queue) loseUnanswerable(pair uint32) {
	if pair == 0 {
		return
	}
	if e := q.endpointOf(pair); e != nil {
		e.markLost(q.fabric.device.DeviceError("an answer cannot be posted"))
	}
}

// Sleep blocks until there are completions, Interrupt is called, or a time has passed (negative: no
// limit), and handles the completions. The next Poll returns their number.
func (q *queue) Sleep(limit time.Duration) {
	q.lockPoll()
	defer q.unlockPoll()
	p := &q.poller
	if p.unreported += q.handleAside(); p.unreported > 0 {
		return
	}
	q.repostReceives()
	if q.policy.maxSleep >= 0 && (limit < 0 || limit > q.policy.maxSleep) {
		limit = q.policy.maxSleep
	}
	n, rang, err := q.cq.WaitCompletions(p.completions[:], int(q.wakeup), limit)
	if rang {
		q.wakeup.Drain()
	}
	left, answered, failed := q.answers.AnswerCompletions(p.completions[:n])
	q.loseUnanswerable(failed)
	p.unreported += q.handleCompletions(left, err) + answered
	if n == 0 && !rang && q.cq.ServedPeer() {
		// The device serves peers only while it is polled: have the caller poll on.
		p.unreported++
	}
}

// Interrupt ends Sleep. Any thread may call it.
func (q *queue) Interrupt() { q.wakeup.Signal() }

// callFromPoller has the poller make a call soon, and wakes it if need be. Any thread may call it.
func (q *queue) callFromPoller(call func()) {
	q.calls.mu.Lock()
	q.calls.list = append(q.calls.list, call)
	q.calls.mu.Unlock()
	q.calls.pending.Store(true)
	if !q.calls.pollerActive.Load() {
		q.Interrupt()
	}
}

// handleAside handles what is not in the device's queue: completions that C has put aside, requests
// that C has found to be over, and calls. It returns how many there were. Poller only.
func (q *queue) handleAside() (n int) {
	aside := q.poller.completions[:fastpath.MaxStashed]
	if taken := q.fast.TakeStashed(aside); taken > 0 {
		n = q.handleCompletions(taken, nil)
	}
	if over := q.fast.OverCount(); over != q.poller.seenFastOver {
		q.poller.seenFastOver = over // a thread of Go's may wait for such a request
		n++
	}
	for q.calls.pending.Load() {
		// The loop repeats, since callFromPoller does not wake a poller that is active.
		q.calls.pollerActive.Store(true)
		q.calls.pending.Store(false)
		q.calls.mu.Lock()
		list := q.calls.list
		q.calls.list = nil
		q.calls.mu.Unlock()
		for _, call := range list {
			call()
		}
		q.destroyReleased()
		q.repostReceives()
		q.calls.pollerActive.Store(false)
		n += len(list)
	}
	return n
}

// handleCompletions handles the first n of poller.completions, and returns how many events that is.
// An error of the poll itself loses all endpoints. Poller only.
func (q *queue) handleCompletions(n int, err error) int {
	if err != nil {
		for _, e := range q.listEndpoints() {
			e.markLost(err)
		}
		return 1
	}
	if n == 0 {
		return 0
	}
	q.calls.pollerActive.Store(true)
	defer q.calls.pollerActive.Store(false)
	sent := false
	for i := range q.poller.completions[:n] {
		c := &q.poller.completions[i]
		e := q.endpointOf(c.Pair)
		switch {
		case q.fast.CompleteOwn(c):
			if c.Status != 0 && e != nil {
				e.markLost(q.fabric.device.RequestError(c))
			}
		case c.ID&receiveID == 0:
			sent = true
			if e != nil {
				e.handleCompletion(c)
			}
		case e == nil || c.Status != 0 || e.lossReason.Load() != nil:
			if e != nil && c.Status == 0 && c.Bytes == 0 {
				e.onPeerDisconnect()
			}
			q.recycleReceive(int32(c.ID &^ receiveID))
		default:
			e.handlers.onMessage(int32(c.ID&^receiveID), int(c.Bytes))
		}
	}
	if sent {
		q.serveBacklogged()
	}
	// Fewer are posted before the poller sleeps: each time is a call of C.
	if len(q.poller.recycledIDs) >= q.receiveBuffers.Count()/4 {
		q.repostReceives()
	}
	return n
}

// serveBacklogged serves the targets for which there was no room. Poller only.
func (q *queue) serveBacklogged() {
	list := q.poller.backlogged
	q.poller.backlogged = nil
	for _, t := range list {
		t.backlogged = false
		t.serveBacklog()
	}
}
