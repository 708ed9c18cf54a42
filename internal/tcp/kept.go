// SPDX-License-Identifier: BSD-3-Clause

// The bytes that an outStream keeps until the other side's kernel has acknowledged them: when they
// are freed, and how many all connections of a process keep. There are never more than the kernel
// has in the socket's send buffer, so that is made smaller where all connections together keep too
// many: their senders then wait for room, as for a slow peer.
package tcp

import (
	"slices"
	"sync/atomic"
)

const (
	// bytes that are kept before the kernel is asked how much has been acknowledged: so few
	// that they stay in the cache, so many that the call costs a small frame next to nothing
	minUnacked = 16 << 10
	// a call of which the acknowledged bytes are not even copied
	longSend = 8 << 10
	// bytes that each stream may keep, however many there are
	minKept = 64 << 10
)

// keptTotal is the memory for kept bytes of all streams of a process.
type keptTotal struct {
	bytes atomic.Int64
	most  int64 // from here on streams get smaller send buffers
}

// keptMemory is what a stream has of it. The stream's mu guards it.
type keptMemory struct {
	all      *keptTotal
	counted  int  // bytes of it in all
	limited  bool // the socket has a smaller send buffer
	lastKept int  // bytes of unacked after they were last looked through
	// end when freeIfIdle was last called; it tells whether something was sent since
	endWhenChecked uint64
}

// keepSent keeps the last n bytes, which were sent just now, until they are acknowledged. keep
// appends those from skip on to unacked. The caller holds mu.
func (s *outStream) keepSent(n int, keep func(n, skip int)) {
	s.end += uint64(n)
	s.inSocket = s.end
	skip := 0
	if n >= longSend || len(s.unacked)+n > 2*s.memory.lastKept+minUnacked || s.memory.limited {
		if left, err := s.socket.unackedBytes(); err == nil {
			old := max(min(left-n, len(s.unacked)), 0)
			s.unacked = s.unacked[:copy(s.unacked, s.unacked[len(s.unacked)-old:])]
			skip = max(n-left, 0)
		}
		s.memory.lastKept = len(s.unacked) + n - skip
	}
	keep(n, skip)
	s.count()
	s.adaptSendBuffer()
}

// freeIfIdle frees the memory of a stream of which all is acknowledged, and on which nothing was
// sent since the last call. While it is in use the memory stays: pages that come and go cost more
// than the copies.
func (s *outStream) freeIfIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := s.end == s.memory.endWhenChecked
	s.memory.endWhenChecked = s.end
	if !idle || s.state != streamOpen {
		return
	}
	if left, err := s.socket.unackedBytes(); err == nil && left == 0 && s.inSocket == s.end {
		s.unacked, s.memory.lastKept = nil, 0
		s.count()
		s.adaptSendBuffer()
	}
}

// count counts the memory of unacked. The caller holds mu.
func (s *outStream) count() {
	if n := cap(s.unacked) - s.memory.counted; n != 0 {
		s.memory.counted += n
		s.memory.all.bytes.Add(int64(n))
	}
}

// adaptSendBuffer makes the socket's send buffer smaller while all streams keep too much, and
// leaves its size to the kernel when they keep little. The caller holds mu, and has counted.
func (s *outStream) adaptSendBuffer() {
	m := &s.memory
	total := m.all.bytes.Load()
	switch {
	case total > m.all.most && m.counted > minKept:
		half := max(len(s.unacked), minKept) / 2
		m.limited = s.socket.limitSendBuffer(half) == nil || m.limited
		if m.counted > 2*len(s.unacked) { // memory of earlier bytes
			s.unacked = slices.Clone(s.unacked)
			s.count()
		}
	case m.limited && total < m.all.most/2:
		m.limited = s.socket.freeSendBuffer() != nil
	}
}
