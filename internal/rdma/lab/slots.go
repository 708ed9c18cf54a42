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
	words, slots Place
	size         uint64
	released     uint64 // so many slots have been emptied
}

// NewSlots is nil if the target has none.
func NewSlots(p *Places, size int) *Slots {
	if p.Words.Hi == 0 || p.Slots.Hi == 0 {
		return nil
	}
	return &Slots{words: p.Words, slots: p.Slots, size: uint64(size)}
}

func (s *Slots) count() uint64 { return (s.slots.Hi - s.slots.Lo) / s.size }

// readReleased reads how many slots have been emptied.
func (s *Slots) readReleased() verbs.Request {
	return verbs.Request{Remote: s.words.Lo + releasedAt, Key: s.words.Key, Pieces: 1, Op: verbs.Read}
}

// Claim asks for a slot; the words come to the first WordsBytes of a buffer. granted returns when the slot is empty. The
// caller has a buffer first: while he waits for one he must not keep a slot from being filled.
func (s *Slots) Claim(p Port, b int32) (granted func() (ticket uint64, err error), err error) {
	q := []verbs.Request{s.readReleased(), {Remote: s.words.Lo + claimedAt, Key: s.words.Key, Pieces: 1,
		Op: verbs.FetchAdd, Operand: 1}}
	wait, err := p.Start(q, []verbs.Data{p.Data(b, 8, 8), p.Data(b, 0, 8)})
	if err != nil {
		return nil, err
	}
	return func() (ticket uint64, err error) {
		if err = wait(); err != nil {
			return 0, err
		}
		ticket = binary.NativeEndian.Uint64(p.Bytes(b))
		s.released = binary.NativeEndian.Uint64(p.Bytes(b)[8:])
		return ticket, s.emptied(p, b, ticket)
	}, nil
}

// emptied looks until the slot of a ticket is empty.
func (s *Slots) emptied(p Port, b int32, ticket uint64) error {
	for pause := time.Microsecond; ticket >= s.released+s.count(); pause = min(2*pause, time.Millisecond) {
		time.Sleep(pause)
		wait, err := p.Start([]verbs.Request{s.readReleased()}, []verbs.Data{p.Data(b, 8, 8)})
		if err != nil {
			return err
		}
		if err = wait(); err != nil {
			return err
		}
		s.released = binary.NativeEndian.Uint64(p.Bytes(b)[8:])
	}
	return nil
}

// Fill is the request that writes into the slot of a ticket.
func (s *Slots) Fill(ticket uint64) verbs.Request {
	return verbs.Request{Remote: s.slots.Lo + ticket%s.count()*s.size, Key: s.slots.Key, Pieces: 1, Op: verbs.Write}
}
