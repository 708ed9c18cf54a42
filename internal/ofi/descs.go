// SPDX-License-Identifier: BSD-3-Clause

// Descriptors of registered local memory: numbers that fit into qp.Data stand for them.
package ofi

import (
	"sync"

	"libarmci/internal/ofi/libfabric"
)

// ownKey marks the key of memory that is registered for this process alone: the rest of the key is
// its number. Keys of memory that others reach do not have this bit: addresses of processes have 47
// bits.
const ownKey = 1 << 63

// descs is a table of descriptors. Number 0 is none.
type descs struct {
	mu    sync.RWMutex
	list  []libfabric.Desc
	free  []uint32
	names map[uint64]uint32 // of memory that others reach, by key
}

func (t *descs) init() {
	t.list, t.names = make([]libfabric.Desc, 1), map[uint64]uint32{}
}

// add gives a descriptor a number.
func (t *descs) add(d libfabric.Desc) (number uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		number, t.free = t.free[n-1], t.free[:n-1]
		t.list[number] = d
		return number
	}
	t.list = append(t.list, d)
	return uint32(len(t.list) - 1)
}

// name makes number the one of a key.
func (t *descs) name(key uint64, number uint32) {
	t.mu.Lock()
	t.names[key] = number
	t.mu.Unlock()
}

// remove ends the use of a number.
func (t *descs) remove(key uint64, number uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.names, key)
	t.list[number] = 0
	t.free = append(t.free, number)
}

// number is that of a key.
func (t *descs) number(key uint64) uint32 {
	if key&ownKey != 0 {
		return uint32(key)
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.names[key]
}

// of is the descriptor of a number.
func (t *descs) of(number uint32) libfabric.Desc {
	if number == 0 {
		return 0
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.list[number]
}
