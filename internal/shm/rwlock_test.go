// SPDX-License-Identifier: BSD-3-Clause

// Reader/writer locks and events between processes and threads: exclusion, readers together, that
// neither side starves, that sleepers are woken, counts that wrap around, and readers that have
// died.
package shm

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
)

func word(addr uintptr) *atomic.Uint32 { return (*atomic.Uint32)(kernel.Ptr(addr)) }

// takeRW gets a lock by either of the two ways.
func (r *rank) takeRW(l uintptr, exclusive, soon bool) {
	me := r.Ranks()[r.Self()]
	if !soon {
		r.RWLock(l, me, exclusive)
	} else if ticket, got := r.RWLockSoon(l, me, exclusive); !got {
		r.RWLockQueued(l, me, exclusive, ticket)
	}
}

// rwExclusion: writers change two words that readers always find equal; increments that are not
// atomic lose nothing.
func rwExclusion(r *rank) {
	const threads, rounds = 3, 600
	l := shared(r, 2*page)
	one, two := (*uint64)(kernel.Ptr(l+page)), (*uint64)(kernel.Ptr(l+page+512))
	inside := word(l + page + 1024) // readers now
	me := r.Ranks()[r.Self()]
	var running sync.WaitGroup
	for th := range threads {
		running.Go(func() {
			for i := range rounds {
				exclusive := (i+th)%4 == 0
				r.takeRW(l, exclusive, i%3 == 0)
				if !r.RWHeld(l, me, exclusive) {
					r.Errorf("a lock that I have is not held, exclusive %v",
						exclusive)
				}
				if exclusive {
					if n := inside.Load(); n != 0 {
						r.Errorf("a writer is in with %d readers", n)
					}
					*one++
					if i%8 == 0 {
						runtime.Gosched()
					}
					*two++
				} else {
					inside.Add(1)
					if a, b := *one, *two; a != b {
						r.Errorf("a reader finds %d and %d", a, b)
					}
					inside.Add(^uint32(0))
				}
				r.RWUnlock(l, exclusive)
			}
		})
	}
	running.Wait()
	r.World().Barrier()
	if want := uint64(len(r.Ranks()) * threads * rounds / 4); *one != want || *two != want {
		r.Errorf("%d and %d times written, expected %d", *one, *two, want)
	}
	if r.RWHeld(l, me, true) || r.RWHeld(l, me, false) {
		r.Error("the lock is held after the end")
	}
	r.World().Barrier()
}

func TestReadersAndWriters(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "rw exclusion")
}

// rwTogether: all ranks hold the lock as readers at the same time, and a writer sleeps until the
// last has left.
func rwTogether(r *rank) {
	l := shared(r, page)
	n := uint32(len(r.Ranks()))
	r.World().Barrier()
	for round := range uint32(5) {
		r.takeRW(l, false, round%2 == 0)
		r.World().Barrier() // it would not end if they excluded each other
		if r.Self() == 0 {
			r.RWUnlock(l, false)
			r.takeRW(l, true, round%2 == 0)
			if left := word(l + 2048).Load(); left != (n-1)*(round+1) {
				r.Errorf("a writer is in before %d readers have left",
					(n-1)*(round+1)-left)
			}
			r.RWUnlock(l, true)
		} else {
			time.Sleep(20 * time.Millisecond)
			word(l + 2048).Add(1)
			r.RWUnlock(l, false)
		}
		r.World().Barrier()
	}
}

func TestReadersTogether(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "rw together")
}

// rwStream: readers that overlap, or writers without a pause, keep the lock busy at local rank 0;
// the others take it in the other mode.
func rwStream(r *rank) {
	l := shared(r, page)
	r.World().Barrier()
	for _, exclusive := range []bool{false, true} {
		if r.Self() != 0 {
			for i := range 20 {
				begin := time.Now()
				r.takeRW(l, !exclusive, i%2 == 0)
				r.RWUnlock(l, !exclusive)
				if took := time.Since(begin); took > patience/2 {
					r.Errorf("lock %d, exclusive %v, took %v", i, !exclusive,
						took)
				}
			}
			r.Notify(0, r.Ranks()[r.Self()])
		} else {
			r.stream(l, exclusive)
		}
		r.World().Barrier()
	}
}

// stream has three threads hold the lock in turn, without a pause between them, until all other
// ranks have got it.
func (r *rank) stream(l uintptr, exclusive bool) {
	var stop atomic.Bool
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() {
			for !stop.Load() {
				r.takeRW(l, exclusive, false)
				time.Sleep(100 * time.Microsecond)
				r.RWUnlock(l, exclusive)
			}
		})
	}
	for other := 1; other < len(r.Ranks()); other++ {
		count := uint32(1)
		if exclusive {
			count = 2
		}
		r.NotifyWait(worldRank(other), count)
	}
	stop.Store(true)
	running.Wait()
}

func TestNeitherSideStarves(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "rw stream")
}

