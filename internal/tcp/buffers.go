// SPDX-License-Identifier: BSD-3-Clause

// The buffers that small frames are collected in, and read into. They are lent for the shortest possible time, so that
// their number follows what goes on at the same time and not the number of connections.
package tcp

import "sync"

const bufferBytes = 64 << 10

// buffers lends memory.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
	lent int
	keep int // that many stay here when nobody uses them
}

// get lends an empty buffer of capacity bufferBytes.
func (s *buffers) get() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lent++
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		return b
	}
	return make([]byte, 0, bufferBytes)
}

// put takes a buffer back.
func (s *buffers) put(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lent--
	if len(s.free) < s.keep {
		s.free = append(s.free, b[:0])
	}
}

// scarce tells that no buffer should be held for longer than it is needed at once.
func (s *buffers) scarce(limit int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.lent)*bufferBytes > limit
}
