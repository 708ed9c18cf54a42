// SPDX-License-Identifier: BSD-3-Clause

// A chain of work requests that is being built: one doorbell posts it, one completion tells of it. A request writes to, or
// reads from, one place of the other end; at this end it may have several pieces, which makes the chain shorter.
package rdma

import "libarmci/internal/rdma/verbs"

const (
	chainLength = 64
	pieceBytes  = 1 << 20 // of one request: what is repeated after a loss
	mostPieces  = 16      // of one request: as many as fit into the place that inline data takes anyway
)

type chain struct {
	requests []verbs.Request
	data     []verbs.Data
	bytes    int // of the last request
}

// add adds data: to the last request if it goes on there, else as a request of its own.
func (c *chain) add(op uint8, remote uintptr, key uint64, d verbs.Data, pieces int) {
	if n := len(c.requests); n > 0 {
		q, e := &c.requests[n-1], &c.data[len(c.data)-1]
		goesOn := q.Remote+uint64(c.bytes) == uint64(remote) && q.Key == uint32(key) && c.bytes+int(d.Bytes) <= pieceBytes
		switch {
		case !goesOn:
		case e.Key == d.Key && e.Addr+uint64(e.Bytes) == d.Addr:
			e.Bytes += d.Bytes
			c.bytes += int(d.Bytes)
			return
		case int(q.Pieces) < pieces:
			q.Pieces++
			c.data = append(c.data, d)
			c.bytes += int(d.Bytes)
			return
		}
	}
	c.requests = append(c.requests, verbs.Request{Remote: uint64(remote), Key: uint32(key), Pieces: 1, Op: op})
	c.data = append(c.data, d)
	c.bytes = int(d.Bytes)
}

// clear begins another one.
func (c *chain) clear() { c.requests, c.data = c.requests[:0], c.data[:0] }
