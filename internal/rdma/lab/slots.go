// SPDX-License-Identifier: BSD-3-Clause

// The origin's side of the eager ring: it claims a slot, packs into a buffer of its own while the claim travels, writes that
// into the slot and sends the head of the frame after it.
package lab

import (
	"encoding/binary"
	"time"

	"libarmci/internal/rdma/verbs"
)

// WordsBytes of a buffer are where the words of a claim come to.
const WordsBytes = 16

// Slots are those of a target.
type Slots struct {
	ring        Place
	size, count uint64
}

// NewSlots is nil if the target has none.
func NewSlots(p *Places, size int) *Slots {
	if p.Ring.Hi == 0 {
		return nil
	}
	return &Slots{ring: p.Ring, size: uint64(size), count: (p.Ring.Hi - p.Ring.Lo - pageBytes) / uint64(size)}
}

// Claim claims a slot, calls meanwhile, and returns when the slot is empty. The words come to the first WordsBytes of a buffer.
// The caller has a buffer first: while he waits for one he must not keep a slot from being filled.
func (s *Slots) Claim(p Port, b int32, meanwhile func()) (ticket uint64, err error) {
	q := []verbs.Request{
		{Remote: s.ring.Lo + releasedAt, Key: s.ring.Key, Pieces: 1, Op: verbs.Read},
		{Remote: s.ring.Lo + claimedAt, Key: s.ring.Key, Pieces: 1, Op: verbs.FetchAdd, Operand: 1}}
	d := []verbs.Data{p.Data(b, 8, 8), p.Data(b, 0, 8)}
	err = p.Run(q, d, meanwhile)
	for pause := time.Microsecond; err == nil; pause = min(2*pause, time.Millisecond) {
		ticket, released := binary.NativeEndian.Uint64(p.Bytes(b)), binary.NativeEndian.Uint64(p.Bytes(b)[8:])
		if ticket < released+s.count {
			return ticket, nil
		}
		time.Sleep(pause)
		err = p.Run(q[:1], d[:1], func() {}) // how many slots have been emptied by now
	}
	return 0, err
}

// Fill is the request that writes into the slot of a ticket.
func (s *Slots) Fill(ticket uint64) verbs.Request {
	return verbs.Request{Remote: s.ring.Lo + pageBytes + ticket%s.count*s.size, Key: s.ring.Key, Pieces: 1, Op: verbs.Write}
}
