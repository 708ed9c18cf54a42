// SPDX-License-Identifier: BSD-3-Clause

// Read-modify-write by the devices, in memory that was declared for it.
package rdma

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// countingMemory is a node's own transport that counts its read-modify-writes.
type countingMemory struct {
	transport.LocalMemory
	rmwCalls atomic.Int32
}

func (c *countingMemory) RMW(p transport.Peer, r *transport.RMW) error {
	c.rmwCalls.Add(1)
	return c.LocalMemory.RMW(p, r)
}

// TestDeclaredAtomics: all ranks, the owner's node among them, add to a word and take tokens from
// another one. The processors have no part in it; of words of 4 bytes they have.
func TestDeclaredAtomics(t *testing.T) {
	const rounds = 200
	seen := &countingMemory{}
	j := newJob(t, func(s *settings) {
		if s.MyNode == 0 && s.Memory != transport.LocalMemory(seen) {
			seen.LocalMemory, s.Memory = s.Memory, seen
		}
	}, 2, 1, 1)
	if !j.fabrics[0].Atomics() {
		t.Fatal("the device has no atomics")
	}
	at := j.Alloc(t, 1, 1<<16)
	j.Node(1).Declare(at, 1<<16)
	word := func(i int) *int64 { return (*int64)(kernel.Ptr(at + uintptr(64*i))) }
	*word(1) = 1 // a token: the rank that swaps it out may count
	var all sync.WaitGroup
	sums, tokens := make([]int64, 4), make([]int64, 4)
	for rank := range 4 {
		rmw := func(op transport.RMWOp, i, bytes int, operand int64) int64 {
			r := transport.RMW{Op: op, Bytes: bytes,
				Addr: uintptr(unsafe.Pointer(word(i))), Operand: operand}
			if err := j.Open[rank].RMW(1, &r); err != nil {
				t.Error(err)
			}
			return r.Old
		}
		all.Go(func() {
			for range rounds {
				sums[rank] += rmw(transport.FetchAdd, 0, 8, 3)
				if rmw(transport.Swap, 1, 8, 0) == 1 {
					tokens[rank]++
					rmw(transport.Swap, 1, 8, 1)
				}
			}
		})
	}
	all.Wait()
	n, sum := int64(4*rounds), int64(0)
	for _, s := range sums {
		sum += s
	}
	if *word(0) != 3*n || sum != 3*n*(n-1)/2 {
		t.Errorf("%d after %d additions of 3, the old values add up to %d", *word(0), n,
			sum)
	}
	if *word(1) != 1 || tokens[0]+tokens[1]+tokens[2]+tokens[3] == 0 {
		t.Errorf("the token is %d, it was taken %v times", *word(1), tokens)
	}
	if k := seen.rmwCalls.Load(); k != 0 {
		t.Errorf("processors did %d", k)
	}
	r := transport.RMW{Op: transport.FetchAdd, Bytes: 4, Addr: at + 1024, Operand: 5}
	if err := j.Open[2].RMW(1, &r); err != nil || seen.rmwCalls.Load() != 1 || *word(16) != 5 {
		t.Errorf("a word of 4 bytes: %v, %d, %d", err, seen.rmwCalls.Load(), *word(16))
	}
}
