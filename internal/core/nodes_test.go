// SPDX-License-Identifier: BSD-3-Clause

// What ranks of different nodes do to each other one at a time: operations with addresses good and
// bad, notification, procedure calls, locks. On several shapes, and over a wire that keeps messages
// behind data as well as one that does not.
package core

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// Everybody stores at everybody, reads back, adds, and takes numbers.
func TestOperationsAcrossNodes(t *testing.T) {
	everyShape(t, func(r *tr) {
		mem, buf := r.alloc(4096), r.local(4096)
		me := uintptr(r.Me)
		one, two := int64(1), int64(2)
		for to := range r.N {
			for i := range uintptr(5) {
				*long(buf) = int64(100*me + i)
				r.must(r.Do(op(Put, to, buf, mem[to]+64*me+8*i, 8)))
				*long(buf) = -1 // it is mine again
			}
			id, err := r.Start(op(Get, to, buf+8, mem[to]+64*me, 40), false)
			r.must(err)
			r.must(r.Wait(id))
			for i := range uintptr(5) {
				if got := *long(buf + 8 + 8*i); got != int64(100*me+i) {
					r.wrong("word %d at rank %d is %d", i, to, got)
				}
			}
			*long(buf) = 3
			_, err = r.Start(accOf(op(Acc, to, buf, mem[to]+2048, 8), &two), true)
			r.must(err)
			r.must(r.WaitProc(to))
			r.must(r.Do(accOf(strided(Acc, to, buf, mem[to]+2048, 8, 1, 8), &one)))
			x := transport.RMW{Op: transport.FetchAdd, Bytes: 8, Addr: mem[to] + 3000,
				Operand: 1}
			r.must(r.RMW(to, &x))
			if x.Old < 0 || x.Old >= int64(r.N) {
				r.wrong("number %d at rank %d", x.Old, to)
			}
		}
		r.must(r.AllFence())
		r.barrier()
		if got := *long(mem[me] + 2048); got != int64(9*r.N) {
			r.wrong("the sum is %d", got)
		}
		if got := *long(mem[me] + 3000); got != int64(r.N) {
			r.wrong("%d numbers were taken", got)
		}
		r.barrier()
	})
}

// One question to all ranks in a fence of all, none where nothing is outstanding.
func TestFencesAcrossNodes(t *testing.T) {
	shape{4, 4, false}.run(t, nil, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		r.barrier()
		if r.Me == 0 {
			fences := func(do func() error) int {
				before := r.c.Between.Count("fence")
				r.must(do())
				return r.c.Between.Count("fence") - before
			}
			for to := range r.N {
				r.must(r.Do(op(Put, to, buf, mem[to], 8)))
			}
			for i, c := range []struct {
				do   func() error
				want int
			}{{r.AllFence, 1}, {r.AllFence, 0}, {func() error { return r.Fence(1) }, 0},
				{func() error { return r.Do(op(Get, 1, buf, mem[1], 8)) }, 0},
				{func() error { return r.Fence(1) }, 0},
				{func() error { return r.Do(op(Put, 2, buf, mem[2], 8)) }, 0},
				{func() error { return r.Fence(1) }, 0},
				{func() error { _, err := r.Notify(2); return err }, 0},
				{func() error { return r.Fence(2) }, 1},
				{func() error { return r.GroupFence(r.groups.world) }, 0}} {
				if got := fences(c.do); got != c.want {
					r.wrong("step %d: %d fences, expected %d", i, got, c.want)
				}
			}
		}
		r.barrier()
	})
}

