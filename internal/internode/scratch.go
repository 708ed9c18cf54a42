// SPDX-License-Identifier: BSD-3-Clause

// A little memory of each process that others may write to and read from as they like: what the cost model measures with.
// Nobody else's memory is touched for that.
package internode

import (
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

const (
	scratchRows   = 64
	scratchStride = pageBytes + 64 // rows of arrays are in pages of their own
	scratchBytes  = scratchRows * scratchStride
)

type scratch struct {
	mu      sync.Mutex
	tried   bool
	memory  []byte
	lo      uintptr
	exposed []transport.Range
}

// open makes the memory, if nobody has; 0 if there can be none. It is registered like the arena.
func (s *scratch) open(t *Transport) uintptr {
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
	lo := addressOf(memory)
	list := t.direct.Expose(lo, scratchBytes)
	if n := len(list); n == 0 || slices.ContainsFunc(list, func(r transport.Range) bool { return !r.Direct }) {
		return 0
	} else if list = slices.Clone(list); list[0].Lo <= lo && list[n-1].Hi >= lo+scratchBytes {
		list[0].Lo, list[n-1].Hi = lo, lo+scratchBytes
		s.lo, s.exposed = lo, list
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

// ranges is the memory and its keys, for others.
func (s *scratch) ranges(t *Transport) []transport.Range {
	if s.open(t) == 0 {
		return nil
	}
	return s.exposed
}
