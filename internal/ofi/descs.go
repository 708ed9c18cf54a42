// SPDX-License-Identifier: BSD-3-Clause

// Descriptors of registered local memory: numbers that fit into qp.Data stand for them.
package ofi

import (
	"sync"

	"libarmci/internal/ofi/libfabric"
)

// ownKey marks the key of memory that is registered for this process alone: the rest of the key is
// the number of its descriptor. Keys of memory that other processes reach do not have this bit:
// addresses of processes have 47 bits.
const ownKey = 1 << 63

// descTable is a table of descriptors. Number 0 stands for none.
type descTable struct {
	mu          sync.RWMutex // guards the rest
	descriptors []libfabric.Desc
	free        []uint32
	numberByKey map[uint64]uint32 // of memory that others reach, by key
}

func (t *descTable) initTable() {
	t.descriptors, t.numberByKey = make([]libfabric.Desc, 1), map[uint64]uint32{}
}

// addDesc gives a descriptor a number. It locks mu.
func (t *descTable) addDesc(d libfabric.Desc) (number uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		number, t.free = t.free[n-1], t.free[:n-1]
		t.descriptors[number] = d
		return number
	}
	t.descriptors = append(t.descriptors, d)
	return uint32(len(t.descriptors) - 1)
}

// nameKey records the number of the descriptor of a key. It locks mu.
func (t *descTable) nameKey(key uint64, number uint32) {
	t.mu.Lock()
	t.numberByKey[key] = number
	t.mu.Unlock()
}

// removeDesc ends the use of a number and of its key. It locks mu.
func (t *descTable) removeDesc(key uint64, number uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.numberByKey, key)
	t.descriptors[number] = 0
	t.free = append(t.free, number)
}

// numberOf is the number of the descriptor of a key; 0: it has none. It locks mu.
func (t *descTable) numberOf(key uint64) uint32 {
	if key&ownKey != 0 {
		return uint32(key)
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.numberByKey[key]
}

// descOf is the descriptor of a number. It locks mu.
func (t *descTable) descOf(number uint32) libfabric.Desc {
	if number == 0 {
		return 0
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.descriptors[number]
}
