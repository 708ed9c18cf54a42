// SPDX-License-Identifier: BSD-3-Clause

// Chains of work requests: one that is being built, and the ring of those that are in flight on a
// queue pair. One doorbell posts a chain, and it has one completion. A queue pair completes chains
// in the order in which they were posted, so a completion stands for its chain and all before it.
package rdma

import (
	"sync"
	"sync/atomic"

	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// postedChain is a chain of work requests, of which the last one is signalled.
type postedChain struct {
	requests      int32
	buffer        int32                // freed on completion; or noBuffer
	readBytes     int32                // bytes that are read into buffer, for queue.readInto
	done          transport.Completion // may be nil
	registrations []*pin.Entry         // local memory that this chain and earlier ones use
}

// inflightRing holds the chains of a queue pair that are not complete. head and tail may be loaded
// without the lock.
type inflightRing struct {
	mu         sync.Mutex // guards chains and closed; held to change head and tail
	chains     []postedChain
	head, tail atomic.Uint64 // number of the oldest, and of the next
	closed     bool
}

// appendChain gives a chain its number, and counts it as a part of its transfer. The ring has room
// for every chain, since a chain has at least one request, for which the caller has reserved room.
// ok is false if the ring is closed. It locks the ring.
func (r *inflightRing) appendChain(p *postedChain) (number uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, false
	}
	if p.done != nil {
		p.done.AddParts(1)
	}
	number = r.tail.Load()
	*r.chainAt(number) = *p
	r.tail.Store(number + 1)
	return number, true
}

// popUpTo removes the oldest chain if its number is not beyond upTo. The caller releases what the
// chain has used. It locks the ring.
func (r *inflightRing) popUpTo(upTo uint64) (p postedChain, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := r.head.Load()
	if number == r.tail.Load() || upTo < number {
		return p, false
	}
	at := r.chainAt(number)
	p, *at = *at, postedChain{}
	r.head.Store(number + 1)
	return p, true
}

// chainAt returns the place of the chain with a number. The caller holds mu.
func (r *inflightRing) chainAt(number uint64) *postedChain {
	return &r.chains[number%uint64(len(r.chains))]
}

// isOpen reports whether a chain before number n is not complete.
func (r *inflightRing) isOpen(n uint64) bool { return r.head.Load() < min(n, r.tail.Load()) }

// openCount is how many chains are in flight.
func (r *inflightRing) openCount() uint64 { return r.tail.Load() - r.head.Load() }

// nextNumber is the number that the next chain will have.
func (r *inflightRing) nextNumber() uint64 { return r.tail.Load() }

// holdRegistrations releases registrations of local memory when all chains that have been posted
// are complete. It locks the ring.
func (r *inflightRing) holdRegistrations(entries []*pin.Entry) {
	r.mu.Lock()
	if tail := r.tail.Load(); r.head.Load() != tail {
		last := r.chainAt(tail - 1)
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

// setClosed closes the ring to new chains, or opens it again, for the disconnect message.
func (r *inflightRing) setClosed(closed bool) {
	r.mu.Lock()
	r.closed = closed
	r.mu.Unlock()
}

// failAll closes the ring and returns the completions and registrations of the chains in flight.
// The caller fails the former and releases the latter. The chains stay in the ring until the device
// has completed them, but only to free their buffers. It locks the ring.
func (r *inflightRing) failAll() (ended []postedChain) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for n := r.head.Load(); n != r.tail.Load(); n++ {
		p := r.chainAt(n)
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

// chain is a chain that is being built. A request writes to, or reads from, one contiguous range of
// remote memory. It may have several pieces of local memory, which makes the chain shorter.
type chain struct {
	requests []qp.Request
	data     []qp.Data
	bytes    int // of the last request
}

// appendPiece appends a piece of local memory: to the last request if it is contiguous with that at
// the remote side, else as a request of its own. pieces is how many pieces a request may have.
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

// reset begins another chain.
func (c *chain) reset() { c.requests, c.data = c.requests[:0], c.data[:0] }
