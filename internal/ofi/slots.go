// SPDX-License-Identifier: BSD-3-Clause

// Memory that the provider uses while it has a request or a receive buffer: the context that names
// it. A request also has the trailer of a message, data that was copied, operands of an atomic. The
// memory is outside of Go's heap.
package ofi

import (
	"encoding/binary"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

const (
	contextBytes = 64 // the most that a provider may need
	trailerAt    = contextBytes
	operandAt    = trailerAt + trailerBytes
	compareAt    = operandAt + 8
	copiedAt     = compareAt + 8
	maxCopied    = 256 // bytes of data that was copied
	slotBytes    = (copiedAt + maxCopied + trailerBytes + 63) &^ 63
)

// slots are pieces of memory of equal size, with a number each.
type slots struct {
	size   int
	memory []byte
	region qp.Region
	desc   libfabric.Desc
	mu     sync.Mutex // guards free and users
	free   []int32
	users  []slotUser // by slot
}

// open maps and registers memory for n slots. The caller calls close, also after an error.
func (s *slots) open(d *device, n, size int) (err error) {
	if s.memory, err = unix.Mmap(-1, 0, n*size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		return fmt.Errorf("map %d slots: %w", n, err)
	}
	if s.region, err = d.Register(s.addr(0), int64(n*size), qp.Local); err != nil {
		return err
	}
	s.size, s.users = size, make([]slotUser, n)
	s.desc = d.descs.descOf(d.LocalKey(s.region.Key()))
	for i := range n {
		s.free = append(s.free, int32(n-1-i))
	}
	return nil
}

func (s *slots) close() {
	if s.region != nil {
		s.region.Close()
	}
	if s.memory != nil {
		unix.Munmap(s.memory)
	}
}

// acquire takes a free slot for a request; -1: there is none. It locks mu.
func (s *slots) acquire(user slotUser) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return -1
	}
	i := s.free[n-1]
	s.free, s.users[i] = s.free[:n-1], user
	return i
}

// releaseSlot makes a slot free again, and returns its user. It locks mu.
func (s *slots) releaseSlot(i int32) (user slotUser) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, i)
	user, s.users[i] = s.users[i], slotUser{}
	return user
}

// inUse is how many slots are not free.
func (s *slots) inUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.users) - len(s.free)
}

// addr is the address of a slot, at which its context is.
func (s *slots) addr(i int32) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(s.memory))) + uintptr(int(i)*s.size)
}

// bytes is the memory of a slot.
func (s *slots) bytes(i int32) []byte { return s.memory[int(i)*s.size:][:s.size] }

// slotOf is the slot of a context; ok is false if it is not one of these slots.
func (s *slots) slotOf(context uintptr) (i int32, ok bool) {
	off := context - s.addr(0)
	return int32(off / uintptr(s.size)), off < uintptr(len(s.memory))
}

// trailer ends every message: the queue pair that it is for, its number there, and the token of
// that queue pair, which only the other end knows. The number restores the order: a provider
// receives messages in order, but completes long ones later.
type trailer struct {
	pair, number uint32
	token        uint64
}

const (
	trailerBytes = 16
	pulseBytes   = 4          // of a pulse: the number of the next message
	pulseNumber  = ^uint32(0) // of a pulse, by which the sender checks the connection
)

func (t *trailer) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b, t.pair)
	le.PutUint32(b[4:], t.number)
	le.PutUint64(b[8:], t.token)
}

// decodePulse decodes a pulse at an address.
func decodePulse(addr uint64) (nextSent uint32) {
	return binary.LittleEndian.Uint32(unsafe.Slice((*byte)(pointerTo(uintptr(addr))),
		pulseBytes))
}

func decodeTrailer(b []byte) trailer {
	le := binary.LittleEndian
	return trailer{le.Uint32(b), le.Uint32(b[4:]), le.Uint64(b[8:])}
}