// A small store without a waiter leaves no handle; collected stores become one operation for each
// target.
func TestSmallStores(t *testing.T) {
	shape{3, 3, false}.run(t, nil, func(r *tr) {
		mem, buf := r.alloc(4096), r.local(4096)
		r.barrier()
		if r.Me == 0 {
			for i := range uintptr(100) {
				*long(buf) = int64(i)
				id, err := r.Start(op(Put, 1, buf, mem[1]+8*i, 8), i%2 == 0)
				if r.must(err); id != Done {
					r.wrong("put %d has a handle", i)
				}
			}
			r.must(r.Fence(1))
			before := r.c.Between.Count("put")
			r.SetAggregate(5)
			for i := range uintptr(100) {
				_, err := r.Collect(5, op(Put, 2, buf, mem[2]+8*i, 8))
				r.must(err)
			}
			r.must(r.WaitAggregate(5))
			r.must(r.Fence(2))
			if got := r.c.Between.Count("put") - before; got != 1 ||
				r.c.Between.Count("put vector") != 1 {
				r.wrong("%d operations for what was collected", got)
			}
		}
		r.barrier()
		for i := range uintptr(100) {
			if want := []int64{0, int64(i), 99}[r.Me]; *long(mem[r.Me] + 8*i) != want {
				r.wrong("word %d is %d", i, *long(mem[r.Me] + 8*i))
			}
		}
		r.barrier()
	})
}

// A notification comes after the data, and counts on both sides are those of each pair.
func TestNotifyAcrossNodes(t *testing.T) {
	everyShape(t, func(r *tr) {
		mem, buf := r.alloc(8*int64(r.N)), r.local(8)
		next, before := (int(r.Me)+1)%r.N, (int(r.Me)+r.N-1)%r.N
		r.barrier()
		for i := range 50 {
			*long(buf) = int64(i + 1)
			_, err := r.Start(op(Put, next, buf, mem[next]+8*uintptr(r.Me), 8), true)
			r.must(err)
			n, err := r.Notify(next)
			if r.must(err); n != i+1 {
				r.wrong("notification %d is counted as %d", i+1, n)
			}
			received, waited, err := r.NotifyWait(before)
			r.must(err)
			if waited != i+1 || received < waited {
				r.wrong("%d received, %d waited for, expected %d", received, waited,
					i+1)
			}
			if got := *long(mem[r.Me] + 8*uintptr(before)); got < int64(i+1) {
				r.wrong("notified %d times, but the word is %d", i+1, got)
			}
		}
		r.barrier()
	})
}

// A procedure runs at the rank it was meant for, sees what its caller has stored, and may itself
// call.
func TestProceduresAcrossNodes(t *testing.T) {
	everyShape(t, func(r *tr) {
		mem, buf := r.alloc(8*int64(r.N)), r.local(8)
		h := r.GPCRegister(func(from int, head, data []byte, _, _ int) ([]byte, []byte) {
			v := *long(mem[r.Me] + 8*uintptr(from))
			return []byte{byte(r.Me), byte(from), byte(v)}, slices.Concat(head, data)
		})
		relay := r.GPCRegister(func(from int, head, data []byte, _, _ int) ([]byte,
			[]byte) {
			wait, err := r.CallProcedure(h, from, head, data, 3, len(data)+len(head))
			r.must(err)
			rhead, rdata, err := wait()
			r.must(err)
			return rhead, rdata
		})
		r.barrier()
		for i := range 10 {
			for to := range r.N {
				*long(buf) = int64(i + 1)
				_, err := r.Start(op(Put, to, buf, mem[to]+8*uintptr(r.Me), 8),
					true)
				r.must(err)
				arg := pattern(i, 1000*i)
				wait, err := r.CallProcedure(h, to, []byte("head"), arg, 3, 2000*i)
				r.must(err)
				head, data, err := wait()
				if r.must(err); !bytes.Equal(head,
					[]byte{byte(to), byte(r.Me), byte(i + 1)}) {
					r.wrong("rank %d replies %v, round %d", to, head, i+1)
				}
				if !bytes.Equal(data, append([]byte("head"), arg...)) {
					r.wrong("rank %d replies %d bytes", to, len(data))
				}
			}
			wait, err := r.CallProcedure(relay, (int(r.Me)+1)%r.N, nil, nil, 3, 0)
			r.must(err)
			if head, _, err := wait(); err != nil || head[0] != byte(r.Me) {
				r.wrong("relayed: %v, %v", head, err)
			}
		}
		r.barrier()
	})
}

