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

type end struct {
	f        *Fabric
	q        *queue
	pair     qp.Pair
	back     qp.Address // the other end's connection manager
	receiver transport.Receiver
	arrived  func(buffer int32, n int) // a message is in a receive buffer
	freed    func()                    // a chain is complete: there may be room
	dropped  func()                    // nothing more can be sent or handled; nil at an origin
	width    int                       // pieces that a request may have
	most     int                       // bytes of a message in either direction
	longest  int                       // requests of a chain
	slots    atomic.Int32              // requests that may be posted
	ring     ring

	posting sync.Mutex // never while waiting
	late    []frame    // frames that found no room
	over    bool       // nothing is sent any more

	broken atomic.Pointer[error] // why the connection has ended; nil while it works
	dead   atomic.Bool           // the queue pair cannot even send a farewell
	leaves atomic.Bool           // a farewell is expected, or this end has ended
	peer   atomic.Uint32         // number of the other end's queue pair, once connected
	// Used by the poller only.
	told bool // Lost has been called, or must not be called any more
	// when the queue pair is destroyed at the latest; zero: the end is not parting yet
	until time.Time
}

// leastRequests is how many requests a queue pair must have room for.
const leastRequests = writeLength

// open makes the queue pair, with room for so many requests of so many pieces, and for more
// requests that others post (C).
func (e *end) open(f *Fabric, q *queue, requests, pieces, inline, more int) (err error) {
	e.f, e.q, e.width = f, q, max(1, min(pieces, f.base.Limits().MaxSGE))
	least := min(requests, leastRequests)
	requests = min(requests, f.base.Limits().MaxWR-more-1, q.entries)
	if requests < least {
		return fmt.Errorf("device %s allows %d work requests in a queue pair, too few",
			f.base.Name(), f.base.Limits().MaxWR)
	}
	e.slots.Store(int32(requests))
	e.longest = requests
	e.ring.chains = make([]posted, requests+1) // and the farewell
	e.pair, err = q.cq.NewPair(requests+1+more, e.width, inline)
	return err
}

// attempt posts a chain, if there is room for it.
func (e *end) attempt(p posted, requests []qp.Request, data []qp.Data) (ok bool, err error) {
	e.posting.Lock()
	defer e.posting.Unlock()
	if !e.reserve(len(requests)) {
		return false, nil
	}
	return true, e.post(p, requests, data)
}

// reserve takes room for n requests, if there is enough. The caller has the lock.
func (e *end) reserve(n int) bool {
	if e.slots.Load() < int32(n) || !e.q.claim(int32(n)) {
		return false
	}
	e.slots.Add(int32(-n))
	return true
}

// post posts a chain for which there is room. The caller has the lock.
func (e *end) post(p posted, requests []qp.Request, data []qp.Data) error {
	p.requests = int32(len(requests))
	number, ok := e.ring.push(&p)
	if !ok {
		e.giveBack(&p)
		return *e.broken.Load()
	}
	last := &requests[len(requests)-1]
	last.ID = number
	last.Flags |= qp.Signal
	if err := e.pair.Post(requests, data); err != nil {
		return e.lose(e.f.base.Fault(err.Error()))
	}
	return nil
}

// postFrame posts a message of n bytes that is in a buffer, for which there is room. The caller has
// the lock.
func (e *end) postFrame(b int32, n int) error {
	q := [1]qp.Request{{Pieces: 1, Op: qp.Send}}
	d := [1]qp.Data{e.f.data(e.q.out, b, 0, n)}
	if n > e.pair.Inline() {
		return e.post(posted{buffer: b}, q[:], d[:])
	}
	q[0].Flags = qp.Inline
	err := e.post(posted{buffer: none}, q[:], d[:])
	e.q.out.Put(b)
	return err
}

// full tells whether this end has its share of the buffers in flight, so that another one, of a
// message of n bytes, has to wait: a peer that does not receive keeps them, and others need some,
// too.
func (e *end) full(n int) bool {
	return n > e.pair.Inline() && e.ring.flying() >= max(uint64(e.q.out.Count())/8, 2)
}

// flush sends late frames, as far as there is room; true if some are left. The caller has the lock.
func (e *end) flush() (left bool) {
	for len(e.late) > 0 && e.sendCopy(e.late[0]) {
		e.late = e.late[1:]
	}
	return len(e.late) > 0
}

// sendCopy sends a frame from a buffer, if there is room. The caller has the lock.
func (e *end) sendCopy(k frame) bool {
	if e.full(bodyAt(len(k.head)) + len(k.body)) {
		return false
	}
	b := e.q.out.Take()
	if b == none {
		return false
	}
	if !e.reserve(1) {
		e.q.out.Put(b)
		return false
	}
	e.postFrame(b, encodeKept(e.q.out.Bytes(b), k))
	return true
}

// keep keeps a frame until there is room for it; false if nothing is sent any more. The caller has
// the lock.
func (e *end) keep(k frame) bool {
	if !e.over {
		e.late = append(e.late, k)
	}
	return !e.over
}

// completed handles the completion of a chain, and so of all chains before it.
func (e *end) completed(c *qp.Completion) {
	if e.told {
		e.q.urgent.Store(true) // it may have to be destroyed now
	}
	if c.Status != 0 {
		e.dead.Store(true)
		e.lose(e.f.base.Failure(c))
		return
	}
	for p, ok := e.ring.pop(c.ID); ok; p, ok = e.ring.pop(c.ID) {
		if p.read > 0 {
			e.q.into[p.buffer].Unpack(e.q.out.Bytes(p.buffer)[:p.read])
		}
		e.giveBack(&p)
		if p.done != nil {
			p.done.Done(nil)
		}
	}
	e.freed()
}

// giveBack frees what a chain has used: its buffer, registered memory, room.
func (e *end) giveBack(p *posted) {
	if p.buffer != none {
		e.q.out.Put(p.buffer)
	}
	release(p.held)
	e.slots.Add(p.requests)
	e.q.tokens.Add(p.requests)
}

// MaxFrame is what remains of a message without the bytes that this fabric adds.
func (e *end) MaxFrame() int { return e.most - frameExtra }

// Source is the queue that this end shares.
func (e *end) Source() transport.Source { return e.q }

// Mark names the chains that were posted so far.
func (e *end) Mark() uint64 { return e.ring.next() }

// Reached tells whether these chains are complete, and all puts of the fast path. A write has taken
// effect at the target when it completes here: a reliable connection acknowledges what the target's
// device has taken, and every later load at the target finds it. That holds for devices that are
// coherent with their processor, as all are that exist for the machines this library runs on, and
// for those made of software.
func (e *end) Reached(mark uint64) bool { return !e.ring.open(mark) && e.q.fast.Clear() }

// Requests is how many work requests a transfer takes.
func (e *end) Requests(local, remote *kernel.Cursor) int64 {
	return kernel.CountRuns(local, remote, e.width)
}

// Pulse writes no bytes to the peer, unless something is on its way already. If the peer has gone,
// that fails.
func (e *end) Pulse() {
	e.q.fast.Enter()
	defer e.q.fast.Leave()
	if e.broken.Load() != nil {
		return
	}
	if e.ring.open(e.ring.next()) {
		if err := e.pair.Alive(); err != nil {
			e.lose(err)
		}
		return
	}
	q := [1]qp.Request{{Op: qp.Write}}
	if ok, _ := e.attempt(posted{buffer: none}, q[:], nil); ok && e.q == e.f.origins {
		// otherwise nobody may poll for it
		e.f.Attend(e.q)
	}
}
