// SPDX-License-Identifier: BSD-3-Clause

// Atomic operations of a device in the fabric suite: they are atomic with respect to each other.
package transporttest

import (
	"errors"
	"sync"
	"testing"

	"libarmci/internal/transport"
)

// fabricAtomic shows that device atomics of several origins on the same words are atomic.
func fabricAtomic(t *testing.T, d transport.Driver) {
	const procs, n = 4, 60
	j := openFabrics(t, d, procs)
	f, ok := j.procs[0].fabric.(transport.DirectFabric)
	if !ok || !f.Atomics() {
		t.Skipf("%s has no device with atomic operations", d.Name)
	}
	word := j.procs[0].arenaMem + 512
	j.Node(0).Declare(word, 64)
	clear(memoryBytes(word, 64))
	olds := make([][]int64, procs)
	var running sync.WaitGroup
	for from := 1; from < procs; from++ {
		o := j.procs[from].dialRank(0)
		keys := keyTable{process: j.procs[0]}
		r, err := keys.lookUp(word, nil)
		if errors.Is(err, transport.ErrNotNative) {
			t.Skip("this memory has no key")
		}
		e := o.ep.(transport.DirectEndpoint)
		running.Go(func() {
			o.posting.Lock()
			defer o.posting.Unlock()
			for i := 0; i < n && err == nil; i++ {
				var old int64
				old, err = e.Atomic(transport.AtomicAdd, word, r.Key, 1, 0)
				olds[from] = append(olds[from], old)
				for guess := int64(0); err == nil; guess = old {
					if old, err = e.Atomic(transport.AtomicCompareSwap, word+8,
						r.Key, guess+3, guess); old == guess {
						break
					}
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	seen := map[int64]bool{}
	for _, all := range olds {
		for i, old := range all {
			if seen[old] || i > 0 && old <= all[i-1] {
				t.Errorf("ticket %d was drawn twice, or late", old)
			}
			seen[old] = true
		}
	}
	got := memoryBytes(word, 24)
	if a, s, after := native.Uint64(got), native.Uint64(got[8:]),
		native.Uint64(got[16:]); a != (procs-1)*n || s != 3*(procs-1)*n || after != 0 {
		t.Errorf("the words are %d, %d and %d", a, s, after)
	}
}
