// SPDX-License-Identifier: BSD-3-Clause

// The buffers that small frames are collected in, and read into. They are lent for the shortest possible time, so that
// their number follows what goes on at the same time and not the number of connections; and there are never more than
// the setting allows. Who has to send waits for one. Nobody who has one waits for another, or for more than a server
// to read, and who reads does without if there is none: so all come back.
package tcp

import (
	"math"
	"sync"
)

const bufferBytes = 64 << 10

// buffers lends memory.
type buffers struct {
	mu   sync.Mutex
	back sync.Cond // one has come back
	free [][]byte
	lent int
	made int
	most int // that may be made
}

// leastBuffers is how many a client needs so that nothing stands still.
const leastBuffers = 4

// init gives room for nbytes of buffers.
func (s *buffers) init(nbytes int64) {
	s.back.L = &s.mu
	s.most = int(max(nbytes/bufferBytes, leastBuffers))
}

// get lends an empty buffer of capacity bufferBytes. It waits until there is one.
func (s *buffers) get() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.lent >= s.most {
		s.back.Wait()
	}
	return s.take()
}

// tryGet is get, but gives nil instead of waiting.
func (s *buffers) tryGet() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lent >= s.most {
		return nil
	}
	return s.take()
}

func (s *buffers) take() []byte {
	s.lent++
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		return b
	}
	s.made++
	return make([]byte, 0, bufferBytes)
}

// put takes a buffer back.
func (s *buffers) put(b []byte) {
	s.mu.Lock()
	s.lent--
	s.free = append(s.free, b[:0])
	s.mu.Unlock()
	s.back.Signal()
}

// unbound lets go whoever waits: the transport ends.
func (s *buffers) unbound() {
	s.mu.Lock()
	s.most = math.MaxInt
	s.mu.Unlock()
	s.back.Broadcast()
}

// scarce tells that no buffer should be held for longer than it is needed at once.
func (s *buffers) scarce() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lent > s.most/2
}
