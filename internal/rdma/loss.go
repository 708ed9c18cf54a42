// SPDX-License-Identifier: BSD-3-Clause

// How a connection ends: by a failure of the queue pair, by Break, by a receiver's error, or by
// Close. Any thread records the reason (markLost). Then the poller fails what is in flight, calls
// the receiver, and sends the peer a disconnect message: one of no bytes, which arrives after
// everything that was sent. A notice has the peer's progress thread poll for it, in case that
// process is idle. The queue pair is destroyed when the disconnect message has been sent.
package rdma

import (
	"errors"
	"io"
	"math"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/rdma/qp"
)

var (
	errBroken     = errors.New("the connection was broken off")
	errClosed     = errors.New("the connection was closed")
	errPeerHalted = errors.New("the other side could not reach this one")
	errPeerClosed = io.EOF // the peer has closed or broken it
)

const (
	releaseTimeout = time.Second           // how long sending a disconnect message may take
	minRelease     = 10 * time.Millisecond // how long Close waits for that at least
)

// markLost records why the connection has ended, unless it has already. It returns the reason that
// counts, the first one. The poller does the rest (handleLoss). Any thread may call it.
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

// handleLoss ends a connection that was lost. A target is released here, an origin when package
// internode closes it. Poller only.
func (e *endpoint) handleLoss() {
	e.failAndDisconnect(true)
	if e.handlers.onLost != nil {
		e.scheduleDestroy()
	}
}

// closeNow ends a connection that is being closed. Poller only.
func (e *endpoint) closeNow() {
	e.markLost(errClosed)
	e.failAndDisconnect(false)
	e.scheduleDestroy()
}

// failAndDisconnect fails what is in flight, reports the loss to the receiver if notify is set, and
// sends the disconnect message. It does that once: state is disconnected afterwards. The caller has
// called markLost. Poller only.
func (e *endpoint) failAndDisconnect(notify bool) {
	if connState(e.state.Load()) >= disconnected {
		return
	}
	if connState(e.state.Swap(int32(disconnected))) == peerLeaving {
		e.queue.peersLeaving.Add(-1)
	}
	why := *e.lossReason.Load()
	// Again, since the thread in markLost may not have got there: C posts nothing behind
	// FailPair.
	e.queue.fast.DropPair(e.pair.Handle())
	e.queue.fast.FailPair(e.pair.Handle())
	for _, p := range e.inflight.failAll() {
		releaseRegistrations(p.registrations)
		if p.done != nil {
			p.done.CompletePart(why)
		}
	}
	if e.handlers.onLost != nil {
		e.handlers.onLost()
	}
	if notify {
		e.receiver.Lost(why)
	}
	e.sendDisconnect(why == errPeerClosed)
}

// sendDisconnect sends frames that are still queued, and then a message of no bytes, unless the
// peer has closed the connection first. Unless it has, a notice says whether that message will
// come. The poller calls it once, behind failAll. It locks send.mu.
func (e *endpoint) sendDisconnect(peerClosed bool) {
	e.send.mu.Lock()
	defer e.send.mu.Unlock()
	e.inflight.setClosed(false)
	if e.handlers.onLost != nil && !e.pairFailed.Load() {
		e.sendPending()
	}
	e.send.closed, e.send.pending = true, nil
	if peerClosed || e.pairFailed.Load() || !e.queue.reserveRequests(1) {
		e.pairFailed.Store(true)
	} else {
		requests := [1]qp.Request{{Op: qp.Send}}
		if e.postChain(postedChain{buffer: noBuffer}, requests[:], nil) != nil {
			e.pairFailed.Store(true)
		}
	}
	e.inflight.setClosed(true)
	if !peerClosed {
		n := disconnectNotice{e.pair.Peer(), e.pair.Number(), e.pairFailed.Load()}
		e.fabric.connManager.announceDisconnect(&n, &e.peer.manager)
	}
}

