// SPDX-License-Identifier: BSD-3-Clause

// Requests that are collected before they are posted together. A request writes to, or reads from, one place of the
// other side; on this side it may have several pieces, which makes the list shorter. Nothing is posted here.
package rdma

import "libarmci/internal/rdma/verbs"

const (
	pieceBytes = 1 << 20 // of one request: what is repeated after a loss
	mostPieces = 16      // of one request: as many as fit into the place that inline data takes anyway
)

// batch is requests that will be posted together: all with their data in one buffer, or none.
type batch struct {
	requests []verbs.Request
	data     []verbs.Data
	bytes    int // of the last request
	buffer   int32
	used     int  // bytes of the buffer
	room     int  // how many of them may be used
	into     runs // where they begin
}

// add takes data in: with the last request if it goes on there, else with a request of its own.
func (b *batch) add(op uint8, remote uintptr, key uint32, d verbs.Data, pieces int) {
	if n := len(b.requests); n > 0 {
		q, e := &b.requests[n-1], &b.data[len(b.data)-1]
		goesOn := q.Remote+uint64(b.bytes) == uint64(remote) && q.Key == key && b.bytes+int(d.Bytes) <= pieceBytes
		switch {
		case !goesOn:
		case e.Key == d.Key && e.Addr+uint64(e.Bytes) == d.Addr:
			e.Bytes += d.Bytes
			b.bytes += int(d.Bytes)
			return
		case int(q.Pieces) < pieces:
			q.Pieces++
			b.data = append(b.data, d)
			b.bytes += int(d.Bytes)
			return
		}
	}
	b.requests = append(b.requests, verbs.Request{Remote: uint64(remote), Key: key, Pieces: 1, Op: op})
	b.data = append(b.data, d)
	b.bytes = int(d.Bytes)
}

// clear forgets what has been posted.
func (b *batch) clear() {
	b.requests, b.data, b.buffer, b.used = b.requests[:0], b.data[:0], none, 0
}

// chunk is how much of a buffer of some size a piece of a pipelined transfer takes, when so many bytes have been dealt with
// and so many are left: copying one piece goes on while another one travels, so what nothing travels beside is to be small, the
// first piece of a write and the last one of a read.
func chunk(op uint8, first, size int, gone, left int64) int {
	n := gone
	if op == verbs.Read {
		n = left / 2
	}
	return int(min(max(n, int64(first)), int64(size)))
}
