// SPDX-License-Identifier: BSD-3-Clause

// Package lab holds protocols of the papers that the cost model never chooses and that only
// settings force, so that they can be tested and measured: the eager ring, whose slots origins
// claim by atomics of the target's device (the host-based, NIC-assisted method of paper 004), and
// accumulates by the origin's device under locks in the target's memory (paper 003, section 4.3).
// Package rdma plugs them in at one place; nothing else may depend on them.
//
// This file: the eager ring of a target: slots that origins claim by atomics of its device, and
// fill by RDMA writes. One word counts tickets: an origin that adds one to it owns the slot of that
// number, modulo the number of slots, as soon as the slot has been emptied. A second word counts
// emptied slots. Devices change the first word, the server the second one, so atomics of different
// kinds never meet. Ring is the target's side. Slots is the origin's: it claims a slot, packs into
// a buffer of its own while the claim travels, writes that into the slot, and sends the head of the
// frame after it.
package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/rdma/qp"
)

// Place is registered memory [Lo, Hi) of a target; Hi is 0 if there is none. Its encoding has a
// fixed size.
type Place struct {
	Lo, Hi uint64
	Key    uint64
}

// Places are the eager ring and the locks for accumulates, in the reply to a connect request.
type Places struct{ Ring, Locks Place }

// Port is what the protocols need of an origin's connection. Its buffers are registered.
type Port interface {
	TakeBuffer() (b int32, err error) // blocks until one is free
	BufferBytes(b int32) []byte
	BufferPiece(b int32, off, n int) qp.Data
	// PostAndWait posts a chain of requests, calls meanwhile, and waits until the chain is
	// complete.
	PostAndWait(r []qp.Request, d []qp.Data, meanwhile func()) error
	// PostWithBuffer posts a chain and returns. The buffer is free again when the chain is
	// complete.
	PostWithBuffer(b int32, r []qp.Request, d []qp.Data) error
}

// Offsets of the words in the ring's first page.
const (
	claimedOffset  = 0
	releasedOffset = 64
	pageBytes      = 4096
)

// Ring is a target's eager ring. Only the poller of the data server's queue uses it.
type Ring struct {
	memory       []byte // a page with the words, then the slots
	slotBytes    int    // of a slot
	region       qp.Region
	emptied      []bool // by slot: it is empty, though an older one is not
	oldestTicket uint64 // ticket of the oldest slot that was not emptied
}

// OpenRing makes a ring of n slots of `size` bytes. The caller closes it.
func OpenRing(d qp.Device, n, size int) (*Ring, error) {
	memory, err := unix.Mmap(-1, 0, pageBytes+n*size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map %d slots: %w", n, err)
	}
	r := &Ring{memory: memory, slotBytes: size, emptied: make([]bool, n)}
	if r.region, err = d.Register(r.baseAddr(), int64(len(memory)), qp.Remote); err != nil {
		unix.Munmap(memory)
		return nil, err
	}
	return r, nil
}

func (r *Ring) baseAddr() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(r.memory))) }

// Place returns where the ring is.
func (r *Ring) Place() Place {
	lo := uint64(r.baseAddr())
	return Place{lo, lo + uint64(len(r.memory)), r.region.Key()}
}

var errTicket = errors.New("a ticket of the eager ring that nobody has")

// Body returns the first n bytes of the slot of a ticket.
func (r *Ring) Body(ticket uint64, n int) ([]byte, error) {
	if r == nil || ticket < r.oldestTicket ||
		ticket-r.oldestTicket >= uint64(len(r.emptied)) || n > r.slotBytes {
		return nil, errTicket
	}
	slot := int(ticket % uint64(len(r.emptied)))
	if r.emptied[slot] {
		return nil, errTicket
	}
	return r.memory[pageBytes+slot*r.slotBytes:][:n], nil
}

// Release makes the slot of a ticket available again.
func (r *Ring) Release(ticket uint64) {
	n := uint64(len(r.emptied))
	r.emptied[ticket%n] = true
	for ; r.emptied[r.oldestTicket%n]; r.oldestTicket++ {
		r.emptied[r.oldestTicket%n] = false
	}
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&r.memory[releasedOffset])), r.oldestTicket)
}

// Close frees the ring. r may be nil.
func (r *Ring) Close() {
	if r != nil {
		r.region.Close()
		unix.Munmap(r.memory)
	}
}

// WordsBytes is the space at the start of a buffer that a claim needs for words it reads.
const WordsBytes = 16

// Slots are the slots of a target's eager ring.
type Slots struct {
	ring             Place
	slotBytes, count uint64
}

// NewSlots returns nil if the target has no ring.
func NewSlots(p *Places, size int) *Slots {
	if p.Ring.Hi == 0 {
		return nil
	}
	return &Slots{ring: p.Ring, slotBytes: uint64(size),
		count: (p.Ring.Hi - p.Ring.Lo - pageBytes) / uint64(size)}
}

// Claim claims a slot, calls meanwhile, and returns when the slot is empty. It uses the first
// WordsBytes of buffer b. The caller takes the buffer first, since others wait for a slot that is
// claimed and not filled.
func (s *Slots) Claim(p Port, b int32, meanwhile func()) (ticket uint64, err error) {
	q := []qp.Request{
		{Remote: s.ring.Lo + releasedOffset, Key: s.ring.Key, Pieces: 1, Op: qp.Read},
		{Remote: s.ring.Lo + claimedOffset, Key: s.ring.Key, Pieces: 1, Op: qp.FetchAdd,
			Operand: 1}}
	d := []qp.Data{p.BufferPiece(b, 8, 8), p.BufferPiece(b, 0, 8)}
	err = p.PostAndWait(q, d, meanwhile)
	for pause := time.Microsecond; err == nil; pause = min(2*pause, time.Millisecond) {
		ticket, released := binary.NativeEndian.Uint64(p.BufferBytes(b)),
			binary.NativeEndian.Uint64(p.BufferBytes(b)[8:])
		if ticket < released+s.count {
			return ticket, nil
		}
		time.Sleep(pause)
		// Read the number of emptied slots again.
		err = p.PostAndWait(q[:1], d[:1], func() {})
	}
	return 0, err
}

// Fill is the request that writes into the slot of a ticket.
func (s *Slots) Fill(ticket uint64) qp.Request {
	slot := s.ring.Lo + pageBytes + ticket%s.count*s.slotBytes
	return qp.Request{Remote: slot, Key: s.ring.Key, Pieces: 1, Op: qp.Write}
}
