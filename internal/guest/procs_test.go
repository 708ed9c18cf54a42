// SPDX-License-Identifier: BSD-3-Clause

// How many processors Go has.
package guest

import (
	"runtime"
	"testing"
)

// TestProcs shows that GOMAXPROCS grows with the threads in the library, and never shrinks.
func TestProcs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	SetProcs(8)
	for _, c := range []struct{ threads, want int }{
		{1, 8}, {4, 8}, {5, 18}, {4, 18}, {16, 40}, {1000, 256},
	} {
		if enough := enterThreads(c.threads); enough < c.threads {
			t.Errorf("processors for %d threads, not %d", enough, c.threads)
		}
		if n := runtime.GOMAXPROCS(0); n != c.want {
			t.Errorf("%d processors for %d threads, not %d", n, c.threads, c.want)
		}
	}
	if SetProcs(8); runtime.GOMAXPROCS(0) != 256 {
		t.Errorf("%d processors after the library has started again", runtime.GOMAXPROCS(0))
	}
}
