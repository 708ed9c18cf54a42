// SPDX-License-Identifier: BSD-3-Clause

// What both ends of a connection have in common: a queue pair, what is in flight on it, frames that
// wait for room. Any thread may post. Completions are handled by the poller, the thread that polls
// the queue. How an end ends is in loss.go.
package rdma

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

type endpoint struct {
	fabric         *Fabric
	queue          *queue
	pair           qp.Pair
	peerManager    qp.Address // the other end's connection manager
	receiver       transport.Receiver
	onMessage      func(buffer int32, n int) // a message is in a receive buffer
	onCompletion   func()                    // a chain is complete: there may be room
	discardPending func()                    // nothing more can be sent or handled; nil at an origin
	maxPieces      int                       // pieces that a request may have
	maxMessage     int                       // bytes of a message in either direction
	maxChain       int                       // requests of a chain
	freeRequests   atomic.Int32              // requests that may be posted
	inflight       inflightRing

	sendMu        sync.Mutex    // never while waiting
	pendingFrames []queuedFrame // frames that found no room
	sendClosed    bool          // nothing is sent any more

	lossReason    atomic.Pointer[error] // why the connection has ended; nil while it works
	pairFailed    atomic.Bool           // the queue pair cannot even send a farewell
	disconnecting atomic.Bool           // a farewell is expected, or this end has ended
	peerPair      atomic.Uint32         // number of the other end's queue pair, once connected
	// Used by the poller only.
	lossHandled bool // Lost has been called, or must not be called any more
	// when the queue pair is destroyed at the latest; zero: the end is not parting yet
	destroyBy time.Time
}

// leastRequests is how many requests a queue pair must have room for.
const minRequests = writeChainLength

// open makes the queue pair, with room for so many requests of so many pieces, and for more
// requests that others post (C).
func (e *endpoint) openPair(f *Fabric, q *queue, requests, pieces, inline, more int) (err error) {
	e.fabric, e.queue, e.maxPieces = f, q, max(1, min(pieces, f.device.Limits().MaxSGE))
	least := min(requests, minRequests)
	requests = min(requests, f.device.Limits().MaxWR-more-1, q.allEntries)
	if requests < least {
		return fmt.Errorf("device %s allows %d work requests in a queue pair, too few",
			f.device.Name(), f.device.Limits().MaxWR)
	}
	e.freeRequests.Store(int32(requests))
	e.maxChain = requests
	e.inflight.chains = make([]postedChain, requests+1) // and the farewell
	e.pair, err = q.cq.NewPair(requests+1+more, e.maxPieces, inline)
	return err
}

// attempt posts a chain, if there is room for it.
func (e *endpoint) tryPost(p postedChain, requests []qp.Request, data []qp.Data) (ok bool, err error) {
	e.sendMu.Lock()
	defer e.sendMu.Unlock()
	if !e.reserveRequests(len(requests)) {
		return false, nil
	}
	return true, e.postChain(p, requests, data)
}

// reserve takes room for n requests, if there is enough. The caller has the lock.
func (e *endpoint) reserveRequests(n int) bool {
	if e.freeRequests.Load() < int32(n) || !e.queue.claimEntries(int32(n)) {
		return false
	}
	e.freeRequests.Add(int32(-n))
	return true
}

// post posts a chain for which there is room. The caller has the lock.
func (e *endpoint) postChain(p postedChain, requests []qp.Request, data []qp.Data) error {
	p.requests = int32(len(requests))
	number, ok := e.inflight.appendChain(&p)
	if !ok {
		e.releaseChain(&p)
		return *e.lossReason.Load()
	}
	last := &requests[len(requests)-1]
	last.ID = number
	last.Flags |= qp.Signal
	if err := e.pair.Post(requests, data); err != nil {
		return e.markLost(e.fabric.device.Fault(err.Error()))
	}
	return nil
}

// postFrame posts a message of n bytes that is in a buffer, for which there is room. The caller has
// the lock.
func (e *endpoint) postFrame(b int32, n int) error {
	q := [1]qp.Request{{Pieces: 1, Op: qp.Send}}
	d := [1]qp.Data{e.fabric.bufferPiece(e.queue.sendBuffers, b, 0, n)}
	if n > e.pair.Inline() {
		return e.postChain(postedChain{buffer: b}, q[:], d[:])
	}
	q[0].Flags = qp.Inline
	err := e.postChain(postedChain{buffer: noBuffer}, q[:], d[:])
	e.queue.sendBuffers.Put(b)
	return err
}

