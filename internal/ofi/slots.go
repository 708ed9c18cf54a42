// SPDX-License-Identifier: BSD-3-Clause

// Memory that the provider uses while a request or a receive buffer is its own: the context that
// names it, and, of a request, the trailer of a message, data that was copied, operands of an
// atomic. It is not Go's.
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
	contextBytes = 64 // what a provider may ask for
	trailerAt    = contextBytes
	operandAt    = trailerAt + trailerBytes
	compareAt    = operandAt + 8
	copiedAt     = compareAt + 8
	mostCopied   = 256 // bytes of data that was copied
	slotBytes    = (copiedAt + mostCopied + trailerBytes + 63) &^ 63
)

// slots are pieces of memory of equal size, with a number each.
type slots struct {
	size   int
	memory []byte
	region qp.Region
	desc   libfabric.Desc
	mu     sync.Mutex
	free   []int32
	users  []request // by slot
}

func (s *slots) open(d *device, n, size int) (err error) {
	if s.memory, err = unix.Mmap(-1, 0, n*size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		return fmt.Errorf("map %d slots: %w", n, err)
	}
	if s.region, err = d.Register(s.addr(0), int64(n*size), qp.Local); err != nil {
		return err
	}
	s.size, s.desc, s.users = size, d.descs.of(d.LocalKey(s.region.Key())), make([]request, n)
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

// take takes a free slot; -1: there is none.
func (s *slots) take(user request) int32 {
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

// put makes a slot free again, and tells who has used it.
func (s *slots) put(i int32) (user request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, i)
	user, s.users[i] = s.users[i], request{}
	return user
}

// inUse is how many slots are not free.
func (s *slots) inUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.users) - len(s.free)
}

// addr is where a slot begins: its context.
func (s *slots) addr(i int32) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(s.memory))) + uintptr(int(i)*s.size)
}

// bytes is a slot.
func (s *slots) bytes(i int32) []byte { return s.memory[int(i)*s.size:][:s.size] }

// at is the slot of a context; ok is false if it is none of these.
func (s *slots) at(context uintptr) (i int32, ok bool) {
	off := context - s.addr(0)
	return int32(off / uintptr(s.size)), off < uintptr(len(s.memory))
}

// trailer ends every message: which queue pair it is for, the how manieth it is there, and what
// proves that it comes from the other end of that. A provider completes messages in any order,
// although it receives them in theirs: a long one later.
type trailer struct {
	pair, number uint32
	token        uint64
}

const (
	trailerBytes = 16
	pulseNumber  = ^uint32(0) // of a message that says nothing
)

func (t *trailer) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b, t.pair)
	le.PutUint32(b[4:], t.number)
	le.PutUint64(b[8:], t.token)
}

func trailerOf(b []byte) trailer {
	le := binary.LittleEndian
	return trailer{le.Uint32(b), le.Uint32(b[4:]), le.Uint64(b[8:])}
}
