// SPDX-License-Identifier: BSD-3-Clause

// Waits that were recorded on a machine, replayed in the model (model_test.go): what random
// sequences do not have is that waits follow from each other, and the odd long one. `go test -run
// Record -record` writes them anew.
package wait

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var record = flag.Bool("record", false, "record waits on this machine, which takes a second")

// recordings are the files of testdata, one wait a line: when the condition was met, and how long a
// yield took, 0 if the waiter did not yield, both in nanoseconds.
var recordings = map[string]struct {
	peer, program int // their cores; the waiter is on core 0. -1: there is none
	// of the peer, up to six times as much, and 100 times now and then
	work      time.Duration
	situation situation
}{
	"two-cores":    {1, -1, 300 * time.Nanosecond, situation{}},
	"one-core":     {0, -1, 300 * time.Nanosecond, situation{beside: true}},
	"busy-program": {1, 0, 3 * time.Microsecond, situation{hog: true}},
}

func recordingFile(name string) string { return filepath.Join("testdata", "waits", name+".txt") }

// recordingTurns is how often a recording is replayed: for a long time, as in TestNearTheBest.
const recordingTurns = 10

// A slice that was longer than usual was the program's due, which a waiter that looks would have
// paid as well: the model, whose waiter is never preempted, counts it as a usual one.
func TestRecordedWaits(t *testing.T) {
	for name, r := range recordings {
		text, err := os.ReadFile(recordingFile(name))
		if err != nil {
			t.Fatal(err)
		}
		var sequence []situation
		for line := range bytes.Lines(text) {
			s := r.situation
			if _, err := fmt.Sscan(string(line), &s.after, &s.slice); err != nil {
				t.Fatalf("%s: %q: %v", name, line, err)
			}
			if s.hog = s.hog && s.slice >= modelOwnYield; !s.hog {
				s.slice = 0
			}
			s.slice = min(s.slice, modelSlice)
			sequence = append(sequence, s)
		}
		checkNearBest(t, name, slices.Repeat(sequence, recordingTurns))
	}
}

const (
	recordAfter   = 100 * time.Millisecond // the kernel has settled by then
	recordedWaits = 200
)

// recorder is two threads that take turns.
type recorder struct {
	turn   atomic.Uint32 // odd: the peer's
	stored atomic.Int64  // when the peer gave the turn back, since epoch
	over   atomic.Bool

	ready, running sync.WaitGroup
}

// on runs do in a thread of its own on a core, when the threads that go before run.
func (w *recorder) on(t *testing.T, core int, do func()) {
	w.ready.Add(1)
	w.running.Go(func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its mask
		var set unix.CPUSet
		if set.Set(core); unix.SchedSetaffinity(0, &set) != nil {
			t.Errorf("core %d cannot be used", core)
		}
		w.ready.Done()
		do()
	})
	w.ready.Wait()
}

// TestRecord writes the recordings, if it is asked to.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("-record is not given")
	}
	for name, r := range recordings {
		var w recorder
		var text bytes.Buffer
		if r.program >= 0 {
			w.on(t, r.program, func() {
				for !w.over.Load() {
				}
			})
		}
		w.on(t, r.peer, func() { w.answer(r.peer == 0, r.work) })
		w.on(t, 0, func() {
			for end := time.Since(epoch) + recordAfter; time.Since(epoch) < end; {
				w.ask(name != "two-cores")
			}
			for range recordedWaits {
				after, yield := w.ask(name != "two-cores")
				fmt.Fprintln(&text, int64(after), int64(yield))
			}
			w.over.Store(true)
		})
		if w.running.Wait(); t.Failed() {
			return
		}
		if err := os.WriteFile(recordingFile(name), text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// ask gives the turn away and waits until it is back: when the peer gave it, and how long the last
// yield took. A waiter that yields looks a little in between.
func (w *recorder) ask(yields bool) (after, yield time.Duration) {
	begin := time.Since(epoch)
	for w.turn.Add(1); w.turn.Load()%2 != 0; {
		for i := 0; i < 100 && w.turn.Load()%2 != 0 && yield == 0; i++ {
		}
		if yields && w.turn.Load()%2 != 0 {
			now := time.Since(epoch)
			Yield()
			yield = time.Since(epoch) - now
		}
	}
	return max(time.Duration(w.stored.Load())-begin, 1), yield
}

// answer takes the peer's turns: some work, more of it now and then.
func (w *recorder) answer(beside bool, unit time.Duration) {
	for n := 0; !w.over.Load(); {
		if w.turn.Load()%2 == 0 {
			if beside {
				Yield()
			}
			continue
		}
		n++
		work := time.Duration(n%7) * unit
		if n%40 == 0 {
			work = 100 * unit
		}
		for end := time.Since(epoch) + work; time.Since(epoch) < end; {
		}
		w.stored.Store(int64(time.Since(epoch)))
		w.turn.Add(1)
	}
}
