// update_contended_test.go: updates, accumulates, compare-and-swap and held stripes at once:
// nothing is lost. Results of single updates are update_test.go's.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// Every way to change memory adds to the same longs, which lie around the end of a stripe, at an
// address that is not aligned: the sums are right, and what was there before is different each
// time.
func TestUpdateContended(t *testing.T) {
	const workers, rounds, n = 4, 400, 1500
	st := newStripes(0)
	mem := acrossStripes(n*8 + 64)
	dst := at(mem, 4)
	ones := make([]uint64, n)
	for i := range ones {
		ones[i] = 1
	}
	source, scale := unsafe.Pointer(&ones[0]), one(Long)
	var seen [workers][]uint64 // of element 700
	var wg sync.WaitGroup
	for w := range workers {
		mine := st
		mine.Owner = uint32(w + 1)
		wg.Go(func() {
			old := make([]uint64, n)
			was := unsafe.Pointer(&old[0])
			hot := unsafe.Add(dst, 700*8)
			for i := range rounds {
				Update(mine, OpSum, I64, hot, source, was, 1)
				seen[w] = append(seen[w], old[0])
				Acc(mine, Long, at(scale, 0), hot, source, 8)
				Update(mine, OpSum, U64, hot, source, nil, 1)
				increment(mine, hot)
				if i%8 == 0 {
					Update(mine, OpSum, I64, dst, source, was, n)
					seen[w] = append(seen[w], old[700])
					Acc(mine, Long, at(scale, 0), dst, source, 8*n)
				}
			}
		})
	}
	wg.Wait()
	every := uint64(2 * workers * rounds / 8)
	for i := range n {
		want := every
		if i == 700 {
			want += 4 * workers * rounds
		}
		var got uint64
		Copy(unsafe.Pointer(&got), unsafe.Add(dst, i*8), 8)
		if got != want {
			t.Errorf("element %d is %d, want %d", i, got, want)
		}
	}
	taken := map[uint64]bool{}
	for w := range seen {
		for i, x := range seen[w] {
			if taken[x] || i > 0 && x <= seen[w][i-1] {
				t.Fatalf("worker %d got %d twice, or too late", w, x)
			}
			taken[x] = true
		}
	}
}

// increment adds 1 by compare-and-swap.
func increment(st Stripes, dst unsafe.Pointer) {
	var have, next, old uint64
	for {
		next = have + 1
		CompareSwap(st, 8, dst, unsafe.Pointer(&have), unsafe.Pointer(&next),
			unsafe.Pointer(&old))
		if old == have {
			return
		}
		have = old
	}
}

// A held stripe keeps everybody out, processors and devices; dropping it lets them in.
func TestHoldStripe(t *testing.T) {
	const workers, rounds = 4, 2000
	for _, device := range []bool{false, true} {
		st := newStripes(0)
		st.Device, st.Mask = device, 0
		x, y := new(int64), int64(1)
		word := (*uint64)(unsafe.Add(st.Word, DeviceWord))
		var wg sync.WaitGroup
		for w := range workers {
			mine := st
			mine.Owner = uint32(w + 1)
			wg.Go(func() {
				for range rounds {
					held := HoldStripe(mine, uintptr(unsafe.Pointer(x)))
					// no atomic addition
					atomic.StoreInt64(x, atomic.LoadInt64(x)+1)
					DropStripe(held)
					Update(mine, OpSum, I64, unsafe.Pointer(x),
						unsafe.Pointer(&y), nil, 1)
					if device {
						for !atomic.CompareAndSwapUint64(word, 0,
							uint64(w+1)) {
							runtime.Gosched()
						}
						for atomic.LoadUint32((*uint32)(st.Word)) != 0 {
							runtime.Gosched()
						}
						atomic.StoreInt64(x, atomic.LoadInt64(x)+1)
						atomic.StoreUint64(word, 0)
					}
				}
			})
		}
		wg.Wait()
		want := int64(2 * workers * rounds)
		if device {
			want += workers * rounds
		}
		if *x != want {
			t.Errorf("device %v: %d, want %d", device, *x, want)
		}
	}
	if held := HoldStripe(Stripes{}, 8); held != nil {
		t.Errorf("no stripes: held %p", held)
	}
	DropStripe(nil)
}

// Every function waits for a lock that is taken.
func TestUpdateWaits(t *testing.T) {
	for name, do := range map[string]func(st Stripes, x, y unsafe.Pointer){
		"one": func(st Stripes, x, y unsafe.Pointer) {
			Update(st, OpSum, I64, x, y, nil,
				1)
		},
		"many": func(st Stripes, x, y unsafe.Pointer) {
			Update(st, OpReplace, Bytes, x, y,
				nil, 8)
		},
		"runs": func(st Stripes, x, y unsafe.Pointer) {
			UpdateRuns(st, OpSum, I64, []Segment{{0, 0}, {uintptr(x), 8}}, y, nil)
		},
		"swap": func(st Stripes, x, y unsafe.Pointer) { CompareSwap(st, 8, x, x, y, nil) },
	} {
		st := newStripes(2)
		st.Mask = 0
		held := HoldStripe(st, 8)
		x, y := new(int64), int64(5)
		done := make(chan struct{})
		go func() {
			do(st, unsafe.Pointer(x), unsafe.Pointer(&y))
			close(done)
		}()
		select {
		case <-done:
			t.Fatalf("%s went through a taken lock", name)
		case <-time.After(20 * time.Millisecond):
		}
		DropStripe(held)
		<-done
		if *x != 5 || *(*uint32)(st.Word) != 0 {
			t.Errorf("%s: result %d, want 5; lock %d, want free", name, *x,
				*(*uint32)(st.Word))
		}
	}
}
