// SPDX-License-Identifier: BSD-3-Clause

// Long two-sided messages where devices read memory. The sender copies a piece into memory of the
// arena, a slot, and sends the slot's address as a fragment. When the receiver receives the
// fragment, it gets the piece from the slot, straight into the user's buffer, and replies that the
// slot is free. So data passes no data server and no mailbox, and messages keep their order and
// their tags. A piece for which no slot becomes free soon travels in fragments: a sender never
// depends on a receiver that does not receive.
package core

import (
	"encoding/binary"
	"runtime"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

const (
	stageFrom  = 8 << 10   // bytes of the shortest message that is staged
	stagePiece = 256 << 10 // bytes of a slot
	stageSlots = 4
	maxStages  = 32 // ranks for which a process has slots; others' messages travel in fragments

	// How long a sender waits for a slot: longer than a receiver that is receiving takes for
	// one.
	stagePatience = time.Millisecond

	stagedID  = int64(1) << 32 // is set in the number of a message whose first piece is staged
	refBytes  = 8              // an address
	firstRef  = idBytes + refBytes
	tagStaged = int64(1) << 42 // a slot is free; the body is its address
)

// stage is the slots for messages to one rank. The lock of the rank's sendWindow guards it.
type stage struct {
	base  uintptr // address of the slots, 0 unless the state has some
	taken uint    // a bit for each slot that is in use
	state stageState
}

// stageState is whether messages to a rank can be staged.
type stageState uint8

const (
	stageUnused  stageState = iota // no message has been long enough: there are no slots yet
	stageDenied                    // there are no slots: no memory, or too many stages
	stageReady                     // slots become free in time
	stageStalled                   // no slot became free in time: do not wait for one again
)

// wantsStaging tells whether a message of total bytes to a rank is staged. It allocates the rank's
// slots at the first one. The caller holds o.mu.
func (ts *twoSided) wantsStaging(o *sendWindow, to transport.Rank, total int) bool {
	if total < stageFrom || ts.rt.internode.wordWriter == nil || ts.rt.leaving.Load() {
		return false
	}
	s := &o.stage
	if s.state == stageUnused {
		s.state = stageDenied
		if ts.stageCount.Add(1) <= maxStages {
			s.base = ts.allocateStage()
		}
		if s.base != 0 {
			s.state = stageReady
		}
	}
	return s.state != stageDenied
}

// allocateStage returns memory for the slots of a rank, 0 if there is none.
func (ts *twoSided) allocateStage() uintptr {
	base, err := ts.rt.MallocLocal(stageSlots * stagePiece)
	if err != nil {
		return 0
	}
	return base
}

// copyToSlot copies the next piece of a message into a slot and returns the slot's address and the
// piece's length. 0: the caller sends it in fragments, since it is not wanted here, is short, or no
// slot is free. The caller holds o.mu.
func (ts *twoSided) copyToSlot(o *sendWindow, to transport.Rank, rest []byte,
	wanted bool) (ref [refBytes]byte, n int) {
	if n = min(len(rest), stagePiece); !wanted || n < stageFrom {
		return ref, 0
	}
	s := &o.stage
	for s.freeSlot() < 0 {
		if !ts.awaitSlot(to, s.state == stageStalled) {
			s.state = stageStalled
			return ref, 0
		}
		s.state = stageReady
		if _, err := ts.rt.mailbox.Recv(to, tagStaged, ref[:]); err != nil {
			return ref, 0
		}
		s.releaseSlot(ref)
	}
	slot := s.freeSlot()
	s.taken |= 1 << slot
	addr := s.base + uintptr(slot)*stagePiece
	copy(unsafe.Slice((*byte)(kernel.Ptr(addr)), n), rest)
	binary.LittleEndian.PutUint64(ref[:], uint64(addr))
	return ref, n
}

// awaitSlot waits for stagePatience until a rank says that a slot is free; it only looks if
// pollOnly.
func (ts *twoSided) awaitSlot(to transport.Rank, pollOnly bool) bool {
	isFree := func() bool { return ts.rt.mailbox.Arrived(to, tagStaged) }
	dest := ts.rt.route(to)
	for begin := time.Now(); !isFree(); runtime.Gosched() {
		if pollOnly || time.Since(begin) > stagePatience {
			return false
		}
		if dest.watcher != nil {
			dest.watcher.Watch(dest.peer, isFree, true)()
		}
	}
	return true
}

// freeSlot is the number of a free slot, -1 if there is none.
func (s *stage) freeSlot() int {
	for i := range stageSlots {
		if s.taken&(1<<i) == 0 {
			return i
		}
	}
	return -1
}

// releaseSlot marks the slot with an address as free.
func (s *stage) releaseSlot(ref [refBytes]byte) {
	addr := uintptr(binary.LittleEndian.Uint64(ref[:]))
	if slot := (addr - s.base) / stagePiece; addr >= s.base && slot < stageSlots {
		s.taken &^= 1 << slot
	}
}

// fetchStaged gets a piece that a rank has staged, and tells the rank that its slot is free.
func (ts *twoSided) fetchStaged(from transport.Rank, ref, into []byte) error {
	var free [refBytes]byte // ref is in memory that the piece overwrites
	copy(free[:], ref)
	addr := uintptr(binary.LittleEndian.Uint64(free[:]))
	if err := ts.rt.copyBlocking(Get, from, into, addr); err != nil {
		return err
	}
	// There are no more of them than slots: they need no window.
	return ts.postFragment(from, tagStaged, refBytes, nil, free[:])
}
