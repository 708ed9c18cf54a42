// SPDX-License-Identifier: BSD-3-Clause

// The eager ring of a target: slots that origins claim by atomics of its device, and fill by RDMA writes. A word counts
// tickets: who adds one to it has the slot of that number, modulo the number of slots, as soon as what was in it has been
// taken out, of which another word tells. Devices change the first word, the server the second one, so that no atomics
// of different kinds meet.
package lab

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/rdma/verbs"
)

// Places of the words in the ring's first page.
const (
	claimedAt  = 0
	releasedAt = 64
	pageBytes  = 4096
)

// Ring is used by whoever polls for the data server.
type Ring struct {
	memory []byte // a page with the words, then the slots
	size   int    // of a slot
	region *verbs.Region
	empty  []bool // slots that were emptied after one that was not
	next   uint64 // ticket of the oldest slot that was not emptied
}

// OpenRing makes a ring of n slots.
func OpenRing(d *verbs.Domain, n, size int) (*Ring, error) {
	memory, err := unix.Mmap(-1, 0, pageBytes+n*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map %d slots: %w", n, err)
	}
	r := &Ring{memory: memory, size: size, empty: make([]bool, n)}
	if r.region, err = d.Register(r.lo(), int64(len(memory)), verbs.Remote); err != nil {
		unix.Munmap(memory)
		return nil, err
	}
	return r, nil
}

func (r *Ring) lo() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(r.memory))) }

// Place tells where the ring is.
func (r *Ring) Place() Place {
	return Place{uint64(r.lo()), uint64(r.lo()) + uint64(len(r.memory)), r.region.RKey}
}

var errTicket = errors.New("a ticket of the eager ring that nobody has")

// Body is what the slot of a ticket holds.
func (r *Ring) Body(ticket uint64, n int) ([]byte, error) {
	if r == nil || ticket < r.next || ticket-r.next >= uint64(len(r.empty)) || n > r.size {
		return nil, errTicket
	}
	slot := int(ticket % uint64(len(r.empty)))
	if r.empty[slot] {
		return nil, errTicket
	}
	return r.memory[pageBytes+slot*r.size:][:n], nil
}

// Release says that the slot of a ticket is empty.
func (r *Ring) Release(ticket uint64) {
	n := uint64(len(r.empty))
	r.empty[ticket%n] = true
	for ; r.empty[r.next%n]; r.next++ {
		r.empty[r.next%n] = false
	}
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&r.memory[releasedAt])), r.next)
}

// Close ends the ring.
func (r *Ring) Close() {
	r.region.Close()
	unix.Munmap(r.memory)
}
