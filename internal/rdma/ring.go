// SPDX-License-Identifier: BSD-3-Clause

// Chains of work requests: one that is being built, and the in-flight ring of a queue pair, which
// has those that were posted. One doorbell posts a chain, one completion tells of it. A queue pair
// completes chains in the order in which they were posted, so a completion stands for its chain and
// all before it.
package rdma

import (
	"sync"
	"sync/atomic"

	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// posted is a chain of work requests, of which the last one is signalled.
type postedChain struct {
	requests      int32
	buffer        int32                // that is free again when it completes, or none
	readBytes     int32                // bytes that were read into the buffer, for queue.into
	done          transport.Completion // may be nil
	registrations []*pin.Entry         // local memory that this chain and earlier ones use
}

// ring is changed with the lock, and asked without it.
type inflightRing struct {
	mu         sync.Mutex
	chains     []postedChain
	head, tail atomic.Uint64 // number of the oldest, and of the next
	closed     bool
}

// push gives a chain its number, and counts it as a part of its transfer. The ring has room for
// every chain, since a chain has at least one request. ok is false if the ring is closed.
func (r *inflightRing) appendChain(p *postedChain) (number uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, false
	}
	if p.done != nil {
		p.done.Add(1)
	}
	number = r.tail.Load()
	*r.at(number) = *p
	r.tail.Store(number + 1)
	return number, true
}

// pop takes the oldest chain if its number is not beyond upTo.
func (r *inflightRing) popCompleted(upTo uint64) (p postedChain, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := r.head.Load()
	if number == r.tail.Load() || upTo < number {
		return p, false
	}
	at := r.at(number)
	p, *at = *at, postedChain{}
	r.head.Store(number + 1)
	return p, true
}

// chain is where the chain of a number is.
func (r *inflightRing) at(number uint64) *postedChain { return &r.chains[number%uint64(len(r.chains))] }

// open tells whether a chain before number n has not been completed.
func (r *inflightRing) isOpen(n uint64) bool { return r.head.Load() < min(n, r.tail.Load()) }

// flying is how many chains are open.
func (r *inflightRing) openCount() uint64 { return r.tail.Load() - r.head.Load() }

// next is the number of the chain that will be posted next.
func (r *inflightRing) nextNumber() uint64 { return r.tail.Load() }

// hold keeps local memory registered until all chains that have been posted are complete.
func (r *inflightRing) holdRegistrations(entries []*pin.Entry) {
	r.mu.Lock()
	if tail := r.tail.Load(); r.head.Load() != tail {
		last := r.at(tail - 1)
		last.registrations = append(last.registrations, entries...)
		entries = nil
	}
	r.mu.Unlock()
	releaseRegistrations(entries)
}

func releaseRegistrations(entries []*pin.Entry) {
	for _, e := range entries {
		e.Release()
	}
}

// close closes the ring to new chains, or opens it again, for the farewell.
func (r *inflightRing) setClosed(closed bool) {
	r.mu.Lock()
	r.closed = closed
	r.mu.Unlock()
}

// fail closes the ring and returns what to tell and to release for the chains that are open. The
// chains stay in the ring until the device has done with them, but only to free their buffers.
func (r *inflightRing) failAll() (ended []postedChain) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for n := r.head.Load(); n != r.tail.Load(); n++ {
		p := r.at(n)
		ended = append(ended, postedChain{done: p.done, registrations: p.registrations})
		p.done, p.registrations, p.readBytes = nil, nil, 0
	}
	return ended
}

const (
	chainLength = 64
	// most bytes of one request, since a whole request is repeated after a loss
	maxRequestBytes = 1 << 20
	// most pieces of one request: as many as fit into the space that inline data takes anyway
	maxPieces = 16
)

// chain is a chain that is being built. A request writes to, or reads from, one place of the other
// end. At this end it may have several pieces, which makes the chain shorter.
type chain struct {
	requests []qp.Request
	data     []qp.Data
	bytes    int // of the last request
}

// add adds data: to the last request if it goes on there, else as a request of its own.
func (c *chain) appendPiece(op uint8, remote uintptr, key uint64, d qp.Data, pieces int) {
	q, e := &qp.Request{}, &qp.Data{} // the last ones
	if len(c.requests) > 0 {
		q, e = &c.requests[len(c.requests)-1], &c.data[len(c.data)-1]
	}
	goesOn := q.Pieces > 0 && q.Remote+uint64(c.bytes) == uint64(remote) && q.Key == key &&
		c.bytes+int(d.Bytes) <= maxRequestBytes
	switch {
	case goesOn && e.Key == d.Key && e.Addr+uint64(e.Bytes) == d.Addr:
		e.Bytes += d.Bytes
		c.bytes += int(d.Bytes)
	case goesOn && int(q.Pieces) < pieces:
		q.Pieces++
		c.data = append(c.data, d)
		c.bytes += int(d.Bytes)
	default:
		c.requests = append(c.requests, qp.Request{Remote: uint64(remote), Key: key,
			Pieces: 1, Op: op})
		c.data = append(c.data, d)
		c.bytes = int(d.Bytes)
	}
}

// clear begins another chain.
func (c *chain) reset() { c.requests, c.data = c.requests[:0], c.data[:0] }
