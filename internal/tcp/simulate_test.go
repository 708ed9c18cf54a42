// SPDX-License-Identifier: BSD-3-Clause

// The simulation of streams that go on over another socket (docs/debugging.md): one seed decides
// all that kernels, the network and threads do.
package tcp

import (
	"flag"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/testutil/simulate"
)

var (
	seedFlag = flag.Uint64("seed", 0, "TestSimulate: run this seed alone, twice; "+
		"with -v it prints a trace")
	firstFlag = flag.Uint64("first", 0, "TestSimulate: the first seed; 0: any")
	forFlag   = flag.Duration("for", 2*time.Second, "TestSimulate: how long new seeds are run")
)

// simRun runs a seed. The result tells how many connections have lost bytes for good.
func simRun(seed uint64, verbose bool) (r simulate.Result, ended int) {
	r = simulate.Run(seed, verbose, func() { ended = simulateStreams() })
	return r, ended
}

// TestSimulate runs simulated streams until a seed fails. The same seed must give the same run.
func TestSimulate(t *testing.T) {
	if *seedFlag != 0 {
		checkSameRun(t, *seedFlag)
		return
	}
	first := *firstFlag
	if first == 0 {
		first = rand.Uint64N(1 << 40)
		for i := range uint64(3) {
			checkSameRun(t, 1+i)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	begin, used := time.Now(), processorTime()
	n, steps, ended := uint64(0), 0, 0
	for ; time.Since(begin) < *forFlag; n++ {
		r, lost := simRun(first+n, false)
		if steps, ended = steps+r.Steps, ended+lost; r.Failure != "" {
			t.Errorf("seed %d: %s", first+n, r.Failure)
			t.Fatalf("after %d seeds: go test ./internal/tcp -run Simulate -v -seed %d",
				n+1, first+n)
		}
	}
	t.Logf("%d seeds from %d on: %.0f a second, %.0f a second of processor time, %d steps "+
		"each; %d connections have lost bytes that the network had acknowledged", n, first,
		float64(n)/time.Since(begin).Seconds(),
		float64(n)/(processorTime()-used).Seconds(), steps/int(max(n, 1)), ended)
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// checkSameRun runs a seed twice.
func checkSameRun(t *testing.T, seed uint64) {
	t.Helper()
	a, _ := simRun(seed, true)
	b, _ := simRun(seed, false)
	if testing.Verbose() && *seedFlag != 0 {
		t.Logf("seed %d:\n%s", seed, strings.Join(a.Trace, "\n"))
	}
	if a.Sum != b.Sum || a.Steps != b.Steps || len(a.Trace) == 0 {
		t.Errorf("seed %d: %d steps and sum %x the first time, then %d and %x", seed,
			a.Steps, a.Sum, b.Steps, b.Sum)
	}
	if a.Failure != "" {
		t.Errorf("seed %d: %s", seed, a.Failure)
		return
	}
	t.Logf("seed %d: %d steps, %v, sum %x", seed, a.Steps, a.Time, a.Sum)
}
