// SPDX-License-Identifier: BSD-3-Clause

// Completion queues with connections: qp.Queue and qp.Pair. Two ends tell each other the numbers of
// their queue pairs and of their first packets, and where their ports are.
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
	d   *Device
	srq *Shared
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

// Offer offers receive buffers.
func (q *queue) Offer(ids []uint64, data []qp.Data) error { return q.srq.Post(ids, data) }

// Receive is the receive queue as C knows it.
func (q *queue) Receive() unsafe.Pointer { return unsafe.Pointer(q.srq.p) }

// Stirred: the device serves others by itself.
func (q *queue) Stirred() bool { return false }

// FD is readable after Arm when something has been completed.
func (q *queue) FD() int { return q.ch.FD() }

// Tells: it does.
func (q *queue) Tells() bool { return true }

// Pending: the descriptor tells of everything after Arm.
func (q *queue) Pending() bool { return false }

// Take takes the events.
func (q *queue) Take() { q.ch.Take() }

// Close ends both queues.
func (q *queue) Close() error {
	q.srq.Close()
	return q.Completions.Close()
}

// connection is a queue pair that is, or will be, connected.
type connection struct {
	*Pair
	d    *Device
	mine link
	peer uint32
}

// link is what the other end must know.
type link struct {
	Pair, PSN  uint32 // the queue pair, and its first packet
	LID        uint16
	MTU, Reads uint8 // how many reads the other end may have outstanding
	GID        [16]byte
}

// NewPair makes a queue pair for connections.
func (q *queue) NewPair(requests, pieces, inline int) (qp.Pair, error) {
	p, err := q.d.domain.NewPair(Caps{Send: requests, Pieces: pieces, Inline: inline,
		From: q.Completions, To: q.Completions,
		Shared: q.srq})
	if err != nil {
		return nil, err
	}
	return &connection{Pair: p, d: q.d,
			mine: link{Pair: p.Number, PSN: rand.Uint32() & 0xffffff,
				LID: q.d.State.LID,
				MTU: q.d.State.MTU, Reads: uint8(min(q.d.limits.ReadsIn, 16)),
				GID: q.d.address()}},
		nil
}

// Number is the queue pair's.
func (c *connection) Number() uint32 { return c.Pair.Number }

// Inline is how many bytes may be sent inline.
func (c *connection) Inline() int { return c.Pair.Inline }

// Place is remote memory as C names it: by its address.
func (c *connection) Place(key uint64) (base uintptr, rkey uint64) { return 0, uint64(uint32(key)) }

// Peer is the number of the other end's queue pair.
func (c *connection) Peer() uint32 { return c.peer }

// Link is what the other end needs to connect.
func (c *connection) Link() (l qp.Link) {
	if _, err := binary.Encode(l[:], binary.LittleEndian, &c.mine); err != nil {
		panic(err) // it does not fit
	}
	return l
}

// Connect connects it with the other end's.
func (c *connection) Connect(other *qp.Link, limit time.Duration) error {
	var its link
	if _, err := binary.Decode(other[:], binary.LittleEndian, &its); err != nil {
		return err
	}
	c.peer = its.Pair
	return c.Pair.Connect(&Link{Path: *c.d.path(its.LID, its.GID), Pair: its.Pair,
		MTU:   min(c.mine.MTU, its.MTU),
		MyPSN: c.mine.PSN, PSN: its.PSN,
		ReadsOut: uint8(min(c.d.limits.ReadsOut, int(its.Reads))), ReadsIn: c.mine.Reads,
		Timeout: retryExponent(limit), Atomics: c.d.limits.Atomic != 0})
}

// retryExponent is the device's timeout, 4.096 us * 2^e, so that all retries together, of which a
// device may take four times as long as it is told, end within the time after which a host is given
// up.
func retryExponent(limit time.Duration) uint8 {
	e := uint8(12)
	for e < 18 && 8*4*(4096*time.Nanosecond<<(e+1)) <= limit {
		e++
	}
	return e
}

// Alive returns nil: the device itself gives up a peer that does not answer.
func (c *connection) Alive() error { return nil }
