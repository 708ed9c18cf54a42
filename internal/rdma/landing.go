// SPDX-License-Identifier: BSD-3-Clause

// Buffers of a server that clients claim by atomics of its device, and fill by RDMA writes (paper 004's host-based,
// NIC-assisted method; claim.go is the client's side). A word counts tickets: who adds one to it has the buffer of that
// number, modulo their number, as soon as what was in it has been unpacked, of which another word tells. Devices change
// the first word, the server the second one, so that no atomics of different kinds meet.
package rdma

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/rdma/verbs"
)

// Places of the words in the landing's first page.
const (
	claimedAt  = 0
	releasedAt = 64
)

// landing is made when the first client asks for it. Of the loop alone.
type landing struct {
	tried   bool
	memory  []byte // a page with the words, then the buffers
	regions []*verbs.Region
	free    []bool // what has been unpacked after one that has not
	next    uint64 // ticket that has not been unpacked
}

func (s *server) openLanding() error {
	l := &s.landing
	if l.tried {
		return nil
	}
	l.tried = true
	size := s.t.size
	n := max(s.t.buffers(claimShare), leastBuffers)
	memory, err := unix.Mmap(-1, 0, pageBytes+n*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("map %d buffers: %w", n, err)
	}
	l.memory = memory
	words, err := s.h.domain.RegisterLocks(address(memory), pageBytes)
	if err != nil {
		return err
	}
	l.regions = append(l.regions, words)
	buffers, err := s.h.domain.Register(address(memory)+pageBytes, int64(n*size), true)
	if err != nil {
		return err
	}
	l.regions = append(l.regions, buffers)
	l.free = make([]bool, n)
	return nil
}

func (l *landing) close() {
	for _, r := range l.regions {
		r.Close()
	}
	if l.memory != nil {
		unix.Munmap(l.memory)
	}
}

// tellLanding tells where the words and the buffers are; nothing where there are none.
func (c *conn) tellLanding(f *frame, out []byte) int {
	body, l := out[headerBytes:headerBytes], &c.s.landing
	if c.s.h.limits.Atomic != 0 {
		if err := c.s.openLanding(); err != nil {
			log.Infof("no buffers can be claimed: %v", err)
		}
	}
	if len(l.free) > 0 {
		lo := address(l.memory)
		words := piece{lo, lo + pageBytes, l.regions[0].RKey, true}
		buffers := piece{words.hi, lo + uintptr(len(l.memory)), l.regions[1].RKey, true}
		body = buffers.append(words.append(body))
	}
	return respond(out, &header{kind: kindKey, id: f.id}, len(body))
}

// unload stores what a buffer holds, and releases it.
func (c *conn) unload(f *frame, local int, out []byte) (int, error) {
	l, ticket := &c.s.landing, f.arg
	if ticket < l.next || ticket-l.next >= uint64(len(l.free)) || int(f.bytes) > c.s.t.size {
		return 0, errFrame
	}
	slot := int(ticket % uint64(len(l.free)))
	if l.free[slot] {
		return 0, errFrame
	}
	n := 0
	if f.bytes > 0 { // else the client has claimed one too many
		filled := *f
		filled.kind, filled.data = kindPut, l.memory[pageBytes+slot*c.s.t.size:][:f.bytes]
		var err error
		if n, err = c.store(&filled, local, out); err != nil {
			return 0, err
		}
	}
	l.free[slot] = true
	for at := l.next % uint64(len(l.free)); l.free[at]; at = l.next % uint64(len(l.free)) {
		l.free[at] = false
		l.next++
	}
	atomic.StoreUint64((*uint64)(kernel.Ptr(address(l.memory)+releasedAt)), l.next)
	return n, nil
}
