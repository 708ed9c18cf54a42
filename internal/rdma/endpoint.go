// SPDX-License-Identifier: BSD-3-Clause

// What the endpoints of origins and targets have in common: a queue pair, the chains of requests
// that are in flight on it, and frames that are queued until there is room. Any thread may post.
// The poller, the thread that polls the queue, handles completions. How an endpoint is disconnected
// is in loss.go.
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

// endpoint is one end of a connection.
type endpoint struct {
	fabric       *Fabric
	queue        *queue
	pair         qp.Pair
	peer         peerEnd
	receiver     transport.Receiver
	handlers     endpointHandlers
	limits       endpointLimits
	freeRequests atomic.Int32 // requests that the queue pair has room for
	inflight     inflightRing
	send         sendState
	state        atomic.Int32          // a connState
	lossReason   atomic.Pointer[error] // why the connection has ended; nil while it works
	// pairFailed: the queue pair cannot send a disconnect message, or the peer takes none.
	pairFailed atomic.Bool
	destroyBy  time.Time // in state releasing; poller only
	resume     resumption
}

// peerEnd is where the other end of a connection is.
type peerEnd struct {
	manager qp.Address    // of the process's connection manager, for notices
	pair    atomic.Uint32 // number of the queue pair; 0 until it is connected
}

// endpointHandlers are what an origin and a target do with events. Poller only.
type endpointHandlers struct {
	onMessage    func(buffer int32, n int) // a message of n bytes is in a receive buffer
	onCompletion func()                    // chains have completed: there may be room
	// onLost gives up what is not handled yet. It is nil for an origin.
	onLost func()
}

// endpointLimits are fixed when the queue pair is made, or when the peer's limits are known.
type endpointLimits struct {
	pieces  int // pieces of local memory in a request
	message int // bytes of a message in either direction
	chain   int // requests of a chain
}

// sendState is what posting needs.
type sendState struct {
	mu sync.Mutex // guards the rest; a thread that holds it does not wait

	pending []queuedFrame // frames for which there was no room
	closed  bool          // the disconnect message is posted, nothing may be sent behind it
}

// connState is the state of an endpoint. The first change may be made by the connection manager's
// thread, the others are the poller's. A loss is first recorded in lossReason, by any thread.
type connState int32

const (
	// connected: frames and transfers are exchanged, or the endpoint is being connected.
	connected connState = iota
	// peerLeaving: the peer has announced its disconnect message. The progress thread polls for
	// it, and counts the endpoint in queue.peersLeaving.
	peerLeaving
	// disconnected: what was in flight has failed, the receiver knows of the loss, and the
	// disconnect message is posted unless the peer or the queue pair is gone.
	disconnected
	// releasing: the queue pair is destroyed when the disconnect message has been sent, or at
	// destroyBy.
	releasing
)

// minRequests is how many requests a queue pair must have room for.
const minRequests = writeChainLength

// openPair makes the queue pair, with room for so many requests of so many pieces, and for more
// requests that C posts.
func (e *endpoint) openPair(f *Fabric, q *queue, requests, pieces, inline, more int) (err error) {
	e.fabric, e.queue = f, q
	spare := 1 // for the disconnect message
	if q.keepsRequests() {
		spare++ // to go on after a failure
	}
	e.limits.pieces = max(1, min(pieces, f.device.Limits().MaxSGE))
	least := min(requests, minRequests)
	requests = min(requests, f.device.Limits().MaxWR-more-spare, q.maxRequests)
	if requests < least {
		return fmt.Errorf("device %s allows %d work requests in a queue pair, too few",
			f.device.Name(), f.device.Limits().MaxWR)
	}
	e.freeRequests.Store(int32(requests))
	e.limits.chain = requests
	e.inflight.chains = make([]postedChain, requests+1) // and the disconnect message
	e.pair, err = q.cq.NewPair(requests+spare+more, e.limits.pieces, inline)
	if p, ok := e.pair.(qp.Resumer); ok && p.Keeps() {
		e.resume.pair = p
	}
	return err
}

// tryPost posts a chain if there is room for it; otherwise ok is false. It locks send.mu.
func (e *endpoint) tryPost(p postedChain, requests []qp.Request, data []qp.Data) (ok bool,
	err error) {
	e.send.mu.Lock()
	defer e.send.mu.Unlock()
	if !e.reserveRequests(len(requests)) {
		return false, nil
	}
	return true, e.postChain(p, requests, data)
}

// reserveRequests reserves room for n requests in queue pair and queue, if there is enough. The
// caller holds send.mu and posts that many.
func (e *endpoint) reserveRequests(n int) bool {
	if e.freeRequests.Load() < int32(n) || !e.queue.reserveRequests(int32(n)) {
		return false
	}
	e.freeRequests.Add(int32(-n))
	return true
}

// postChain posts a chain for which the caller has reserved room. The caller holds send.mu. After
// an error the chain's buffer is free, or will be.
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
		return e.markLost(e.fabric.device.DeviceError(err.Error()))
	}
	return nil
}

