// SPDX-License-Identifier: BSD-3-Clause

// Long messages that their receivers fetch.
package core

import (
	"bytes"
	"testing"

	"libarmci/internal/transport"
)

// mailed runs f where messages travel in fragments, and where devices read memory, so that long
// ones are staged.
func mailed(t *testing.T, s shape, f func(r *tr)) {
	t.Run(s.String()+"/fragments", func(t *testing.T) { s.run(t, nil, f) })
	t.Run(s.String()+"/staged", func(t *testing.T) {
		s.run(t, nil, func(r *tr) { staging(r, f) })
	})
}

func staging(r *tr, f func(r *tr)) {
	r.internode.wordWriter = newWordDevice(r.internode.tr, 0)
	r.barrier()
	f(r)
}

// everyMail is mailed for every shape.
func everyMail(t *testing.T, f func(r *tr)) {
	t.Run("fragments", func(t *testing.T) { everyShape(t, f) })
	t.Run("staged", func(t *testing.T) { everyShape(t, func(r *tr) { staging(r, f) }) })
}

// TestStaged: messages are staged from a length on, each piece in a slot that is free again when
// the receiver has it; the slots of one rank serve any number of messages.
func TestStaged(t *testing.T) {
	shape{2, 2, false}.run(t, nil, func(r *tr) {
		staging(r, func(r *tr) {
			buf := make([]byte, 3*stagePiece)
			for i, size := range []int{stageFrom - 1, stageFrom, stagePiece,
				stagePiece + 1,
				2*stagePiece + stageFrom, 3 * stagePiece} {
				for n := range 8 {
					if r.Me == 0 {
						r.must(r.Send(1, int64(i), pattern(n, size)))
						made := r.twoSided.stageCount.Load()
						if made != 1 && size >= stageFrom ||
							made != 0 && size < stageFrom {
							r.wrong("%d stages after messages of %d "+
								"bytes", made, size)
						}
						continue
					}
					got, err := r.Recv(0, int64(i), buf)
					if r.must(err); got.Bytes != size ||
						!bytes.Equal(buf[:size], pattern(n, size)) {
						r.wrong("message %d of %d bytes: %+v", n, size, got)
					}
				}
			}
			r.barrier()
			if r.Me == 0 {
				s := &r.twoSided.windowTo(1).stage
				for r.mailbox.Arrived(1, tagStaged) {
					var ref [refBytes]byte
					_, err := r.mailbox.Recv(1, tagStaged, ref[:])
					r.must(err)
					s.releaseSlot(ref)
				}
				if s.taken != 0 {
					r.wrong("slots %b are taken", s.taken)
				}
			}
			r.barrier()
		})
	})
}

// TestStagedUnread: messages that stay unread keep their slots, and those behind them travel in
// fragments, of which only the first waits for a slot.
func TestStagedUnread(t *testing.T) {
	shape{2, 2, false}.run(t, nil, func(r *tr) {
		staging(r, func(r *tr) {
			const size, more = 20000, 50
			if r.Me == 0 {
				for range stageSlots {
					r.must(r.Send(1, 1, pattern(1, size)))
				}
				for i := range more {
					r.must(r.Send(1, 2, pattern(i, size)))
					_, err := r.Recv(1, 3, nil)
					r.must(err)
				}
				if s := r.twoSided.windowTo(1).stage; s.state != stageStalled ||
					s.taken != 1<<stageSlots-1 {
					r.wrong("slots %b are taken, the state is %v", s.taken,
						s.state)
				}
			} else {
				buf := make([]byte, size)
				receive := func(tag int64, i int) {
					_, err := r.Recv(0, tag, buf)
					if r.must(err); !bytes.Equal(buf, pattern(i, size)) {
						r.wrong("message %d of tag %d is not", i, tag)
					}
				}
				for i := range more {
					receive(2, i)
					r.must(r.Send(0, 3, nil))
				}
				for range stageSlots {
					receive(1, 1)
				}
			}
			r.barrier()
		})
	})
}

// TestStagedToMany: a process has slots for so many ranks, and messages to others arrive, too.
func TestStagedToMany(t *testing.T) {
	shape{2, 2, false}.run(t, nil, func(r *tr) {
		staging(r, func(r *tr) {
			r.twoSided.stageCount.Store(maxStages)
			buf := make([]byte, stagePiece)
			other := transport.Rank(1 - r.Me)
			r.must(r.Send(other, 1, pattern(int(r.Me), len(buf))))
			_, err := r.Recv(other, 1, buf)
			if r.must(err); !bytes.Equal(buf, pattern(int(other), len(buf))) {
				r.wrong("the message is not")
			}
			if r.twoSided.windowTo(other).stage.base != 0 {
				r.wrong("one more stage was made")
			}
			r.barrier()
		})
	})
}
