// SPDX-License-Identifier: BSD-3-Clause

// The in-flight ring of a queue pair: chains of work requests that have been posted, in their order. A queue pair completes
// them in this order, so a completion stands for its chain and all before it.
package rdma

import (
	"sync"

	"libarmci/internal/pin"
	"libarmci/internal/transport"
)

// posted is a chain of work requests, of which the last one is signalled.
type posted struct {
	requests int32
	buffer   int32                // that is free again when it completes, or none
	read     int32                // bytes that were read into the buffer, for queue.into
	done     transport.Completion // may be nil
	held     []*pin.Entry         // local memory that was registered for this chain and earlier ones
}

type ring struct {
	mu         sync.Mutex
	chains     []posted
	head, tail uint64 // number of the oldest, and of the next
	closed     bool
}

// push gives a chain its number, and counts it as a part of its transfer. There is room, since a chain has at least one
// request. ok is false if the ring is closed.
func (r *ring) push(p *posted) (number uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, false
	}
	if p.done != nil {
		p.done.Add(1)
	}
	number = r.tail
	r.chains[number%uint64(len(r.chains))] = *p
	r.tail++
	return number, true
}

// pop takes the oldest chain if its number is not beyond upTo.
func (r *ring) pop(upTo uint64) (p posted, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.head == r.tail || upTo < r.head {
		return p, false
	}
	at := &r.chains[r.head%uint64(len(r.chains))]
	p, *at = *at, posted{}
	r.head++
	return p, true
}

// open tells whether a chain before number n has not been completed.
func (r *ring) open(n uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head < min(n, r.tail)
}

// next is the number of the chain that will be posted next.
func (r *ring) next() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tail
}

// hold keeps local memory registered until all chains that have been posted are complete.
func (r *ring) hold(entries []*pin.Entry) {
	r.mu.Lock()
	if r.head != r.tail {
		last := &r.chains[(r.tail-1)%uint64(len(r.chains))]
		last.held = append(last.held, entries...)
		entries = nil
	}
	r.mu.Unlock()
	release(entries)
}

func release(entries []*pin.Entry) {
	for _, e := range entries {
		e.Release()
	}
}

// close lets nothing new in; with false it lets the farewell in.
func (r *ring) close(closed bool) {
	r.mu.Lock()
	r.closed = closed
	r.mu.Unlock()
}

// fail lets nothing new in, and takes from all chains what has to be told or released when they end. They stay, with their
// buffers, where the device may still be.
func (r *ring) fail() (ended []posted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for n := r.head; n != r.tail; n++ {
		p := &r.chains[n%uint64(len(r.chains))]
		ended = append(ended, posted{done: p.done, held: p.held})
		p.done, p.held, p.read = nil, nil, 0
	}
	return ended
}
