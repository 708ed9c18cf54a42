// SPDX-License-Identifier: BSD-3-Clause

// Operations that are open, and shipments: what one completion stands for.
package rdma

import (
	"sync"
	"sync/atomic"

	"libarmci/internal/rdma/pin"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// op is a transfer or a question whose end somebody is to be told.
type op struct {
	x        *transport.Xfer // nil for a question
	left     atomic.Int32    // parts that are open, and one while it is being posted
	ended    atomic.Bool
	later    *atomic.Int32 // the count of operations that nobody waits for, if it is one
	mu       sync.Mutex
	err      error
	body     []byte // of a reply
	value    int64
	declared piece         // of an RMW that was refused: whose memory it is
	exposed  *verbs.Region // the caller's memory, which the server writes to
	held     []*pin.Entry  // the same, which it reads and writes itself
}

func newOp(x *transport.Xfer) *op {
	o := &op{x: x}
	o.left.Store(1)
	return o
}

// part ends a part; with the last one the operation has ended, and x belongs to the caller again.
func (o *op) part(err error) {
	if err != nil {
		o.mu.Lock()
		if o.err == nil {
			o.err = err
		}
		o.mu.Unlock()
	}
	if o.left.Add(-1) > 0 {
		return
	}
	if o.exposed != nil {
		o.exposed.Close()
	}
	for _, e := range o.held {
		e.Release()
	}
	later := o.later
	if later == nil {
		o.ended.Store(true)
		return
	}
	o.x.Finish(o.err)
	o.ended.Store(true)
	later.Add(-1)
}

// shipment is requests of which the last one's completion is told.
type shipment struct {
	requests int32
	op       *op
	buffer   int32 // that is free again then, or none
	into     runs  // of a get through a buffer: where its bytes belong
	bytes    int
}

// flight is the shipments of a wire that have not been completed, in their order.
type flight struct {
	mu   sync.Mutex
	ring []shipment
	head uint32 // number of the oldest
	tail uint32 // of the next
}

func (f *flight) init(n int) { f.ring = make([]shipment, n) }

// push gives a shipment its number. There is room: a shipment has at least one request.
func (f *flight) push(s *shipment) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.tail
	f.ring[n%uint32(len(f.ring))] = *s
	f.tail++
	return n
}

// pop takes the oldest if its number is not beyond upTo.
func (f *flight) pop(upTo uint32) (s shipment, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.head == f.tail || int32(upTo-f.head) < 0 {
		return s, false
	}
	at := &f.ring[f.head%uint32(len(f.ring))]
	s, *at = *at, shipment{}
	f.head++
	return s, true
}

// open tells whether a shipment before number n has not been completed.
func (f *flight) open(n uint32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int32(n-f.head) > 0
}

func (f *flight) next() uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tail
}