// full tells whether this end has its share of the buffers in flight, so that another one, of a
// message of n bytes, has to wait: a peer that does not receive keeps them, and others need some,
// too.
func (e *endpoint) overBufferShare(n int) bool {
	return n > e.pair.Inline() && e.inflight.openCount() >= max(uint64(e.queue.sendBuffers.Count())/8, 2)
}

// flush sends late frames, as far as there is room; true if some are left. The caller has the lock.
func (e *endpoint) flushPending() (left bool) {
	for len(e.pendingFrames) > 0 && e.sendBuffered(e.pendingFrames[0]) {
		e.pendingFrames = e.pendingFrames[1:]
	}
	return len(e.pendingFrames) > 0
}

// sendCopy sends a frame from a buffer, if there is room. The caller has the lock.
func (e *endpoint) sendBuffered(k queuedFrame) bool {
	if e.overBufferShare(bodyOffset(len(k.head)) + len(k.body)) {
		return false
	}
	b := e.queue.sendBuffers.Take()
	if b == noBuffer {
		return false
	}
	if !e.reserveRequests(1) {
		e.queue.sendBuffers.Put(b)
		return false
	}
	e.postFrame(b, encodeQueuedFrame(e.queue.sendBuffers.Bytes(b), k))
	return true
}

// keep keeps a frame until there is room for it; false if nothing is sent any more. The caller has
// the lock.
func (e *endpoint) queueFrame(k queuedFrame) bool {
	if !e.sendClosed {
		e.pendingFrames = append(e.pendingFrames, k)
	}
	return !e.sendClosed
}

// completed handles the completion of a chain, and so of all chains before it.
func (e *endpoint) handleCompletion(c *qp.Completion) {
	if e.lossHandled {
		e.queue.callsPending.Store(true) // it may have to be destroyed now
	}
	if c.Status != 0 {
		e.pairFailed.Store(true)
		e.markLost(e.fabric.device.Failure(c))
		return
	}
	for p, ok := e.inflight.popCompleted(c.ID); ok; p, ok = e.inflight.popCompleted(c.ID) {
		if p.readBytes > 0 {
			e.queue.readInto[p.buffer].Unpack(e.queue.sendBuffers.Bytes(p.buffer)[:p.readBytes])
		}
		e.releaseChain(&p)
		if p.done != nil {
			p.done.Done(nil)
		}
	}
	e.onCompletion()
}

// giveBack frees what a chain has used: its buffer, registered memory, room.
func (e *endpoint) releaseChain(p *postedChain) {
	if p.buffer != noBuffer {
		e.queue.sendBuffers.Put(p.buffer)
	}
	releaseRegistrations(p.registrations)
	e.freeRequests.Add(p.requests)
	e.queue.freeEntries.Add(p.requests)
}

// MaxFrame is what remains of a message without the bytes that this fabric adds.
func (e *endpoint) MaxFrame() int { return e.maxMessage - frameOverhead }

// Source is the queue that this end shares.
func (e *endpoint) Source() transport.Source { return e.queue }

// Mark names the chains that were posted so far.
func (e *endpoint) Mark() uint64 { return e.inflight.nextNumber() }

// Reached tells whether these chains are complete, and all puts of the fast path. A write has taken
// effect at the target when it completes here: a reliable connection acknowledges what the target's
// device has taken, and every later load at the target finds it. That holds for devices that are
// coherent with their processor, as all are that exist for the machines this library runs on, and
// for those made of software.
func (e *endpoint) Reached(mark uint64) bool { return !e.inflight.isOpen(mark) && e.queue.fast.Clear() }

// Requests is how many work requests a transfer takes.
func (e *endpoint) Requests(local, remote *kernel.Cursor) int64 {
	return kernel.CountRuns(local, remote, e.maxPieces)
}

// Pulse writes no bytes to the peer, unless something is on its way already. If the peer has gone,
// that fails.
func (e *endpoint) Pulse() {
	e.queue.fast.Enter()
	defer e.queue.fast.Leave()
	if e.lossReason.Load() != nil {
		return
	}
	if e.inflight.isOpen(e.inflight.nextNumber()) {
		if err := e.pair.Alive(); err != nil {
			e.markLost(err)
		}
		return
	}
	q := [1]qp.Request{{Op: qp.Write}}
	if ok, _ := e.tryPost(postedChain{buffer: noBuffer}, q[:], nil); ok && e.queue == e.fabric.originQueue {
		// otherwise nobody may poll for it
		e.fabric.Attend(e.queue)
	}
}
