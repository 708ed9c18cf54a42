// SPDX-License-Identifier: BSD-3-Clause

// Completion queues with connections: qp.Queue and qp.Pair. A Link has the number of the queue pair
// and of its first packet, and the address of its port.
package verbs

import (
	"encoding/binary"
	"math/rand/v2"
	"time"
	"unsafe"

	"libarmci/internal/rdma/qp"
)

// queue is a completion queue with the shared receive queue of its queue pairs.
type queue struct {
	*Completions
	d    *Device
	srq  *Shared
	keep keeping
}

// keeping says how queue pairs keep their requests.
type keeping struct {
	wanted bool
	wake   int  // a descriptor that is written to when a queue pair has failed
	shared bool // any thread may post
}

// NewQueue makes a completion queue of n entries.
func (d *Device) NewQueue(n int) (qp.Queue, error) {
	cq, err := d.completions(n)
	if err != nil {
		return nil, err
	}
	return &queue{Completions: cq, d: d}, nil
}

// NewBuffers makes the shared receive queue.
func (q *queue) NewBuffers(n int) (err error) {
	q.srq, err = q.d.domain.NewShared(n)
	return err
}

// PostReceives posts receive buffers to the shared receive queue.
func (q *queue) PostReceives(ids []uint64, data []qp.Data) error {
	return q.srq.PostBuffers(ids, data)
}

// Receive is the receive queue as C knows it.
func (q *queue) Receive() unsafe.Pointer { return unsafe.Pointer(q.srq.p) }

// ServedPeer is false: the device executes peers' requests by itself.
func (q *queue) ServedPeer() bool { return false }

// FD is the completion channel's descriptor.
func (q *queue) FD() int { return q.ch.FD() }

// SignalsAll is true: FD signals every completion after Arm.
func (q *queue) SignalsAll() bool { return true }

// Pending is false, as SignalsAll is true.
func (q *queue) Pending() bool { return false }

// DrainEvents takes the channel's events.
func (q *queue) DrainEvents() { q.ch.DrainEvents() }

// Close destroys both queues. Their queue pairs have been destroyed.
func (q *queue) Close() error {
	q.srq.Close()
	return q.Completions.Close()
}

// connection is a queue pair that is, or will be, connected.
type connection struct {
	*Pair
	d          *Device
	local      linkData
	link       Link // that it was connected with; its Pair is the peer's
	peerNumber uint32
}

// linkData is the contents of a qp.Link.
type linkData struct {
	Pair, PSN  uint32 // the queue pair, and its first packet
	LID        uint16
	MTU, Reads uint8 // reads that the peer may have outstanding
	GID        [16]byte
}

// NewPair makes a queue pair for connections.
func (q *queue) NewPair(requests, pieces, inline int) (qp.Pair, error) {
	p, err := q.d.domain.NewPair(Caps{Send: requests, Pieces: pieces, Inline: inline,
		From: q.Completions, To: q.Completions,
		Shared: q.srq})
	if err == nil && q.keep.wanted {
		err = p.keepRequests(requests, pieces, q.keep)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return &connection{Pair: p, d: q.d,
			local: linkData{Pair: p.Number, PSN: rand.Uint32() & 0xffffff,
				LID: q.d.State.LID,
				MTU: q.d.State.MTU, Reads: uint8(min(q.d.limits.ReadsIn, 16)),
				GID: q.d.address()}},
		nil
}

// Number is the number of the queue pair.
func (c *connection) Number() uint32 { return c.Pair.Number }

// Inline is how many bytes may be sent inline.
func (c *connection) Inline() int { return c.Pair.Inline }

// RemoteKey returns the lower half of a key, and 0: C uses remote addresses as they are.
func (c *connection) RemoteKey(key uint64) (base uintptr, rkey uint64) {
	return 0, uint64(uint32(key))
}

// Peer is the number of the peer's queue pair.
func (c *connection) Peer() uint32 { return c.peerNumber }

// Link is what the peer needs to connect.
func (c *connection) Link() (l qp.Link) {
	if _, err := binary.Encode(l[:], binary.LittleEndian, &c.local); err != nil {
		panic(err) // it does not fit
	}
	return l
}

// Connect connects the queue pair with the peer's.
func (c *connection) Connect(other *qp.Link, limit time.Duration) error {
	var its linkData
	if _, err := binary.Decode(other[:], binary.LittleEndian, &its); err != nil {
		return err
	}
	c.peerNumber = its.Pair
	c.link = Link{Path: *c.d.path(its.LID, its.GID), Pair: its.Pair,
		MTU:   min(c.local.MTU, its.MTU),
		MyPSN: c.local.PSN, PSN: its.PSN,
		ReadsOut: uint8(min(c.d.limits.ReadsOut, int(its.Reads))), ReadsIn: c.local.Reads,
		Timeout: retryExponent(limit), Atomics: c.d.limits.Atomic != 0}
	c.Pair.countPackets(&c.link)
	return c.Pair.Connect(&c.link)
}

// retryExponent returns e of the device's timeout, 4.096 us * 2^e. All retries together end within
// the time after which a host is given up, though a device may wait four times as long as its
// timeout.
func retryExponent(limit time.Duration) uint8 {
	e := uint8(12)
	for e < 18 && 8*4*(4096*time.Nanosecond<<(e+1)) <= limit {
		e++
	}
	return e
}

// retries is how often a device tries in vain before a request fails, of its timeout each.
const retries = mostRetries + 1

// Alive returns nil: the device itself gives up a peer that does not answer.
func (c *connection) Alive() error { return nil }