// disconnectSent reports whether everything has been sent, the disconnect message last, or never
// will be. The caller has called failAndDisconnect.
func (e *endpoint) disconnectSent() bool {
	return e.pairFailed.Load() || !e.inflight.isOpen(e.inflight.nextNumber())
}

// onPeerDisconnect handles the peer's disconnect message where this endpoint is lost already: the
// peer takes no disconnect message any more, so the queue pair can be destroyed. Poller only.
func (e *endpoint) onPeerDisconnect() {
	e.pairFailed.Store(true)
	e.queue.calls.pending.Store(true)
}

// scheduleDestroy has the queue pair destroyed as soon as the disconnect message has been sent. The
// caller has called failAndDisconnect. Poller only.
func (e *endpoint) scheduleDestroy() {
	if connState(e.state.Load()) != releasing {
		e.state.Store(int32(releasing))
		e.destroyBy = time.Now().Add(releaseTimeout)
		e.queue.poller.releasing = append(e.queue.poller.releasing, e)
		e.queue.calls.pending.Store(true)
	}
}

// destroyReleased destroys the releasing endpoints whose disconnect message has been sent. Poller
// only.
func (q *queue) destroyReleased() {
	rest := q.poller.releasing[:0]
	for _, e := range q.poller.releasing {
		if e.disconnectSent() || time.Now().After(e.destroyBy) {
			e.destroyPair()
		} else {
			rest = append(rest, e)
		}
	}
	q.poller.releasing = rest
}

// destroyPair destroys the queue pair, after which nothing completes any more, and frees what was
// in flight. Poller only.
func (e *endpoint) destroyPair() {
	e.queue.unregisterEndpoint(e)
	e.resume.markDestroyed()
	handle, number := e.pair.Handle(), e.pair.Number()
	e.queue.fast.DropPair(handle)
	err := e.pair.Close()
	if err != nil { // the device may still use the buffers: they are not used again
		log.Infof("%v", err)
	} else {
		e.queue.fast.ForgetPair(handle)
		e.queue.answers.DropOrigin(number)
	}
	for {
		p, ok := e.inflight.popUpTo(math.MaxUint64)
		if !ok {
			return
		}
		if err != nil {
			p.buffer, p.registrations = noBuffer, nil
		}
		e.releaseChain(&p)
	}
}

// sendsComplete reports whether all that was sent is complete, or the connection is lost. It locks
// send.mu.
func (e *endpoint) sendsComplete() bool {
	e.send.mu.Lock()
	defer e.send.mu.Unlock()
	return e.lossReason.Load() != nil ||
		len(e.send.pending) == 0 && !e.inflight.isOpen(e.inflight.nextNumber())
}

// Close ends the connection when what was sent is complete, or when linger is over. It waits for
// the disconnect message for a moment at least: otherwise the queue pair would stay until a thread
// polls. It becomes the poller, for up to linger or minRelease.
func (e *endpoint) Close(linger time.Duration) {
	until := time.Now().Add(max(linger, minRelease))
	e.queue.lockPollToClose()
	defer e.queue.unlockPoll()
	e.queue.disconnectAll(until, e)
}

// disconnectAll ends connections when what was sent is complete, but no later than until. Poller
// only.
func (q *queue) disconnectAll(until time.Time, ends ...*endpoint) {
	for _, e := range ends {
		q.pollUntil(until, e.sendsComplete)
	}
	for _, e := range ends {
		e.closeNow()
	}
	for _, e := range ends {
		q.pollUntil(until, e.disconnectSent)
	}
	q.destroyReleased()
}

// closeEndpoints closes the endpoints that are left, after what was posted has been sent. It
// becomes the poller, for up to releaseTimeout.
func (q *queue) closeEndpoints() {
	q.lockPollToClose()
	defer q.unlockPoll()
	q.disconnectAll(time.Now().Add(releaseTimeout), q.listEndpoints()...)
	for _, e := range q.poller.releasing {
		e.destroyPair()
	}
	q.poller.releasing = nil
}
