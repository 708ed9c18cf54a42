// SPDX-License-Identifier: BSD-3-Clause

// Mutex sets: their number, hosts and holders; the errors of every call; and that unlocking is a
// fence.
package core

import (
	"math"
	"testing"

	"libarmci/internal/transport"
)

// Each rank hosts as many mutexes as it asked for, and all are found, locked and unlocked.
func TestMutexSet(t *testing.T) {
	world(t, 3, func(r *tr) {
		counts := []int{2, 0, 5}
		r.must(r.CreateMutexes(counts[r.Me]))
		s := r.DefaultMutexes()
		for m, n := range counts {
			if first, count := s.MutexesOf(transport.Rank(m)); count != n ||
				(first != 0) != (n > 0) {
				r.wrong("rank %d hosts %d at %#x", m, count, first)
			}
		}
		mem := r.alloc(64)
		buf := r.local(16)
		for range 20 { // a counter that only the mutex protects
			r.must(r.Lock(s, 4, 2))
			r.must(r.Do(op(Get, 0, buf, mem[0], 8)))
			*long(buf)++
			r.must(r.Do(op(Put, 0, buf, mem[0], 8)))
			r.must(r.Fence(0))
			r.must(r.Unlock(s, 4, 2))
		}
		r.barrier()
		if r.Me == 0 && *long(mem[0]) != 60 {
			r.wrong("the counter is %d", *long(mem[0]))
		}
		wantArg(r, "created twice", r.CreateMutexes(1), "num", CodeArgument,
			"exist already")
		r.must(r.DestroyMutexes())
		wantArg(r, "destroyed twice", r.DestroyMutexes(), "", CodeArgument,
			"no mutexes to destroy")
		wantArg(r, "lock without any", r.Lock(r.DefaultMutexes(), 0, 0), "mutex",
			CodeArgument, "no mutexes have been created")
		r.must(r.CreateMutexes(0)) // again, and no rank hosts any
		r.must(r.DestroyMutexes())
		r.must(r.Free(r.group(World), mem[r.Me]))
		if live, published := r.held(); live != 0 || published != 0 {
			r.wrong("%d bytes, %d published", live, published)
		}
	})
}

// Wrong indices and ranks, unlocks by others, and second sets are refused.
func TestMutexMistakes(t *testing.T) {
	world(t, 3, func(r *tr) {
		g := r.create(r.group(World), 2, 0)
		if r.Me == 1 {
			r.must(r.GroupFree(g.ID))
			r.barrier()
			return
		}
		s, err := r.NewMutexes(g, 2)
		r.must(err)
		for what, c := range map[string]struct {
			i, proc   int
			arg, text string
			code      int
		}{
			"index": {2, 0, "mutex",
				"index 2 is outside the 2 mutexes of rank 0", CodeArgument},
			"negative index": {-1, 2, "mutex", "index -1", CodeArgument},
			"no member": {0, 1, "proc", "rank 1 is not among the 2 ranks",
				CodeProc},
			"no rank": {0, 7, "proc", "rank 7", CodeProc},
		} {
			wantArg(r, "Lock, "+what, r.Lock(s, c.i, c.proc), c.arg, c.code, c.text)
			wantArg(r, "Unlock, "+what, r.Unlock(s, c.i, c.proc), c.arg, c.code, c.text)
			got, err := r.TryLock(s, c.i, c.proc)
			wantArg(r, "TryLock, "+what, err, c.arg, c.code, c.text)
			if got {
				r.wrong("TryLock, %s: got it", what)
			}
		}
		mine := int(r.Me)
		wantArg(r, "free", r.Unlock(s, 0, mine), "mutex", CodeArgument,
			"is not held by this rank")
		r.must(r.Lock(s, 0, mine))
		g.Team().Barrier()
		wantArg(r, "another's", r.Unlock(s, 0, 2-mine), "mutex", CodeArgument,
			"is not held by this rank")
		if got, err := r.TryLock(s, 0, 2-mine); got || err != nil {
			r.wrong("TryLock of a held mutex: %v %v", got, err)
		}
		if got, err := r.TryLock(s, 1, mine); !got || err != nil {
			r.wrong("TryLock of a free mutex: %v %v", got, err)
		}
		g.Team().Barrier()
		r.must(r.Unlock(s, 0, mine))
		r.must(r.Unlock(s, 1, mine))
		for n, text := range map[int]string{-1: "-1 is outside",
			1<<20 + 1: "outside 0..1048576", math.MaxInt32: "is outside"} {
			_, err := r.NewMutexes(g, n)
			wantArg(r, "number", err, "num", CodeBytes, text)
		}
		many := 0
		if r.Me == 0 {
			many = -3
		}
		_, err = r.NewMutexes(g, many) // one is wrong, all fail
		if r.Me == 0 {
			wantArg(r, "number", err, "num", CodeBytes, "-3")
		} else {
			wantArg(r, "number of another", err, "bytes", CodeInternal, "1 of 2 ranks")
		}
		r.must(r.FreeMutexes(s))
		r.must(r.GroupFree(g.ID))
		r.barrier()
	})
}

// What the holder has stored at the host is there for the next holder.
func TestUnlockFences(t *testing.T) {
	stored, looked := make(chan int64), make(chan bool) // told beside the library
	worldOf(t, 2, slow, func(r *tr) {
		r.must(r.CreateMutexes(1))
		s := r.DefaultMutexes()
		mem, buf := r.alloc(64), r.local(8)
		for i := range int64(15) {
			if r.Me == 1 {
				r.must(r.Lock(s, 0, 0))
				*long(buf) = i + 1
				r.must(r.Do(op(Put, 0, buf, mem[0], 8)))
				r.must(r.Unlock(s, 0, 0))
				stored <- i + 1
				<-looked
				continue
			}
			want := <-stored
			r.must(r.Lock(s, 0, 0))
			if got := *long(mem[0]); got != want {
				r.wrong("the holder finds %d, stored was %d", got, want)
			}
			r.must(r.Unlock(s, 0, 0))
			looked <- true
		}
		r.must(r.DestroyMutexes())
	})
}