// postMessage posts a message of n bytes that is in send buffer b. The caller holds send.mu and has
// reserved one request of the endpoint. The buffer is freed at once if the message goes inline, or
// with an error, else when the request has completed.
func (e *endpoint) postMessage(b int32, n int) error {
	requests := [1]qp.Request{{Pieces: 1, Op: qp.Send}}
	data := [1]qp.Data{e.fabric.describeBuffer(e.queue.sendBuffers, b, 0, n)}
	if n > e.pair.Inline() {
		return e.postChain(postedChain{buffer: b}, requests[:], data[:])
	}
	requests[0].Flags = qp.Inline
	err := e.postChain(postedChain{buffer: noBuffer}, requests[:], data[:])
	e.queue.sendBuffers.Put(b)
	return err
}

// overBufferShare reports whether a message of n bytes has to wait since this endpoint has its
// share of the send buffers in flight. A peer that does not receive keeps them, and others need
// some, too.
func (e *endpoint) overBufferShare(n int) bool {
	share := max(uint64(e.queue.sendBuffers.Count())/8, 2)
	return n > e.pair.Inline() && e.inflight.openCount() >= share
}

// sendPending sends queued frames as far as there is room, and reports whether some are left. The
// caller holds send.mu.
func (e *endpoint) sendPending() (left bool) {
	for len(e.send.pending) > 0 && e.sendBuffered(e.send.pending[0]) {
		e.send.pending = e.send.pending[1:]
	}
	return len(e.send.pending) > 0
}

// sendBuffered copies a frame into a send buffer and posts it, if there is room. The caller holds
// send.mu.
func (e *endpoint) sendBuffered(k queuedFrame) bool {
	if e.overBufferShare(bodyOffset(len(k.head)) + len(k.body)) {
		return false
	}
	b := e.queue.sendBuffers.TakeBuffer()
	if b == noBuffer {
		return false
	}
	if !e.reserveRequests(1) {
		e.queue.sendBuffers.Put(b)
		return false
	}
	e.postMessage(b, encodeQueuedFrame(e.queue.sendBuffers.Bytes(b), k))
	return true
}

// queueFrame queues a frame until there is room for it; false if nothing is sent any more. The
// caller holds send.mu, and has made the copies that the frame keeps.
func (e *endpoint) queueFrame(k queuedFrame) bool {
	if !e.send.closed {
		e.send.pending = append(e.send.pending, k)
	}
	return !e.send.closed
}

// handleCompletion handles the completion of a chain, and so of all chains before it. Poller only.
func (e *endpoint) handleCompletion(c *qp.Completion) {
	if connState(e.state.Load()) >= disconnected {
		e.queue.calls.pending.Store(true) // the queue pair may be ready to be destroyed
	}
	if c.Status != 0 {
		e.pairFailed.Store(true)
		e.markLost(e.fabric.device.RequestError(c))
		return
	}
	for p, ok := e.inflight.popUpTo(c.ID); ok; p, ok = e.inflight.popUpTo(c.ID) {
		if p.readBytes > 0 {
			data := e.queue.sendBuffers.Bytes(p.buffer)[:p.readBytes]
			e.queue.readInto[p.buffer].Unpack(data)
		}
		e.releaseChain(&p)
		if p.done != nil {
			p.done.CompletePart(nil)
		}
	}
	e.handlers.onCompletion()
}

// releaseChain frees what a chain has used: its buffer, registrations and entries.
func (e *endpoint) releaseChain(p *postedChain) {
	if p.buffer != noBuffer {
		e.queue.sendBuffers.Put(p.buffer)
	}
	releaseRegistrations(p.registrations)
	e.freeRequests.Add(p.requests)
	e.queue.requestsLeft.Add(p.requests)
}

// MaxFrame is the longest frame: a message without what this fabric adds.
func (e *endpoint) MaxFrame() int { return e.limits.message - frameOverhead }

// Source is the queue that the endpoint shares with others.
func (e *endpoint) Source() transport.Source { return e.queue }

// Mark returns a number for Reached, which stands for the chains that were posted so far.
func (e *endpoint) Mark() uint64 { return e.inflight.nextNumber() }

// Reached reports whether the chains of a Mark are complete, and all puts of the fast path. A write
// has taken effect at the target when it completes here. A reliable connection acknowledges what
// the target's device has taken, and every later load at the target finds it. That holds for
// devices that are coherent with their processor, and for those made of software. Of a connection
// that was lost no chain is open, but some may have failed.
func (e *endpoint) Reached(mark uint64) bool {
	if e.inflight.isOpen(mark) || !e.queue.fast.StoresDrained() {
		return false
	}
	why := e.lossReason.Load() // behind the rest: it is set before chains fail
	return why == nil || *why == errClosed
}

// Requests is how many work requests a transfer takes.
func (e *endpoint) Requests(local, remote *kernel.Cursor) int64 {
	return kernel.CountRuns(local, remote, e.limits.pieces)
}

// Pulse detects a peer that is gone: it writes no bytes to it, which then fails. Where something is
// in flight already, the device alone is asked.
func (e *endpoint) Pulse() {
	e.queue.fast.AcquireQueues()
	defer e.queue.fast.ReleaseQueues()
	if e.lossReason.Load() != nil {
		return
	}
	if err := e.pair.Alive(); err != nil {
		e.markLost(err)
		return
	}
	if e.inflight.isOpen(e.inflight.nextNumber()) {
		return
	}
	requests := [1]qp.Request{{Op: qp.Write}}
	ok, _ := e.tryPost(postedChain{buffer: noBuffer}, requests[:], nil)
	if ok && e.queue == e.fabric.originQueue {
		e.fabric.Attend(e.queue) // perhaps no other thread polls for the completion
	}
}
