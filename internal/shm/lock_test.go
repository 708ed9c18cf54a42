// SPDX-License-Identifier: BSD-3-Clause

// Mutexes between processes and between threads of one: exclusion, ownership, and that no waiter
// starves.
package shm

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// shared gives all ranks the address of n zeroed bytes of local rank 0.
func shared(r *rank, n int64) uintptr {
	var mine uintptr
	if r.Self() == 0 {
		var err error
		if mine, err = r.AllocatePopulated(n); err != nil {
			r.Fatal(err)
		}
	}
	return uintptr(share(r, uint64(mine))[0])
}

// lockAll: plain increments under a mutex lose nothing; two mutexes guard two words.
func lockAll(r *rank) {
	const threads, rounds = 3, 400
	mem := shared(r, 2*page)
	me := r.Ranks()[r.Self()]
	own := r.RankMutex(0)
	step := uintptr(r.MutexBytes())
	var running sync.WaitGroup
	for th := range threads {
		running.Go(func() {
			for i := range rounds {
				m, word := mem+uintptr(i%3)*step,
					(*uint64)(kernel.Ptr(mem+page+uintptr(i%3)*8))
				if i%3 == 2 {
					m = own
				}
				if i%5 > 0 {
					r.Lock(m, me)
				} else if ticket, got := r.LockSoon(m, me); !got {
					r.LockQueued(m, me, ticket)
				}
				v := *word
				if i%7 == th {
					runtime.Gosched()
				}
				if who, held := r.MutexOwner(m); !held || who != me {
					r.Errorf("the mutex I hold belongs to rank %d (%v)", who,
						held)
				}
				if r.TryLock(m, me+1) {
					r.Errorf("a mutex was taken that is held")
				}
				*word = v + 1
				r.Unlock(m)
			}
		})
	}
	running.Wait()
	r.World().Barrier()
	for i := range uintptr(3) {
		want := uint64(len(r.Ranks()) * threads * ((rounds + 2 - int(i)) / 3))
		if got := *(*uint64)(kernel.Ptr(mem + page + 8*i)); got != want {
			r.Errorf("word %d is %d, expected %d", i, got, want)
		}
	}
	if _, held := r.MutexOwner(mem); held {
		r.Error("the mutex is held after the end")
	}
	r.World().Barrier()
	tryLock(r, mem)
	r.World().Barrier()
	if r.Self() == 0 {
		passOn(r, mem, me)
	}
}

// passOn: a mutex that nothing waits for has another owner at once; one with a queue is not passed
// on.
func passOn(r *rank, m uintptr, me transport.Rank) {
	const far = transport.Rank(77)
	r.Lock(m, me)
	if done := r.PassOn(m, far); !done || r.TryLock(m, me) {
		r.Error("a mutex without a queue is not passed on")
	}
	if who, held := r.MutexOwner(m); !held || who != far {
		r.Errorf("the mutex belongs to rank %d (%v)", who, held)
	}
	ticket, got := r.LockSoon(m, me)
	if got || r.PassOn(m, far+1) {
		r.Error("a mutex with a queue was passed on")
	}
	r.Unlock(m)
	r.LockQueued(m, me, ticket)
	r.Unlock(m)
}

// tryLock: one of all ranks gets a free mutex, and none gets one that is held.
func tryLock(r *rank, m uintptr) {
	got := uint64(0)
	if r.TryLock(m, r.Ranks()[r.Self()]) {
		got = 1
	}
	sum := uint64(0)
	for _, g := range share(r, got) {
		sum += g
	}
	if sum != 1 {
		r.Errorf("%d ranks have got a mutex", sum)
	}
	if got == 1 {
		r.Unlock(m)
	}
}

func TestMutexes(t *testing.T) {
	leaktest.Check(t)
	run(t, 4, "mutex")
}

// hog: two threads of local rank 0 take and release a mutex without a pause; the others want it
// some times each, and no wait may take long.
func hog(r *rank) {
	m := shared(r, page)
	me := r.Ranks()[r.Self()]
	r.World().Barrier()
	if r.Self() != 0 {
		for i := range 20 {
			begin := time.Now()
			r.Lock(m, me)
			r.Unlock(m)
			if took := time.Since(begin); took > patience/2 {
				r.Errorf("lock %d took %v", i, took)
			}
		}
		r.Notify(0, me)
		return
	}
	stop := make(chan struct{})
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					r.Lock(m, me)
					r.Unlock(m)
				}
			}
		})
	}
	for other := 1; other < len(r.Ranks()); other++ {
		r.NotifyWait(worldRank(other), 1)
	}
	close(stop)
	running.Wait()
}

func TestNoWaiterStarves(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "hog")
}

// far: a thread waits for a mutex on behalf of a rank of another node. A rank that takes it again
// and again here passes a few times, fewer than it may pass a queue of ranks of this node.
func far(r *rank) {
	m := shared(r, page)
	me, other := r.Ranks()[r.Self()], worldRank(99)
	r.Lock(m, me)
	ticket, got := r.LockSoon(m, other)
	if got {
		r.Fatal("a mutex was taken that is held")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.LockQueued(m, other, ticket)
		r.Unlock(m)
	}()
	for passed := 0; ; passed++ {
		r.Unlock(m)
		r.Lock(m, me)
		select {
		case <-done:
			r.Unlock(m)
			if passed > 4 {
				r.Errorf("%d newcomers have passed", passed)
			}
			return
		case <-time.After(5 * time.Millisecond): // longer than the head's patience
		}
	}
}

func TestRemoteWaiterIsServed(t *testing.T) {
	leaktest.Check(t)
	run(t, 1, "far")
}
