// SPDX-License-Identifier: BSD-3-Clause

// A little memory of each process that others may write to and read from as they like: what the cost model measures with.
// Nobody else's memory is touched for that.
package rdma

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

const (
	scratchRows   = 64
	scratchStride = pageBytes + 64 // rows of arrays are in pages of their own
	scratchBytes  = scratchRows * scratchStride
)

type scratch struct {
	mu     sync.Mutex
	tried  bool
	memory []byte
	lo     uintptr
}

// open makes the memory, if nobody has; 0 if there can be none. It is registered like the arena.
func (s *scratch) open(a *arena) uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried {
		return s.lo
	}
	s.tried = true
	memory, err := unix.Mmap(-1, 0, scratchBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		log.Infof("nothing is measured: %v", fmt.Errorf("map memory: %w", err))
		return 0
	}
	s.memory = memory
	lo := address(memory)
	a.register(lo, scratchBytes)
	if p := a.local.find(lo); p != nil && p.direct {
		s.lo = lo
	}
	return s.lo
}

// holds tells whether memory is part of it.
func (s *scratch) holds(lo uintptr, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lo != 0 && lo >= s.lo && n >= 0 && n <= int64(s.lo)+scratchBytes-int64(lo)
}

// close gives it back; it is not registered any more.
func (s *scratch) close() {
	if s.memory != nil {
		unix.Munmap(s.memory)
	}
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