// raiseEvents: every rank raises the event of the next one, which starts just before 2^32; it
// sleeps where that is slow.
func raiseEvents(r *rank) {
	const rounds = 300
	step := uintptr(r.EventBytes())
	mem := shared(r, page)
	n, me := len(r.Ranks()), r.Self()
	mine, next := mem+uintptr(me)*step, mem+uintptr((me+1)%n)*step
	data := func(who int) *uint64 { return (*uint64)(kernel.Ptr(mem + 2048 + uintptr(who)*8)) }
	first := ^uint32(0) - 100
	word(mine).Store(first)
	r.World().Barrier()
	for i := range uint32(rounds) {
		if me == 0 && i%100 == 0 {
			time.Sleep(30 * time.Millisecond)
		}
		if me == 0 {
			*data(1 % n)++
			r.EventAdd(next, 1)
		}
		for word(mine).Load() == first+i {
			r.EventWait(mine, first+i, -1, "a test")
		}
		if got := word(mine).Load(); got != first+i+1 {
			r.Errorf("round %d: the count is %d, expected %d", i, got, first+i+1)
		}
		if got := *data(me); got != uint64(i+1) {
			r.Errorf("round %d: the word behind the event is %d", i, got)
		}
		if me != 0 {
			*data((me + 1) % n)++
			r.EventAdd(next, 1)
		}
	}
	r.World().Barrier()
	r.EventAdd(mem, 5)
	r.World().Barrier()
	if got, want := word(mem).Load(), first+rounds+5*uint32(n); got != want {
		r.Errorf("the count is %d after all have raised it by 5, expected %d", got, want)
	}
	r.World().Barrier()
}

func TestEvents(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "events")
}

// eventWords: rank 0 writes the count of an event as a device does, which wakes no waiter, and rank
// 1 sleeps until rank 0 sends the count.
func eventWords(r *rank) {
	const rounds = 2000
	mem := shared(r, page)
	event, record := mem, mem+uintptr(r.EventBytes())
	first := ^uint32(0) - rounds/2
	if r.Self() == 0 {
		word(event).Store(first)
		word(record).Store(first)
	}
	r.World().Barrier()
	for i := range uint32(rounds) {
		switch r.Self() {
		case 0:
			if i%500 == 0 {
				time.Sleep(20 * time.Millisecond)
			}
			word(event).Store(first + i + 1)
			if r.RecordEventSent(record, first+i+1) &&
				!r.WakeEventWaiters(event, first+i+1) {
				r.Errorf("round %d: the count is not there", i)
			}
		case 1:
			if !r.RequestEventWake(record, first+i+1) {
				r.EventWait(event, first+i, -1, "a test")
			}
			if got := int32(r.EventCount(event) - first - i); got < 1 {
				r.Errorf("round %d: the wait ended at a count that is short by %d",
					i, 1-got)
			}
		}
		if i%100 == 0 {
			r.World().Barrier()
		}
	}
	r.World().Barrier()
}

func TestEventWords(t *testing.T) {
	leaktest.Check(t)
	run(t, 2, "event words")
}

// deviceMarks: a waiter has seen a count, and leaves a mark for the next one before the raiser has
// recorded the first. The raiser sends it both.
func deviceMarks(r *rank) {
	record := shared(r, page)
	for _, first := range []uint32{0, 1<<31 - 2, ^uint32(0) - 1} {
		word(record).Store(first)
		r.laterMark("event", first,
			func(n uint32) bool { return r.RecordEventSent(record, n) },
			func(n uint32) bool { return r.RequestEventWake(record, n) })
	}
	r.laterMark("notification", 0, func(n uint32) bool { return r.RecordNotifySent(0, n) },
		func(n uint32) bool { return r.RequestNotifyWake(0, 0, n) })
}

// laterMark leaves a mark for count first+2, and checks for which of the next counts it is seen.
func (r *rank) laterMark(what string, first uint32, sent, ask func(uint32) bool) {
	if ask(first + 2) {
		r.Errorf("%s %d has been sent", what, first+2)
	}
	for i := uint32(1); i <= 3; i++ {
		if told := sent(first + i); told != (i < 3) {
			r.Errorf("a waiter for %s %d is told of %d: %v", what, first+2, first+i,
				told)
		}
	}
	if !ask(first + 3) {
		r.Errorf("%s %d has not been sent", what, first+3)
	}
}

func TestDeviceMarks(t *testing.T) {
	leaktest.Check(t)
	run(t, 1, "device marks")
}

// eventSleepers: several threads of all ranks sleep on one event, and one addition wakes them all.
func eventSleepers(r *rank) {
	e := shared(r, page)
	r.World().Barrier()
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() { r.EventWait(e, 0, -1, "a test") })
	}
	if r.Self() == 0 {
		time.Sleep(50 * time.Millisecond)
		r.EventAdd(e, 1)
	}
	running.Wait()
	if n := word(e).Load(); n != 1 {
		r.Errorf("a wait has ended at %d", n)
	}
	r.World().Barrier()
}

func TestEventSleepers(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "event sleepers")
}

// lockAndExit: local rank 1 holds a lock as a reader, another as a writer, and exits. The others
// wait for one of them each, or for an event.
func lockAndExit(r *rank) {
	mem := shared(r, page)
	size := uintptr(r.RWLockBytes())
	if r.Self() == 1 {
		r.takeRW(mem, false, false)
		r.takeRW(mem+size, true, false)
	}
	r.World().Barrier()
	switch r.Self() {
	case 0:
		go r.takeRW(mem, true, false)
	case 1:
		r.Leave(false)
		os.Exit(0)
	case 2:
		go r.takeRW(mem+size, false, false)
	case 3:
		go r.takeRW(mem+size, true, false)
	}
	r.report()
}

// A wait for a lock whose holder has exited is reported with the call that waits.
func TestLockOfAnExitedRank(t *testing.T) {
	leaktest.Check(t)
	all := launch(t, 4, "lock and exit", nil)
	for i, what := range []string{"MPI_Win_lock", "", "ARMCI_Lock", "ARMCI_Lock"} {
		want := fmt.Sprintf("rank 5: rank 5 has exited without ARMCI_Finalize while rank "+
			"%d waits for it in %s", worldRank(i), what)
		if i == 1 {
			continue
		}
		if got := all[i].readLine(t); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	for i, p := range all {
		if i != 1 {
			p.writeLine("end")
		}
		p.awaitExit(t, false)
	}
}
