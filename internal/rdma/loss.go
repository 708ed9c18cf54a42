// SPDX-License-Identifier: BSD-3-Clause

// How a connection ends: by a failure of the queue pair, by Break, by a receiver's error, or by
// Close. Any thread marks the end as broken. Then the poller fails what is open, tells the
// receiver, and sends a farewell to the other end: an empty message, which arrives after everything
// that was sent. A datagram tells the other process to poll for it, in case it is idle. The queue
// pair is destroyed when the farewell has left.
package rdma

import (
	"errors"
	"io"
	"math"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/wait"
)

var (
	errBroken     = errors.New("the connection was broken off")
	errClosed     = errors.New("the connection was closed")
	errPeerClosed = io.EOF // the other end has closed or broken it
)

const (
	releaseTimeout = time.Second           // how long a farewell may take
	minReleaseTime = 10 * time.Millisecond // how long Close waits for it at least
)

// lose marks an end as broken, unless it is already. It returns the reason that counts, the first
// one. Any thread.
func (e *endpoint) markLost(why error) error {
	if e.lossReason.CompareAndSwap(nil, &why) {
		e.queue.fast.DropPair(e.pair.Handle())
		e.queue.callFromPoller(e.handleLoss)
		e.fabric.Wake()
	}
	return *e.lossReason.Load()
}

// Break ends the connection.
func (e *endpoint) Break() { e.markLost(errBroken) }

// tell ends a connection that was lost. Poller only.
func (e *endpoint) handleLoss() {
	e.failPending(true)
	if e.discardPending != nil { // a target's end; an origin's is closed by internode
		e.scheduleDestroy()
	}
}

// shut ends a connection that is being closed. Poller only.
func (e *endpoint) disconnect() {
	e.markLost(errClosed)
	e.failPending(false)
	e.scheduleDestroy()
}

// finish fails what is open, tells the receiver if tell is set, and sends the farewell; once.
// Poller only.
func (e *endpoint) failPending(tell bool) {
	if e.lossHandled {
		return
	}
	e.lossHandled = true
	if e.disconnecting.Swap(true) {
		e.queue.disconnectsExpected.Add(-1)
	}
	why := *e.lossReason.Load()
	e.queue.fast.DropPair(e.pair.Handle()) // lose may have yet to: C posts nothing behind Fail
	e.queue.fast.Fail(e.pair.Handle())
	for _, p := range e.inflight.failAll() {
		releaseRegistrations(p.registrations)
		if p.done != nil {
			p.done.Done(why)
		}
	}
	if e.discardPending != nil {
		e.discardPending()
	}
	if tell {
		e.receiver.Lost(why)
	}
	e.sendDisconnect(why == errPeerClosed)
}

// farewell sends what was posted meanwhile, and then an empty message, unless the other end has
// gone.
func (e *endpoint) sendDisconnect(gone bool) {
	e.sendMu.Lock()
	defer e.sendMu.Unlock()
	e.inflight.setClosed(false)
	if e.discardPending != nil && !e.pairFailed.Load() {
		e.flushPending()
	}
	e.sendClosed, e.pendingFrames = true, nil
	if gone || e.pairFailed.Load() || !e.queue.claimEntries(1) {
		e.pairFailed.Store(true)
	} else {
		q := [1]qp.Request{{Op: qp.Send}}
		if e.postChain(postedChain{buffer: noBuffer}, q[:], nil) != nil {
			e.pairFailed.Store(true)
		}
	}
	e.inflight.setClosed(true)
	if !gone {
		e.fabric.connManager.announceDisconnect(&disconnectNotice{e.pair.Peer(), e.pair.Number(), e.pairFailed.Load()}, &e.peerManager)
	}
}

// left tells whether everything has left, the farewell last, or never will.
func (e *endpoint) disconnectSent() bool {
	return e.pairFailed.Load() || !e.inflight.isOpen(e.inflight.nextNumber())
}

// departed is told of the other end's farewell where this end is broken already: nobody takes this
// end's farewell any more. Poller only.
func (e *endpoint) onPeerDisconnect() {
	e.pairFailed.Store(true)
	e.queue.callsPending.Store(true)
}

// part has the queue pair destroyed as soon as the farewell has left. Poller only.
func (e *endpoint) scheduleDestroy() {
	if e.destroyBy.IsZero() {
		e.destroyBy = time.Now().Add(releaseTimeout)
		e.queue.releasing = append(e.queue.releasing, e)
		e.queue.callsPending.Store(true)
	}
}

// reap destroys the parting ends whose farewell has left. Poller only.
func (q *queue) destroyReleased() {
	rest := q.releasing[:0]
	for _, e := range q.releasing {
		if e.disconnectSent() || time.Now().After(e.destroyBy) {
			e.destroyPair()
		} else {
			rest = append(rest, e)
		}
	}
	q.releasing = rest
}

// destroy destroys the queue pair, after which nothing completes any more, and frees what was in
// flight.
func (e *endpoint) destroyPair() {
	e.queue.unregisterEndpoint(e)
	handle, number := e.pair.Handle(), e.pair.Number()
	e.queue.fast.DropPair(handle)
	err := e.pair.Close()
	if err != nil { // what the device still uses is not used again
		log.Infof("%v", err)
	} else {
		e.queue.fast.Forget(handle)
		e.queue.answers.Drop(number)
	}
	for p, ok := e.inflight.popCompleted(math.MaxUint64); ok; p, ok = e.inflight.popCompleted(math.MaxUint64) {
		if err != nil {
			p.buffer, p.registrations = noBuffer, nil
		}
		e.releaseChain(&p)
	}
}

// idle tells whether nothing is open any more.
func (e *endpoint) sendsComplete() bool {
	e.sendMu.Lock()
	defer e.sendMu.Unlock()
	return e.lossReason.Load() != nil || len(e.pendingFrames) == 0 && !e.inflight.isOpen(e.inflight.nextNumber())
}

// Close ends the connection when what was sent has left, or linger is over. The farewell always has
// a moment to leave: else the queue pair would stay until somebody polls.
func (e *endpoint) Close(linger time.Duration) {
	until := time.Now().Add(max(linger, minReleaseTime))
	e.queue.lockPollPriority()
	defer e.queue.unlockPoll()
	e.queue.disconnectAll(until, e)
}

// shut ends connections when what was sent has left, but no later than until. Poller only.
func (q *queue) disconnectAll(until time.Time, ends ...*endpoint) {
	for _, e := range ends {
		q.pollUntil(until, e.sendsComplete)
	}
	for _, e := range ends {
		e.disconnect()
	}
	for _, e := range ends {
		q.pollUntil(until, e.disconnectSent)
	}
	q.destroyReleased()
}

// own makes the caller the poller, until leave.
func (q *queue) lockPollPriority() {
	q.closers.Add(1)
	q.Interrupt()
	q.pollMu.Lock()
	q.closers.Add(-1)
	q.fast.Enter()
}

// pollUntil polls until done, or until a time. Poller only.
func (q *queue) pollUntil(until time.Time, done func() bool) {
	for !done() && time.Now().Before(until) {
		if q.pollBatch(1) == 0 {
			wait.Yield()
		}
	}
}

// closeAll closes the ends that are left, after what was posted has left.
func (q *queue) closeEndpoints() {
	q.lockPollPriority()
	defer q.unlockPoll()
	q.disconnectAll(time.Now().Add(releaseTimeout), q.listEndpoints()...)
	for _, e := range q.releasing {
		e.destroyPair()
	}
	q.releasing = nil
}