// Locks of one host, taken from all nodes: one rank at a time is inside, every count is exact, no
// rank starves, and stores under the lock are visible to the next holder.
func TestLocksAcrossNodes(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) {
			var inside atomic.Int32
			s.run(t, nil, func(r *tr) {
				const rounds = 60
				r.must(r.CreateMutexes(2))
				mem, buf := r.alloc(8), r.local(16)
				set, host := r.DefaultMutexes(), r.N-1
				for range rounds {
					r.must(r.Lock(set, 1, host))
					if inside.Add(1) != 1 {
						r.wrong("two hold the mutex")
					}
					r.must(r.Do(op(Get, host, buf, mem[host], 8)))
					*long(buf)++
					r.must(r.Do(op(Put, host, buf, mem[host], 8)))
					inside.Add(-1)
					r.must(r.Unlock(set, 1, host))
				}
				r.must(r.AllFence())
				r.barrier()
				if int(r.Me) == host && *long(mem[host]) != int64(rounds*r.N) {
					r.wrong("%d rounds are counted, expected %d",
						*long(mem[host]), rounds*r.N)
				}
				r.must(r.DestroyMutexes())
			})
		})
	}
}

// Ranks of two nodes and the host itself contend for a mutex, which is handed over in every way:
// its counter is exact, and no line is left.
func TestLockIsPassedOn(t *testing.T) {
	shape{3, 2, false}.run(t, nil, func(r *tr) {
		r.must(r.CreateMutexes(1))
		set := r.DefaultMutexes()
		mem, buf := r.alloc(8), r.local(8)
		const turns = 40
		for range turns {
			r.must(r.Lock(set, 0, 0))
			r.must(r.Do(op(Get, 0, buf, mem[0], 8)))
			*long(buf)++
			r.must(r.Do(op(Put, 0, buf, mem[0], 8)))
			r.must(r.Unlock(set, 0, 0))
		}
		r.must(r.AllFence()) // the last store and unlock of a rank may be on their way
		r.barrier()
		r.lockServer.mu.Lock()
		if len(r.lockServer.queues) != 0 {
			r.wrong("%d lines are left", len(r.lockServer.queues))
		}
		r.lockServer.mu.Unlock()
		if r.Me == 0 && *long(mem[0]) != turns*int64(r.N) {
			r.wrong("the counter is %d after %d turns of %d ranks", *long(mem[0]),
				turns, r.N)
		}
	})
}

// More callers than may queue at a time, from one node: each gets its turn, and the line is gone
// afterwards.
func TestLockLine(t *testing.T) {
	shape{2, 2, false}.run(t, nil, func(r *tr) {
		r.must(r.CreateMutexes(1))
		set := r.DefaultMutexes()
		r.barrier()
		if r.Me == 0 {
			r.must(r.Lock(set, 0, 0))
		}
		r.barrier()
		var running sync.WaitGroup
		var order atomic.Int32
		if r.Me == 1 {
			if got, err := r.TryLock(set, 0, 0); got || err != nil {
				r.wrong("TryLock of a held mutex: %v, %v", got, err)
			}
			for range 3 * maxServingGoroutines {
				running.Go(func() {
					r.must(r.Lock(set, 0, 0))
					order.Add(1)
					r.must(r.Unlock(set, 0, 0))
				})
			}
			time.Sleep(10 * time.Millisecond)
			if order.Load() != 0 {
				r.wrong("%d got a mutex that is held", order.Load())
			}
		}
		r.barrier()
		if r.Me == 0 {
			r.must(r.Unlock(set, 0, 0))
		}
		running.Wait()
		r.barrier()
		r.lockServer.mu.Lock()
		if len(r.lockServer.queues) != 0 {
			r.wrong("%d lines are left", len(r.lockServer.queues))
		}
		r.lockServer.mu.Unlock()
		if r.Me == 1 {
			if got, err := r.TryLock(set, 0, 0); !got || err != nil {
				r.wrong("TryLock of a free mutex: %v, %v", got, err)
			}
			r.must(r.Unlock(set, 0, 0))
			wantArg(r, "Unlock twice", r.Unlock(set, 0, 0), "mutex", CodeArgument,
				"is not held by this rank")
			wantArg(r, "no such mutex", r.Lock(set, 1, 0), "mutex", CodeArgument,
				"index 1")
		}
		r.must(r.DestroyMutexes())
	})
}
