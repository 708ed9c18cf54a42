// SPDX-License-Identifier: BSD-3-Clause

// Tests of nonblocking updates that fetch.
package core

import (
	"bytes"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/transporttest"
)

// All ranks take numbers of one counter, many at a time: every number is taken once, and each rank
// gets its own in the order of its calls, whether they are waited for one by one or together.
func TestStartedFetches(t *testing.T) {
	everyShape(t, func(r *tr) {
		const n = 60
		mem, host := r.alloc(4096), r.N-1
		one, taken := []int64{1}, r.local(8*n)
		var calls atomic.Int32
		var ids []int32
		r.barrier()
		for i := range uintptr(n) {
			u := sumOf(host, mem[host], one)
			u.Old = memory(taken+8*i, 8)
			id, err := r.StartUpdate(u, func() { calls.Add(1) })
			r.must(err)
			if i%3 == 0 {
				ids = append(ids, id)
			}
		}
		for _, id := range ids {
			r.must(r.Wait(id))
		}
		r.must(r.WaitProc(host))
		numbers := unsafe.Slice(long(taken), n)
		if calls.Load() != n || !slices.IsSorted(numbers) {
			r.wrong("after %d of %d calls the numbers are %d", calls.Load(), n, numbers)
		}
		r.must(r.Do(op(Put, host, taken, mem[host]+512+8*n*uintptr(r.Me), 8*n)))
		r.must(r.AllFence())
		r.barrier()
		if int(r.Me) == host {
			r.takenOnce(mem[host]+512, n*r.N)
		}
		r.barrier()
	})
}

// A fetch of more than a message has, behind others, is there after a fence; one that starts and
// ends nothing is done.
func TestStartedFetchOfManyMessages(t *testing.T) {
	everyShape(t, func(r *tr) {
		const n = 40000
		mem, to := r.alloc(8*n), r.N-1
		data := make([]int64, n)
		for i := range data {
			data[i] = int64(i) * 3
		}
		r.barrier()
		if r.Me == 0 {
			first, last := sumOf(to, mem[to], data), sumOf(to, mem[to], data)
			first.Old, last.Old = make([]byte, 8*n), make([]byte, 8*n)
			for _, u := range []*Update{first, last} {
				_, err := r.StartUpdate(u, nil)
				r.must(err)
			}
			r.must(r.Fence(to))
			want := unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), 8*n)
			nothing := make([]byte, 8*n)
			if !bytes.Equal(first.Old, nothing) || !bytes.Equal(last.Old, want) {
				r.wrong("fetched values differ")
			}
			id, err := r.StartUpdate(&Update{Proc: to, Type: kernel.I64}, nil)
			if r.must(err); id != Done {
				r.wrong("nothing has the number %d", id)
			}
		}
		r.barrier()
	})
}

// What the target refuses, the wait for the operation tells.
func TestStartedFetchOfWrongMemory(t *testing.T) {
	slow := func(c *transporttest.Cluster) { c.Wire.Pause = 100 * time.Microsecond }
	shape{2, 4, true}.run(t, slow, func(r *tr) {
		mem := r.alloc(64)
		r.barrier()
		if r.Me == 0 {
			u := sumOf(1, mem[1]+64, []int64{1})
			u.Trusted, u.Old = true, make([]byte, 8)
			_, err := r.StartUpdate(u, func() { r.wrong("it was not fetched") })
			r.must(err)
			const wrong = "outside the peer's memory"
			wantArg(r, "together", r.WaitProc(1), "target", CodeAddress, wrong)
			id, err := r.StartUpdate(u, nil)
			r.must(err)
			wantArg(r, "alone", r.Wait(id), "target", CodeAddress, wrong)
			r.must(r.Fence(1))
		}
		r.barrier()
	})
}
