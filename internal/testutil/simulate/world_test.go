// SPDX-License-Identifier: BSD-3-Clause

// Tests of runs: a seed gives the same run each time, seeds differ, and what can go wrong is found.
package simulate

import (
	"strings"
	"testing"
)

// countUp has threads raise a counter without a lock, each by a load and a store.
func countUp(lock bool) func() {
	return func() {
		var n Int32
		var mu Mutex
		var running WaitGroup
		for range 3 {
			running.Go(func() {
				for range 3 {
					if lock {
						mu.Lock()
					}
					n.Store(n.Load() + 1)
					if lock {
						mu.Unlock()
					}
					Sleep(Microsecond)
				}
			})
		}
		running.Wait()
		Note("%d", n.Load())
		if n.Load() != 9 {
			Fail("an update is lost")
		}
	}
}

// TestSameSeedSameRun shows that a seed gives the same run, and that others give others.
func TestSameSeedSameRun(t *testing.T) {
	sums := map[uint64]bool{}
	for seed := range uint64(50) {
		a, b := Run(seed, true, countUp(true)), Run(seed, false, countUp(true))
		if a.Sum != b.Sum || a.Steps != b.Steps || a.Failure != "" {
			t.Errorf("seed %d: %+v, then %+v", seed, a, b)
		}
		if len(a.Trace) != 1 || !strings.HasSuffix(a.Trace[0], " 9") {
			t.Errorf("the trace is %q", a.Trace)
		}
		sums[a.Sum] = true
	}
	if len(sums) < 45 {
		t.Errorf("only %d different runs of 50 seeds", len(sums))
	}
}

// TestFinds shows that a lost update, a deadlock, a panic and a loop without end are found.
func TestFinds(t *testing.T) {
	for _, c := range []struct {
		name, why string
		run       func()
	}{
		{"a lost update", "an update is lost", countUp(false)},
		{"a deadlock", "all threads wait for ever", func() {
			var a, b Mutex
			var running WaitGroup
			running.Go(func() { a.Lock(); b.Lock(); b.Unlock(); a.Unlock() })
			running.Go(func() { b.Lock(); a.Lock(); a.Unlock(); b.Unlock() })
			running.Wait()
		}},
		{"a wake-up before the wait", "all threads wait for ever", func() {
			var mu Mutex
			c, asked := NewCond(&mu), Bool{}
			Go("waker", func() {
				asked.Store(true)
				c.Broadcast()
			})
			if !asked.Load() {
				mu.Lock()
				c.Wait()
				mu.Unlock()
			}
		}},
		{"a panic", "panic: x", func() { Go("thread", func() { panic("x") }) }},
		{"no end", "no end", func() {
			for {
				Sleep(Second)
			}
		}},
	} {
		found := false
		for seed := uint64(0); seed < 200 && !found; seed++ {
			found = strings.Contains(Run(seed, false, c.run).Failure, c.why)
		}
		if !found {
			t.Errorf("%s is not found", c.name)
		}
	}
}

// TestChannels shows that channels and timers work as those of Go.
func TestChannels(t *testing.T) {
	for seed := range uint64(100) {
		r := Run(seed, false, func() {
			c, end := make(chan int, 2), make(chan struct{})
			Go("sender", func() {
				for i := range 10 {
					Send(c, i)
				}
				Close(end)
			})
			for i := range 10 {
				if v := Recv(c); v != i {
					Fail("%d instead of %d", v, i)
				}
			}
			Recv(end)
			begin := Now()
			if _, ok := RecvWithin(c, Millisecond); ok || Since(begin) < Millisecond {
				Fail("a wait of a millisecond ends after %v", Since(begin))
			}
			called := make(chan int, 1)
			AfterFunc(Millisecond, func() { TrySend(called, 1) })
			AfterFunc(Millisecond, func() { Fail("it was stopped") }).Stop()
			Recv(called)
			Sleep(Second)
		})
		if r.Failure != "" {
			t.Fatalf("seed %d: %s", seed, r.Failure)
		}
	}
}
