// SPDX-License-Identifier: BSD-3-Clause

//go:build simulation

// Runs simulated jobs: the test binary that TestSimulate (simulate_test.go) builds.
package internode

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/testutil/simulate"
)

var (
	simSeed  = flag.Uint64("sim.seed", 0, "run this seed alone, twice")
	simFirst = flag.Uint64("sim.first", 0, "the first seed; 0: any")
	simSeeds = flag.Int("sim.seeds", 100, "run so many seeds")
	simFor   = flag.Duration("sim.for", time.Hour, "for so long at most")
)

// TestSimulated runs jobs until one fails.
func TestSimulated(t *testing.T) {
	if *simSeed != 0 {
		a := simulate.Run(*simSeed, testing.Verbose(), func() { simulateJob(*simSeed) })
		report(t, *simSeed, a)
		b := simulate.Run(*simSeed, false, func() { simulateJob(*simSeed) })
		if a.Sum != b.Sum || a.Steps != b.Steps {
			t.Errorf("seed %d: %d steps and sum %x the first time, then %d and %x",
				*simSeed, a.Steps, a.Sum, b.Steps, b.Sum)
		}
		return
	}
	first, begin := *simFirst, time.Now()
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	runtime.GOMAXPROCS(1) // one thread runs at a time
	debug.SetGCPercent(400)
	steps, n := 0, 0
	for ; n < *simSeeds && time.Since(begin) < *simFor; n++ {
		seed := first + uint64(n)
		r := simulate.Run(seed, false, func() { simulateJob(seed) })
		steps += r.Steps
		if r.Failure != "" {
			report(t, seed, r)
			t.Fatalf("after %d seeds: go test ./internal/internode -run Simulate -v "+
				"-seed %d", n+1, seed)
		}
	}
	t.Logf("%d seeds from %d on: %.0f a second, %.0f a second of processor time, %d steps each",
		n, first, float64(n)/time.Since(begin).Seconds(),
		float64(n)/processorTime().Seconds(), steps/max(n, 1))
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// report reports the result of a seed.
func report(t *testing.T, seed uint64, r simulate.Result) {
	if len(r.Trace) > 0 {
		t.Logf("seed %d:\n%s", seed, strings.Join(r.Trace, "\n"))
	}
	if r.Failure != "" {
		t.Errorf("seed %d: %s", seed, r.Failure)
		return
	}
	t.Logf("seed %d: %d steps, %v, sum %x", seed, r.Steps, r.Time, r.Sum)
}
