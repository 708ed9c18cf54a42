// SPDX-License-Identifier: BSD-3-Clause

// Reader/writer locks that ranks of other nodes hold by their devices: threads stand for them, with
// atomics of processors.
package shm

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// wordLock is a lock with a word.
type wordLock struct {
	r    *rank
	lock uintptr
	word *atomic.Int64
}

func (r *rank) wordLock(l, at uintptr) wordLock {
	if r.Self() == 0 {
		r.NameRWWord(l, at)
	}
	r.World().Barrier()
	return wordLock{r, l, (*atomic.Int64)(kernel.Ptr(at))}
}

// try takes the lock as a device of another node would, as core does it.
func (w wordLock) try(exclusive bool) bool {
	by := int64(1)
	if exclusive {
		if by = transport.RWWordWriter; !w.word.CompareAndSwap(0, by) {
			return false
		}
	} else if w.word.Add(1) > transport.RWWordWriter {
		w.word.Add(-1)
		return false
	}
	if w.r.RWTaken(w.image(), exclusive) {
		w.word.Add(-by)
		return false
	}
	return true
}

// image is the lock itself.
func (w wordLock) image() []byte {
	return unsafe.Slice((*byte)(kernel.Ptr(w.lock)), w.r.RWLockBytes())
}

func (w wordLock) leave(exclusive bool) {
	if exclusive {
		w.word.Add(-transport.RWWordWriter)
	} else {
		w.word.Add(-1)
	}
}

// rwWordExclusion: writers change two words that readers always find equal, whether they hold the
// lock as ranks of the node or by devices. A thread that does not get it by the device takes the
// other way.
func rwWordExclusion(r *rank) {
	const threads, rounds = 3, 1500
	l := shared(r, 2*page)
	w := r.wordLock(l, l+page+2048)
	one, two := (*uint64)(kernel.Ptr(l+page)), (*uint64)(kernel.Ptr(l+page+512))
	by := [2]*atomic.Uint32{word(l + page + 1024), word(l + page + 1088)}
	writes := word(l + page + 1152)
	var running sync.WaitGroup
	for th := range threads {
		running.Go(func() {
			for i := range rounds {
				exclusive, device := (i+th)%3 == 0, (i/7+th)%2 == 0
				if device = device && w.try(exclusive); device {
					by[1].Add(1)
				} else {
					r.takeRW(l, exclusive, i%3 == 0)
					by[0].Add(1)
				}
				if exclusive {
					*one++
					if i%8 == 0 {
						runtime.Gosched()
					}
					*two++
					writes.Add(1)
				} else {
					a := *one
					if i%4 == 0 {
						runtime.Gosched()
					}
					if b := *two; a != b {
						r.Errorf("%d, %d (device: %v)", a, b, device)
					}
				}
				if device {
					w.leave(exclusive)
				} else {
					r.RWUnlock(l, exclusive)
				}
			}
		})
	}
	running.Wait()
	r.World().Barrier()
	if want := uint64(writes.Load()); *one != want || *two != want {
		r.Errorf("%d and %d times written, expected %d", *one, *two, want)
	}
	if by[0].Load() == 0 || by[1].Load() == 0 || w.word.Load() != 0 {
		r.Errorf("locked %d times here, %d times by devices; the word has %#x at the end",
			by[0].Load(), by[1].Load(), w.word.Load())
	}
	r.World().Barrier()
}

func TestLockByWord(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "rw word exclusion")
}

// rwWordWaits: ranks of the node wait for readers and writers of devices, in every way, and are in
// soon after those have left.
func rwWordWaits(r *rank) {
	l := shared(r, page)
	w := r.wordLock(l, l+2048)
	for round := range 8 {
		device, mine := round&1 == 0, round&2 == 0 // which of them is exclusive
		soon := round&4 == 0
		if !device && !mine {
			continue // readers do not wait for each other
		}
		if r.Self() == 0 && !w.try(device) {
			r.Errorf("round %d: a free lock is taken", round)
		}
		r.World().Barrier()
		if r.Self() == 1 {
			r.takeRW(l, mine, soon)
			if word(l+3072).Load() != uint32(round+1) {
				r.Errorf("round %d: it is in before the device has left", round)
			}
			r.RWUnlock(l, mine)
		} else {
			time.Sleep(20 * time.Millisecond)
			word(l + 3072).Store(uint32(round + 1))
			w.leave(device)
		}
		r.World().Barrier()
	}
}

func TestWaitForWord(t *testing.T) {
	leaktest.Check(t)
	run(t, 2, "rw word waits")
}

// rwWordTries: a device gets the lock beside readers of the node if it reads, too, and otherwise
// not while a rank of the node holds it or waits for it.
func rwWordTries(r *rank) {
	l := shared(r, page)
	w := r.wordLock(l, l+2048)
	if r.Self() == 0 {
		try := func(holders string, exclusive, want bool) {
			if got := w.try(exclusive); got != want {
				r.Errorf("beside %s, exclusive %v: it gets the lock: %v", holders,
					exclusive, got)
			} else if got {
				w.leave(exclusive)
			}
		}
		r.takeRW(l, false, false)
		try("a reader", true, false)
		try("a reader", false, true)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			r.takeRW(l, true, false)
			r.RWUnlock(l, true)
		})
		for end := time.Now().Add(10 * time.Second); !r.RWTaken(w.image(), false); {
			if runtime.Gosched(); time.Now().After(end) {
				r.Fatal("the writer does not wait")
			}
		}
		try("a writer that waits", false, false)
		r.RWUnlock(l, false)
		waiting.Wait()
		r.takeRW(l, true, true)
		try("a writer", true, false)
		try("a writer", false, false)
		r.RWUnlock(l, true)
		try("nobody", true, true)
		if w.word.Load() != 0 {
			r.Errorf("the word has %#x at the end", w.word.Load())
		}
	}
	r.World().Barrier()
}

func TestTryLockByWord(t *testing.T) {
	leaktest.Check(t)
	run(t, 2, "rw word tries")
}
