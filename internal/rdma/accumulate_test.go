// SPDX-License-Identifier: BSD-3-Clause

// Accumulates by the origin's device: nothing is lost beside processors and beside accumulates by
// frames.
package rdma

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// TestDeviceAccumulateBesideOthers: on the same elements, two ranks accumulate by their devices,
// one by message, and the target's own processors.
func TestDeviceAccumulateBesideOthers(t *testing.T) {
	const rounds, elements = 60, 700
	first, memory := true, transport.LocalMemory(nil) // of the last rank
	j := newJob(t, func(s *settings) {
		s.DeviceAcc, memory, first = !first, s.Memory, false
	}, 1, 1, 1, 1)
	at := j.Alloc(t, 3, 1<<20) + 4096 - 100
	var all sync.WaitGroup
	one, scale := make([]int64, elements), int64(1)
	for i := range one {
		one[i] = 1
	}
	add := func(acc func(transport.Peer, *transport.Xfer, transport.Scale) error) {
		for range rounds {
			x := contiguousXfer(uintptr(unsafe.Pointer(&one[0])), at, 8*elements)
			if err := acc(3, x, transport.Scale{Type: int(kernel.Long),
				Value: unsafe.Pointer(&scale)}); err != nil {
				t.Error(err)
				return
			}
		}
	}
	for rank := range 3 {
		all.Go(func() {
			add(j.Open[rank].Acc)
			if err := j.Open[rank].Fence(3); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		for range 20 {
			add(memory.Acc)
		}
	})
	all.Wait()
	for i, v := range unsafe.Slice((*int64)(kernel.Ptr(at)), elements) {
		if v != 23*rounds {
			t.Fatalf("element %d is %d, want %d", i, v, 23*rounds)
		}
	}
	if j.fabrics[3].listen.accLocks == nil {
		t.Error("no accumulate was made by the device")
	}
}

// TestAccumulateAllocates: an accumulate by message allocates little at the target, where garbage
// collection would otherwise take longer than the accumulates.
func TestAccumulateAllocates(t *testing.T) {
	const rounds, ops, bytes, most = 5, 500, 32 << 10, 1500
	j := newJob(t, nil, 1, 1)
	at := j.Alloc(t, 1, bytes)
	data, scale := make([]int64, bytes/8), int64(1)
	add := func(n int) {
		for range n {
			x := contiguousXfer(uintptr(unsafe.Pointer(&data[0])), at, bytes)
			by := transport.Scale{Type: int(kernel.Long), Value: unsafe.Pointer(&scale)}
			if err := j.Open[0].Acc(1, x, by); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Open[0].Fence(1); err != nil {
			t.Fatal(err)
		}
	}
	add(50) // connects
	least := uint64(math.MaxUint64)
	for range rounds { // during some of them the cost model is measured
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		add(ops)
		runtime.ReadMemStats(&after)
		least = min(least, (after.TotalAlloc-before.TotalAlloc)/ops)
	}
	if least > most {
		t.Errorf("%d bytes are allocated for each accumulate, %d at most", least, most)
	}
}
