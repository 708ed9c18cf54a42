// SPDX-License-Identifier: BSD-3-Clause

// The Go side of waits for a condition on memory (until.c).
package shm

// #include "shm.h"
// static inline void record_store(int local) { shm_record_store(local); }
import "C"

import (
	"sync/atomic"
	"unsafe"
)

// RecordStore wakes the threads of a local rank that wait for stores of other nodes, behind the
// caller's. One that has just gone to sleep may be missed: it looks again after a millisecond.
func (m *foreignMemory) RecordStore(local int) {
	if atomic.LoadUint32((*uint32)(unsafe.Pointer(&m.rankOf(local).watchers))) != 0 {
		C.record_store(C.int(local))
	}
}
